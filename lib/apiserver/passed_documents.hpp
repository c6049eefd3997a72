// Documents of another server that are passed on and kept for a while: discovery, versions, the
// schema. An old one is better than none when that server is away. Bounded in number and bytes,
// whatever readers ask for: a key is theirs. No I/O; time is an argument.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "base/time.hpp"
#include "http/message.hpp"

namespace kubewatch::apiserver {

class PassedDocuments {
 public:
  explicit PassedDocuments(Duration fresh_for = Duration{600000},
                           std::size_t most_bytes = 64U << 20U)
      : fresh_for_(fresh_for), most_bytes_(most_bytes) {}

  // `key` is path, query and Accept; `asked`: what it says may be as old as that. Only whole good
  // answers (200) are kept, under keys that are not far longer than any client's.
  void keep(const std::string& key, http::Response answer, TimePoint asked);
  // Null when there is none, or none that is new enough.
  const http::Response* fresh(const std::string& key, TimePoint now) const;
  // What was kept before that time is not new enough any more: kinds may have come or gone.
  void doubt_until(TimePoint time) { doubted_until_ = std::max(doubted_until_, time); }
  // However old, and doubted or not.
  const http::Response* any(const std::string& key) const;
  // Keys and headers included.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    http::Response answer;
    TimePoint at{};
  };
  using KeptDocuments = std::map<std::string, Kept>;
  void drop(KeptDocuments::iterator one);

  Duration fresh_for_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  TimePoint doubted_until_{};
  KeptDocuments kept_;
};

// What is passed on: "/api", "/apis" and the lists of a group's or version's kinds, "/version",
// "/openapi/...".
bool is_passed_document(const std::string& path);

}  // namespace kubewatch::apiserver

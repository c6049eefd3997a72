// Documents of another server that are passed on and kept for a while: discovery, versions, the
// schema. An old one is better than none when that server is away. Bounded. No I/O; time is an
// argument.
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

  // `key` is path, query and Accept. Only whole good answers (200) are kept.
  void keep(const std::string& key, http::Response answer, TimePoint now);
  // Null when there is none, or none that is new enough.
  const http::Response* fresh(const std::string& key, TimePoint now) const;
  // What was kept before that time is not new enough any more: kinds may have come or gone.
  void doubt_until(TimePoint time) { doubted_until_ = std::max(doubted_until_, time); }
  // However old, and doubted or not.
  const http::Response* any(const std::string& key) const;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    http::Response answer;
    TimePoint at{};
  };
  Duration fresh_for_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  TimePoint doubted_until_{};
  std::map<std::string, Kept> kept_;
};

// What is passed on: "/api", "/apis" and the lists of a group's or version's kinds, "/version",
// "/openapi/...".
bool is_passed_document(const std::string& path);

}  // namespace kubewatch::apiserver

// HTTP as data: requests, response heads, header lists. No I/O.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::http {

// Names compare without case; order and duplicates are kept.
class Headers {
 public:
  void add(std::string name, std::string value);
  void set(std::string name, std::string value);
  // The first value, or "".
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct Request {
  std::string method = "GET";
  std::string url;  // absolute
  Headers headers;  // a name or value with CR, LF or NUL fails the request with kind invalid
  std::string body;
  // A watch sets streaming: no response deadline, only `idle`.
  bool streaming = false;
  Duration connect_timeout{10000};
  Duration response_timeout{30000};  // whole answer, unless streaming; 0 = none
  // No sign of life for so long ends the answer, streaming or not; 0 = none. A sign is its head,
  // then each so many bytes: an answer that trickles is to end as well where it is no watch.
  Duration idle_timeout{0};
  std::size_t idle_bytes = 1;
  // Unless streaming; after decompression. No more than can be read (base::JsonLimits).
  std::size_t max_body = 64U << 20U;
  // Asked each time it is really sent, also by a transport that lets requests wait: how long it may
  // take from then (0: as above), or why it may not be sent any more, which ends it. Null: always.
  std::function<Result<Duration>()> admit;
};

// Asks `admit` now: its answer, whole, is there within the time that it gives, or the request ends
// with kind timeout. Errors: those of `admit`.
Result<void> ask_admission(Request& request);

struct ResponseHead {
  int status = 0;
  Headers headers;
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

}  // namespace kubewatch::http

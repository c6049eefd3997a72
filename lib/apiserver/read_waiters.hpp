// Requests that wait until a cache has come as far as they ask, each for a bounded time. What waits
// is the caller's. No I/O; time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace kubewatch::apiserver {

template <class Request>
class VersionWaiters {
 public:
  void add(std::uint64_t version, TimePoint deadline, Request request) {
    waiting_.push_back({version, deadline, std::move(request)});
  }
  // In the order in which they came.
  std::vector<Request> take_reached(std::uint64_t version) {
    return take([&](const Entry& entry) { return entry.version <= version; });
  }
  std::vector<Request> take_expired(TimePoint now) {
    return take([&](const Entry& entry) { return entry.deadline <= now; });
  }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Entry {
    std::uint64_t version;
    TimePoint deadline;
    Request request;
  };
  template <class Wanted>
  std::vector<Request> take(const Wanted& wanted) {
    std::vector<Request> out;
    std::vector<Entry> left;
    for (Entry& entry : waiting_) {
      if (wanted(entry)) {
        out.push_back(std::move(entry.request));
      } else {
        left.push_back(std::move(entry));
      }
    }
    waiting_ = std::move(left);
    return out;
  }
  std::vector<Entry> waiting_;
};

}  // namespace kubewatch::apiserver

// What `watch --stats` tells: events and bytes by kind, relists, reconnects, and how long an event
// waited in this process. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "runtime/failure_counts.hpp"

namespace kubewatch::cli::watch {

// Durations in buckets that grow by a half: the p99 is right to that, with nothing kept per event.
class LagHistogram {
 public:
  void add(Duration lag, std::uint64_t times = 1);
  // The upper end of the bucket in which so much of what was added lies; 0 when nothing was.
  Duration quantile(double part) const;
  Duration longest() const { return longest_; }

 private:
  static constexpr std::size_t kBuckets = 40;
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0;
  Duration longest_{0};
};

struct SourceStats {
  std::uint64_t objects = 0;  // now
  std::uint64_t events = 0;   // of its watch, as sent
  std::uint64_t reconnects = 0;
  std::uint64_t relists = 0;
  runtime::FailureCounts failures{};
  std::uint64_t bytes = 0;  // of lists and watches, unpacked
};

// For people, one line each: "pods: 3 objects, ..., 2 failures (watch start 2)", then all together.
std::string stats_text(const std::map<std::string, SourceStats>& sources, std::uint64_t shown,
                       const LagHistogram& lag, Duration running);

}  // namespace kubewatch::cli::watch

#include "cli/watch/watch_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kubewatch::cli::watch {

namespace {

// The upper ends: 1, 2, 3, 5, 8, ... ms.
Duration end_of(std::size_t bucket) {
  return Duration{static_cast<std::int64_t>(std::ceil(std::pow(1.5, bucket)))};
}

}  // namespace

void LagHistogram::add(Duration lag, std::uint64_t times) {
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && end_of(bucket) < lag) ++bucket;
  counts_[bucket] += times;
  total_ += times;
  longest_ = std::max(longest_, lag);
}

Duration LagHistogram::quantile(double part) const {
  if (total_ == 0) return Duration{0};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(total_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return std::min(end_of(bucket), longest_);
  }
  return longest_;
}

std::string stats_text(const std::map<std::string, SourceStats>& sources, std::uint64_t shown,
                       const LagHistogram& lag, Duration running) {
  std::string out;
  for (const auto& [name, one] : sources) {
    const std::string where = runtime::to_text(one.failures);
    out += fmt::format(
        "stats: {}: {} objects, {} events, {} bytes, {} relists, {} reconnects, {} failures{}\n",
        name, one.objects, one.events, one.bytes, one.relists, one.reconnects,
        std::accumulate(one.failures.begin(), one.failures.end(), std::uint64_t{0}),
        where.empty() ? "" : " (" + where + ")");
  }
  return out + fmt::format(
                   "stats: {} shown in {}; from receipt to output p50 {} ms, p99 {} ms, "
                   "longest {} ms\n",
                   shown, base::format_duration(running), lag.quantile(0.5).count(),
                   lag.quantile(0.99).count(), lag.longest().count());
}

}  // namespace kubewatch::cli::watch

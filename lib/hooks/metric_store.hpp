// Metric series in memory: counters, gauges and histograms with labels, each of which may expire,
// a bounded number in all. Pure; metric_text writes them down.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::hooks {

enum class MetricKind { counter, gauge, histogram };
std::string_view to_string(MetricKind kind);
// As Prometheus has names: those of metrics with colons, those of labels without.
bool is_metric_name(std::string_view text, bool colons);

// Two bounds of buckets, also as they are written down: with 16 digits.
bool rises(double bound, double next);

struct MetricSpec {
  std::string name;
  MetricKind kind = MetricKind::counter;
  std::string help;
  std::vector<double> buckets{};  // histogram: upper bounds, rising
};

using MetricLabels = std::map<std::string, std::string>;

struct MetricSeries {
  MetricLabels labels;
  double value = 0;                      // counter, gauge; histogram: the sum
  std::uint64_t count = 0;               // histogram
  std::vector<std::uint64_t> buckets{};  // histogram: values in each bucket alone, and beyond
};

struct MetricFamily {
  MetricSpec spec;
  std::vector<MetricSeries> series;
};

class MetricStore {
 public:
  explicit MetricStore(std::size_t most_series) : most_series_(most_series) {}

  // Adds to a counter, sets a gauge, observes in a histogram; makes the series where there is none.
  // It is gone `ttl` after its last value. Errors: invalid (the name is there with another kind, or
  // is one that a histogram's lines have), too_large (too many series).
  Result<void> record(const MetricSpec& spec, const MetricLabels& labels, double value,
                      TimePoint now, std::optional<Duration> ttl = std::nullopt);
  // The series is gone; nothing where there is none. Its name is free for another kind when it was
  // the last.
  void erase(const std::string& name, const MetricLabels& labels);
  // By name, each with its series by label; families without any are left out.
  std::vector<MetricFamily> collect(TimePoint now);
  std::size_t size() const { return series_; }

 private:
  Error too_many(const std::string& name) const;
  std::string clashes_with(const MetricSpec& spec) const;
  struct Entry {
    MetricSeries series;
    std::optional<TimePoint> expires;
  };
  struct Family {
    MetricSpec spec;
    std::map<MetricLabels, Entry> entries;
  };
  void expire(TimePoint now);

  std::size_t most_series_;
  std::size_t series_ = 0;
  std::optional<TimePoint> next_expiry_;
  std::map<std::string, Family> families_;
};

}  // namespace kubewatch::hooks

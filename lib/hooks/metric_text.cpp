#include "hooks/metric_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>

namespace kubewatch::hooks {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return prometheus::MetricType::Counter;
    case MetricKind::gauge: return prometheus::MetricType::Gauge;
    case MetricKind::histogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram histogram_of(const MetricSpec& spec,
                                                 const MetricSeries& series) {
  prometheus::ClientMetric::Histogram out;
  out.sample_count = series.count;
  out.sample_sum = series.value;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < series.buckets.size(); ++i) {
    below += series.buckets[i];
    const bool last = i >= spec.buckets.size();
    out.bucket.push_back({below, last ? std::numeric_limits<double>::infinity() : spec.buckets[i]});
  }
  return out;
}

// The serializer escapes values of labels alone, and what a hook says may have lines.
std::string escaped_help(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string metric_text(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> out;
  for (const MetricFamily& family : families) {
    prometheus::MetricFamily one;
    one.name = family.spec.name;
    one.help = escaped_help(family.spec.help);
    one.type = type_of(family.spec.kind);
    for (const MetricSeries& series : family.series) {
      prometheus::ClientMetric metric;
      for (const auto& [name, value] : series.labels) metric.label.push_back({name, value});
      metric.counter.value = series.value;
      metric.gauge.value = series.value;
      if (family.spec.kind == MetricKind::histogram) {
        metric.histogram = histogram_of(family.spec, series);
      }
      one.metric.push_back(std::move(metric));
    }
    out.push_back(std::move(one));
  }
  return prometheus::TextSerializer().Serialize(out);
}

}  // namespace kubewatch::hooks

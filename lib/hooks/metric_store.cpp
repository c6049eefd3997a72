#include "hooks/metric_store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"

namespace kubewatch::hooks {
namespace {

// What a histogram is written down as, besides its name.
constexpr std::string_view kOfHistograms[] = {"_bucket", "_count", "_sum"};

}  // namespace

std::string_view to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return "counter";
    case MetricKind::gauge: return "gauge";
    case MetricKind::histogram: return "histogram";
  }
  return "";
}

bool is_metric_name(std::string_view text, bool colons) {
  const auto letter = [&](char c) {
    return base::is_letter(c) || c == '_' || (colons && c == ':');
  };
  const auto rest = [&](char c) { return letter(c) || base::is_digit(c); };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), rest);
}

bool rises(double bound, double next) {
  return bound < next && fmt::format("{:.16g}", bound) != fmt::format("{:.16g}", next);
}

Error MetricStore::too_many(const std::string& name) const {
  return Error(ErrorKind::too_large,
               fmt::format("metric {}: more than {} series; use labels with few values, or ttl",
                           name, most_series_));
}

// The other metric whose lines would be taken for this one's; "" = none.
std::string MetricStore::clashes_with(const MetricSpec& spec) const {
  for (const std::string_view part : kOfHistograms) {
    const std::string longer = spec.name + std::string(part);
    if (spec.kind == MetricKind::histogram && families_.contains(longer)) return longer;
    if (!spec.name.ends_with(part)) continue;
    const auto other = families_.find(spec.name.substr(0, spec.name.size() - part.size()));
    if (other != families_.end() && other->second.spec.kind == MetricKind::histogram) {
      return other->first;
    }
  }
  return "";
}

Result<void> MetricStore::record(const MetricSpec& spec, const MetricLabels& labels, double value,
                                 TimePoint now, std::optional<Duration> ttl) {
  expire(now);
  if (series_ >= most_series_ && families_.count(spec.name) == 0) return too_many(spec.name);
  if (const std::string other = clashes_with(spec); !other.empty()) {
    const bool longer = other.size() > spec.name.size();
    return Error(
        ErrorKind::invalid,
        fmt::format("metric {}: there is {} already, and a histogram {} is written down "
                    "with lines called {}",
                    spec.name, other, longer ? spec.name : other, longer ? other : spec.name));
  }
  Family& family = families_.try_emplace(spec.name, Family{spec, {}}).first->second;
  if (family.spec.kind != spec.kind) {
    return Error(ErrorKind::invalid,
                 fmt::format("metric {} is a {} already, it cannot be a {} as well", spec.name,
                             to_string(family.spec.kind), to_string(spec.kind)));
  }
  auto it = family.entries.find(labels);
  if (it == family.entries.end()) {
    if (series_ >= most_series_) {
      return too_many(spec.name);
    }
    ++series_;
    it = family.entries.try_emplace(labels, Entry{{labels, 0, 0, {}}, {}}).first;
    it->second.series.buckets.resize(family.spec.buckets.size() + 1);
  }
  MetricSeries& series = it->second.series;
  series.value = spec.kind == MetricKind::gauge ? value : series.value + value;
  if (spec.kind == MetricKind::histogram) {
    const auto& bounds = family.spec.buckets;  // those that came first
    const auto at = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
    ++series.buckets[static_cast<std::size_t>(at)];
    ++series.count;
  }
  it->second.expires = ttl ? std::optional(now + *ttl) : std::nullopt;
  if (ttl && (!next_expiry_ || now + *ttl < *next_expiry_)) next_expiry_ = now + *ttl;
  return {};
}

void MetricStore::expire(TimePoint now) {
  if (!next_expiry_ || now < *next_expiry_) return;
  next_expiry_.reset();
  for (auto family = families_.begin(); family != families_.end();) {
    auto& entries = family->second.entries;
    for (auto it = entries.begin(); it != entries.end();) {
      const auto& expires = it->second.expires;
      const bool over = expires && *expires <= now;
      if (!over && expires && (!next_expiry_ || *expires < *next_expiry_)) next_expiry_ = expires;
      series_ -= over ? 1 : 0;
      it = over ? entries.erase(it) : std::next(it);
    }
    // Its name is free for another kind.
    family = entries.empty() ? families_.erase(family) : std::next(family);
  }
}

void MetricStore::erase(const std::string& name, const MetricLabels& labels) {
  const auto family = families_.find(name);
  if (family == families_.end()) return;
  series_ -= family->second.entries.erase(labels);
  if (family->second.entries.empty()) families_.erase(family);
}

std::vector<MetricFamily> MetricStore::collect(TimePoint now) {
  expire(now);
  std::vector<MetricFamily> out;
  for (const auto& [name, family] : families_) {
    if (family.entries.empty()) continue;
    MetricFamily& one = out.emplace_back(MetricFamily{family.spec, {}});
    for (const auto& [labels, entry] : family.entries) one.series.push_back(entry.series);
  }
  return out;
}

}  // namespace kubewatch::hooks

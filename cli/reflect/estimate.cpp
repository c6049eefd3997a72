#include "cli/reflect/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/reflect/report.hpp"
#include "core/json_cut.hpp"
#include "core/json_scan.hpp"
#include "core/meta.hpp"
#include "runtime/store.hpp"

namespace kubewatch::cli {

namespace {

constexpr double kWorthNaming = 0.05;  // of the cache
constexpr std::size_t kMostStrips = 3;
constexpr std::size_t kMostLabels = 3;

// What a store of these options holds once it has settled.
Cost cost_of(const std::vector<std::string>& items, runtime::StoreOptions options,
             std::string how) {
  runtime::Store store(std::move(options));
  store.begin_init();
  for (const auto& item : items) {
    // What cannot be read costs nothing and is counted by the real cache.
    (void)store.init_apply(item);
  }
  store.finish_init("1", nullptr);
  while (store.compact_some(items.size() + 1)) {
  }
  const auto stats = store.stats();
  Cost out;
  out.how = std::move(how);
  if (stats.objects == 0) return out;
  const auto count = static_cast<double>(stats.objects);
  out.json_per_object = static_cast<double>(stats.json_bytes) / count;
  out.cache_per_object = static_cast<double>(stats.held_bytes) / count;
  return out;
}

// Top-level members, and annotations, by their bytes: what would be worth dropping.
std::vector<std::pair<std::string, std::string>> heavy_parts(
    const std::vector<std::string>& items) {
  std::map<std::string, std::uint64_t> bytes;
  std::uint64_t all = 0;
  for (const auto& item : items) {
    all += item.size();
    // Broken items are counted up to where they break.
    (void)core::for_each_member(item, [&](const core::JsonMember& member) {
      if (member.key != "metadata") {
        bytes["/" + std::string(member.key)] += member.value.size();
        return;
      }
      (void)core::for_each_member(member.value, [&](const core::JsonMember& inner) {
        if (inner.key == "annotations") bytes["/metadata/annotations"] += inner.value.size();
        if (inner.key == "managedFields") all -= std::min<std::uint64_t>(all, inner.value.size());
      });
    });
  }
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [pointer, size] : bytes) {
    if (pointer == "/apiVersion" || pointer == "/kind") continue;
    if (static_cast<double>(size) > kWorthNaming * static_cast<double>(all)) {
      order.emplace_back(size, pointer);
    }
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [size, pointer] : order) {
    if (out.size() == kMostStrips) break;
    std::string path = pointer;
    std::replace(path.begin(), path.end(), '/', '.');
    out.emplace_back(pointer, path);
  }
  return out;
}

// The label pairs that split the kind best: many objects, but not all.
std::vector<std::pair<std::string, double>> common_labels(const std::vector<std::string>& items) {
  std::map<std::string, std::size_t> counts;
  for (const auto& item : items) {
    const auto meta = core::parse_meta(item);
    if (!meta.ok()) continue;
    for (const auto& [key, value] : meta->labels) ++counts[key + "=" + value];
  }
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [pair, count] : counts) {
    if (count < items.size() && count * 50 > items.size()) order.emplace_back(count, pair);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::pair<std::string, double>> out;
  for (const auto& [count, pair] : order) {
    if (out.size() == kMostLabels) break;
    out.emplace_back(pair, static_cast<double>(count) / static_cast<double>(items.size()));
  }
  return out;
}

}  // namespace

void Sampler::add(std::string_view item) {
  // Not those further on that would still fit: the sample would be of small ones.
  if (left_out_ > 0 || (!sample_.items.empty() && item.size() > budget_)) {
    ++left_out_;
    return;
  }
  sample_.items.emplace_back(item);
  budget_ -= std::min(budget_, item.size());
}

Sample Sampler::finish(const core::ListPage& page) {
  sample_.remaining = left_out_ + page.remaining.value_or(0);
  sample_.remaining_known = page.remaining || page.continue_token.empty();
  return std::move(sample_);
}

Estimate estimate(const Sample& sample, const runtime::StoreOptions& asked) {
  Estimate out;
  out.type = sample.type;
  out.sampled = sample.items.size();
  out.objects = out.sampled + sample.remaining;
  out.exact_count = sample.remaining_known;
  const Cost first = cost_of(sample.items, asked, "as asked");
  out.costs.push_back(first);
  if (sample.items.empty()) return out;
  if (asked.content == core::Content::full) {
    runtime::StoreOptions metadata = asked;
    metadata.content = core::Content::metadata;
    out.costs.push_back(cost_of(sample.items, std::move(metadata), "--metadata-only"));
    for (const auto& [pointer, path] : heavy_parts(sample.items)) {
      runtime::StoreOptions stripped = asked;
      stripped.strip.push_back(pointer);
      out.costs.push_back(cost_of(sample.items, std::move(stripped), "--strip " + path));
    }
  }
  for (const auto& [pair, share] : common_labels(sample.items)) {
    Cost selected = first;
    selected.how = "-l " + pair;
    selected.share = share;
    out.costs.push_back(std::move(selected));
  }
  return out;
}

std::string estimate_text(const std::vector<Estimate>& all) {
  std::string out;
  for (const auto& one : all) {
    out += base::escape_for_terminal(fmt::format(
               "{}: {} objects{}, from a sample of {}", one.type, one.objects,
               one.exact_count ? "" : " or more (the server does not count what is selected)",
               one.sampled)) +
           "\n";
    if (one.sampled == 0) continue;
    std::size_t width = 4;
    for (const auto& cost : one.costs) width = std::max(width, cost.how.size());
    out += fmt::format("  {:<{}}  {:>12} {:>12} {:>12} {:>7}\n", "HOW", width, "BYTES/OBJECT",
                       "CACHE", "FIRST LIST", "SAVES");
    const double before = one.cache_bytes(one.costs[0]);
    for (const auto& cost : one.costs) {
      const double now = one.cache_bytes(cost);
      const double saved = before <= 0 ? 0 : 100 * (1 - now / before);
      out += fmt::format("  {:<{}}  {:>12.0f} {:>12} {:>12} {:>6.0f}%\n",
                         base::escape_for_terminal(cost.how), width, cost.cache_per_object,
                         human_bytes(now), human_bytes(one.list_bytes(cost)), std::max(0.0, saved));
    }
  }
  return out;
}

Json estimate_json(const std::vector<Estimate>& all) {
  Json out = Json::array();
  for (const auto& one : all) {
    Json costs = Json::array();
    for (const auto& cost : one.costs) {
      costs.push_back({{"how", cost.how},
                       {"share", cost.share},
                       {"jsonBytesPerObject", static_cast<std::uint64_t>(cost.json_per_object)},
                       {"cacheBytesPerObject", static_cast<std::uint64_t>(cost.cache_per_object)},
                       {"cacheBytes", static_cast<std::uint64_t>(one.cache_bytes(cost))}});
    }
    out.push_back({{"type", one.type},
                   {"sampled", one.sampled},
                   {"objects", one.objects},
                   {"exactCount", one.exact_count},
                   {"costs", std::move(costs)}});
  }
  return {{"kinds", std::move(out)}};
}

}  // namespace kubewatch::cli

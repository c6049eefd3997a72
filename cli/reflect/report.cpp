#include "cli/reflect/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/metric_snapshot.hpp"
#include "hooks/metric_text.hpp"
#include "hooks/metrics.hpp"
#include "runtime/failure_counts.hpp"

namespace kubewatch::cli {

namespace {

double seconds_of(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string lag_text(const std::optional<Duration>& lag) {
  return lag ? fmt::format("{:.1f}s", seconds_of(*lag)) : "-";
}

std::string place(const KindFigures& kind) {
  return cache_text(kind.type, kind.name, kind.namespace_);
}

runtime::StoreStats sum_of(const std::vector<KindFigures>& kinds) {
  runtime::StoreStats sum;
  for (const auto& kind : kinds) {
    sum.objects += kind.store.objects;
    sum.json_bytes += kind.store.json_bytes;
    sum.held_bytes += kind.store.held_bytes;
    sum.relists += kind.store.relists;
    sum.unparsable += kind.store.unparsable;
  }
  return sum;
}

double per_object(const runtime::StoreStats& store) {
  return store.objects == 0
             ? 0
             : static_cast<double>(store.held_bytes) / static_cast<double>(store.objects);
}

Json failures_of(const KindFigures& kind) {
  return failures_json(kind.stream);
}

hooks::WatchFacts watch_of(const KindFigures& kind) {
  hooks::WatchFacts out;
  out.resource = cache_text(kind.type, kind.name, "");
  out.namespace_ = kind.namespace_;
  out.synced = kind.synced;
  out.failing_for = kind.failing_for;
  out.failure = kind.failure;
  out.relists = kind.store.relists;
  out.reconnects = kind.stream.reconnects;
  out.failures = kind.stream.failures;
  out.objects = kind.store.objects;
  out.bytes = kind.store.held_bytes;
  return out;
}

}  // namespace

double KindFigures::bytes_per_object() const {
  return per_object(store);
}

std::vector<KindFigures> figures_of(const CachedKinds& kinds, TimePoint now) {
  std::vector<KindFigures> out;
  for (const auto& kind : kinds) {
    KindFigures one;
    one.type = kind->type().qualified_plural();
    one.namespace_ = kind->namespace_name();
    one.name = kind->plan().name;
    one.synced = kind->synced();
    one.store = kind->store().stats();
    one.stream = kind->reflector().stats();
    one.resource_version = kind->resource_version();
    one.lag = kind->lag();
    one.failure = kind->reflector().last_failure().value_or("");
    if (const auto since = kind->reflector().failing_since()) one.failing_for = now - *since;
    out.push_back(std::move(one));
  }
  return out;
}

ProcessFigures process_figures(Duration since_start) {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  in >> total >> resident;
  return {resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), seconds_of(since_start)};
}

Json figures_json(const std::vector<KindFigures>& kinds, const ProcessFigures& process) {
  Json list = Json::array();
  for (const auto& kind : kinds) {
    list.push_back({{"type", kind.type},
                    {"namespace", kind.namespace_},
                    {"objects", kind.store.objects},
                    {"jsonBytes", kind.store.json_bytes},
                    {"heldBytes", kind.store.held_bytes},
                    {"bytesPerObject", static_cast<std::uint64_t>(kind.bytes_per_object())},
                    {"relists", kind.store.relists},
                    {"reconnects", kind.stream.reconnects},
                    {"unparsable", kind.store.unparsable},
                    {"lagSeconds", kind.lag ? Json(seconds_of(*kind.lag)) : Json()},
                    {"failures", failures_of(kind)},
                    {"resourceVersion", kind.resource_version}});
    if (!kind.name.empty()) list.back()["name"] = kind.name;
  }
  const auto sum = sum_of(kinds);
  return {{"objects", sum.objects},
          {"jsonBytes", sum.json_bytes},
          {"heldBytes", sum.held_bytes},
          {"bytesPerObject", static_cast<std::uint64_t>(per_object(sum))},
          {"relists", sum.relists},
          {"unparsable", sum.unparsable},
          {"rssBytes", process.resident_bytes},
          {"seconds", process.seconds},
          {"kinds", list}};
}

std::string figures_text(const std::vector<KindFigures>& kinds, const ProcessFigures& process) {
  std::size_t width = 4;
  for (const auto& kind : kinds) width = std::max(width, place(kind).size());
  std::string out =
      fmt::format("{:<{}}  {:>9} {:>14} {:>13} {:>12} {:>8} {:>7}\n", "KIND", width, "OBJECTS",
                  "BYTES OF JSON", "BYTES HELD", "BYTES/OBJECT", "RELISTS", "LAG");
  for (const auto& kind : kinds) {
    out += fmt::format("{:<{}}  {:>9} {:>14} {:>13} {:>12.0f} {:>8} {:>7}\n",
                       base::escape_for_terminal(place(kind)), width, kind.store.objects,
                       kind.store.json_bytes, kind.store.held_bytes, kind.bytes_per_object(),
                       kind.store.relists, lag_text(kind.lag));
  }
  for (const auto& kind : kinds) {
    const std::string failures = runtime::to_text(kind.stream.failures);
    if (failures.empty()) continue;
    out += base::escape_for_terminal(
               fmt::format("{}: failed and repaired: {}", place(kind), failures)) +
           "\n";
  }
  const auto sum = sum_of(kinds);
  return out + fmt::format("{} objects, {} bytes of JSON, {} bytes held, RSS {} bytes, {:.3f} s\n",
                           sum.objects, sum.json_bytes, sum.held_bytes, process.resident_bytes,
                           process.seconds);
}

std::string human_bytes(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string status_line(const std::vector<KindFigures>& kinds,
                        const std::optional<apiserver::ReadCounters>& served) {
  std::vector<std::string> words;
  std::optional<Duration> lag;
  for (const auto& kind : kinds) {
    std::string word = fmt::format("{} {}", place(kind), kind.store.objects);
    if (!kind.failure.empty()) {
      word += " (failing)";
    } else if (!kind.synced) {
      word += " (syncing)";
    }
    words.push_back(std::move(word));
    if (kind.lag) lag = std::max(lag.value_or(Duration{0}), *kind.lag);
  }
  std::string out = base::join(words, ", ") + " | " +
                    human_bytes(static_cast<double>(sum_of(kinds).held_bytes)) + " | lag " +
                    lag_text(lag);
  if (served) {
    out += fmt::format(" | {} watches, {} requests", served->watches_open, served->requests);
  }
  return base::escape_for_terminal(out);
}

hooks::EngineFacts facts_of(const std::vector<KindFigures>& kinds) {
  hooks::EngineFacts out;
  out.discovered = true;
  for (const auto& kind : kinds) out.watches.push_back(watch_of(kind));
  return out;
}

std::string metrics_of(const std::vector<KindFigures>& kinds, const ProcessFigures& process,
                       const std::optional<apiserver::ReadCounters>& served, bool ready) {
  hooks::MetricSnapshot out;
  const auto number = [](auto value) { return static_cast<double>(value); };
  for (const auto& kind : kinds) {
    hooks::MetricLabels name;
    if (!kind.name.empty()) name["name"] = kind.name;
    hooks::WatchFacts watch = watch_of(kind);
    watch.resource = kind.type;
    hooks::add_watch(watch, name, out);
    hooks::MetricLabels labels = std::move(name);
    labels.insert({{"resource", kind.type}, {"namespace", kind.namespace_}});
    out.add("kubewatch_cache_json_bytes", labels, number(kind.store.json_bytes));
    out.add("kubewatch_cache_synced", labels, kind.synced ? 1 : 0, hooks::MetricSnapshot::least);
    out.add("kubewatch_cache_events_total", labels, number(kind.stream.events));
    if (!kind.lag) continue;
    out.add("kubewatch_cache_lag_seconds", labels, seconds_of(*kind.lag),
            hooks::MetricSnapshot::most);
  }
  hooks::ProcessFacts usage;
  hooks::read_process(usage);
  hooks::add_process(ready, usage.cpu_seconds, number(process.resident_bytes), out);
  if (served) {
    out.add("kubewatch_serve_requests_total", {}, number(served->requests));
    out.add("kubewatch_serve_refused_total", {}, number(served->refused));
    out.add("kubewatch_serve_forwarded_total", {}, number(served->forwarded));
    out.add("kubewatch_serve_objects_total", {}, number(served->objects_sent));
    out.add("kubewatch_serve_watches_total", {}, number(served->watches));
    out.add("kubewatch_serve_watches_open", {}, number(served->watches_open));
    out.add("kubewatch_serve_watches_dropped_total", {}, number(served->watches_dropped));
  }
  std::vector<hooks::MetricFamily> families;
  out.append_to(families);
  return hooks::metric_text(families);
}

}  // namespace kubewatch::cli

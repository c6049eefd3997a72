// What a set of caches says of itself: the figures of --once as text and JSON, the status line, the
// facts and text of /metrics. Pure but for this process's own memory.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/read_server.hpp"
#include "base/json_fwd.hpp"
#include "cli/reflect/kinds.hpp"
#include "hooks/facts.hpp"

namespace kubewatch::cli {

// Figures of one cache at one moment.
struct KindFigures {
  std::string type;  // "deployments.apps"
  std::string namespace_;
  std::string name;  // of one object; "" = all
  bool synced = false;
  runtime::StoreStats store;
  runtime::ReflectorStats stream;
  std::string resource_version;
  std::optional<Duration> lag;
  std::optional<Duration> failing_for;
  std::string failure;
  double bytes_per_object() const;
};
std::vector<KindFigures> figures_of(const CachedKinds& kinds, TimePoint now);

struct ProcessFigures {
  std::uint64_t resident_bytes = 0;
  double seconds = 0;
};
ProcessFigures process_figures(Duration since_start);

// --once -o json.
Json figures_json(const std::vector<KindFigures>& kinds, const ProcessFigures& process);
// --once: a table and a line.
std::string figures_text(const std::vector<KindFigures>& kinds, const ProcessFigures& process);
// "pods 100000, configmaps 12 (syncing) · 63.1 MB · lag 0.4s · 3 watches": one line, escaped.
std::string status_line(const std::vector<KindFigures>& kinds,
                        const std::optional<apiserver::ReadCounters>& served);
// "63.1 MB".
std::string human_bytes(double bytes);

hooks::EngineFacts facts_of(const std::vector<KindFigures>& kinds);
// Prometheus' text format.
std::string metrics_of(const std::vector<KindFigures>& kinds, const ProcessFigures& process,
                       const std::optional<apiserver::ReadCounters>& served, bool ready);

}  // namespace kubewatch::cli

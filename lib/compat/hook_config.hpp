// What a shell-operator hook prints for --config, as data: parsed, checked field by field, defaults
// filled in. Pure. What it asks for is opened and run by engine.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "compat/crontab.hpp"
#include "core/selector.hpp"
#include "jq/jq.hpp"

namespace kubewatch::compat {

inline constexpr std::string_view kMainQueue = "main";

enum class WatchEvent { added, modified, deleted };
std::string_view to_string(WatchEvent event);

// What bindings of both kinds share.
struct Binding {
  std::string name;  // "kubernetes" or "schedule" where none is given; need not be unique
  std::string queue{kMainQueue};
  std::string group;
  bool allow_failure = false;
  std::vector<std::string> snapshots_from;  // names of kubernetes bindings
};

struct ScheduleBinding : Binding {
  std::optional<Crontab> crontab;  // always set
};

struct KubernetesBinding : Binding {
  std::string api_version;  // "" = the one that the server prefers
  std::string kind;         // as kubectl would take it: kind, plural, short name
  std::set<WatchEvent> events{WatchEvent::added, WatchEvent::modified, WatchEvent::deleted};
  bool on_synchronization = true;
  bool wait_for_synchronization = true;
  bool keep_objects = true;
  std::vector<std::string> names;  // empty: all
  core::LabelSelector label_selector;
  core::FieldSelector field_selector;
  std::vector<std::string> namespaces;  // empty: all
  core::LabelSelector namespace_selector;
  std::optional<jq::Program> filter;
};

// A token bucket: `burst` runs at once, then one every `min_interval`. 0 = no limit.
struct RateSettings {
  Duration min_interval{0};
  std::size_t burst = 1;
};

struct HookConfig {
  std::optional<double> on_startup;  // the order
  std::vector<KubernetesBinding> kubernetes;
  std::vector<ScheduleBinding> schedules;
  RateSettings rate;
  std::vector<std::string> notes;  // what is accepted and has no effect
};

// Errors: invalid, "LINE:COLUMN: kubernetes[0].knd: ..."; unsupported for bindings that are not
// run here.
Result<HookConfig> parse_hook_config(std::string_view text);

}  // namespace kubewatch::compat

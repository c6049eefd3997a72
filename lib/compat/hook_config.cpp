// The schema of configVersion v1.
#include "compat/hook_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "compat/config_node.hpp"
#include "core/resource.hpp"

namespace kubewatch::compat {
namespace {

constexpr std::size_t kMaxConfigBytes = 1U << 20U;
constexpr std::size_t kMaxBindings = 1000;

void read_common(ConfigNode& node, Binding& binding) {
  node.text("name", binding.name);
  node.text("queue", binding.queue);
  node.text("group", binding.group);
  node.flag("allowFailure", binding.allow_failure);
  node.texts("includeSnapshotsFrom", binding.snapshots_from);
}

void read_schedule(ConfigNode& node, HookConfig& config) {
  ScheduleBinding binding;
  binding.name = "schedule";
  read_common(node, binding);
  std::string crontab;
  node.text("crontab", crontab);
  if (!node.failed() && crontab.empty()) return node.fail("", "crontab is missing");
  if (node.failed()) return;
  auto parsed = Crontab::parse(crontab);
  if (!parsed.ok()) return node.fail("crontab", parsed.error().render());
  binding.crontab = *std::move(parsed);
  config.schedules.push_back(std::move(binding));
}

void read_events(ConfigNode& node, KubernetesBinding& binding) {
  // The first is the older name of the second, which counts where both are there.
  for (const std::string key : {"watchEvent", "executeHookOnEvent"}) {
    std::vector<std::string> names;
    node.texts(key, names);
    if (!node.has(key)) continue;
    binding.events.clear();
    for (const std::string& name : names) {
      const auto all = {WatchEvent::added, WatchEvent::modified, WatchEvent::deleted};
      const auto* event = std::find_if(all.begin(), all.end(),
                                       [&](WatchEvent one) { return to_string(one) == name; });
      if (event == all.end()) {
        return node.fail(key, "has \"" + base::escape_for_terminal(name.substr(0, 40)) +
                                  "\"; known are Added, Modified and Deleted");
      }
      binding.events.insert(*event);
    }
  }
}

void read_names(ConfigNode& node, const std::string& key, std::vector<std::string>& into) {
  // A plain list is what the example in the documentation of shell-operator has.
  if (node.raw(key).is_array()) return node.texts(key, into);
  node.object(key, [&](ConfigNode& selector) { selector.texts("matchNames", into); });
}

void read_labels(ConfigNode& node, const std::string& key, core::LabelSelector& into) {
  auto selector = core::LabelSelector::from_json(node.raw(key));
  if (!selector.ok()) return node.fail(key, selector.error().message());
  into = *std::move(selector);
}

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

void read_field(ConfigNode& node, const KubernetesBinding& binding, std::string& text) {
  std::string field;
  std::string op;
  std::string value;
  node.text("field", field);
  node.text("operator", op);
  node.text("value", value, true);
  if (node.failed()) return;
  if (field.empty()) return node.fail("", "field is missing");
  const bool equal = op == "=" || op == "==" || op == "Equals";
  if (!equal && op != "!=" && op != "NotEquals") {
    return node.fail("operator", "must be =, ==, Equals, != or NotEquals");
  }
  if (field == "metadata.name" && !binding.names.empty()) {
    return node.fail("field", "metadata.name and nameSelector exclude each other");
  }
  if (!text.empty()) text += ',';
  text += field + (equal ? "=" : "!=") + escaped(value);
}

void read_field_selector(ConfigNode& node, KubernetesBinding& binding) {
  std::string text;
  node.object("fieldSelector", [&](ConfigNode& selector) {
    selector.list("matchExpressions", [&](ConfigNode& entry) { read_field(entry, binding, text); });
  });
  if (node.failed()) return;
  auto parsed = core::FieldSelector::parse(text);
  if (!parsed.ok()) return node.fail("fieldSelector", parsed.error().message());
  binding.field_selector = *std::move(parsed);
}

void read_filter(ConfigNode& node, KubernetesBinding& binding) {
  std::string filter;
  node.text("jqFilter", filter, true);
  if (node.failed() || base::trim(filter).empty()) return;
  auto program = jq::Program::compile(filter);
  if (!program.ok()) return node.fail("jqFilter", program.error().render());
  binding.filter = *std::move(program);
}

void read_selectors(ConfigNode& node, KubernetesBinding& binding) {
  read_names(node, "nameSelector", binding.names);
  read_labels(node, "labelSelector", binding.label_selector);
  read_field_selector(node, binding);
  node.object("namespace", [&](ConfigNode& place) {
    read_names(place, "nameSelector", binding.namespaces);
    read_labels(place, "labelSelector", binding.namespace_selector);
  });
}

void read_kubernetes(ConfigNode& node, HookConfig& config) {
  KubernetesBinding binding;
  binding.name = "kubernetes";
  read_common(node, binding);
  node.text("kind", binding.kind);
  if (!node.failed() && binding.kind.empty()) return node.fail("", "kind is missing");
  node.text("apiVersion", binding.api_version, true);
  if (!binding.api_version.empty() && !core::parse_group_version(binding.api_version).ok()) {
    return node.fail("apiVersion", "must be VERSION or GROUP/VERSION");
  }
  read_events(node, binding);
  node.flag("executeHookOnSynchronization", binding.on_synchronization);
  node.flag("waitForSynchronization", binding.wait_for_synchronization);
  if (!binding.wait_for_synchronization && !node.has("queue")) {
    binding.wait_for_synchronization = true;
    config.notes.push_back(binding.name +
                           ": waitForSynchronization: false has no effect without queue, as with "
                           "shell-operator");
  }
  node.flag("keepFullObjectsInMemory", binding.keep_objects);
  if (node.has("resynchronizationPeriod")) {
    node.ignore("resynchronizationPeriod");
    config.notes.push_back(binding.name +
                           ": resynchronizationPeriod has no effect, as with shell-operator: "
                           "no event is missed that a resync would have to make good");
  }
  read_selectors(node, binding);
  read_filter(node, binding);
  if (!node.failed()) config.kubernetes.push_back(std::move(binding));
}

void read_settings(ConfigNode& node, RateSettings& rate) {
  std::string interval;
  std::optional<double> burst;
  node.text("executionMinInterval", interval);
  node.number("executionBurst", burst);
  if (node.failed()) return;
  if (!interval.empty()) {
    auto parsed = base::parse_duration(interval);
    if (!parsed.ok() || *parsed < Duration{0}) {
      return node.fail("executionMinInterval", "must be a duration as 3s or 1m30s");
    }
    rate.min_interval = *parsed;
  }
  if (!burst) return;
  if (*burst < 1 || *burst > 1e6 || std::floor(*burst) != *burst) {
    return node.fail("executionBurst", "must be a whole number from 1 to 1000000");
  }
  rate.burst = static_cast<std::size_t>(*burst);
}

void check_version(ConfigNode& node) {
  if (!node.has("configVersion")) {
    return node.fail("",
                     "configVersion is missing: the old format without it (v0) is not "
                     "supported; write configVersion: v1 and its bindings");
  }
  std::string version;
  node.text("configVersion", version);
  if (!node.failed() && version != "v1") {
    node.fail("configVersion", "must be v1", ErrorKind::unsupported);
  }
}

void refuse_webhooks(ConfigNode& node) {
  for (const std::string key :
       {"kubernetesValidating", "kubernetesMutating", "kubernetesCustomResourceConversion"}) {
    if (!node.has(key)) continue;
    node.fail(key, "not supported: kubewatch serves no admission or conversion webhooks",
              ErrorKind::unsupported);
  }
}

// Every snapshot that is asked for must be kept by a binding of the same hook.
void check_references(ConfigNode& node, const HookConfig& config) {
  const auto check = [&](const std::string& key, std::size_t index, const Binding& binding) {
    for (const std::string& wanted : binding.snapshots_from) {
      const bool known =
          std::any_of(config.kubernetes.begin(), config.kubernetes.end(),
                      [&](const KubernetesBinding& one) { return one.name == wanted; });
      if (known) continue;
      return node.fail(key, fmt::format("[{}].includeSnapshotsFrom names \"{}\", but this hook "
                                        "has no kubernetes binding of that name",
                                        index, base::escape_for_terminal(wanted)));
    }
  };
  for (std::size_t i = 0; i < config.kubernetes.size(); ++i) {
    check("kubernetes", i, config.kubernetes[i]);
  }
  for (std::size_t i = 0; i < config.schedules.size(); ++i) {
    check("schedule", i, config.schedules[i]);
  }
}

void read_config(ConfigNode& node, HookConfig& config) {
  check_version(node);
  refuse_webhooks(node);
  node.number("onStartup", config.on_startup);
  node.list("schedule", [&](ConfigNode& entry) { read_schedule(entry, config); });
  node.list("kubernetes", [&](ConfigNode& entry) { read_kubernetes(entry, config); });
  node.object("settings", [&](ConfigNode& entry) { read_settings(entry, config.rate); });
  node.finish();
  if (node.failed()) return;
  if (!config.on_startup && config.schedules.empty() && config.kubernetes.empty()) {
    return node.fail("", "has no binding: one of onStartup, schedule and kubernetes is needed");
  }
  if (config.schedules.size() + config.kubernetes.size() > kMaxBindings) {
    return node.fail("", fmt::format("has more than {} bindings", kMaxBindings));
  }
  check_references(node, config);
}

}  // namespace

std::string_view to_string(WatchEvent event) {
  switch (event) {
    case WatchEvent::added: return "Added";
    case WatchEvent::modified: return "Modified";
    case WatchEvent::deleted: break;
  }
  return "Deleted";
}

Result<HookConfig> parse_hook_config(std::string_view text) {
  base::YamlLimits limits;
  limits.max_bytes = kMaxConfigBytes;
  limits.max_nodes = 100'000;
  KW_ASSIGN(const auto documents, base::parse_yaml(text, limits));
  if (documents.empty()) return Error(ErrorKind::invalid, "the hook printed no configuration");
  if (documents.size() > 1) {
    return Error(ErrorKind::invalid, "the hook printed more than one YAML document");
  }
  if (!documents[0].value.is_object()) {
    return Error(ErrorKind::invalid, "the configuration must be a mapping");
  }
  HookConfig config;
  ConfigProblem problem;
  ConfigNode root(documents[0].value, documents[0].marks, problem);
  read_config(root, config);
  if (problem.error) return *problem.error;
  return config;
}

}  // namespace kubewatch::compat

// The part of warnings.hpp that is about Pods and their templates.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/quantity.hpp"
#include "builtin/app_armor.hpp"
#include "builtin/warnings.hpp"
#include "core/resource.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;
using Warnings = std::vector<std::string>;

const Json& none() {
  static const Json empty = Json::array();
  return empty;
}

// The list or map at a path; an empty list where there is none.
const Json& at(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* found = base::find(value, path);
  return found != nullptr && found->is_structured() ? *found : none();
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

using EachItem = std::function<void(const std::string& path, const Json& item)>;

void each_item(const std::string& path, const Json& list, const EachItem& each) {
  if (!list.is_array()) return;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_object()) each(fmt::format("{}[{}]", path, i), list[i]);
  }
}

// In the server's order.
void each_container(const std::string& spec_path, const Json& spec, const EachItem& each) {
  for (const char* kind : {"initContainers", "containers", "ephemeralContainers"}) {
    each_item(spec_path + "." + kind, at(spec, {kind}), each);
  }
}

void warn_of_label(const std::string& path, const std::string& label, Warnings& warnings) {
  const std::string advice = node_label_advice(label);
  if (!advice.empty()) warnings.push_back(fmt::format("{}: {} is {}", path, label, advice));
}

void warn_of_node_term(const std::string& path, const Json& term, Warnings& warnings) {
  each_item(path + ".matchExpressions", at(term, {"matchExpressions"}),
            [&](const std::string& place, const Json& one) {
              warn_of_label(place + ".key", string_at(one, {"key"}), warnings);
              std::size_t index = 0;
              for (const Json& value : at(one, {"values"})) {
                const std::string field = fmt::format("{}.values[{}]", place, index++);
                if (!value.is_string()) continue;
                const std::string text = value.get<std::string>();
                const std::string problem = core::check_label_value(text);
                if (problem.empty()) continue;
                warnings.push_back(fmt::format("{}: {} is invalid, {}", field, text, problem));
              }
            });
}

void warn_of_nodes(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  for (const auto& [key, value] : at(spec, {"nodeSelector"}).items()) {
    const std::string advice = node_label_advice(key);
    if (advice.empty()) continue;
    warnings.push_back(fmt::format("{}.nodeSelector[{}]: {}", spec_path, key, advice));
  }
  const Json& affinity = at(spec, {"affinity", "nodeAffinity"});
  const std::string path = spec_path + ".affinity.nodeAffinity.";
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  const std::string preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  each_item(path + required + ".nodeSelectorTerms", at(affinity, {required, "nodeSelectorTerms"}),
            [&](const std::string& place, const Json& term) {
              warn_of_node_term(place, term, warnings);
            });
  each_item(path + preferred, at(affinity, {preferred}),
            [&](const std::string& place, const Json& term) {
              warn_of_node_term(place + ".preference", at(term, {"preference"}), warnings);
            });
}

void warn_of_no_selector(const std::string& path, const Json& term, Warnings& warnings) {
  const Json* selector = base::find(term, {"labelSelector"});
  if (selector != nullptr && !selector->is_null()) return;
  warnings.push_back(path + ".labelSelector: a null labelSelector results in matching no pod");
}

void warn_of_spread(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  each_item(spec_path + ".topologySpreadConstraints", at(spec, {"topologySpreadConstraints"}),
            [&](const std::string& path, const Json& one) {
              warn_of_label(path + ".topologyKey", string_at(one, {"topologyKey"}), warnings);
              warn_of_no_selector(path, one, warnings);
            });
}

void warn_of_pod_affinity(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const Json& affinity = at(spec, {"affinity", kind});
    const std::string path = fmt::format("{}.affinity.{}.", spec_path, kind);
    const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
    const std::string preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    each_item(path + required, at(affinity, {required}),
              [&](const std::string& place, const Json& term) {
                warn_of_no_selector(place, term, warnings);
              });
    each_item(path + preferred, at(affinity, {preferred}),
              [&](const std::string& place, const Json& term) {
                warn_of_no_selector(place + ".podAffinityTerm", at(term, {"podAffinityTerm"}),
                                    warnings);
              });
  }
}

void warn_of_annotations(const std::string& path, const Json& pod, Warnings& warnings) {
  static const std::array<std::pair<const char*, const char*>, 3> old = {{
      {"scheduler.alpha.kubernetes.io/critical-pod",
       "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
      {"security.alpha.kubernetes.io/sysctls",
       "non-functional in v1.11+; use the \"sysctls\" field instead"},
      {"security.alpha.kubernetes.io/unsafe-sysctls",
       "non-functional in v1.11+; use the \"sysctls\" field instead"},
  }};
  const Json& annotations = at(pod, {"metadata", "annotations"});
  for (const auto& [key, advice] : old) {
    if (!annotations.contains(key)) continue;
    warnings.push_back(
        fmt::format("{}[{}]: {}", joined(path, "metadata.annotations"), key, advice));
  }
}

// Members of a list that should differ in one of their fields.
void warn_of_repeated(const std::string& path, const Json& list, const char* field,
                      Warnings& warnings) {
  std::set<std::string> seen;
  each_item(path, list, [&](const std::string& place, const Json& item) {
    const std::string value = string_at(item, {field});
    if (seen.insert(value).second) return;
    warnings.push_back(
        fmt::format("{}.{}: duplicate {} {}", place, field, field, schema::go_quoted(value)));
  });
}

void warn_of_pull_secrets(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  const std::string path = spec_path + ".imagePullSecrets";
  warn_of_repeated(path, at(spec, {"imagePullSecrets"}), "name", warnings);
  each_item(path, at(spec, {"imagePullSecrets"}),
            [&](const std::string& place, const Json& secret) {
              if (string_at(secret, {"name"}).empty()) {
                warnings.push_back(place + ".name: invalid empty name \"\"");
              }
            });
}

constexpr double kMostBytes = 9e18;  // whole numbers above are no int64 either

void warn_of_fraction(const std::string& path, const Json& resources, const char* name,
                      Warnings& warnings) {
  const std::string text = string_at(resources, {name});
  const auto quantity = base::Quantity::parse(text);
  if (!quantity || quantity->as_int64() || quantity->as_double() > kMostBytes) return;
  warnings.push_back(fmt::format("{}[{}]: fractional byte value {} is invalid, must be an integer",
                                 path, name, schema::go_quoted(text)));
}

// A field that replaced an annotation counts where it is set.
bool has_profile(const Json& context, const char* profile) {
  return !at(context, {"securityContext", profile}).empty();
}

void warn_of_profiles(const std::string& path, const Json& pod, const Json& container,
                      Warnings& warnings) {
  const Json& annotations = at(pod, {"metadata", "annotations"});
  const std::string name = string_at(container, {"name"});
  const std::string field = joined(path, "metadata.annotations");
  const std::string seccomp = "container.seccomp.security.alpha.kubernetes.io/" + name;
  if (annotations.contains(seccomp) && !has_profile(container, "seccompProfile")) {
    warnings.push_back(
        fmt::format("{}[{}]: non-functional in v1.27+; use the \"seccompProfile\" field instead",
                    field, seccomp));
  }
  // Of a Pod of its own it is told when its fields are filled.
  if (path.empty()) return;
  const std::string armor = kAppArmorAnnotation + name;
  const bool armored = has_profile(container, "appArmorProfile") ||
                       has_profile(at(pod, {"spec"}), "appArmorProfile");
  if (annotations.contains(armor) && !armored) {
    warnings.push_back(fmt::format(
        "{}[{}]: deprecated since v1.30; use the \"appArmorProfile\" field instead", field, armor));
  }
}

// A variable may be defined again by what it was before.
void warn_of_variables(const std::string& path, const Json& container, Warnings& warnings) {
  std::set<std::string> seen;
  each_item(path + ".env", at(container, {"env"}), [&](const std::string& place, const Json& one) {
    const std::string name = string_at(one, {"name"});
    if (seen.insert(name).second) return;
    const std::string reference = "$(" + name + ")";
    const std::string value = string_at(one, {"value"});
    const bool extended = value != reference && value.find(reference) != std::string::npos;
    if (extended && at(one, {"valueFrom"}).empty()) return;
    warnings.push_back(
        fmt::format("{}: hides previous definition of {}, which may be dropped when using apply",
                    place, schema::go_quoted(name)));
  });
}

void warn_of_containers(const std::string& path, const std::string& spec_path, const Json& pod,
                        Warnings& warnings) {
  each_container(spec_path, at(pod, {"spec"}), [&](const std::string& place, const Json& one) {
    warn_of_profiles(path, pod, one, warnings);
    for (const char* resource : {"memory", "ephemeral-storage"}) {
      for (const char* kind : {"limits", "requests"}) {
        warn_of_fraction(place + ".resources." + kind, at(one, {"resources", kind}), resource,
                         warnings);
      }
    }
    warn_of_variables(place, one, warnings);
  });
}

struct Port {
  std::string path;
  std::int64_t host_port = 0;
  std::string host_ip;
};

// How a port clashes with one of those that TakenPorts finds for it.
const char* clash(const Port& port, const Port& other) {
  if (port.host_ip == other.host_ip && port.host_port == other.host_port) return "duplicate";
  if (port.host_port == 0 || other.host_port == 0) return "overlapping";
  return "dangerously ambiguous";
}

// Ports of one number and protocol. Thousands of them may have nothing in common on the node: a
// further one is compared only with those that it clashes with.
class TakenPorts {
 public:
  // In their order.
  std::vector<const Port*> clashing_with(const Port& port) const {
    std::vector<std::size_t> found;
    const auto take = [&](std::int64_t host_port, const std::optional<std::string>& host_ip) {
      const auto there = places_.find({host_port, host_ip});
      if (there == places_.end()) return;
      found.insert(found.end(), there->second.begin(), there->second.end());
    };
    if (port.host_port != 0) {
      take(0, std::nullopt);
      take(port.host_port, port.host_ip.empty() ? std::nullopt : std::optional(port.host_ip));
      if (!port.host_ip.empty()) take(port.host_port, "");
      std::sort(found.begin(), found.end());
    } else {
      found.resize(ports_.size());
      std::iota(found.begin(), found.end(), 0);
    }
    std::vector<const Port*> out;
    for (const std::size_t index : found) out.push_back(&ports_[index]);
    return out;
  }

  void add(Port port) {
    places_[{port.host_port, std::nullopt}].push_back(ports_.size());
    places_[{port.host_port, port.host_ip}].push_back(ports_.size());
    ports_.push_back(std::move(port));
  }

 private:
  // By port and address of the node; without an address: of all addresses.
  using Place = std::pair<std::int64_t, std::optional<std::string>>;

  std::vector<Port> ports_;
  std::map<Place, std::vector<std::size_t>> places_;
};

void warn_of_ports(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  std::map<std::pair<std::int64_t, std::string>, TakenPorts> taken;
  const auto warn_of_port = [&](const std::string& path, const Json& given) {
    // Equal ports clash each with each.
    if (warnings.size() > kMostWarnings) return;
    const Port port{path, base::int_at(given, {"hostPort"}).value_or(0),
                    string_at(given, {"hostIP"})};
    const auto number = base::int_at(given, {"containerPort"}).value_or(0);
    std::string protocol = string_at(given, {"protocol"});
    if (protocol.empty()) protocol = "TCP";
    if (!port.host_ip.empty() && port.host_port == 0) {
      warnings.push_back(
          fmt::format("{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} "
                      "Protocol:{} HostIP:{}}}",
                      path, string_at(given, {"name"}), number, protocol, port.host_ip));
    }
    TakenPorts& others = taken[{number, protocol}];
    for (const Port* other : others.clashing_with(port)) {
      warnings.push_back(
          fmt::format("{}: {} port definition with {}", path, clash(port, *other), other->path));
    }
    others.add(port);
  };
  each_container(spec_path, spec, [&](const std::string& container, const Json& one) {
    each_item(container + ".ports", at(one, {"ports"}), warn_of_port);
  });
}

// Who selects ports by name gets the first one.
void warn_of_port_names(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  std::map<std::string, std::string> taken;
  const auto warn_of_port = [&](const std::string& path, const Json& port) {
    const std::string name = string_at(port, {"name"});
    if (name.empty()) return;
    const auto [other, is_new] = taken.emplace(name, path);
    if (is_new) return;
    warnings.push_back(
        fmt::format("{}: duplicate port name {} with {}, services and probes that select ports by "
                    "name will use {}",
                    path, schema::go_quoted(name), other->second, other->second));
  };
  each_container(spec_path, spec, [&](const std::string& container, const Json& one) {
    each_item(container + ".ports", at(one, {"ports"}), warn_of_port);
  });
}

}  // namespace

void warn_of_pod(const std::string& path, const Json& pod, Warnings& warnings) {
  const Json& spec = at(pod, {"spec"});
  const std::string spec_path = joined(path, "spec");
  warn_of_nodes(spec_path, spec, warnings);
  warn_of_spread(spec_path, spec, warnings);
  warn_of_annotations(path, pod, warnings);
  warn_of_volumes(spec_path, spec, warnings);
  warn_of_repeated(spec_path + ".hostAliases", at(spec, {"hostAliases"}), "ip", warnings);
  warn_of_pull_secrets(spec_path, spec, warnings);
  for (const char* resource : {"memory", "ephemeral-storage"}) {
    warn_of_fraction(spec_path + ".overhead", at(spec, {"overhead"}), resource, warnings);
  }
  const std::string seccomp = "seccomp.security.alpha.kubernetes.io/pod";
  if (at(pod, {"metadata", "annotations"}).contains(seccomp) &&
      !has_profile(spec, "seccompProfile")) {
    warnings.push_back(
        fmt::format("{}[{}]: non-functional in v1.27+; use the \"seccompProfile\" field instead",
                    joined(path, "metadata.annotations"), seccomp));
  }
  warn_of_containers(path, spec_path, pod, warnings);
  warn_of_ports(spec_path, spec, warnings);
  warn_of_port_names(spec_path, spec, warnings);
  // A Pod of its own gets another value before it is looked at.
  if (!path.empty() && base::int_at(spec, {"terminationGracePeriodSeconds"}).value_or(0) < 0) {
    warnings.push_back(spec_path +
                       ".terminationGracePeriodSeconds: must be >= 0; negative values are invalid "
                       "and will be treated as 1");
  }
  warn_of_pod_affinity(spec_path, spec, warnings);
  warn_of_addresses(spec_path + ".dnsConfig.nameservers",
                    base::find(spec, {"dnsConfig", "nameservers"}), warnings);
  each_item(spec_path + ".hostAliases", at(spec, {"hostAliases"}),
            [&](const std::string& place, const Json& alias) {
              warn_of_address(place + ".ip", string_at(alias, {"ip"}), warnings);
            });
}

void warn_of_claim_spec(const std::string& path, const Json& spec, Warnings& warnings) {
  for (const char* kind : {"requests", "limits"}) {
    warn_of_fraction(path + ".resources." + kind, at(spec, {"resources", kind}), "storage",
                     warnings);
  }
}

}  // namespace kubewatch::builtin

// Pods and templates of Pods as a whole; their parts are in the files beside this one.
#include "builtin/validation_pods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/app_armor.hpp"
#include "core/resource.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr const char* kSeccompOfPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr const char* kSeccompOfContainer = "container.seccomp.security.alpha.kubernetes.io/";

bool is_int32(const std::string& text) {
  const bool sign = !text.empty() && text.front() == '-';
  const std::string digits = text.substr(sign ? 1 : 0);
  if (digits.empty() || digits.size() > 10 || (digits.front() == '0' && text != "0")) return false;
  if (!std::all_of(digits.begin(), digits.end(), base::is_digit)) return false;
  const std::int64_t value = std::stoll(digits);
  return value <= kMostInt32 + (sign ? 1 : 0);
}

void check_deletion_cost(const Field& annotations) {
  const Field cost =
      annotations[kDeletionCost].at(fmt::format("{}[{}]", annotations.path(), kDeletionCost));
  if (cost.present() && !is_int32(cost.text())) cost.invalid("must be a 32bit integer");
}

void check_seccomp_annotation(const Field& profile) {
  static const std::string local = "localhost/";
  const std::string text = profile.text();
  if (text.starts_with(local)) {
    const Json file = text.substr(local.size());
    return check_descending_path(Field(&file, profile.path(), profile.errors()));
  }
  const bool known = text == "unconfined" || text == "runtime/default" || text == "docker/default";
  if (!known) profile.invalid("must be a valid seccomp profile");
}

void check_seccomp_annotations(const Field& annotations) {
  const auto told = [&](const std::string& key, const Field& value) {
    check_seccomp_annotation(value.at(annotations.path() + "." + key));
  };
  if (const Field pod = annotations[kSeccompOfPod]; pod.present()) told(kSeccompOfPod, pod);
  for (const auto& [key, value] : annotations.entries()) {
    if (key.starts_with(kSeccompOfContainer)) told(key, value);
  }
}

void check_resource_claims(const Field& claims, std::set<std::string>& names) {
  for (const auto& claim : claims.items()) {
    const Field name = claim["name"];
    if (name.empty()) {
      name.required();
    } else if (!names.insert(name.text()).second) {
      name.duplicate();
    } else {
      name.invalid_each(label_problems(name.text()));
    }
    const Field by_name = claim["resourceClaimName"];
    const Field by_template = claim["resourceClaimTemplateName"];
    if (by_name.present() == by_template.present()) {
      const auto shown = [](const Field& text) { return text.present() ? text.shown() : "null"; };
      claim.invalid_as(
          fmt::format("{{\"Name\":{},\"ResourceClaimName\":{},\"ResourceClaimTemplateName\":{}}}",
                      json_text(name.text()), shown(by_name), shown(by_template)),
          by_name.present()
              ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                "specified"
              : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    for (const Field& ref : {by_name, by_template}) {
      if (ref.present()) ref.invalid_each(subdomain_problems(ref.text()));
    }
  }
}

// On the network of the host a port is what it is inside.
void check_host_network_ports(const Field& spec, bool is_pod) {
  if (!spec["hostNetwork"].is_true()) return;
  for (const auto& container : spec["containers"].items()) {
    for (const auto& port : container["ports"].items()) {
      const Field host = port["hostPort"];
      if (!host.present() && is_pod) continue;  // is filled in
      const std::int64_t number = host.number_or(0);
      if (number == port["containerPort"].number_or(0) || (!is_pod && number == 0)) continue;
      host.invalid_as(std::to_string(number),
                      "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

bool is_sysctl(const std::string& name) {
  if (name.empty() || name.size() > 253) return false;
  std::string part;
  const auto good = [&part] {
    const auto is_end = [](char c) { return base::is_lower(c) || base::is_digit(c); };
    return !part.empty() && is_end(part.front()) && is_end(part.back());
  };
  for (const char c : name) {
    if (c == '.' || c == '/') {
      if (!good()) return false;
      part.clear();
    } else if (base::is_lower(c) || base::is_digit(c) || c == '-' || c == '_') {
      part += c;
    } else {
      return false;
    }
  }
  return good();
}

void check_host_sysctl(const Field& name, const Field& spec) {
  std::string text = name.text();
  std::replace(text.begin(), text.end(), '/', '.');
  if (spec["hostNetwork"].is_true() && text.starts_with("net.")) {
    name.invalid("may not be specified when 'hostNetwork' is true");
  }
  const bool ipc = text == "kernel.sem" || text.starts_with("kernel.shm") ||
                   text.starts_with("kernel.msg") || text.starts_with("fs.mqueue.");
  if (spec["hostIPC"].is_true() && ipc) {
    name.invalid("may not be specified when 'hostIPC' is true");
  }
}

void check_sysctls(const Field& sysctls, const Field& spec) {
  std::set<std::string> names;
  for (const auto& one : sysctls.items()) {
    const Field name = one["name"];
    if (name.empty()) {
      name.required();
    } else if (!is_sysctl(name.text())) {
      name.invalid(
          "must have at most 253 characters and match regex "
          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (names.count(name.text()) != 0) {
      name.duplicate();
    }
    check_host_sysctl(name, spec);
    names.insert(name.text());
  }
}

void check_pod_security(const Field& spec) {
  const Field security = spec["securityContext"];
  for (const char* key : {"fsGroup", "runAsUser", "runAsGroup"}) {
    security[key].in_range(0, kMostInt32);
  }
  for (const auto& group : security["supplementalGroups"].items()) group.in_range(0, kMostInt32);
  const Field share = spec["shareProcessNamespace"];
  if (share.is_true() && spec["hostPID"].is_true()) {
    share.at(security.path() + ".shareProcessNamespace")
        .invalid("ShareProcessNamespace and HostPID cannot both be enabled");
  }
  check_sysctls(security["sysctls"], spec);
  security["fsGroupChangePolicy"].one_of({"Always", "OnRootMismatch"});
  check_seccomp(security["seccompProfile"]);
  check_windows_options(security["windowsOptions"]);
  check_app_armor(security["appArmorProfile"]);
  security["supplementalGroupsPolicy"].one_of({"Merge", "Strict"});
  security["seLinuxChangePolicy"].one_of({"Recursive"});
}

void check_search(const Field& search) {
  std::string text = search.text();
  if (text == ".") return;
  if (text.ends_with(".")) text.pop_back();
  // An underscore may begin a label, and stand within.
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '.';
    const bool more = i + 1 < text.size() && text[i + 1] != '.';
    if (text[i] == '_' && first && more) continue;
    plain += text[i] == '_' ? '-' : text[i];
  }
  if (core::check_dns_subdomain(plain).empty()) return;
  search.invalid_as(
      go_quoted(text),
      shape_sentence("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                     "characters, '_', '-' or '.', and must start and end with an alphanumeric "
                     "character",
                     {"example.com"},
                     "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"));
}

void check_dns_config(const Field& spec) {
  const Field config = spec["dnsConfig"];
  const Field servers = config["nameservers"];
  if (spec["dnsPolicy"].is("None")) {
    if (!config.present()) {
      return config.required("must provide `dnsConfig` when `dnsPolicy` is None");
    }
    if (servers.empty()) {
      return servers.required("must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (servers.size() > 3) servers.invalid("must not have more than 3 nameservers");
  for (const auto& server : servers.items()) check_ip(server);
  const Field searches = config["searches"];
  if (searches.size() > 32) searches.invalid("must not have more than 32 search paths");
  std::size_t length = searches.empty() ? 0 : searches.size() - 1;
  for (const auto& search : searches.items()) length += search.size();
  if (length > 2048) {
    searches.invalid(
        "must not have more than 2048 characters (including spaces) in the search list");
  }
  for (const auto& search : searches.items()) check_search(search);
  for (const auto& option : config["options"].items()) {
    if (option["name"].empty()) option.required("must not be empty");
  }
}

void check_gates(const Field& spec) {
  for (const auto& gate : spec["readinessGates"].items()) {
    const Field type = gate["conditionType"];
    type.invalid_each(qualified_problems(type.text()));
  }
  std::set<std::string> names;
  for (const auto& gate : spec["schedulingGates"].items()) {
    const Field name = gate["name"].at(gate.path());
    name.invalid_each(qualified_problems(name.text()));
    if (!names.insert(name.text()).second) name.duplicate();
  }
}

void check_host_users(const Field& spec) {
  const Field own = spec["hostUsers"];
  if (!own.present() || own.is_true()) return;
  for (const auto& [key, told] :
       {std::pair{"hostNetwork", "hostNetwork"}, std::pair{"hostPID", "HostPID"},
        std::pair{"hostIPC", "HostIPC"}}) {
    if (spec[key].is_true()) spec[told].forbidden("when `hostUsers` is false");
  }
}

void check_hostname_override(const Field& spec) {
  const Field name = spec["hostnameOverride"];
  if (!name.present()) return;
  if (spec["setHostnameAsFQDN"].is_true()) {
    name.forbidden("may not be specified when setHostnameAsFQDN is true");
  }
  if (spec["hostNetwork"].is_true()) {
    name.forbidden("may not be specified when hostNetwork is true");
  }
  if (name.size() > 64) name.too_long(64);
  name.invalid_each(subdomain_problems(name.text()));
}

void check_names(const Field& spec) {
  const auto each = [&](const char* key, Problems (*problems)(const std::string&)) {
    if (!spec[key].empty()) spec[key].invalid_each(problems(spec[key].text()));
  };
  each("serviceAccountName", subdomain_problems);
  each("nodeName", subdomain_problems);
  spec["activeDeadlineSeconds"].in_range(1, kMostInt32);
  each("hostname", label_problems);
  each("subdomain", label_problems);
  check_tolerations(spec["tolerations"]);
  for (const auto& alias : spec["hostAliases"].items()) {
    check_ip(alias["ip"]);
    for (const auto& name : alias["hostnames"].items()) {
      name.invalid_each(subdomain_problems(name.text()));
    }
  }
  each("priorityClassName", subdomain_problems);
  const Field runtime = spec["runtimeClassName"];
  if (runtime.present()) runtime.invalid_each(subdomain_problems(runtime.text()));
}

// Files that environment variables are read from are in volumes that hosts lend.
void check_file_volumes(const Field& spec) {
  std::map<std::string, bool> lent;
  for (const auto& volume : spec["volumes"].items()) {
    lent[volume["name"].text()] = volume["emptyDir"].present();
  }
  for (const char* key : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const auto& container : spec[key].items()) {
      for (const auto& variable : container["env"].items()) {
        const Field ref = variable["valueFrom"]["fileKeyRef"];
        if (!ref.present()) continue;
        const Field name = ref["volumeName"];
        const auto found = lent.find(name.text());
        if (found == lent.end()) {
          name.not_found();
        } else if (!found->second) {
          name.invalid("referenced volume must be of type emptyDir");
        }
      }
    }
  }
}

// Of the Pod as a whole: less may be asked for than of a container.
void check_pod_resources(const Field& spec, const std::set<std::string>& claims) {
  const Field resources = spec["resources"];
  if (!resources.present()) return;
  if (spec["os"]["name"].is("windows")) {
    return resources.forbidden("may not be set for a windows pod");
  }
  if (resources["claims"].present()) {
    resources["claims"].forbidden("claims may not be set for Resources at pod-level");
  }
  check_resources(resources, claims, check_pod_resource_name);
  std::size_t index = 0;
  for (const auto& container : spec["containers"].items()) {
    const std::string place = fmt::format("{}.containers[{}]", resources.path(), index++);
    for (const auto& [name, limit] : container["resources"]["limits"].entries()) {
      const auto own = limit.quantity();
      const auto most = resources["limits"][name].quantity();
      if (!own || !most || own->compare(*most) <= 0) continue;
      limit.at(fmt::format("{}[{}].limits", place, name))
          .invalid_as(go_quoted(quantity_text(*own)),
                      "must be less than or equal to pod limits of " + quantity_text(*most));
    }
  }
}

bool is_padded(const std::string& text) {
  return base::trim(text).size() != text.size();
}

void check_image_space(const Field& containers) {
  for (const auto& container : containers.items()) {
    const Field image = container["image"];
    if (is_padded(image.text())) image.invalid("must not have leading or trailing whitespace");
  }
}

}  // namespace

void check_pod_spec(const Field& spec, const PodSurroundings& around) {
  ContainerSurroundings containers;
  containers.grace_seconds = spec["terminationGracePeriodSeconds"].number();
  containers.host_users = !spec["hostUsers"].present() || spec["hostUsers"].is_true();
  check_volumes(spec, around, containers);
  check_resource_claims(spec["resourceClaims"], containers.resource_claims);
  check_containers(spec, containers);
  check_init_containers(spec, containers);
  check_ephemeral_containers(spec, containers);
  check_pod_resources(spec, containers.resource_claims);
  check_host_network_ports(spec, around.is_pod);
  spec["restartPolicy"].one_of_required({"Always", "OnFailure", "Never"});
  spec["dnsPolicy"].one_of_required({"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  check_labels(spec["nodeSelector"]);
  check_pod_security(spec);
  check_affinity(spec["affinity"]);
  check_dns_config(spec);
  check_gates(spec);
  check_topology_spread(spec["topologySpreadConstraints"]);
  check_host_process(spec);
  check_host_users(spec);
  check_hostname_override(spec);
  check_names(spec);
  spec["preemptionPolicy"].one_of_required({"PreemptLowerPriority", "Never"});
  for (const auto& [name, amount] : spec["overhead"].entries()) {
    const Field told = amount.at(fmt::format("{}.limits[{}]", spec["overhead"].path(), name));
    check_container_resource_name(told, name);
    check_resource_amount(name, told);
  }
  check_os(spec);
  check_file_volumes(spec);
}

void check_pod_annotations(const Field& annotations, const Field& spec) {
  check_deletion_cost(annotations);
  check_seccomp_annotations(annotations);
  check_app_armor_annotations(annotations, spec);
}

void check_pod_template(const Field& tmpl) {
  // What stands in metadata is told without it.
  check_labels(tmpl["metadata"]["labels"].at(tmpl.path() + ".labels"));
  const Field annotations = tmpl["metadata"]["annotations"].at(tmpl.path() + ".annotations");
  check_annotations(annotations);
  const Field spec = tmpl["spec"];
  check_pod_annotations(annotations, spec);
  check_pod_spec(spec, {});
  check_app_armor_agrees(annotations, spec);
  if (!spec["ephemeralContainers"].empty()) {
    spec["ephemeralContainers"].forbidden("ephemeral containers not allowed in pod template");
  }
}

void check_pod(const Field& pod, const Json* live) {
  const Field spec = pod["spec"];
  const Field annotations = pod["metadata"]["annotations"];
  check_pod_annotations(annotations, spec);
  check_pod_spec(spec, {true, pod["metadata"]["name"].text()});
  check_image_space(spec["containers"]);
  check_image_space(spec["initContainers"]);
  if (live != nullptr) return check_pod_update(pod, Field(*live, pod.errors()));
  if (!spec["ephemeralContainers"].empty()) {
    spec["ephemeralContainers"].forbidden("cannot be set on create");
  }
  if (!spec["nodeName"].empty() && !spec["schedulingGates"].empty()) {
    spec["nodeName"].forbidden("cannot be set until all schedulingGates have been cleared");
  }
  check_app_armor_agrees(annotations, spec);
}

}  // namespace kubewatch::builtin

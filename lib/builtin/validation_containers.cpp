// Containers of all three sorts: names, ports, mounts, resources, security.
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

void check_container_ports(const Field& ports) {
  std::set<std::string> names;
  for (const auto& port : ports.items()) {
    const Field name = port["name"];
    if (!name.empty()) {
      const auto problems = port_name_problems(name.text());
      name.invalid_each(problems);
      if (problems.empty() && !names.insert(name.text()).second) name.duplicate();
    }
    const Field number = port["containerPort"];
    if (number.number_or(0) == 0) {
      number.required();
    } else {
      check_port_number(number);
    }
    if (port["hostPort"].number_or(0) != 0) check_port_number(port["hostPort"]);
    port["protocol"].one_of_required(kProtocols);
  }
}

// Host ports that are taken twice, in one container or in several.
void check_host_ports(const std::vector<Field>& containers) {
  std::set<std::string> taken;
  for (const auto& container : containers) {
    for (const auto& port : container["ports"].items()) {
      const std::int64_t number = port["hostPort"].number_or(0);
      if (number == 0) continue;
      const Field protocol = port["protocol"];
      const std::string one = fmt::format("{}/{}/{}", protocol.present() ? protocol.text() : "TCP",
                                          port["hostIP"].text(), number);
      if (taken.insert(one).second) continue;
      port.errors().push_back(field_duplicate(port["hostPort"].path(), go_quoted(one)));
    }
  }
}

void check_mount_propagation(const Field& mount, const Field& container, const std::string& list) {
  const Field propagation = mount["mountPropagation"].at(list + ".mountPropagation");
  propagation.one_of({"Bidirectional", "HostToContainer", "None"});
  if (propagation.is("Bidirectional") && !container["securityContext"]["privileged"].is_true()) {
    propagation.forbidden(
        "Bidirectional mount propagation is available only to privileged containers");
  }
}

void check_recursive_read_only(const Field& mount, const std::string& list) {
  const Field flag = mount["recursiveReadOnly"].at(list + ".recursiveReadOnly");
  if (!flag.is("Enabled") && !flag.is("IfPossible")) {
    return flag.one_of({"Disabled", "Enabled", "IfPossible"});
  }
  if (!mount["readOnly"].is_true()) flag.forbidden("may only be specified when readOnly is true");
  const Field propagation = mount["mountPropagation"];
  if (propagation.present() && !propagation.is("None")) {
    flag.forbidden("may only be specified when mountPropagation is None or not specified");
  }
}

// The values of one field of each item of a list.
std::set<std::string> texts_of(const Field& list, const char* key) {
  std::set<std::string> out;
  for (const auto& item : list.items()) out.insert(item[key].text());
  return out;
}

void check_mounts(const Field& container, const ContainerSurroundings& around) {
  const Field mounts = container["volumeMounts"];
  const auto devices = texts_of(container["volumeDevices"], "name");
  const auto device_paths = texts_of(container["volumeDevices"], "devicePath");
  std::set<std::string> paths;
  for (const auto& mount : mounts.items()) {
    const Field name = mount["name"];
    const Field path = mount["mountPath"];
    if (name.empty()) name.required();
    if (around.volumes.count(name.text()) == 0) name.not_found();
    if (path.empty()) path.required();
    if (!paths.insert(path.text()).second) path.invalid_text("must be unique");
    if (devices.count(name.text()) != 0) name.invalid("must not already exist in volumeDevices");
    if (device_paths.count(path.text()) != 0) {
      path.invalid_text("must not already exist as a path in volumeDevices");
    }
    const Field sub_path = mount["subPath"];
    if (!sub_path.empty()) check_descending_path(sub_path.at(mounts.path() + ".subPath"));
    const Field expression = mount["subPathExpr"];
    if (!expression.empty()) {
      if (!sub_path.empty()) {
        expression.invalid("subPathExpr and subPath are mutually exclusive");
      }
      check_descending_path(expression.at(mounts.path() + ".subPathExpr"));
    }
    check_mount_propagation(mount, container, mounts.path());
    check_recursive_read_only(mount, mounts.path());
  }
}

bool has_backsteps(const std::string& path) {
  const auto parts = base::split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

void check_devices(const Field& container, const ContainerSurroundings& around) {
  const auto mounts = texts_of(container["volumeMounts"], "name");
  const auto mount_paths = texts_of(container["volumeMounts"], "mountPath");
  std::set<std::string> names;
  std::set<std::string> paths;
  for (const auto& device : container["volumeDevices"].items()) {
    const Field name = device["name"];
    const Field path = device["devicePath"];
    if (name.empty()) name.required();
    if (names.count(name.text()) != 0) name.invalid("must be unique");
    if (around.volumes.count(name.text()) == 0) {
      name.not_found();
    } else if (around.claims.count(name.text()) == 0) {
      name.invalid(
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (path.empty()) path.required();
    if (paths.count(path.text()) != 0) path.invalid_text("must be unique");
    if (has_backsteps(path.text())) {
      path.invalid("can not contain backsteps ('..')");
    } else {
      paths.insert(path.text());
    }
    if (mounts.count(name.text()) != 0) name.invalid("must not already exist in volumeMounts");
    if (mount_paths.count(path.text()) != 0) {
      path.invalid_text("must not already exist as a path in volumeMounts");
    }
    if (!name.empty()) names.insert(name.text());
  }
}

void check_resize_policy(const Field& policies, const Field& pod_restart) {
  std::set<std::string> seen;
  for (const auto& policy : policies.items()) {
    const Field resource = policy["resourceName"].at(policies.path());
    if (!seen.insert(resource.text()).second) resource.at(policy.path()).duplicate();
    if (resource.empty()) {
      resource.required();
    } else {
      resource.one_of({"cpu", "memory"});
    }
    const Field restart = policy["restartPolicy"].at(policies.path());
    if (restart.empty()) {
      restart.required();
    } else {
      restart.one_of({"NotRequired", "RestartContainer"});
    }
    if (pod_restart.is("Never") && !restart.is("NotRequired")) {
      restart.invalid_text("must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

void check_security(const Field& security, bool host_users) {
  if (!security.present()) return;
  for (const char* key : {"runAsUser", "runAsGroup"}) security[key].in_range(0, kMostInt32);
  const Field proc = security["procMount"];
  proc.one_of({"Default", "Unmasked"});
  if (host_users && proc.is("Unmasked")) {
    proc.invalid("`hostUsers` must be false to use `Unmasked`");
  }
  check_seccomp(security["seccompProfile"]);
  const Field escalation = security["allowPrivilegeEscalation"];
  if (escalation.present() && !escalation.is_true()) {
    const std::string shown = go_value("SecurityContext", *security.json());
    if (security["privileged"].is_true()) {
      security.invalid_as(
          shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    }
    for (const auto& added : security["capabilities"]["add"].items()) {
      if (!added.is("CAP_SYS_ADMIN")) continue;
      security.invalid_as(
          shown,
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  }
  check_windows_options(security["windowsOptions"]);
  check_app_armor(security["appArmorProfile"]);
}

void check_common(const Field& container, const ContainerSurroundings& around,
                  const Field& pod_restart) {
  const Field name = container["name"];
  if (name.empty()) {
    name.required();
  } else {
    name.invalid_each(label_problems(name.text()));
  }
  if (container["image"].empty()) container["image"].required();
  container["terminationMessagePolicy"].one_of_required({"File", "FallbackToLogsOnError"});
  check_container_ports(container["ports"]);
  check_env(container["env"]);
  check_env_from(container["envFrom"]);
  check_mounts(container, around);
  check_devices(container, around);
  container["imagePullPolicy"].one_of_required({"Always", "IfNotPresent", "Never"});
  check_resources(container["resources"], around.resource_claims);
  check_resize_policy(container["resizePolicy"], pod_restart);
  check_security(container["securityContext"], around.host_users);
}

constexpr std::size_t kMostRestartRules = 20;
constexpr const char* kNoRestartPolicy = "must specify restartPolicy when restart rules are used";

void check_restart_policy(const Field& container) {
  const Field policy = container["restartPolicy"];
  const Field rules = container["restartPolicyRules"];
  if (!policy.present() && !rules.empty()) policy.required(kNoRestartPolicy);
  policy.one_of({"Always", "Never", "OnFailure"});
  if (rules.size() > kMostRestartRules) rules.too_many(kMostRestartRules);
  for (const auto& rule : rules.items()) {
    const Field action = rule["action"];
    if (!action.is("Restart") && !action.is("RestartAllContainers")) {
      action.not_supported({"Restart", "RestartAllContainers"});
    }
    const Field codes = rule["exitCodes"];
    if (!codes.present()) {
      codes.required("must be specified");
      continue;
    }
    const Field op = codes["operator"];
    if (!op.is("In") && !op.is("NotIn")) op.not_supported({"In", "NotIn"});
    if (codes["values"].size() > kMostExitCodes) codes["values"].too_many(kMostExitCodes);
  }
}

// Rules without a policy are not looked at here.
void check_init_restart_policy(const Field& container) {
  const Field policy = container["restartPolicy"];
  if (policy.present()) return check_restart_policy(container);
  if (!container["restartPolicyRules"].empty()) policy.required(kNoRestartPolicy);
}

// Of an init container that ends before the Pod starts.
void check_no_service_parts(const Field& container) {
  for (const char* key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (!container[key].present()) continue;
    container[key].forbidden("may not be set for init containers without restartPolicy=Always");
  }
  for (const auto& policy : container["resizePolicy"].items()) {
    const Field restart = policy["restartPolicy"];
    if (!restart.is("RestartContainer")) continue;
    restart.invalid("must not be set to 'RestartContainer' for non-sidecar initContainers");
  }
}

}  // namespace

void check_containers(const Field& spec, const ContainerSurroundings& around) {
  const Field containers = spec["containers"];
  if (containers.empty()) return containers.required();
  std::set<std::string> names;
  for (const auto& container : containers.items()) {
    check_common(container, around, spec["restartPolicy"]);
    if (!names.insert(container["name"].text()).second) container["name"].duplicate();
    check_lifecycle(container["lifecycle"], around.grace_seconds);
    check_probes(container, around.grace_seconds);
    check_restart_policy(container);
  }
  check_host_ports(containers.items());
}

void check_init_containers(const Field& spec, const ContainerSurroundings& around) {
  auto names = texts_of(spec["containers"], "name");
  for (const auto& container : spec["initContainers"].items()) {
    check_common(container, around, spec["restartPolicy"]);
    check_init_restart_policy(container);
    const Field name = container["name"];
    if (names.count(name.text()) != 0) {
      name.duplicate();
    } else if (!name.empty()) {
      names.insert(name.text());
    }
    // Told as if it were the first one.
    check_host_ports({container.at(spec["initContainers"].path() + "[0]")});
    if (!container["restartPolicy"].is("Always")) {
      check_no_service_parts(container);
      continue;
    }
    check_lifecycle(container["lifecycle"], around.grace_seconds);
    check_probes(container, around.grace_seconds);
  }
}

void check_ephemeral_containers(const Field& spec, const ContainerSurroundings& around) {
  auto others = texts_of(spec["containers"], "name");
  others.merge(texts_of(spec["initContainers"], "name"));
  auto names = others;
  static const char* const kind = "cannot be set for an Ephemeral Container";
  for (const auto& container : spec["ephemeralContainers"].items()) {
    check_common(container, around, spec["restartPolicy"]);
    if (!names.insert(container["name"].text()).second) container["name"].duplicate();
    const Field target = container["targetContainerName"];
    if (!target.empty() && others.count(target.text()) == 0) target.not_found();
    for (const char* key :
         {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
          "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
      const Field part = container[key];
      // Only resources are always there.
      const bool given = std::string_view(key) == "resources" ? !part.empty() : part.present();
      if (given) part.forbidden(kind);
    }
    for (const auto& mount : container["volumeMounts"].items()) {
      for (const char* key : {"subPath", "subPathExpr"}) {
        if (!mount[key].empty()) mount[key].forbidden(kind);
      }
    }
  }
}

void check_seccomp(const Field& profile) {
  if (!profile.present()) return;
  const Field type = profile["type"];
  const Field file = profile["localhostProfile"];
  if (type.empty()) {
    type.required("type is required when seccompProfile is set");
  } else {
    type.one_of({"Localhost", "RuntimeDefault", "Unconfined"});
  }
  if (!type.is("Localhost")) {
    if (!file.present()) return;
    const std::string shown = fmt::format("{{\"Type\":{},\"LocalhostProfile\":{}}}",
                                          json_text(type.text()), json_text(file.text()));
    return file.invalid_as(shown, "can only be set when seccomp type is Localhost");
  }
  if (!file.present()) return file.required("must be set when seccomp type is Localhost");
  check_descending_path(file);
}

void check_app_armor(const Field& profile) {
  if (!profile.present()) return;
  const Field type = profile["type"];
  const Field file = profile["localhostProfile"];
  if (type.empty()) return type.required("type is required when appArmorProfile is set");
  if (!type.is("Localhost")) {
    type.one_of({"Localhost", "RuntimeDefault", "Unconfined"});
    const bool known = type.is("RuntimeDefault") || type.is("Unconfined");
    if (known && file.present()) {
      file.invalid("can only be set when AppArmor type is Localhost");
    }
    return;
  }
  const std::string text = file.text();
  if (base::trim(text).size() != text.size()) {
    file.invalid("must not be padded with whitespace");
  } else if (text.empty()) {
    file.required("must be set when AppArmor type is Localhost");
  }
  constexpr std::size_t most = 4095;
  if (text.size() > most) file.too_long(most);
}

}  // namespace kubewatch::builtin

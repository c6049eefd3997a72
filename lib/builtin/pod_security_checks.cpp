// The checks of the level baseline, and what those of both levels are written with.
#include "builtin/pod_security_checks.hpp"

#include <fmt/format.h>

#include <map>

#include "base/strings.hpp"
#include "builtin/app_armor.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;
using Fault = std::optional<SecurityFault>;
using Names = std::vector<std::string>;
using NameSet = std::set<std::string>;

bool is_true(const Json& value) {
  return value == true;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

// "a/b="value"".
std::string told_annotation(const std::string& name, const std::string& value) {
  return name + "=" + schema::go_quoted(value);
}

bool is_local(const std::string& profile) {
  return profile.starts_with("localhost/");
}

Fault judge_app_armor(const JudgedPod& pod) {
  NameSet types;
  const auto culprits = who_says(pod, {"appArmorProfile"}, [&](const Json& profile) {
    const std::string type = string_at(profile, {"type"});
    if (type == "RuntimeDefault" || type == "Localhost") return false;
    types.insert(type);
    return true;
  });
  NameSet annotations;
  if (pod.annotations.is_object()) {
    for (const auto& [name, value] : pod.annotations.items()) {
      const std::string profile = text_of(value);
      const bool known = profile.empty() || profile == "runtime/default" || is_local(profile);
      if (name.starts_with(kAppArmorAnnotation) && !known) {
        annotations.insert(told_annotation(name, profile));
      }
    }
  }
  if (culprits.empty() && annotations.empty()) return {};
  Names who;
  if (!culprits.empty()) who.push_back(culprits.text());
  if (!annotations.empty()) who.push_back(plural("annotation", annotations.size()));
  Names values(types.begin(), types.end());
  values.insert(values.end(), annotations.begin(), annotations.end());
  return SecurityFault{plural("forbidden AppArmor profile", values.size()),
                       fmt::format("{} must not set AppArmor profile type to {}",
                                   base::join(who, " and "), quoted_names(values))};
}

Fault judge_capabilities(const JudgedPod& pod) {
  static const NameSet usual = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                "SETPCAP",     "SETUID", "SYS_CHROOT"};
  NameSet others;
  const auto culprits = who_says(pod, {"capabilities", "add"}, [&](const Json& added) {
    bool wrong = false;
    for (const Json& one : added) {
      if (usual.count(text_of(one)) != 0) continue;
      wrong = true;
      others.insert(text_of(one));
    }
    return wrong;
  });
  if (culprits.empty()) return {};
  return SecurityFault{"non-default capabilities",
                       fmt::format("{} must not include {} in securityContext.capabilities.add",
                                   culprits.text(), quoted_names(others))};
}

Fault judge_host_namespaces(const JudgedPod& pod) {
  Names shared;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (base::bool_at(pod.spec, {field})) shared.push_back(std::string(field) + "=true");
  }
  if (shared.empty()) return {};
  return SecurityFault{"host namespaces", base::join(shared, ", ")};
}

Fault judge_host_paths(const JudgedPod& pod) {
  Names volumes;
  for (const Json& volume : base::items_at(pod.spec, {"volumes"})) {
    if (base::present_at(volume, {"hostPath"})) volumes.push_back(string_at(volume, {"name"}));
  }
  if (volumes.empty()) return {};
  return SecurityFault{"hostPath volumes", fmt::format("{} {}", plural("volume", volumes.size()),
                                                       quoted_names(volumes))};
}

Fault judge_host_ports(const JudgedPod& pod) {
  SecurityCulprits culprits;
  NameSet ports;
  for (const Json* container : pod.containers) {
    bool wrong = false;
    for (const Json& port : base::items_at(*container, {"ports"})) {
      const std::int64_t number = base::int_at(port, {"hostPort"}).value_or(0);
      if (number == 0) continue;
      wrong = true;
      ports.insert(std::to_string(number));
    }
    if (wrong) culprits.add(*container);
  }
  if (culprits.empty()) return {};
  return SecurityFault{
      "hostPort",
      fmt::format("{} {} {} {}", culprits.text(), culprits.containers() == 1 ? "uses" : "use",
                  plural("hostPort", ports.size()),
                  base::join(Names(ports.begin(), ports.end()), ", "))};
}

// Of probes and of what runs at the start and the end of a container.
NameSet probed_hosts(const Json& container) {
  NameSet hosts;
  const auto add = [&](const Json& action) {
    for (const char* way : {"httpGet", "tcpSocket"}) {
      std::string host = string_at(action, {way, "host"});
      if (!host.empty()) hosts.insert(std::move(host));
    }
  };
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    add(base::value_at(container, {probe}));
  }
  for (const char* moment : {"postStart", "preStop"}) {
    add(base::value_at(container, {"lifecycle", moment}));
  }
  return hosts;
}

Fault judge_probed_hosts(const JudgedPod& pod) {
  NameSet names;
  NameSet hosts;
  for (const Json* container : pod.containers) {
    NameSet found = probed_hosts(*container);
    if (found.empty()) continue;
    names.insert(string_at(*container, {"name"}));
    hosts.merge(found);
  }
  if (names.empty()) return {};
  return SecurityFault{
      "probe or lifecycle host",
      fmt::format("{} {} {} {} {}", plural("container", names.size()), quoted_names(names),
                  names.size() == 1 ? "uses" : "use",
                  plural("probe or lifecycle host", hosts.size()), quoted_names(hosts))};
}

Fault judge_privileged(const JudgedPod& pod) {
  const auto culprits = who_says(pod, {"privileged"}, is_true);
  if (culprits.empty()) return {};
  return SecurityFault{"privileged",
                       culprits.text() + " must not set securityContext.privileged=true"};
}

Fault judge_unshared_proc_mount(const JudgedPod& pod) {
  constexpr std::int64_t kRelaxed = 35;
  return pod.since(kRelaxed) && pod.has_own_users() ? std::nullopt : judge_proc_mount(pod);
}

Fault judge_selinux(const JudgedPod& pod) {
  constexpr std::int64_t kEngine = 31;
  static const NameSet usual = {"", "container_t", "container_init_t", "container_kvm_t"};
  NameSet types;
  bool user = false;
  bool role = false;
  const auto culprits = who_says(pod, {"seLinuxOptions"}, [&](const Json& options) {
    const std::string type = string_at(options, {"type"});
    const bool known =
        usual.count(type) != 0 || (pod.since(kEngine) && type == "container_engine_t");
    if (!known) types.insert(type);
    const bool has_user = !string_at(options, {"user"}).empty();
    const bool has_role = !string_at(options, {"role"}).empty();
    user |= has_user;
    role |= has_role;
    return !known || has_user || has_role;
  });
  if (culprits.empty()) return {};
  Names what;
  if (!types.empty()) {
    what.push_back(fmt::format("{} {}", plural("type", types.size()), quoted_names(types)));
  }
  if (user) what.push_back("user may not be set");
  if (role) what.push_back("role may not be set");
  return SecurityFault{"seLinuxOptions",
                       fmt::format("{} set forbidden securityContext.seLinuxOptions: {}",
                                   culprits.text(), base::join(what, "; "))};
}

// Where profiles were before they had fields.
Fault judge_seccomp_annotations(const JudgedPod& pod) {
  const std::string of_pod = "seccomp.security.alpha.kubernetes.io/pod";
  const std::string of_container = "container.seccomp.security.alpha.kubernetes.io/";
  NameSet forbidden;
  const auto look_at = [&](const std::string& name) {
    const Json* value = base::find(pod.annotations, {name});
    if (value == nullptr) return;
    const std::string profile = text_of(*value);
    const bool known =
        profile == "runtime/default" || profile == "docker/default" || is_local(profile);
    if (!known) forbidden.insert(told_annotation(name, profile));
  };
  look_at(of_pod);
  for (const Json* one : pod.containers) look_at(of_container + string_at(*one, {"name"}));
  if (forbidden.empty()) return {};
  return SecurityFault{"seccompProfile",
                       fmt::format("forbidden {} {}", plural("annotation", forbidden.size()),
                                   base::join(Names(forbidden.begin(), forbidden.end()), ", "))};
}

Fault judge_any_seccomp(const JudgedPod& pod) {
  constexpr std::int64_t kFields = 19;
  return pod.since(kFields) ? judge_seccomp(pod) : judge_seccomp_annotations(pod);
}

Fault judge_sysctls(const JudgedPod& pod) {
  static const std::map<std::string, std::int64_t> safe_since = {
      {"kernel.shm_rmid_forced", 0},
      {"net.ipv4.ip_local_port_range", 0},
      {"net.ipv4.tcp_syncookies", 0},
      {"net.ipv4.ping_group_range", 0},
      {"net.ipv4.ip_unprivileged_port_start", 0},
      {"net.ipv4.ip_local_reserved_ports", 27},
      {"net.ipv4.tcp_keepalive_time", 29},
      {"net.ipv4.tcp_fin_timeout", 29},
      {"net.ipv4.tcp_keepalive_intvl", 29},
      {"net.ipv4.tcp_keepalive_probes", 29},
      {"net.ipv4.tcp_rmem", 32},
      {"net.ipv4.tcp_wmem", 32}};
  Names forbidden;
  for (const Json& one : base::items_at(pod.spec, {"securityContext", "sysctls"})) {
    std::string name = string_at(one, {"name"});
    const auto it = safe_since.find(name);
    if (it == safe_since.end() || !pod.since(it->second)) forbidden.push_back(std::move(name));
  }
  if (forbidden.empty()) return {};
  return SecurityFault{"forbidden sysctls", base::join(forbidden, ", ")};
}

Fault judge_host_process(const JudgedPod& pod) {
  const auto culprits = who_says(pod, {"windowsOptions", "hostProcess"}, is_true);
  if (culprits.empty()) return {};
  return SecurityFault{
      "hostProcess",
      culprits.text() + " must not set securityContext.windowsOptions.hostProcess=true"};
}

}  // namespace

bool JudgedPod::is_windows() const {
  return string_at(spec, {"os", "name"}) == "windows";
}

bool JudgedPod::has_own_users() const {
  const Json* shared = base::present_at(spec, {"hostUsers"});
  return shared != nullptr && *shared == false;
}

void SecurityCulprits::add(const Json& container) {
  containers_.push_back(string_at(container, {"name"}));
}

std::string SecurityCulprits::text() const {
  if (containers_.empty()) return "pod";
  return fmt::format("{}{} {}", pod_ ? "pod and " : "", plural("container", containers_.size()),
                     quoted_names(containers_));
}

const Json* security_context_at(const Json& owner, std::initializer_list<std::string_view> path) {
  return base::present_at(base::value_at(owner, {"securityContext"}), path);
}

SecurityCulprits who_says(const JudgedPod& pod, std::initializer_list<std::string_view> path,
                          const IsWrong& is_wrong) {
  SecurityCulprits out;
  const auto says = [&](const Json& owner) {
    const Json* value = security_context_at(owner, path);
    return value != nullptr && is_wrong(*value);
  };
  if (says(pod.spec)) out.add_pod();
  for (const Json* container : pod.containers) {
    if (says(*container)) out.add(*container);
  }
  return out;
}

std::string quoted_names(const std::vector<std::string>& names) {
  return "\"" + base::join(names, "\", \"") + "\"";
}

std::string quoted_names(const std::set<std::string>& names) {
  return quoted_names(Names(names.begin(), names.end()));
}

std::string plural(const std::string& what, std::size_t count) {
  return count == 1 ? what : what + "s";
}

Fault judge_proc_mount(const JudgedPod& pod) {
  NameSet types;
  const auto culprits = who_says(pod, {"procMount"}, [&](const Json& type) {
    if (type == "Default") return false;
    types.insert(text_of(type));
    return true;
  });
  if (culprits.empty()) return {};
  return SecurityFault{"procMount", fmt::format("{} must not set securityContext.procMount to {}",
                                                culprits.text(), quoted_names(types))};
}

Fault judge_seccomp(const JudgedPod& pod) {
  NameSet types;
  const auto culprits = who_says(pod, {"seccompProfile"}, [&](const Json& profile) {
    const std::string type = string_at(profile, {"type"});
    if (type == "RuntimeDefault" || type == "Localhost") return false;
    types.insert(type);
    return true;
  });
  if (culprits.empty()) return {};
  return SecurityFault{"seccompProfile",
                       fmt::format("{} must not set securityContext.seccompProfile.type to {}",
                                   culprits.text(), quoted_names(types))};
}

const std::vector<SecurityCheck>& baseline_checks() {
  static const std::vector<SecurityCheck> checks = {
      {.judge = judge_app_armor},       {.judge = judge_capabilities, .replaced = 22},
      {.judge = judge_host_namespaces}, {.judge = judge_host_paths, .replaced = 0},
      {.judge = judge_host_ports},      {.since = 34, .judge = judge_probed_hosts},
      {.judge = judge_privileged},      {.judge = judge_unshared_proc_mount, .replaced = 35},
      {.judge = judge_selinux},         {.judge = judge_any_seccomp, .replaced = 19},
      {.judge = judge_sysctls},         {.judge = judge_host_process}};
  return checks;
}

}  // namespace kubewatch::builtin

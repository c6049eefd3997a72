// The checks that the level restricted has beyond those of baseline.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/strings.hpp"
#include "builtin/pod_security_checks.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;
using Fault = std::optional<SecurityFault>;

// Their Pods may not say what others have to: asked of them since then no more.
constexpr std::int64_t kSparesWindows = 25;
// Root of a user namespace of its own is nobody on the node.
constexpr std::int64_t kSparesOwnUsers = 35;

bool is_spared_windows(const JudgedPod& pod) {
  return pod.since(kSparesWindows) && pod.is_windows();
}

bool is_spared_root(const JudgedPod& pod) {
  return pod.since(kSparesOwnUsers) && pod.has_own_users();
}

// Of those whose Pod does not say it for them, the containers that do not say it either.
SecurityCulprits who_is_silent(const JudgedPod& pod, std::string_view field) {
  SecurityCulprits out;
  if (security_context_at(pod.spec, {field}) != nullptr) return out;
  for (const Json* container : pod.containers) {
    if (security_context_at(*container, {field}) == nullptr) out.add(*container);
  }
  return out;
}

Fault judge_escalation(const JudgedPod& pod) {
  if (is_spared_windows(pod)) return {};
  SecurityCulprits culprits;
  for (const Json* container : pod.containers) {
    const Json* allowed = security_context_at(*container, {"allowPrivilegeEscalation"});
    if (allowed == nullptr || *allowed != false) culprits.add(*container);
  }
  if (culprits.empty()) return {};
  return SecurityFault{
      "allowPrivilegeEscalation != false",
      culprits.text() + " must set securityContext.allowPrivilegeEscalation=false"};
}

Fault judge_few_capabilities(const JudgedPod& pod) {
  if (is_spared_windows(pod)) return {};
  SecurityCulprits keep;
  SecurityCulprits add;
  std::set<std::string> added;
  for (const Json* container : pod.containers) {
    const Json& named = base::value_at(*container, {"securityContext", "capabilities"});
    const auto dropped = base::strings_at(named, {"drop"});
    if (std::find(dropped.begin(), dropped.end(), "ALL") == dropped.end()) keep.add(*container);
    bool wrong = false;
    for (std::string& one : base::strings_at(named, {"add"})) {
      if (one == "NET_BIND_SERVICE") continue;
      wrong = true;
      added.insert(std::move(one));
    }
    if (wrong) add.add(*container);
  }
  std::vector<std::string> details;
  if (!keep.empty()) {
    details.push_back(keep.text() + " must set securityContext.capabilities.drop=[\"ALL\"]");
  }
  if (!add.empty()) {
    details.push_back(fmt::format("{} must not include {} in securityContext.capabilities.add",
                                  add.text(), quoted_names(added)));
  }
  if (details.empty()) return {};
  return SecurityFault{"unrestricted capabilities", base::join(details, "; ")};
}

// What it is: "hostPath"; "" of one that may be.
std::string restricted_type(const Json& volume) {
  static constexpr std::array fine = {"configMap", "csi",   "downwardAPI",           "emptyDir",
                                      "ephemeral", "image", "persistentVolumeClaim", "projected",
                                      "secret"};
  static constexpr std::array restricted = {"hostPath",
                                            "gcePersistentDisk",
                                            "awsElasticBlockStore",
                                            "gitRepo",
                                            "nfs",
                                            "iscsi",
                                            "glusterfs",
                                            "rbd",
                                            "flexVolume",
                                            "cinder",
                                            "cephfs",
                                            "flocker",
                                            "fc",
                                            "azureFile",
                                            "vsphereVolume",
                                            "quobyte",
                                            "azureDisk",
                                            "photonPersistentDisk",
                                            "portworxVolume",
                                            "scaleIO",
                                            "storageos"};
  const auto is_it = [&](const char* type) { return base::present_at(volume, {type}) != nullptr; };
  if (std::any_of(fine.begin(), fine.end(), is_it)) return "";
  const auto* const it = std::find_if(restricted.begin(), restricted.end(), is_it);
  return it == restricted.end() ? "unknown" : *it;
}

Fault judge_volumes(const JudgedPod& pod) {
  std::vector<std::string> volumes;
  std::set<std::string> types;
  for (const Json& volume : base::items_at(pod.spec, {"volumes"})) {
    std::string type = restricted_type(volume);
    if (type.empty()) continue;
    volumes.push_back(string_at(volume, {"name"}));
    types.insert(std::move(type));
  }
  if (volumes.empty()) return {};
  return SecurityFault{
      "restricted volume types",
      fmt::format("{} {} {} {} {}", plural("volume", volumes.size()), quoted_names(volumes),
                  volumes.size() == 1 ? "uses" : "use",
                  plural("restricted volume type", types.size()), quoted_names(types))};
}

Fault judge_non_root(const JudgedPod& pod) {
  if (is_spared_root(pod)) return {};
  const char* reason = "runAsNonRoot != true";
  const auto culprits =
      who_says(pod, {"runAsNonRoot"}, [](const Json& value) { return value == false; });
  if (!culprits.empty()) {
    return SecurityFault{reason,
                         culprits.text() + " must not set securityContext.runAsNonRoot=false"};
  }
  const auto silent = who_is_silent(pod, "runAsNonRoot");
  if (silent.empty()) return {};
  return SecurityFault{
      reason, fmt::format("pod or {} must set securityContext.runAsNonRoot=true", silent.text())};
}

Fault judge_user(const JudgedPod& pod) {
  if (is_spared_root(pod)) return {};
  const auto culprits = who_says(pod, {"runAsUser"}, [](const Json& value) { return value == 0; });
  if (culprits.empty()) return {};
  return SecurityFault{"runAsUser=0", culprits.text() + " must not set runAsUser=0"};
}

Fault judge_named_seccomp(const JudgedPod& pod) {
  if (is_spared_windows(pod)) return {};
  if (auto fault = judge_seccomp(pod)) return fault;
  const auto silent = who_is_silent(pod, "seccompProfile");
  if (silent.empty()) return {};
  return SecurityFault{
      "seccompProfile",
      fmt::format("pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
                  "\"Localhost\"",
                  silent.text())};
}

}  // namespace

const std::vector<SecurityCheck>& restricted_checks() {
  static const std::vector<SecurityCheck> checks = {{.since = 8, .judge = judge_escalation},
                                                    {.since = 22, .judge = judge_few_capabilities},
                                                    {.since = 35, .judge = judge_proc_mount},
                                                    {.judge = judge_volumes},
                                                    {.judge = judge_non_root},
                                                    {.since = 23, .judge = judge_user},
                                                    {.since = 19, .judge = judge_named_seccomp}};
  return checks;
}

}  // namespace kubewatch::builtin

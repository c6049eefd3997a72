// Internal to builtin/pod_security: the checks of the Pod Security Standards, a row for each, and
// what they are written with. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "builtin/pod_security.hpp"

namespace kubewatch::builtin {

// As the checks see it, in one version of the standards.
struct JudgedPod {
  const Json& annotations;  // null where there are none
  const Json& spec;
  std::int64_t minor = 0;
  std::vector<const Json*> containers = {};  // those that come first, all others, ephemeral ones

  bool since(std::int64_t version) const { return minor >= version; }
  bool is_windows() const;
  // Its users are not those of the node.
  bool has_own_users() const;
};

// Nothing of a Pod that is as it should be.
using SecurityJudge = std::optional<SecurityFault> (*)(const JudgedPod& pod);

// What it looks at by version is in it.
struct SecurityCheck {
  std::int64_t since = 0;
  SecurityJudge judge = nullptr;
  // Since when the level `restricted` has a stricter one in its place.
  std::optional<std::int64_t> replaced = {};
};

// In the order in which their faults are told.
const std::vector<SecurityCheck>& baseline_checks();
// Those that `restricted` has beyond.
const std::vector<SecurityCheck>& restricted_checks();

// What both levels look at.
std::optional<SecurityFault> judge_proc_mount(const JudgedPod& pod);
// A profile that may not be, in the fields that are for it.
std::optional<SecurityFault> judge_seccomp(const JudgedPod& pod);

// Who says what is wrong.
class SecurityCulprits {
 public:
  void add_pod() { pod_ = true; }
  void add(const Json& container);
  bool empty() const { return !pod_ && containers_.empty(); }
  std::size_t containers() const { return containers_.size(); }
  std::string text() const;  // "pod and containers "a", "b""

 private:
  bool pod_ = false;
  std::vector<std::string> containers_;
};

// Whose securityContext has, at that path, what is wrong: of the Pod itself and of its containers.
using IsWrong = std::function<bool(const Json& value)>;
SecurityCulprits who_says(const JudgedPod& pod, std::initializer_list<std::string_view> path,
                          const IsWrong& is_wrong);
// Null where it says none.
const Json* security_context_at(const Json& owner, std::initializer_list<std::string_view> path);

// ""a", "b"".
std::string quoted_names(const std::vector<std::string>& names);
std::string quoted_names(const std::set<std::string>& names);
// "volume", "volumes".
std::string plural(const std::string& what, std::size_t count);

}  // namespace kubewatch::builtin

// What writes of resource.k8s.io do to their objects besides defaults and rules, and what they need
// of the namespace that they go to. Pure; any JSON may come, null is absent.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

// Since when its devices have their taints, unless it says so. `now` is RFC 3339.
void fill_taint_times(const std::string& now, Json& slice);
// Attributes that are lists, a feature that is off: they stay where `live` has some.
void drop_attribute_lists(const Json* live, Json& slice);
// Of what drivers tell in the status of a claim: devices that it had in `live`, and has no longer.
void drop_deallocated(const Json& live, Json& claim);

inline constexpr const char* kNoAdminAccess =
    "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace";
// The field that asks for devices as an administrator has them, and did not in `live`; "" when none
// does.
std::string asked_admin_access(const std::string& storage_id, const Json* live, const Json& object,
                               const std::string& subresource);
bool grants_admin_access(const Json& ns);

}  // namespace kubewatch::builtin

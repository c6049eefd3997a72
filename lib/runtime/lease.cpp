// Reading and building of Leases.
#include "runtime/lease.hpp"

#include <algorithm>

namespace kubewatch::runtime {
namespace {

std::int64_t seconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Json& spec_of(Json& object) {
  Json& spec = object["spec"];
  if (!spec.is_object()) spec = Json::object();
  return spec;
}

}  // namespace

bool Lease::same_spec(const Lease& other) const {
  const Json* mine = base::find(object, {"spec"});
  const Json* theirs = base::find(other.object, {"spec"});
  if (mine == nullptr || theirs == nullptr) return mine == theirs;
  return *mine == *theirs;
}

Result<Lease> read_lease(const Json& object) {
  if (base::string_at(object, {"metadata", "name"}).empty()) {
    return Error(ErrorKind::invalid, "the server's answer is not a Lease: it has no name");
  }
  Lease out;
  out.holder = base::string_at(object, {"spec", "holderIdentity"});
  const std::int64_t seconds = base::int_at(object, {"spec", "leaseDurationSeconds"}).value_or(0);
  constexpr std::int64_t kMost = 10LL * 365 * 24 * 3600;
  out.duration = std::chrono::seconds(seconds < 0 ? 0 : std::min(seconds, kMost));
  out.renew_time = base::string_at(object, {"spec", "renewTime"});
  out.transitions = base::int_at(object, {"spec", "leaseTransitions"}).value_or(0);
  out.resource_version = base::string_at(object, {"metadata", "resourceVersion"});
  out.object = object;
  return out;
}

Json renewed_lease(const Lease& before, const std::string& holder, Duration duration,
                   WallTime wall) {
  Json object = before.object;
  // What the server keeps about writers is its own; sending it back would only cost bytes.
  object["metadata"].erase("managedFields");
  Json& spec = spec_of(object);
  const std::string now = base::format_rfc3339_micro(wall);
  if (before.holder != holder) {
    spec["acquireTime"] = now;
    // As client-go: taking a released lease counts as well.
    spec["leaseTransitions"] = before.transitions + 1;
  }
  spec["holderIdentity"] = holder;
  spec["leaseDurationSeconds"] = seconds_of(duration);
  spec["renewTime"] = now;
  return object;
}

Json new_lease(const core::ObjectKey& key, const std::map<std::string, std::string>& labels,
               const std::string& holder, Duration duration, WallTime wall) {
  Json object = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  object["metadata"] = {{"name", key.name}, {"namespace", key.namespace_}};
  for (const auto& [name, value] : labels) object["metadata"]["labels"][name] = value;
  const std::string now = base::format_rfc3339_micro(wall);
  object["spec"] = {{"holderIdentity", holder},
                    {"leaseDurationSeconds", seconds_of(duration)},
                    {"acquireTime", now},
                    {"renewTime", now},
                    {"leaseTransitions", 0}};
  return object;
}

Json released_lease(const Lease& before, WallTime wall) {
  Json object = before.object;
  object["metadata"].erase("managedFields");
  Json& spec = spec_of(object);
  const std::string now = base::format_rfc3339_micro(wall);
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["acquireTime"] = now;
  spec["renewTime"] = now;
  return object;
}

const core::ResourceType& lease_type() {
  static const core::ResourceType type = [] {
    core::ResourceType out;
    out.gvk = {"coordination.k8s.io", "v1", "Lease"};
    out.plural = "leases";
    out.singular = "lease";
    out.namespaced = true;
    return out;
  }();
  return type;
}

}  // namespace kubewatch::runtime

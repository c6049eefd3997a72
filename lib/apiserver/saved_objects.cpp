#include "apiserver/saved_objects.hpp"

#include <fmt/format.h>

#include "apiserver/service_ips.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

void drop_lacking_owners(Json& object, const std::set<std::string>& loaded,
                         std::vector<std::string>& told) {
  Json* owners = base::find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  Json left = Json::array();
  for (const Json& owner : *owners) {
    // What is no reference is the server's to judge.
    const std::string uid = string_at(owner, {"uid"});
    if (uid.empty() || loaded.count(uid) != 0) {
      left.push_back(owner);
      continue;
    }
    told.push_back(fmt::format("its owner {} \"{}\" is not loaded", string_at(owner, {"kind"}),
                               string_at(owner, {"name"})));
  }
  *owners = std::move(left);
}

// They are added to a Pod that runs, by whoever debugs it.
void drop_ephemeral(Json& pod, std::vector<std::string>& told) {
  Json* spec = base::find(pod, {"spec"});
  const Json* list = base::find(pod, {"spec", "ephemeralContainers"});
  if (list == nullptr) return;
  if (!list->empty()) told.emplace_back("its ephemeral containers cannot be made");
  spec->erase("ephemeralContainers");
}

}  // namespace

std::set<std::string> uids_of(const std::vector<const Json*>& objects) {
  std::set<std::string> out;
  for (const Json* object : objects) out.insert(string_at(*object, {"metadata", "uid"}));
  out.erase("");
  return out;
}

std::vector<std::string> fit_saved(Json& object, const std::set<std::string>& loaded) {
  std::vector<std::string> told;
  if (string_at(object, {"apiVersion"}) == "v1") {
    const std::string kind = string_at(object, {"kind"});
    if (kind == "Service") told = drop_foreign(object);
    if (kind == "Pod") drop_ephemeral(object, told);
  }
  drop_lacking_owners(object, loaded, told);
  return told;
}

}  // namespace kubewatch::apiserver

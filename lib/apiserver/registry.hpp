// The resources that the server knows: the built-in table and those of established CRDs. No objects
// here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apiserver/resource.hpp"

namespace kubewatch::apiserver {

class Registry {
 public:
  // With the built-in table.
  Registry();

  // Null when there is none.
  ResourcePtr find(const std::string& group, const std::string& version,
                   const std::string& plural) const;
  ResourcePtr find_kind(const core::Gvk& gvk) const;
  // The storage version's resource of a storage id.
  ResourcePtr find_storage(const std::string& storage_id) const;
  bool has_builtin_group(const std::string& group) const;
  bool has_group_version(const std::string& group, const std::string& version) const;

  // In discovery order: built-ins as the real server has them, then custom groups by name.
  const std::vector<ResourcePtr>& all() const { return all_; }
  // One for each storage id: what a namespace is emptied of, and what the garbage collector knows.
  std::vector<ResourcePtr> stored() const;

  // All served versions of one CRD; replaces what it had. Those of a group and version that are
  // built in are left out, as the server of built-in kinds answers for them: such a CRD may be
  // established and is served nowhere. So are kinds that would be stored where built-in ones are.
  void set_custom(const std::string& crd_name, std::vector<ResourcePtr> resources);
  void remove_custom(const std::string& crd_name);
  bool has_custom(const std::string& crd_name) const { return custom_.count(crd_name) != 0; }

  // Changes with every set_custom and remove_custom.
  std::uint64_t revision() const { return revision_; }

 private:
  bool is_builtin_place(const Resource& custom) const;
  void rebuild();
  std::vector<ResourcePtr> builtins_;
  std::map<std::string, std::vector<ResourcePtr>> custom_;
  std::vector<ResourcePtr> all_;
  std::map<std::string, ResourcePtr> by_plural_;  // "apps/v1/deployments"
  std::map<core::Gvk, ResourcePtr> by_kind_;
  std::map<std::string, ResourcePtr> by_storage_;
  std::uint64_t revision_ = 0;
};

// The resources of a CRD's served versions. The CRD has passed validation (crd.hpp).
std::vector<ResourcePtr> resources_of_crd(const Json& crd);
// Of all its versions, served or not, by apiVersion.
std::map<std::string, std::shared_ptr<const schema::CompiledSchema>> schemas_of_crd(
    const Json& crd);

}  // namespace kubewatch::apiserver

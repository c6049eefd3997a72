// The resources that the server knows: the built-in table and those of established CRDs. No objects
// here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apiserver/resource.hpp"

namespace kubewatch::apiserver {

// What a CRD makes of the server.
struct CrdResources {
  std::vector<ResourcePtr> served;  // one for each served version, preferred ones first
  // The version that is stored, served or not: by it the server itself reaches the objects. Null
  // where no version is stored.
  ResourcePtr kept;
};

class Registry {
 public:
  // With the built-in table.
  Registry();

  // Null when there is none.
  ResourcePtr find(const std::string& group, const std::string& version,
                   const std::string& plural) const;
  ResourcePtr find_kind(const core::Gvk& gvk) const;
  // The storage version's resource of a storage id; null where none is served.
  ResourcePtr find_storage(const std::string& storage_id) const;
  bool has_builtin_group(const std::string& group) const;
  bool has_group_version(const std::string& group, const std::string& version) const;

  // In discovery order: built-ins as the real server has them, then custom groups by name, each
  // with its versions in order of preference.
  const std::vector<ResourcePtr>& all() const { return all_; }
  // One for each storage id that is served: what a namespace is emptied of, and what the garbage
  // collector knows.
  std::vector<ResourcePtr> stored() const;

  // All served versions of one CRD; replaces what it had. Those of a group and version that are
  // built in are left out, as the server of built-in kinds answers for them: such a CRD may be
  // established and is served nowhere. So are kinds that would be stored where built-in ones are.
  void set_custom(const std::string& crd_name, CrdResources resources);
  void remove_custom(const std::string& crd_name);
  // Served in some version.
  bool has_custom(const std::string& crd_name) const;
  // CrdResources::kept of an established CRD; null also where its objects would be stored where
  // built-in ones are.
  ResourcePtr find_kept(const std::string& crd_name) const;

  // Changes with every set_custom and remove_custom.
  std::uint64_t revision() const { return revision_; }

 private:
  bool is_builtin_version(const Resource& custom) const;
  bool is_builtin_storage(const Resource& custom) const;
  void rebuild();
  std::vector<ResourcePtr> builtins_;
  std::map<std::string, CrdResources> custom_;  // by the name of the CRD
  std::vector<ResourcePtr> all_;
  std::map<std::string, ResourcePtr> by_plural_;  // "apps/v1/deployments"
  std::map<core::Gvk, ResourcePtr> by_kind_;
  std::map<std::string, ResourcePtr> by_storage_;
  std::uint64_t revision_ = 0;
};

// Whether a custom group has `version` before `other`: "v2", "v1", "v1beta1", "v1alpha1", then what
// is no such name, by the alphabet.
bool is_preferred(const std::string& version, const std::string& other);

// The CRD has passed validation (crd.hpp).
CrdResources resources_of_crd(const Json& crd);
// What owners of one of its versions go by, served or not: its type, and how it is merged. Not its
// rules, which cost a hundred times as much. Null where it has no such version.
ResourcePtr version_of_crd(const Json& crd, const std::string& version);
// Of all its versions, served or not, by apiVersion.
std::map<std::string, std::shared_ptr<const schema::CompiledSchema>> schemas_of_crd(
    const Json& crd);

}  // namespace kubewatch::apiserver

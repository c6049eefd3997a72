// One resource in one served version, as every handler sees it. Immutable once registered; requests
// and watches in progress keep theirs alive when a CRD changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/kind_traits.hpp"
#include "apiserver/status.hpp"
#include "base/json.hpp"
#include "core/resource.hpp"
#include "schema/compiled_schema.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::apiserver {

// A column of a Table; json_path only for custom resources.
struct PrinterColumn {
  std::string name;
  std::string type = "string";
  std::string format;
  std::string description;
  std::string json_path;
  int priority = 0;
};

// What a CRD says of one version.
struct CustomVersion {
  Json schema;                                             // openAPIV3Schema
  std::shared_ptr<const schema::CompiledSchema> compiled;  // never null
  std::vector<PrinterColumn> columns;
  std::vector<std::string> selectable_fields;  // "spec.color"
  std::string scale_spec_path;                 // "" = no scale subresource
  std::string scale_status_path;
  std::string scale_selector_path;
  bool terminating = false;  // the CRD is being deleted with its objects: no creates
  // Of the version that objects are stored in; null where that is this one.
  std::shared_ptr<const schema::CompiledSchema> stored;
};

struct Resource {
  core::ResourceType type;
  std::string list_kind;
  std::string storage_id;  // "deployments.apps", the same for all versions of a resource
  core::Gvk storage_gvk;   // what stored objects carry
  KindTraits traits;
  std::shared_ptr<const CustomVersion> custom;  // null for built-ins
  schema::MergeNodePtr merge;                   // never null
  std::string deprecation;                      // told with each answer; "" = none
  std::string go_type;                          // the server's own, as refusals name it

  bool has_status() const { return type.has_subresource("status"); }
  // Not served as it is stored: events of the other API group, autoscalers of version 1, other
  // versions of a CRD. Of one object: is_converted (convert.hpp).
  bool converted() const { return custom ? custom->stored != nullptr : storage_gvk != type.gvk; }
  // With the plural, as in NotFound; with the kind, as in Invalid.
  Subject subject(const std::string& name) const { return {type.gvk.group, type.plural, name}; }
  // and the group that it is stored in.
  Subject kind_subject(const std::string& name) const {
    return {storage_gvk.group, type.gvk.kind, name};
  }
};
using ResourcePtr = std::shared_ptr<const Resource>;

}  // namespace kubewatch::apiserver

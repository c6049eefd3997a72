// An ApplySet (KEP-3659): the object that stands for a set of applied objects, their label, and
// which kinds and namespaces have to be looked through for members that are applied no more. The
// words on the wire are those of the KEP, so kubectl and others can read the set. Pure: prune.hpp
// asks the server.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

inline constexpr const char* kPartOfLabel = "applyset.kubernetes.io/part-of";
inline constexpr const char* kParentIdLabel = "applyset.kubernetes.io/id";
inline constexpr const char* kParentTypeLabel = "applyset.kubernetes.io/is-parent-type";
inline constexpr const char* kToolingName = "kubewatch";

// "applyset-<base64url of the SHA-256 of name.namespace.kind.group>-v1".
std::string apply_set_id(const core::Gvk& gvk, const core::ObjectKey& parent);

// --applyset=[TYPE[.GROUP]/]NAME; a name alone is a Secret.
struct ParentName {
  std::string type = "secrets";
  std::string name;
};
// Errors: invalid.
Result<ParentName> parse_parent(std::string_view text);

// What the parent says, or is to say, about its members.
struct SetContents {
  std::set<std::string> group_kinds;  // "Deployment.apps", "ConfigMap"
  std::set<std::string> namespaces;   // without the parent's own
  void add(const core::ResourceType& type, const core::ObjectKey& member,
           const std::string& parent_namespace);
  SetContents with(const SetContents& other) const;
  bool operator==(const SetContents&) const = default;
};

// Of a parent that exists. Errors: invalid when it is no ApplySet, another tool's, or its id is
// another one's: then nothing may be applied.
Result<SetContents> read_parent(const Json& parent, const std::string& id);
// The manifest of the parent, for a server-side apply under kParentManager.
inline constexpr const char* kParentManager = "kubewatch-applyset";
Json parent_manifest(const core::Gvk& gvk, const core::ObjectKey& key, const std::string& id,
                     const SetContents& contents, const std::string& tool_version);

// The set that the object says it belongs to; "": none.
std::string set_of(const Json& object);

// Of an object that another set holds; `other` is its parent's name, or its id.
Error in_other_set(const std::string& other);

// Puts the label of the set on it. Errors: invalid when it says another set's already.
Result<void> join_set(Json& manifest, const std::string& id);

}  // namespace kubewatch::cli

// Patches and events of a Result against what the rule declares: which object, whose fields. Used
// by output; pure.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/object_ref.hpp"
#include "core/resource.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/ownership.hpp"
#include "hooks/result_extras.hpp"
#include "hooks/rule.hpp"
#include "runtime/event_aggregator.hpp"

namespace kubewatch::hooks {

// Of the run's own object, besides what a manifest and the Result may say of it.
inline constexpr std::string_view kOtherOwnFields =
    "a hook that must write other fields does it by itself, with credentials: cache; or a rule for "
    "another kind patches them";

// A patch of a declared kind that leaves alone what kubewatch keeps.
struct PatchTarget {
  core::ResourceType type;
  core::ObjectKey key;
  std::string subresource;
  core::PatchType patch_type = core::PatchType::merge;
  Json patch;
  ChildId id() const { return child_id(type.gvk, key); }
};

// What is longer than any name is not quoted, and no part of it: a mask of secrets would not know
// that.
std::string shown_name(const std::string& name);
// No server takes these for one name in a path. Not left to it: nothing may be written before all
// of the output is valid. Errors: invalid.
Result<void> check_key(const core::Gvk& gvk, const core::ObjectKey& key);
// The key that {namespace?, name} means for an object of this kind: the owner's namespace where
// none is given. Errors: invalid.
Result<core::ObjectKey> place_target(const core::ResourceType& type, const Json& target,
                                     const Owner& owner);
// `type`: of patch.target. Errors: invalid.
Result<PatchTarget> check_patch(const HookPatch& patch, core::ResourceType type, const Rule& rule,
                                const Owner& owner, const SelectsNamespace& selects = {});
// The object itself, or one of a kind that the rule names, where the rule may write. Without a
// namespace what it regards has none. Errors: invalid.
Result<runtime::Happening> check_event(const HookEvent& event, const Rule& rule, const Owner& owner,
                                       const SelectsNamespace& selects = {},
                                       const IsNamespaced& namespaced = {});

}  // namespace kubewatch::hooks

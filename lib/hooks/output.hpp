// Standard output of a hook -> what it asks for, wholly checked before anything is written:
// documents, declared kinds and namespaces, names, duplicates, its own object. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"
#include "hooks/output_extras.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/ownership.hpp"
#include "hooks/result_document.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

struct Manifest {
  core::ResourceType type;
  core::ObjectKey key;
  Json object;             // namespace filled in; not yet labelled
  bool ask_first = false;  // only the server knows whether it is valid
  ChildId id() const { return child_id(type.gvk, key); }
};

struct DeleteTarget {
  core::ResourceType type;
  core::ObjectKey key;
};

struct HookOutput {
  std::vector<Manifest> manifests;  // children, as printed
  std::optional<Manifest> own;      // labels and annotations of the object itself
  std::vector<Manifest> create;
  std::vector<PatchTarget> patches;
  std::vector<DeleteTarget> deletes;
  std::vector<runtime::Happening> events;
  bool ask_status = false;           // only the server knows whether the Result's status is valid
  std::optional<HookResult> result;  // its create, remove, patches and events are those above
};

struct OutputContext {
  const Rule& rule;
  const Owner& owner;
  // What the server has; null: unknown. Kinds of CRDs in the same output are found without it.
  std::function<const core::ResourceType*(const core::Gvk&)> type_of;
  // What it may have meant by a kind that it lacks, "" for nothing close.
  std::function<std::string(const core::Gvk&)> meant_by{};
  bool manifests_allowed = true;  // false: finalizing without finalize.apply
  bool has_status = true;         // the kind has the status subresource
  SelectsNamespace selects{};     // see output_rights
  bool deleted = false;           // the object is gone: nothing can be made for it
  // Of the hook that printed it, in bytes; less than what is read anyway counts for nothing.
  std::size_t max_output = 0;
  // By a kind's schema; true: only the server knows. Empty: nobody is asked. Errors: invalid.
  std::function<Result<bool>(const core::Gvk&, const Json& manifest)> check_schema{};
  // The same of the Result's status and conditions.
  std::function<Result<bool>(const HookResult&)> check_status{};
};

// The whole text is valid or nothing is. Errors: invalid, too_large; unsupported; not_found when
// the server has no such kind (it may appear).
Result<HookOutput> parse_output(std::string_view text, const OutputContext& context);

// The same for the documents of a worker's answer, one JSON list; "" = none.
Result<HookOutput> parse_output_list(std::string_view json, const OutputContext& context);

// The type that a CustomResourceDefinition manifest will have in `version`; absent when it lacks
// it.
std::optional<core::ResourceType> type_from_crd(const Json& crd, const core::Gvk& gvk);
bool is_crd(const core::Gvk& gvk);

}  // namespace kubewatch::hooks

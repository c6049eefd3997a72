// What a hook writes into KUBERNETES_PATCH_PATH: operations on objects, as JSON or YAML documents.
// All of it is read and checked before the first is carried out (object_patcher). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "jq/jq.hpp"

namespace kubewatch::compat {

enum class OperationType {
  create,
  create_or_update,
  create_if_not_exists,
  remove,  // foreground: waits until it is gone
  remove_in_background,
  remove_non_cascading,
  jq_patch,
  merge_patch,
  json_patch
};

struct Operation {
  OperationType type = OperationType::create;
  std::string api_version;  // "" = the one that the server prefers
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string subresource;
  bool ignore_missing = false;        // an object that is not there is no error
  bool ignore_hook_error = false;     // carried out although the hook failed
  Json object;                        // create
  Json patch;                         // merge_patch: object; json_patch: list
  std::optional<jq::Program> filter;  // jq_patch: always set
  std::string str() const;            // "MergePatch Deployment shop/web"
};

// `unknown`: also the fields that no operation has, in words; as with shell-operator they are
// passed over. Errors: invalid, "document 2: operation: ..."; too_large.
Result<std::vector<Operation>> parse_patch_file(std::string_view text,
                                                std::set<std::string>& unknown);

// Of a hook that failed: what it wants written all the same, status only.
std::vector<Operation> despite_failure(std::vector<Operation> operations);

}  // namespace kubewatch::compat

// Whether the API server takes a CustomResourceDefinition: every rule of apiextensions v1 as a
// named check, with the server's field paths and wording. Pure; what compiles CEL comes from
// outside. The definition is in v1 form with the server's defaults filled in (crd_defaults).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_error.hpp"
#include "schema/rule_checker.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

// What is said of selectable fields that all versions share and schemas that they do not, and the
// other way round.
inline constexpr std::string_view kSharedFieldsAlone =
    "may only be set when validations.schema is included";
inline constexpr std::string_view kSharedSchemaAlone =
    "may only be set when `version.schema.openAPIV3Schema` is not included";

// An id and what breaks its rule.
struct CrdRule {
  std::string_view id;
  std::string_view text;
};
const std::vector<CrdRule>& crd_rules();

// `id` names the rule, one of crd_rules().
struct Finding {
  std::string id;
  FieldError error;
};
using Findings = std::vector<Finding>;

struct CrdCheckOptions {
  const Json* live = nullptr;          // what is stored now: an update
  const RuleChecker* rules = nullptr;  // null: CEL is not looked at
  bool name = true;                    // of a new one; false: the caller looks at its metadata
};

// All that is wrong, in the server's order. Where all versions have the same schema (subresources,
// columns, selectable fields), paths are those of the server: spec.validation.openAPIV3Schema.
Findings check_crd(const Json& crd, const CrdCheckOptions& options = {});
// A write of the status alone: the names that it accepts, nothing else.
Findings check_crd_status(const Json& crd);
FieldErrors errors_of(const Findings& findings);

// singular, listKind, conversion, webhook port: as the server fills them in.
void crd_defaults(Json& crd);
// JSON types that do not fit the server's own type. Errors: invalid, in the words of Go's decoder
// ("json: cannot unmarshal ...").
Result<void> check_crd_shape(const Json& crd);
// `unrecognized format "x"` for formats that the server passes over; `live` may be null.
std::vector<std::string> crd_warnings(const Json& crd, const Json* live);

// The version of that name; null where it has none.
const Json* crd_version(const Json& crd, std::string_view name);
// The one name that a definition may have, "plural.group", and what is said of any other.
std::string crd_name(const Json& crd);
inline constexpr std::string_view kNoCrdName = "must be spec.names.plural+\".\"+spec.group";

// Whether a condition of its status is True.
bool has_crd_condition(const Json& crd, std::string_view type);
bool is_crd_established(const Json& crd);

// Structural rules alone, on a schema that stands at `path`.
void check_structural(const Structural& root, const std::string& path, Findings& findings);

}  // namespace kubewatch::schema

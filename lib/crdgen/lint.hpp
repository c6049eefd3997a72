// What is wrong with a CRD, or will be: what the server refuses (schema::check_crd, with the rules
// of CEL where a checker is given), and what it takes but people regret. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/rule_checker.hpp"

namespace kubewatch::crdgen {

enum class LintLevel { info, warning, error };

struct LintFinding {
  std::string id;
  LintLevel level = LintLevel::warning;
  std::string pointer;  // JSON pointer into the CRD
  std::string path;     // for people: "v1 .spec.hosts"
  std::string message;
  std::string fix;
};

struct LintOptions {
  const schema::RuleChecker* rules = nullptr;  // null: CEL is not looked at
  std::vector<std::string> disabled;           // ids
};

// An id, its level and what it finds: every id that a finding can have, those of what the server
// refuses included.
struct LintRule {
  std::string_view id;
  LintLevel level;
  std::string_view text;
};
const std::vector<LintRule>& lint_rules();
// Errors: invalid when it is the id of no finding; names those that are near, or all of them.
Result<void> check_lint_id(const std::string& id);

// In the order of the document; what the server refuses comes first.
std::vector<LintFinding> lint_crd(const Json& crd, const LintOptions& options = {});

std::string_view to_string(LintLevel level);

// "spec.versions[0].schema.openAPIV3Schema.properties[spec]", as the server writes it, to a JSON
// pointer; as much of it as is there. What all versions share the server names below `spec`: that
// is the first version's.
std::string pointer_of_field(const Json& crd, const std::string& field);
// What the server means by words that say it to nobody else; "" for others.
std::string_view what_is_meant(const std::string& message);

}  // namespace kubewatch::crdgen

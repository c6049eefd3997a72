// The schema of one version of a custom kind, ready for objects: what the API server does with a
// custom resource between its body and its storage. Compiled once per version and kept; immutable.
// No I/O. The rules of CEL come from outside (rule_checker.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_error.hpp"
#include "schema/rule_checker.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

class Validator;

// The paths of the scale subresource (".spec.replicas"); "" where there is none.
struct ScalePaths {
  std::string spec;
  std::string status;
  std::string selector;
};

class CompiledSchema {
 public:
  // `rules` may be null: then rules are not looked at. It is not kept.
  CompiledSchema(StructuralPtr root, const RuleChecker* rules, ScalePaths scale = {});
  // Errors: as parse_structural.
  static Result<std::shared_ptr<const CompiledSchema>> of(const Json& open_api_v3_schema,
                                                          const RuleChecker* rules,
                                                          ScalePaths scale = {});
  ~CompiledSchema();

  const StructuralPtr& root() const { return root_; }

  // On the way in, in this order.
  // False: they would make it far larger than any object that is stored; the rest is left out.
  bool apply_defaults(Json& object) const;
  // Unknown fields and nulls that mean nothing are taken out; returns the paths of the former
  // ("spec.x", "spec.list[0].y"), sorted, as many as can be told (kMostTold). apiVersion, kind and
  // metadata stay. Nulls are kept in what server-side apply made: only the bodies of requests lose
  // them.
  std::vector<std::string> prune(Json& object, bool keep_nulls = false) const;
  // metadata of embedded resources is read as ObjectMeta; adds unknown fields. Errors: invalid, in
  // the server's words.
  Result<void> coerce_embedded(Json& object, std::vector<std::string>& unknown) const;

  // Everything but the object's own metadata. `old` is null on create; on update what was wrong
  // already and did not change may stay (ratcheting.hpp): never the object as a whole, whose
  // metadata no schema knows. The rules that this is so of go to `tolerated`, which may be null:
  // the server warns of them.
  void validate(const Json& object, const Json* old, FieldErrors& errors,
                FieldErrors* tolerated = nullptr) const;
  // For the status subresource: what stands in `status` alone, and the rules.
  void validate_status(const Json& object, const Json& old, FieldErrors& errors,
                       FieldErrors* tolerated = nullptr) const;

 private:
  void check_rules(const Json& object, const Json* old, FieldErrors& errors,
                   FieldErrors* tolerated) const;
  void check_scale_spec(const Json& object, FieldErrors& errors) const;
  void check_scale_status(const Json& object, FieldErrors& errors) const;

  StructuralPtr root_;
  ScalePaths scale_;
  std::unique_ptr<const Validator> validator_;
  std::unique_ptr<const Validator> status_validator_;  // null without properties.status
  std::shared_ptr<const CompiledRules> rules_;
  bool has_rules_ = false;
  bool has_embedded_ = false;
  bool has_keyed_lists_ = false;
};

}  // namespace kubewatch::schema

// Defaults of crd_check.hpp: each fits its own schema and says nothing that would be pruned.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "schema/crd_report.hpp"
#include "schema/embedded.hpp"
#include "schema/object_shape.hpp"
#include "schema/validator.hpp"

namespace kubewatch::schema {

namespace {

constexpr const char* kDefault = "default";

class DefaultsCheck {
 public:
  DefaultsCheck(const std::string& base, const RuleChecker* rules, Report& report)
      : base_(base), rules_(rules), report_(report) {}

  // `steps` lead from the surrounding resource to the value ("[]" into a list).
  void check(const StructuralPtr& schema, const Structural* resource, bool is_resource,
             bool inside_metadata, std::vector<std::string_view> steps) {
    const Structural& s = *schema;
    const bool embedded = s.embedded_resource || is_resource;
    if (embedded) {
      inside_metadata = false;
      steps.clear();
      resource = &s;
    }
    if (s.default_value) check_one(schema, *resource, inside_metadata, embedded, steps);
    if (s.items) {
      steps.emplace_back("[]");
      check(s.items, resource, false, inside_metadata, steps);
      steps.pop_back();
    }
    for (const auto& [key, below] : s.properties) {
      steps.push_back(key);
      check(below, resource, false, inside_metadata || (embedded && is_meta(key)), steps);
      steps.pop_back();
    }
  }

 private:
  void check_one(const StructuralPtr& schema, const Structural& resource, bool inside_metadata,
                 bool embedded, const std::vector<std::string_view>& steps) {
    const Json& value = *schema->default_value;
    const std::string place = join_path(base_, schema->path()) + ".default";
    const std::string shown = value.is_number() ? go_number(value) : base::dump_json(value);
    if (inside_metadata) {
      if (!fits_metadata(value, resource, steps, place, shown)) return;
    } else {
      Json pruned = value;
      if (!prune(pruned, *schema, embedded).empty()) {
        report_.add("default-unknown-fields",
                    field_invalid(place, shown, "must not have unknown fields"));
      }
      if (!fits_embedded(value, *schema, embedded, place)) return;
    }
    FieldErrors errors;
    Validator(schema, true).validate(value, nullptr, place, errors);
    if (errors.empty() && rules_ != nullptr) {
      const auto rules = rules_->compile(schema, embedded);
      if (rules) rules->evaluate(value, &value, place, errors, errors);
      if (rules && errors.empty()) rules->evaluate(value, nullptr, place, errors, errors);
    }
    for (auto& error : errors) report_.add(kDefault, std::move(error));
  }

  bool fits_metadata(const Json& value, const Structural& resource,
                     const std::vector<std::string_view>& steps, const std::string& place,
                     const std::string& shown) {
    Json object = value;
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      object = *it == "[]" ? Json::array({object}) : Json{{std::string(*it), object}};
    }
    if (!object.is_object()) return true;
    for (const auto& [key, text] :
         {std::pair{"apiVersion", "validation/v1"}, std::pair{"kind", "Validation"}}) {
      if (!object.contains(key)) object[key] = text;
    }
    ToldPaths unknown;
    if (const auto wrong = coerce_embedded(object, resource, true, "", unknown)) {
      report_.add(kDefault, field_invalid(place, shown,
                                          "must result in valid metadata: " + sentence(*wrong)));
      return false;
    }
    FieldErrors errors;
    check_embedded(object, resource, true, "", errors);
    if (errors.empty()) return true;
    report_.add(kDefault,
                field_invalid(place, shown, "must result in valid metadata: " + sentences(errors)));
    return false;
  }

  bool fits_embedded(const Json& value, const Structural& schema, bool embedded,
                     const std::string& place) {
    Json copy = value;
    ToldPaths unknown;
    if (auto wrong = coerce_embedded(copy, schema, embedded, place, unknown)) {
      report_.add(kDefault, std::move(*wrong));
      return false;
    }
    FieldErrors errors;
    check_embedded(value, schema, embedded, place, errors);
    for (auto& error : errors) report_.add(kDefault, error);
    return errors.empty();
  }

  std::string base_;
  const RuleChecker* rules_;
  Report& report_;
};

}  // namespace

void check_defaults(const Structural& root, const std::string& path, const RuleChecker* rules,
                    Report& report) {
  // Not owned: the caller keeps the tree.
  const StructuralPtr borrowed(StructuralPtr(), &root);
  DefaultsCheck(path, rules, report).check(borrowed, &root, true, false, {});
}

}  // namespace kubewatch::schema

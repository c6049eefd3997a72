// Values against a schema, keyword by keyword, with the API server's messages and places. The
// schema's patterns and formats are compiled once; immutable after that. Knows nothing of CEL,
// embedded resources and list types: compiled_schema.hpp puts them together.
#pragma once

#include <memory>
#include <string>

#include "base/json.hpp"
#include "schema/field_error.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

class Validator {
 public:
  // `for_defaults`: as the server checks defaults, where int-or-string says nothing about the type.
  explicit Validator(StructuralPtr schema, bool for_defaults = false);
  ~Validator();
  Validator(Validator&&) noexcept;

  // Fields begin with `base` ("" for a whole object). With `old`, what did not change may stay
  // wrong: values that are what the correlated old ones were (ratcheting.hpp) are passed over, but
  // not inside of allOf, anyOf, oneOf and not.
  void validate(const Json& value, const Json* old, const std::string& base,
                FieldErrors& errors) const;

 private:
  struct Node;
  class Run;
  static std::unique_ptr<Node> build(const Structural& schema, bool for_defaults);
  StructuralPtr schema_;  // what the nodes point into
  std::unique_ptr<const Node> root_;
};

// A number as Go prints it with %v.
std::string go_number(double value);
std::string go_number(const Json& value);

}  // namespace kubewatch::schema

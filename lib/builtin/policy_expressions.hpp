// The expressions of admission policies and of matchConditions, compiled as when the server is
// given them: with the variables that they may name, whose objects have any type. They are never
// run, and what writes objects or patches out is parsed alone. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/checker.hpp"
#include "cel/data_type.hpp"

namespace kubewatch::builtin {

// Those of one object, one after the other.
class PolicyExpressions {
 public:
  enum class Gives { anything, truth, text, text_or_null };
  enum class Scope { with_variables, without_variables };

  // `params`: there are parameters.
  PolicyExpressions(bool params, Scope scope);

  // What is wrong with it, in the server's words; "" when nothing is.
  std::string problem(std::string_view source, Gives gives) const;
  // One that words a message may not ask for permissions.
  std::string message_problem(std::string_view source) const;
  // One that makes what `gives` names: "Object", "list(JSONPatch)". Without a literal of one none
  // does.
  std::string mutation_problem(std::string_view source, std::string_view gives) const;
  // The same of a variable, which the later ones may name. Needs Scope::with_variables.
  std::string add_variable(const std::string& name, std::string_view source);

 private:
  std::vector<cel::Variable> with_authorizer() const;

  std::vector<cel::Variable> variables_;
  std::shared_ptr<cel::DataType> composed_;  // what `variables` has; null without
};

}  // namespace kubewatch::builtin

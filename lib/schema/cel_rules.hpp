// The x-kubernetes-validations of one schema node, compiled: what they may cost, and what is wrong
// with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cel/program.hpp"
#include "schema/cel_types.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

struct CompiledRule {
  const ValidationRule* rule = nullptr;
  std::shared_ptr<const cel::Program> program;  // null when it did not compile
  std::string error;
  std::uint64_t max_cost = 0;
  bool uses_old_self = false;
  std::shared_ptr<const cel::Program> message;
  std::string message_error;
  std::uint64_t message_cost = 0;
  std::string field_path;  // "spec.x" of ".spec.x", "" when there is none
};

// Of the rules of this node alone. `type` must outlive them.
std::vector<CompiledRule> compile_rules(const Structural& schema, const cel::DataType& type);

// ".spec['a']" as the path of a field error; absent when it leads to no field of the schema.
std::optional<std::string> field_path_of(const std::string& path, const Structural& schema);

// The rule in messages: its own message, or its text.
std::string shown_rule(const ValidationRule& rule);

}  // namespace kubewatch::schema

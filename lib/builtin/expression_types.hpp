// What expressions of built-in kinds are compiled with: the types of the variables that they may
// name, and the compiler's words as the server tells them. They are never run. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/checker.hpp"
#include "cel/data_type.hpp"
#include "cel/issues.hpp"
#include "cel/type.hpp"

namespace kubewatch::builtin {

// No value is ever read by them: of a form they need none.
using SharedType = std::shared_ptr<const cel::DataType>;
using TypedFields = std::vector<std::pair<const char*, SharedType>>;

SharedType of_type(cel::TypePtr type);
SharedType plain_type(cel::Type::Kind kind);
SharedType list_type(const SharedType& element);
SharedType map_type(const SharedType& value);  // of texts
// "kubernetes.NAME".
SharedType structure_type(const char* name, const TypedFields& fields);

// As Go prints a type, not as the checker's messages name it.
std::string go_text(const cel::Type& type);

struct Compiled {
  cel::TypePtr type;    // null where it does not compile
  std::string problem;  // why
};

Compiled not_compiled(std::string_view source, const cel::Issues& issues);
// What has been parsed: `issues` has what was wrong with it.
Compiled compile(std::string_view source, cel::Ast& ast, cel::Issues& issues,
                 const std::vector<cel::Variable>& variables);
Compiled compile(std::string_view source, const std::vector<cel::Variable>& variables);

// Every node of an expression, once.
std::vector<cel::Expr*> nodes_of(const cel::Ast& ast);

}  // namespace kubewatch::builtin

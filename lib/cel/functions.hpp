// What functions do. One implementation a name, which looks at the kinds of its arguments: an
// argument that no overload takes gives the error "no such overload". Arguments are never errors.
#pragma once

#include <span>
#include <string_view>

#include "base/regex.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

// What a call has beside its arguments: what was prepared while it was compiled, and what its run
// may still do.
struct Prepared {
  const base::Regex* regex = nullptr;  // of a pattern that is a literal
  Allowance* allowance = nullptr;      // borrowed; null only while literals are converted
};

// The arguments may be taken apart.
using Implementation = Value (*)(std::span<Value> arguments, const Prepared& prepared);

struct NamedImplementation {
  std::string_view name;
  Implementation run;
};

// Null when there is none: logical operators, indexing and optionals are the evaluator's.
Implementation find_implementation(std::string_view function);

// The tables, one a file.
std::span<const NamedImplementation> operator_functions();
std::span<const NamedImplementation> conversion_functions();
std::span<const NamedImplementation> string_functions();
std::span<const NamedImplementation> time_functions();
std::span<const NamedImplementation> list_functions();
std::span<const NamedImplementation> optional_functions();
std::span<const NamedImplementation> kubernetes_functions();
std::span<const NamedImplementation> network_functions();

// What string() gives; format() shows values with it as well. Absent for kinds without a text.
std::optional<std::string> text_of(const Value& value);
Value conversion_error(const Value& from, std::string_view to);

}  // namespace kubewatch::cel

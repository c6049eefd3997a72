// + - * / % and the comparisons, by jq's type rules. Errors: invalid in jq's words, too_large for
// texts that would grow beyond kMaxText.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "jq/ast.hpp"

namespace kubewatch::jq {

constexpr std::size_t kMaxText = 16U << 20U;

Result<Json> calculate(Operator op, const Json& a, const Json& b);
bool holds(Operator comparison, const Json& a, const Json& b);
Result<Json> negate(const Json& value);
// a + b where a may be changed: sums over many values stay linear.
Result<Json> add_to(Json a, const Json& b);

}  // namespace kubewatch::jq

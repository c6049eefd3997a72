#include "jq/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jq/access.hpp"
#include "jq/number.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

namespace {

Error too_long() {
  return Error(ErrorKind::too_large, fmt::format("a text would be longer than {} bytes", kMaxText));
}

// Deep: objects under the same key are merged, everything else is replaced.
void merge_into(Json& target, const Json& source) {
  for (const auto& [key, value] : source.items()) {
    Json& member = target[key];
    if (member.is_object() && value.is_object()) {
      merge_into(member, value);
    } else {
      member = value;
    }
  }
}

Result<Json> subtract(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return subtract_numbers(a, b);
  if (!a.is_array() || !b.is_array()) return type_error(a, b, "cannot be subtracted");
  Comparisons left;
  Json out = Json::array();
  for (const Json& item : a) {
    const bool removed = std::any_of(
        b.begin(), b.end(), [&](const Json& other) { return compare(item, other, left) == 0; });
    if (left.spent()) return Comparisons::too_many();
    if (!removed) out.push_back(item);
  }
  return out;
}

// A text n times, n counted as jq does: at least once for everything above zero.
Result<Json> repeat(const std::string& text, const Json& times) {
  const double more = times.get<double>() - 1;
  if (more <= -1) return Json();
  if (more < 1 || text.empty()) return Json(text);
  if (more * static_cast<double>(text.size()) > static_cast<double>(kMaxText)) return too_long();
  std::string out = text;
  for (auto left = static_cast<std::size_t>(more); left > 0; --left) out += text;
  return Json(std::move(out));
}

Result<Json> multiply(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return multiply_numbers(a, b);
  if (a.is_string() && b.is_number()) return repeat(a.get_ref<const std::string&>(), b);
  if (a.is_number() && b.is_string()) return repeat(b.get_ref<const std::string&>(), a);
  if (!a.is_object() || !b.is_object()) return type_error(a, b, "cannot be multiplied");
  Json out = a;
  merge_into(out, b);
  return out;
}

bool is_zero(const Json& number) {
  return compare_numbers(number, Json(0)) == 0;
}

Result<Json> divide(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (is_zero(b)) return type_error(a, b, "cannot be divided because the divisor is zero");
    return divide_numbers(a, b);
  }
  if (a.is_string() && b.is_string()) {
    return split_text(a.get_ref<const std::string&>(), b.get_ref<const std::string&>());
  }
  return type_error(a, b, "cannot be divided");
}

Result<Json> modulo(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) {
    return type_error(a, b, "cannot be divided (remainder)");
  }
  if (to_int64(b) == 0) {
    return type_error(a, b, "cannot be divided (remainder) because the divisor is zero");
  }
  return remainder_of(to_int64(a), to_int64(b));
}

}  // namespace

Result<Json> add_to(Json a, const Json& b) {
  if (a.is_null()) return b;
  if (b.is_null()) return a;
  if (a.is_number() && b.is_number()) return add_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    auto& text = a.get_ref<std::string&>();
    const auto& tail = b.get_ref<const std::string&>();
    if (text.size() + tail.size() > kMaxText) return too_long();
    text += tail;
    return a;
  }
  if (a.is_array() && b.is_array()) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : b.items()) a[key] = value;
    return a;
  }
  return type_error(a, b, "cannot be added");
}

Result<Json> calculate(Operator op, const Json& a, const Json& b) {
  switch (op) {
    case Operator::add: return add_to(a, b);
    case Operator::subtract: return subtract(a, b);
    case Operator::multiply: return multiply(a, b);
    case Operator::divide: return divide(a, b);
    case Operator::modulo: return modulo(a, b);
    default: return Json(holds(op, a, b));
  }
}

bool holds(Operator comparison, const Json& a, const Json& b) {
  const int order = compare(a, b);
  switch (comparison) {
    case Operator::eq: return order == 0;
    case Operator::ne: return order != 0;
    case Operator::lt: return order < 0;
    case Operator::le: return order <= 0;
    case Operator::gt: return order > 0;
    default: return order >= 0;
  }
}

Result<Json> negate(const Json& value) {
  if (!value.is_number()) return type_error(value, "cannot be negated");
  return negate_number(value);
}

}  // namespace kubewatch::jq

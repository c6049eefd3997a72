// Whether a value fits its merge schema, told as the API server tells it for apply. Not OpenAPI
// validation: formats, enums and required fields are none of its business.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>

#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "schema/field_error.hpp"
#include "schema/go_words.hpp"
#include "schema/times.hpp"
#include "schema/typed.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {
namespace {

using Kind = MergeNode::Kind;

constexpr std::size_t kMaxErrors = 20;

// What is looked at besides types.
struct Looks {
  bool duplicates = true;
  bool numbers = true;  // and times: else they are read after the merge
  bool keys = true;     // of items of keyed lists, and what fieldsV1 is
};

class Checker {
 public:
  explicit Checker(Looks looks) : looks_(looks) {}

  void check(const MergeNode& node, const Json& value, const ValuePlace& place);
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void fail(const ValuePlace& place, const std::string& what) {
    if (errors_.size() >= kMaxErrors || told_ > kMostTold) return;
    const std::string path = place.text();
    errors_.push_back(path.empty() ? what : path + ": " + what);
    told_ += errors_.back().size();
  }
  void check_time(MergeNode::Scalar kind, const Json& value, const ValuePlace& place);
  void check_quantity(std::string_view text, const ValuePlace& place);
  void check_integer(const MergeNode& node, const Json& value, const ValuePlace& place);
  void check_scalar(const MergeNode& node, const Json& value, const ValuePlace& place);
  void check_map(const MergeNode& node, const Json& value, const ValuePlace& place);
  void check_list(const MergeNode& node, const Json& value, const ValuePlace& place);
  void check_items(const MergeNode& node, const Json& value, const ValuePlace& place);

  Looks looks_;
  std::vector<std::string> errors_;
  std::size_t told_ = 0;  // bytes
};

std::string cut(std::string text) {
  constexpr std::size_t kMaxText = 256;
  if (text.size() > kMaxText) text.resize(kMaxText);
  return text;
}

// As Go prints the server's own type for a value (%v).
std::string got(const Json& value) {
  return ", got &{" + cut(go_text(value)) + "}";
}

void Checker::check_quantity(std::string_view text, const ValuePlace& place) {
  if (!base::Quantity::parse(base::trim(text))) fail(place, base::kNoQuantity);
}

void Checker::check_time(MergeNode::Scalar kind, const Json& value, const ValuePlace& place) {
  if (!looks_.numbers) {
    if (value.is_structured()) fail(place, "expected any scalar" + got(value));
    return;
  }
  if (value.is_string() && written_time(kind, value.get_ref<const std::string&>()).ok()) return;
  const bool micro = kind == MergeNode::Scalar::micro_time;
  fail(place, std::string("expected an RFC 3339 time") +
                  (micro ? " with six digits after the point" : "") + got(value));
}

// An apply takes 3.0 for a whole number, as the converter of unstructured objects does.
bool is_whole(const Json& value) {
  if (!value.is_number_float()) return value.is_number();
  const double number = value.get<double>();
  return number == std::trunc(number) && std::abs(number) < 9.2e18;
}

void Checker::check_integer(const MergeNode& node, const Json& value, const ValuePlace& place) {
  if (!value.is_number()) {
    return fail(place, "expected numeric (int or float), got " + go_type(value));
  }
  if (!looks_.numbers) return;
  const bool narrow = node.scalar == MergeNode::Scalar::int32;
  using Narrow = std::numeric_limits<std::int32_t>;
  using Wide = std::numeric_limits<std::int64_t>;
  const bool whole = is_whole(value);
  const auto number = whole ? value.get<std::int64_t>() : 0;
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() > static_cast<std::uint64_t>(Wide::max());
  const bool fits = !narrow || (number >= Narrow::min() && number <= Narrow::max());
  if (whole && !too_large && fits) return;
  fail(place, misread_value("number " + value.dump(), narrow ? "int32" : "int64"));
}

void Checker::check_scalar(const MergeNode& node, const Json& value, const ValuePlace& place) {
  if (node.anything || value.is_null()) return;
  const auto expected = [&](const char* what) {
    fail(place, std::string("expected ") + what + got(value));
  };
  switch (node.scalar) {
    case MergeNode::Scalar::numeric:
      if (!value.is_number()) fail(place, "expected numeric (int or float), got " + go_type(value));
      break;
    case MergeNode::Scalar::int32:
    case MergeNode::Scalar::int64: check_integer(node, value, place); break;
    case MergeNode::Scalar::string:
      // The one that the server prints as Go would write it down (%#v).
      if (!value.is_string()) {
        fail(place,
             "expected string, got &value.valueUnstructured{Value:" + cut(go_literal(value)) + "}");
      }
      break;
    case MergeNode::Scalar::boolean:
      if (!value.is_boolean()) expected("boolean");
      break;
    case MergeNode::Scalar::any:
      if (value.is_structured()) expected("any scalar");
      break;
    case MergeNode::Scalar::quantity:
      if (value.is_structured() || value.is_boolean()) return expected("any scalar");
      if (value.is_string()) check_quantity(value.get_ref<const std::string&>(), place);
      break;
    case MergeNode::Scalar::int_or_string:
      if (!value.is_string() && !is_whole(value)) expected("int or string");
      break;
    case MergeNode::Scalar::time:
    case MergeNode::Scalar::micro_time: check_time(node.scalar, value, place); break;
  }
}

void Checker::check_map(const MergeNode& node, const Json& value, const ValuePlace& place) {
  if (value.is_null()) return;
  if (!value.is_object()) return fail(place, "expected map" + got(value));
  for (const auto& [key, below] : value.items()) {
    if (!looks_.keys && key == "fieldsV1") continue;
    const MergeNode* child = node.child(key);
    if (child == nullptr && node.is_struct) {
      return fail(place.member(key), "field not declared in schema");
    }
    check(child == nullptr ? deduced_node() : *child, below, place.member(key));
  }
}

void Checker::check_list(const MergeNode& node, const Json& value, const ValuePlace& place) {
  if (value.is_null()) return;
  if (!value.is_array()) return fail(place, "expected list" + got(value));
  if (is_associative(node.kind)) return check_items(node, value, place);
  for (std::size_t i = 0; i < value.size(); ++i) {
    check(element_or_deduced(node), value[i], place.item(i));
  }
}

void Checker::check_items(const MergeNode& node, const Json& value, const ValuePlace& place) {
  std::set<PathElement> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    Result<PathElement> element = item_element(node, value[i]);
    const bool lacks_keys = node.kind == Kind::list_map && value[i].is_object();
    if (!element.ok() && lacks_keys && !looks_.keys) {
      check(element_or_deduced(node), value[i], place.item(i));
      continue;
    }
    if (!element.ok()) {
      return fail(place, "element " + std::to_string(i) + ": " + element.error().message());
    }
    const std::string key = element->str();
    if (!seen.insert(*element).second && looks_.duplicates) {
      fail(place, "duplicate entries for key " + key);
    }
    check(element_or_deduced(node), value[i], place.with(key));
  }
}

void Checker::check(const MergeNode& node, const Json& value, const ValuePlace& place) {
  switch (shape_of(node, &value)) {
    case Kind::deduced: break;
    case Kind::scalar: check_scalar(node, value, place); break;
    case Kind::map:
    case Kind::map_atomic: check_map(node, value, place); break;
    case Kind::list_atomic:
    case Kind::list_set:
    case Kind::list_map: check_list(node, value, place); break;
  }
}

Result<void> check(const MergeNode& node, const Json& value, Checker checker) {
  checker.check(node, value, ValuePlace::root());
  const std::vector<std::string>& errors = checker.errors();
  if (errors.empty()) return {};
  if (errors.size() == 1) return Error(ErrorKind::invalid, errors.front());
  return Error(ErrorKind::invalid, "errors:\n  " + base::join(errors, "\n  "));
}

}  // namespace

Result<void> check_value(const MergeNode& node, const Json& value, bool allow_duplicates) {
  return check(node, value, Checker({.duplicates = !allow_duplicates}));
}

Result<void> check_read(const MergeNode& node, const Json& value) {
  return check(node, value, Checker({.duplicates = false, .keys = false}));
}

Result<void> check_for_merge(const MergeNode& node, const Json& value) {
  return check(node, value, Checker({.numbers = false}));
}

}  // namespace kubewatch::schema

// What a JSONPath finds. The parser is json_path_parse.cpp.
#include "core/json_path.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/go_json.hpp"
#include "core/json_path_steps.hpp"

namespace kubewatch::core {

namespace {

using Found = std::vector<const Json*>;

constexpr std::size_t kVisits = 10;  // for each value that may be found
// kubectl's words; which types they are is said behind them.
constexpr std::string_view kIncompatible = "incompatible types for comparison: ";
constexpr std::string_view kIncomparable = "invalid type for comparison: ";
constexpr std::string_view kNullWord = "null";

std::string_view word_of_type(const Json& value) {
  if (value.is_null()) return kNullWord;
  if (value.is_boolean()) return "a truth value";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "an object";
}

bool is_null_word(const PathOperand& operand) {
  return operand.from == PathOperand::From::literal && operand.literal.is_null();
}

const Json* member(const Json& value, const std::string& name) {
  if (!value.is_object()) return nullptr;
  const auto it = value.find(name);
  return it == value.end() ? nullptr : &*it;
}

// An error only counts where the caller asked for kubectl's errors; else what failed finds nothing.
class Evaluation {
 public:
  // `visited` is what the evaluation and all inside it have looked at; it must outlive them.
  Evaluation(const Json& root, const JsonPath::Limits& limits, bool strict, std::size_t& visited)
      : root_(root), limits_(limits), strict_(strict), visited_(visited) {}

  Result<Found> run(const PathSteps& steps, const Json& from) {
    anywhere_ = false;
    Found at{&from};
    for (const auto& step : steps) {
      Found next;
      if (const auto* all = std::get_if<PathUnion>(&step.what)) {
        KW_TRY(take_union(*all, at, next));
        at = std::move(next);
        continue;
      }
      for (const Json* one : at) {
        KW_TRY(visit(1));
        KW_TRY(std::visit([&](const auto& what) { return take(what, *one, next); }, step.what));
        if (next.size() > limits_.max_found) {
          return too_many();
        }
      }
      KW_TRY(visit(next.size()));
      const auto* field = std::get_if<PathField>(&step.what);
      if (strict_ && !limits_.allow_missing && field != nullptr && next.empty()) {
        return Error(ErrorKind::invalid, field->name + " is not found");
      }
      at = std::move(next);
      // ".." meets everything: what cannot be indexed or filtered is passed over then.
      anywhere_ = std::holds_alternative<PathRecursive>(step.what);
    }
    return at;
  }

 private:
  Error too_many() const {
    return {ErrorKind::too_large,
            fmt::format("the path finds more than {} values", limits_.max_found)};
  }

  // A filter that looks at the whole value does so for each item.
  Result<void> visit(std::size_t count) {
    visited_ += count;
    if (visited_ <= kVisits * limits_.max_found) return {};
    return Error(ErrorKind::too_large,
                 fmt::format("the path looks at more than {} values", kVisits * limits_.max_found));
  }

  Result<void> fault(std::string what) const {
    if (!strict_ || anywhere_) return {};
    return Error(ErrorKind::invalid, std::move(what));
  }

  Result<void> take(const PathField& field, const Json& value, Found& out) {
    if (const Json* found = member(value, field.name)) {
      out.push_back(found);
      return {};
    }
    if (field.parts.empty()) return {};
    const Json* at = &value;
    for (const auto& part : field.parts) {
      at = member(*at, part);
      if (at == nullptr) return {};
    }
    out.push_back(at);
    return {};
  }

  Result<void> take(const PathSlice& slice, const Json& value, Found& out) {
    if (value.is_null()) return {};
    if (!value.is_array()) return fault("an index is used on something that is not an array");
    const auto size = static_cast<std::int64_t>(value.size());
    const std::int64_t asked = slice.from.value_or(0);
    const std::int64_t from = asked < 0 ? asked + size : asked;
    if (slice.single) {
      if (from < 0 || from >= size) {
        return fault(fmt::format("array index out of bounds: index {}, length {}", asked, size));
      }
      out.push_back(&value[static_cast<std::size_t>(from)]);
      return {};
    }
    std::int64_t to = slice.to.value_or(size);
    if (to < 0) to += size;
    if (from == to) return {};
    if (from < 0 || from >= size || to < 0 || to > size) {
      return fault(fmt::format("array index out of bounds: slice {}:{}, length {}", asked,
                               slice.to.value_or(size), size));
    }
    if (from > to) {
      return fault(fmt::format("starting index {} is greater than ending index {}", from, to));
    }
    for (std::int64_t i = from; i < to; i += std::min(slice.step, size)) {
      out.push_back(&value[static_cast<std::size_t>(i)]);
    }
    return {};
  }

  Result<void> take(const PathAll&, const Json& value, Found& out) {
    if (!value.is_structured()) return {};
    for (const auto& item : value) out.push_back(&item);
    return {};
  }

  // The value and all that is in it, without scalars, outer ones first.
  Result<void> take(const PathRecursive& all, const Json& value, Found& out) {
    if (!value.is_structured() || value.empty()) return {};
    if (out.size() > limits_.max_found) return {};
    KW_TRY(visit(value.size()));
    out.push_back(&value);
    for (const auto& item : value) KW_TRY(take(all, item, out));
    return {};
  }

  // Part by part, as kubectl: [*]['a','b'] finds all of a, then all of b.
  Result<void> take_union(const PathUnion& all, const Found& from, Found& out) {
    for (const auto& part : all.parts) {
      for (const Json* one : from) {
        Evaluation inner(root_, limits_, strict_, visited_);
        KW_ASSIGN(const auto found, inner.run(part.steps(), *one));
        out.insert(out.end(), found.begin(), found.end());
        if (out.size() > limits_.max_found) return too_many();
      }
    }
    return {};
  }
  // Never reached: run() takes unions for all values at once.
  Result<void> take(const PathUnion&, const Json&, Found&) { return {}; }

  Result<void> take(const PathFilter& filter, const Json& value, Found& out) {
    if (value.is_null()) return {};
    if (!value.is_array()) return fault("a filter is used on something that is not an array");
    KW_TRY(visit(value.size()));
    for (const auto& item : value) {
      KW_ASSIGN(const bool passes, holds(filter.condition, item));
      if (passes) out.push_back(&item);
    }
    return {};
  }

  Result<bool> holds(const PathCondition& condition, const Json& item) {
    using Op = PathCondition::Op;
    if (condition.op == Op::all || condition.op == Op::any) {
      const bool ends = condition.op == Op::any;
      for (const auto& part : condition.parts) {
        KW_ASSIGN(const bool one, holds(part, item));
        if (one == ends) return ends;
      }
      return !ends;
    }
    if (condition.op == Op::no) {
      KW_ASSIGN(const bool inner, holds(condition.parts.front(), item));
      return !inner;
    }
    if (condition.op == Op::exists) {
      KW_ASSIGN(const auto found, values(condition.left, item));
      return !found.empty();
    }
    KW_ASSIGN(const Json* left, only(condition.left, item));
    KW_ASSIGN(const Json* right, only(condition.right, item));
    // As kubectl: an absent field fails every comparison.
    if (left == nullptr || right == nullptr) return false;
    const bool equality = condition.op == Op::equal || condition.op == Op::not_equal;
    // kubectl has no word null: that it can be asked for of a field of any type is ours.
    if (equality && (is_null_word(condition.left) || is_null_word(condition.right))) {
      return (*left == *right) == (condition.op == Op::equal);
    }
    if (strict_ && !anywhere_) KW_TRY(check_comparable(equality, *left, *right));
    return compare(condition.op, *left, *right);
  }

  // As kubectl, but for whole numbers and fractions, which are two types to it: which of them a
  // number is, JSON does not say, and 2 == 2.0 is no mistake in a path.
  Result<void> check_comparable(bool equality, const Json& left, const Json& right) const {
    const auto incomparable = [&](const Json& value) {
      return fault(fmt::format("{}{}", kIncomparable, word_of_type(value)));
    };
    for (const Json* one : {&left, &right}) {
      if (one->is_structured() || one->is_null()) return incomparable(*one);
    }
    if (word_of_type(left) != word_of_type(right)) {
      return fault(
          fmt::format("{}{} and {}", kIncompatible, word_of_type(left), word_of_type(right)));
    }
    return left.is_boolean() && !equality ? incomparable(left) : Result<void>();
  }

  Result<Found> values(const PathOperand& operand, const Json& item) {
    if (operand.from == PathOperand::From::literal) return Found{&operand.literal};
    // What is missing in one item of many is no error, whatever the template's keys are.
    Evaluation inner(root_, JsonPath::Limits{true, limits_.max_found}, strict_, visited_);
    const bool root = operand.from == PathOperand::From::root;
    return inner.run(operand.path.steps(), root ? root_ : item);
  }

  Result<const Json*> only(const PathOperand& operand, const Json& item) {
    KW_ASSIGN(const auto found, values(operand, item));
    if (found.size() > 1) KW_TRY(fault("can only compare one element at a time"));
    return found.size() == 1 ? found.front() : nullptr;
  }

  static bool compare(PathCondition::Op op, const Json& left, const Json& right) {
    using Op = PathCondition::Op;
    const bool comparable =
        (left.is_number() && right.is_number()) || (left.is_string() && right.is_string());
    if (left.is_structured() || right.is_structured()) return false;
    switch (op) {
      case Op::equal: return left == right;
      case Op::not_equal: return left != right;
      case Op::less: return comparable && left < right;
      case Op::less_equal: return comparable && left <= right;
      case Op::greater: return comparable && left > right;
      case Op::greater_equal: return comparable && left >= right;
      default: return false;
    }
  }

  const Json& root_;
  JsonPath::Limits limits_;
  bool strict_;
  std::size_t& visited_;
  bool anywhere_ = false;
};

}  // namespace

JsonPath::JsonPath(PathSteps steps) : steps_(std::make_shared<const PathSteps>(std::move(steps))) {}

const PathSteps& JsonPath::steps() const {
  static const PathSteps kNone;
  return steps_ ? *steps_ : kNone;
}

namespace {

// As Go's %v has it, and so kubectl: with an exponent below 1e-4 and from 1e6 on.
std::string float_text(double number) {
  std::array<char, 64> text{};
  const auto written = [&](std::chars_format format) {
    return std::string_view(
        text.data(),
        std::to_chars(text.data(), text.data() + text.size(), number, format).ptr - text.data());
  };
  const std::string_view scientific = written(std::chars_format::scientific);
  const auto e = scientific.find('e');
  if (e == std::string_view::npos) return std::string(scientific);
  const int exponent = std::atoi(scientific.substr(e + 1).data());
  if (exponent < -4 || exponent >= 6) return std::string(scientific);
  return std::string(written(std::chars_format::fixed));
}

}  // namespace

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  // What is no int64 is a float64 to kubectl.
  const bool beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (value.is_number_float() || beyond) return float_text(value.get<double>());
  return value.is_structured() ? go_json(value) : base::dump_json(value);
}

Result<JsonPath> JsonPath::parse(std::string_view text, std::size_t* problem_at) {
  const std::string_view inner = base::trim(text);
  const bool braces = !inner.empty() && inner.front() == '{';
  // One text for both: positions count from its begin.
  std::size_t at = static_cast<std::size_t>(inner.data() - text.data()) + (braces ? 1 : 0);
  PathSteps steps;
  auto problem = parse_path(text.substr(0, inner.data() - text.data() + inner.size()), at, steps);
  const std::size_t end = static_cast<std::size_t>(inner.data() - text.data()) + inner.size();
  if (!problem && braces && at >= end) problem = PathProblem{"'{' is not closed", end};
  if (!problem && !braces && at < end) problem = PathProblem{"'}' is not expected", at};
  if (!problem && braces && at + 1 < end) problem = PathProblem{"text after '}'", at + 1};
  const bool nothing = inner.empty() || (braces && base::trim(inner.substr(1)) == "}");
  if (!problem && nothing) problem = PathProblem{"it names no field", 0};
  if (!problem) return JsonPath(std::move(steps));
  if (problem_at != nullptr) *problem_at = problem->at;
  return Error(ErrorKind::invalid, fmt::format("invalid JSONPath \"{}\": {} at character {}", text,
                                               problem->what, problem->at + 1));
}

std::vector<const Json*> JsonPath::find(const Json& value) const {
  std::size_t visited = 0;
  auto found = Evaluation(value, Limits(), false, visited).run(steps(), value);
  return found.ok() ? std::move(found).value() : Found();
}

Result<std::vector<const Json*>> JsonPath::evaluate(const Json& value, const Limits& limits) const {
  std::size_t visited = 0;
  return Evaluation(value, limits, true, visited).run(steps(), value);
}

bool is_type_mistake(const Error& error) {
  const std::string& text = error.message();
  // A null may be another value later, and of the right type then.
  return text.starts_with(kIncompatible) ||
         (text.starts_with(kIncomparable) && !text.ends_with(kNullWord));
}

bool JsonPath::set(Json& value, Json what) const {
  Json* at = &value;
  if (steps().empty()) return false;
  for (const auto& step : steps()) {
    const auto* field = std::get_if<PathField>(&step.what);
    if (field == nullptr) return false;
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return false;
    at = &(*at)[field->name];
  }
  *at = std::move(what);
  return true;
}

std::vector<const Json*> find_at(const Json& value, std::string_view path) {
  const auto parsed = JsonPath::parse(path);
  return parsed.ok() ? parsed->find(value) : std::vector<const Json*>();
}

bool set_at(Json& value, std::string_view path, Json what) {
  const auto parsed = JsonPath::parse(path);
  return parsed.ok() && parsed->set(value, std::move(what));
}

std::string JsonPath::first_field() const {
  const auto* field = steps().empty() ? nullptr : std::get_if<PathField>(&steps().front().what);
  return field == nullptr ? "" : field->name;
}

}  // namespace kubewatch::core

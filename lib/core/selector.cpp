// Label and field selectors. The label grammar is kubectl's: see the header for its forms.
#include "core/selector.hpp"

#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "core/resource.hpp"

namespace kubewatch::core {
namespace {

// "" when the requirement is one that the server accepts.
std::string check(const LabelRequirement& requirement) {
  if (std::string bad = check_label_key(requirement.key); !bad.empty()) {
    return "the key \"" + requirement.key + "\" is invalid: " + bad;
  }
  const bool numeric =
      requirement.op == SelectorOperator::greater || requirement.op == SelectorOperator::less;
  for (const std::string& value : requirement.values) {
    if (std::string bad = check_label_value(value); !bad.empty()) {
      return "the value \"" + value + "\" of " + requirement.key + " is invalid: " + bad;
    }
    if (numeric && !base::read_number<std::int64_t>(value)) {
      return "the value \"" + value + "\" of " + requirement.key +
             " is not an integer, which < and > need";
    }
  }
  return "";
}

void normalise(std::vector<LabelRequirement>& requirements) {
  for (LabelRequirement& requirement : requirements) {
    auto& values = requirement.values;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
}

class LabelParser {
 public:
  explicit LabelParser(std::string_view text) : text_(text) {}

  Result<std::vector<LabelRequirement>> parse() {
    std::vector<LabelRequirement> out;
    skip_space();
    if (at_ == text_.size()) return out;
    while (true) {
      KW_ASSIGN(LabelRequirement requirement, requirement_here());
      if (std::string bad = check(requirement); !bad.empty()) return error(bad);
      out.push_back(std::move(requirement));
      skip_space();
      if (at_ == text_.size()) return out;
      if (!accept(",")) return error("a comma or the end is expected " + here());
    }
  }

 private:
  Result<LabelRequirement> requirement_here() {
    LabelRequirement out;
    const bool negated = accept("!");
    KW_ASSIGN(out.key, word());
    if (out.key.empty()) return error("a label key is expected " + here());
    skip_space();
    const bool ends = at_ == text_.size() || text_[at_] == ',';
    if (negated || ends) {
      if (!ends) return error("a comma or the end is expected " + here());
      out.op = negated ? SelectorOperator::not_exists : SelectorOperator::exists;
      return out;
    }
    return with_operator(std::move(out));
  }

  Result<LabelRequirement> with_operator(LabelRequirement out) {
    if (accept("==") || accept("=")) {
      out.op = SelectorOperator::in;
    } else if (accept("!=")) {
      out.op = SelectorOperator::not_in;
    } else if (accept(">")) {
      out.op = SelectorOperator::greater;
    } else if (accept("<")) {
      out.op = SelectorOperator::less;
    } else {
      const std::size_t start = at_;
      KW_ASSIGN(const std::string name, word());
      if (name != "in" && name != "notin") {
        at_ = start;
        return error("one of =, ==, !=, in, notin, <, > is expected " + here());
      }
      out.op = name == "in" ? SelectorOperator::in : SelectorOperator::not_in;
      KW_ASSIGN(out.values, value_set());
      return out;
    }
    KW_ASSIGN(std::string value, word());
    out.values.push_back(std::move(value));
    return out;
  }

  Result<std::vector<std::string>> value_set() {
    if (!accept("(")) return error("( is expected " + here());
    std::vector<std::string> out;
    while (true) {
      KW_ASSIGN(std::string value, word());
      out.push_back(std::move(value));
      if (accept(")")) return out;
      if (!accept(",")) return error(", or ) is expected " + here());
    }
  }

  // A key or value; may be empty.
  Result<std::string> word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n=!(),<>").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string here() const {
    if (at_ >= text_.size()) return "at its end";
    return "at character " + std::to_string(at_ + 1) + " (\"" + std::string(text_.substr(at_, 20)) +
           "\")";
  }

  Error error(const std::string& what) const {
    return Error(ErrorKind::invalid,
                 "label selector \"" + std::string(text_.substr(0, 200)) + "\": " + what);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Error bad_selector(const std::string& what) {
  return Error(ErrorKind::invalid, "label selector: " + what);
}

Result<LabelRequirement> expression_of(const Json& item) {
  if (!item.is_object()) return bad_selector("an item of matchExpressions is not an object");
  for (const auto& [key, value] : item.items()) {
    if (key != "key" && key != "operator" && key != "values") {
      return bad_selector("unknown key matchExpressions." + key);
    }
  }
  LabelRequirement out;
  out.key = base::string_at(item, {"key"});
  const std::string name = base::string_at(item, {"operator"});
  const Json* values = base::find(item, {"values"});
  if (values != nullptr && !values->is_null()) {
    if (!values->is_array()) return bad_selector("values of " + out.key + " is not a list");
    for (const Json& value : *values) {
      if (!value.is_string()) return bad_selector("a value of " + out.key + " is not a string");
      out.values.push_back(value.get<std::string>());
    }
  }
  if (name == "In" || name == "NotIn") {
    out.op = name == "In" ? SelectorOperator::in : SelectorOperator::not_in;
    if (out.values.empty())
      return bad_selector("operator " + name + " of " + out.key + " needs values");
    return out;
  }
  if (name != "Exists" && name != "DoesNotExist") {
    return bad_selector("operator \"" + name + "\" of " + out.key +
                        " is none of In, NotIn, Exists, DoesNotExist");
  }
  out.op = name == "Exists" ? SelectorOperator::exists : SelectorOperator::not_exists;
  if (!out.values.empty())
    return bad_selector("operator " + name + " of " + out.key + " takes no values");
  return out;
}

Result<void> add_match_labels(const Json& map, std::vector<LabelRequirement>& out) {
  if (map.is_null()) return {};
  if (!map.is_object()) return bad_selector("matchLabels is not an object");
  for (const auto& [key, value] : map.items()) {
    if (!value.is_string()) return bad_selector("matchLabels." + key + " is not a string");
    out.push_back({key, SelectorOperator::in, {value.get<std::string>()}});
  }
  return {};
}

Result<void> add_match_expressions(const Json& list, std::vector<LabelRequirement>& out) {
  if (list.is_null()) return {};
  if (!list.is_array()) return bad_selector("matchExpressions is not a list");
  for (const Json& item : list) {
    KW_ASSIGN(LabelRequirement requirement, expression_of(item));
    out.push_back(std::move(requirement));
  }
  return {};
}

bool holds(const LabelRequirement& requirement, const std::string* value) {
  const auto listed = [&] {
    return std::binary_search(requirement.values.begin(), requirement.values.end(), *value);
  };
  switch (requirement.op) {
    case SelectorOperator::in: return value != nullptr && listed();
    case SelectorOperator::not_in: return value == nullptr || !listed();
    case SelectorOperator::exists: return value != nullptr;
    case SelectorOperator::not_exists: return value == nullptr;
    case SelectorOperator::greater:
    case SelectorOperator::less: break;
  }
  if (value == nullptr) return false;
  const auto left = base::read_number<std::int64_t>(*value);
  const auto right = base::read_number<std::int64_t>(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOperator::greater ? *left > *right : *left < *right;
}

std::string text_of(const LabelRequirement& requirement) {
  const std::string& key = requirement.key;
  const std::string values = base::join(requirement.values, ",");
  const bool single = requirement.values.size() == 1;
  switch (requirement.op) {
    case SelectorOperator::in: return single ? key + "=" + values : key + " in (" + values + ")";
    case SelectorOperator::not_in:
      return single ? key + "!=" + values : key + " notin (" + values + ")";
    case SelectorOperator::exists: return key;
    case SelectorOperator::not_exists: return "!" + key;
    case SelectorOperator::greater: return key + ">" + values;
    case SelectorOperator::less: break;
  }
  return key + "<" + values;
}

// --- field selectors ---

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      if (i > start) out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (start < text.size()) out.push_back(text.substr(start));  // a lone \ at the end
  return out;
}

// A backslash may stand before \ , and = only, and the latter two need one.
std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') return std::nullopt;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
      return std::nullopt;
    }
    out += text[i];
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

Error bad_field(std::string_view term, const std::string& what) {
  return Error(ErrorKind::invalid,
               "field selector \"" + std::string(term.substr(0, 200)) + "\": " + what);
}

Result<FieldRequirement> field_requirement(std::string_view term) {
  const std::size_t at = term.find_first_of("=!");
  if (at == std::string_view::npos) return bad_field(term, "one of =, ==, != is expected");
  FieldRequirement out;
  out.path = base::trim(term.substr(0, at));
  std::string_view rest = term.substr(at);
  out.equal = rest.front() == '=';
  if (!out.equal && rest.substr(0, 2) != "!=") return bad_field(term, "! without = after it");
  rest.remove_prefix(rest.starts_with("==") || rest.starts_with("!=") ? 2 : 1);
  if (out.path.empty()) return bad_field(term, "the field is missing");
  auto value = unescape(rest);
  if (!value) return bad_field(term, "in a value write \\\\ \\, \\= for \\ , and =");
  out.value = *std::move(value);
  return out;
}

std::string value_at(const Json& object, const std::string& path) {
  const Json* at = &object;
  for (const std::string& step : base::split(path, '.')) {
    if (!at->is_object()) return "";
    const auto found = at->find(step);
    if (found == at->end()) return "";
    at = &*found;
  }
  if (at->is_string()) return at->get<std::string>();
  return at->is_boolean() || at->is_number() ? base::dump_json(*at) : "";
}

void sort_by_path(std::vector<FieldRequirement>& requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector out;
  KW_ASSIGN(out.requirements_, LabelParser(text).parse());
  normalise(out.requirements_);
  return out;
}

Result<LabelSelector> LabelSelector::from_json(const Json& value) {
  LabelSelector out;
  if (value.is_null()) return out;
  if (!value.is_object()) return bad_selector("not an object of matchLabels and matchExpressions");
  for (const auto& [key, part] : value.items()) {
    if (key == "matchLabels") {
      KW_TRY(add_match_labels(part, out.requirements_));
    } else if (key == "matchExpressions") {
      KW_TRY(add_match_expressions(part, out.requirements_));
    } else {
      return bad_selector("unknown key " + key + "; matchLabels and matchExpressions exist");
    }
  }
  for (const LabelRequirement& requirement : out.requirements_) {
    if (std::string bad = check(requirement); !bad.empty()) return bad_selector(bad);
  }
  normalise(out.requirements_);
  return out;
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const auto& requirement) {
    const auto label = std::find_if(labels.begin(), labels.end(), [&](const auto& pair) {
      return pair.first == requirement.key;
    });
    return holds(requirement, label == labels.end() ? nullptr : &label->second);
  });
}

std::string LabelSelector::str() const {
  std::vector<std::string> parts;
  for (const LabelRequirement& requirement : requirements_) parts.push_back(text_of(requirement));
  return base::join(parts, ",");
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector out;
  for (std::string_view term : split_terms(text)) {
    KW_ASSIGN(FieldRequirement requirement, field_requirement(term));
    out.requirements_.push_back(std::move(requirement));
  }
  sort_by_path(out.requirements_);
  return out;
}

bool FieldSelector::matches(const Json& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const auto& requirement) {
    return (value_at(object, requirement.path) == requirement.value) == requirement.equal;
  });
}

std::string FieldSelector::str() const {
  std::vector<std::string> parts;
  for (const FieldRequirement& requirement : requirements_) {
    parts.push_back(requirement.path + (requirement.equal ? "=" : "!=") +
                    escape(requirement.value));
  }
  return base::join(parts, ",");
}

FieldSelector FieldSelector::with_each(const std::function<void(FieldRequirement&)>& change) const {
  FieldSelector out = *this;
  for (FieldRequirement& requirement : out.requirements_) change(requirement);
  sort_by_path(out.requirements_);
  return out;
}

std::string with_name(const std::string& fields, const std::string& name) {
  if (name.empty()) return fields;
  return (fields.empty() ? "" : fields + ",") + "metadata.name=" + escape(name);
}

}  // namespace kubewatch::core

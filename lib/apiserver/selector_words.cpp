#include "apiserver/selector_words.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "core/object_rules.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_symbol(char c) {
  return std::string_view("=!(),<>").find(c) != std::string_view::npos;
}

const std::set<std::string_view>& operators() {
  static const std::set<std::string_view> known = {"=", "==", "!=", "<", ">", "in", "notin"};
  return known;
}

// Words, and the longest symbols that there are; "" at the end.
std::vector<std::string> tokens_of(std::string_view text) {
  static const std::set<std::string_view> symbols = {"=", "==", "!=", "!", "(", ")", ",", "<", ">"};
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t size = 1;
    if (is_symbol(text[at])) {
      if (symbols.count(text.substr(at, 2)) != 0) size = text.substr(at, 2).size();
    } else {
      while (at + size < text.size() && !is_symbol(text[at + size]) && !is_space(text[at + size])) {
        ++size;
      }
    }
    out.emplace_back(text.substr(at, size));
    at += size;
  }
  out.emplace_back();
  return out;
}

using Why = std::optional<std::string>;

// Follows the server's parser to its first refusal.
class LabelReader {
 public:
  explicit LabelReader(std::string_view text) : tokens_(tokens_of(text)) {}

  Why why() {
    while (!next().empty()) {
      if (!is_word(next()) && next() != "!") return found("!, identifier, or 'end of string'");
      if (auto refused = requirement()) return "unable to parse requirement: " + *refused;
      if (next().empty()) return std::nullopt;
      if (next() != ",") return found("',' or 'end of string'");
      ++at_;
      if (!is_word(next()) && next() != "!") return found("identifier after ','");
    }
    return std::nullopt;
  }

 private:
  static bool is_word(const std::string& token) { return !token.empty() && !is_symbol(token[0]); }
  const std::string& next() const { return tokens_[at_]; }
  // Nothing comes after the end.
  std::string take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  std::string found(const std::string& expected) const {
    return fmt::format("found '{}', expected: {}", next(), expected);
  }

  Why requirement() {
    const bool absent = next() == "!";
    if (absent) take();
    if (!is_word(next())) return found("identifier");
    const std::string key = take();
    if (const std::string problem = core::check_label_key(key); !problem.empty()) {
      return fmt::format("<nil>: Invalid value: {}: {}", schema::go_quoted(key), problem);
    }
    if (absent || next().empty() || next() == ",") return std::nullopt;
    if (operators().count(next()) == 0) return found("in, notin, =, ==, !=, gt, lt");
    const std::string op = take();
    std::set<std::string> values;
    auto refused = op == "in" || op == "notin" ? listed(values) : exact(values);
    return refused ? refused : check(key, op, values);
  }

  Why exact(std::set<std::string>& values) {
    if (next().empty() || next() == ",") {
      values.insert("");
      return std::nullopt;
    }
    if (!is_word(next())) return found("identifier");
    values.insert(take());
    return std::nullopt;
  }

  Why listed(std::set<std::string>& values) {
    if (next() != "(") return fmt::format("found '{}' expected: '('", next());
    take();
    if (next() != ")" && next() != "," && !is_word(next())) return found("',', ')' or identifier");
    while (next() != ")") {
      if (is_word(next())) {
        values.insert(take());
        if (next() != "," && next() != ")") return found("',' or ')'");
      } else if (next() == ",") {
        take();
        if (values.empty() || next() == ")" || next() == ",") values.insert("");
      } else {
        return found("',', or identifier");
      }
    }
    take();
    return std::nullopt;
  }

  static Why check(const std::string& key, const std::string& op,
                   const std::set<std::string>& values) {
    std::size_t index = 0;
    for (const std::string& value : values) {
      const std::string field = fmt::format("values[{}]", index++);
      if ((op == "<" || op == ">") && !is_integer(value)) {
        return fmt::format(
            "{}: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an "
            "integer",
            field, schema::go_quoted(value));
      }
      const std::string problem = core::check_label_value(value);
      if (problem.empty()) continue;
      return fmt::format("{}[{}]: Invalid value: {}: {}", field, key, schema::go_quoted(value),
                         problem);
    }
    return std::nullopt;
  }

  static bool is_integer(const std::string& text) {
    return base::read_number<std::int64_t>(text).has_value();
  }

  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
};

// At commas that are not escaped.
std::vector<std::string> terms_of(std::string_view text) {
  std::vector<std::string> out;
  std::size_t start = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!escaped && text[i] == ',') {
      out.emplace_back(text.substr(start, i - start));
      start = i + 1;
    }
    escaped = !escaped && text[i] == '\\';
  }
  out.emplace_back(text.substr(start));
  return out;
}

struct Term {
  std::string field;
  std::string value;
};

std::optional<Term> split_term(const std::string& term) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    for (const std::string_view op : {"!=", "==", "="}) {
      if (term.compare(i, op.size(), op) != 0) continue;
      return Term{term.substr(0, i), term.substr(i + op.size())};
    }
  }
  return std::nullopt;
}

Why why_no_value(const std::string& value) {
  bool escaped = false;
  for (const char c : value) {
    const bool special = c == '\\' || c == ',' || c == '=';
    if (escaped && !special) {
      return fmt::format("invalid field selector: invalid escape sequence: \\{}", c);
    }
    if (!escaped && special && c != '\\') {
      return fmt::format("invalid field selector: unescaped character in value: {}", int{c});
    }
    escaped = !escaped && c == '\\';
  }
  if (escaped) return "invalid field selector: invalid escape sequence: \\";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_no_label_selector(std::string_view text) {
  return LabelReader(text).why();
}

std::optional<std::string> why_no_field_selector(std::string_view text) {
  for (const std::string& term : terms_of(text)) {
    if (term.empty()) continue;
    const auto parts = split_term(term);
    if (!parts) return fmt::format("invalid selector: '{}'; can't understand '{}'", text, term);
    if (auto why = why_no_value(parts->value)) return why;
  }
  return std::nullopt;
}

std::vector<std::string> selected_fields(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& term : terms_of(text)) {
    if (const auto parts = split_term(term)) out.push_back(parts->field);
  }
  return out;
}

}  // namespace kubewatch::apiserver

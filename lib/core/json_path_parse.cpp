// The parser of kubectl's JSONPath: one pass over the bytes, every error with its place.
#include <fmt/format.h>

#include <charconv>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "core/json_path_steps.hpp"

namespace kubewatch::core {

namespace {

constexpr std::size_t kMaxSteps = 1000;
constexpr std::size_t kMaxNesting = 32;

using Problem = std::optional<PathProblem>;

// Returns the problem of an expression from the enclosing function.
#define KW_STEP(expr)                          \
  do {                                         \
    if (auto problem = (expr)) return problem; \
  } while (false)

class PathParser {
 public:
  PathParser(std::string_view text, std::size_t at, std::size_t nesting)
      : text_(text), at_(at), nesting_(nesting) {}

  std::size_t at() const { return at_; }

  // Until one of `ends` outside of brackets and quotes, or the end of the text.
  Problem steps(PathSteps& out, std::string_view ends) {
    if (nesting_ > kMaxNesting) return wrong("the filters are nested too deep");
    skip_space();
    if (peek() == '$' || peek() == '@') ++at_;
    for (bool first = true;; first = false) {
      skip_space();
      if (at_ >= text_.size() || ends.find(peek()) != std::string_view::npos) return std::nullopt;
      if (out.size() >= kMaxSteps) return wrong("the path has too many steps");
      KW_STEP(step(out, ends, first));
    }
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_space() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\t' || peek() == '\n')) ++at_;
  }
  Problem wrong(std::string what) const { return PathProblem{std::move(what), at_}; }
  Problem expect(char c) {
    if (peek() != c) return wrong(fmt::format("'{}' is expected", c));
    ++at_;
    return std::nullopt;
  }
  bool ends_path(char c, std::string_view ends) const {
    return c == '\0' || c == ' ' || ends.find(c) != std::string_view::npos;
  }

  Problem step(PathSteps& out, std::string_view ends, bool first) {
    if (peek() == '[') return bracket(out);
    if (peek() == '.') {
      ++at_;
      if (peek() == '.') {
        ++at_;
        if (ends_path(peek(), ends)) return wrong("a field name is missing after '..'");
        out.push_back({PathRecursive{}});
        return peek() == '[' ? bracket(out) : field(out, ends);
      }
      // "." alone is the value itself; so is the dot before a bracket.
      if (ends_path(peek(), ends) && first) return std::nullopt;
      if (peek() == '[') return bracket(out);
    } else if (!first) {
      return wrong("a '.' or '[' is expected");
    }
    return field(out, ends);
  }

  Problem field(PathSteps& out, std::string_view ends) {
    if (peek() == '*') {
      ++at_;
      out.push_back({PathAll{}});
      return std::nullopt;
    }
    PathField made;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !ends_path(peek(), ends)) {
      const char c = peek();
      if (c == '.' || c == '[') break;
      if (std::string_view("]{}$@,\"'").find(c) != std::string_view::npos) {
        return wrong(fmt::format("'{}' is not expected in a field name", c));
      }
      if (c == '\\' && at_ + 1 < text_.size()) ++at_;  // "a\.b" is one name
      made.name.push_back(text_[at_++]);
    }
    if (at_ == begin) return wrong("a field name is missing");
    out.push_back({std::move(made)});
    return std::nullopt;
  }

  Problem bracket(PathSteps& out) {
    const std::size_t begin = at_++;
    std::vector<PathSteps> parts;
    while (true) {
      skip_space();
      parts.emplace_back();
      KW_STEP(inside(parts.back()));
      skip_space();
      if (peek() != ',') break;
      if (parts.size() >= kMaxSteps) return wrong("the union has too many parts");
      ++at_;
    }
    if (at_ >= text_.size()) {
      at_ = begin;
      return wrong("'[' is not closed");
    }
    KW_STEP(expect(']'));
    if (parts.size() == 1) {
      out.push_back(std::move(parts.front().front()));
      return std::nullopt;
    }
    PathUnion made;
    for (auto& part : parts) made.parts.emplace_back(std::move(part));
    out.push_back({std::move(made)});
    return std::nullopt;
  }

  // One part between '[' and ']' or ','.
  Problem inside(PathSteps& out) {
    const char c = peek();
    if (c == '*') {
      ++at_;
      out.push_back({PathAll{}});
      return std::nullopt;
    }
    if (c == '\'' || c == '"') return quoted_field(out);
    if (c == '?') return filter(out);
    return slice(out);
  }

  Problem quoted_field(PathSteps& out) {
    const std::size_t begin = at_ + 1;
    PathField made;
    KW_STEP(parse_quoted(text_, at_, Quoted::name, made.name));
    if (made.name.empty()) return wrong("a field name is missing");
    const std::string_view raw = text_.substr(begin, at_ - 1 - begin);
    if (raw.find('.') != std::string_view::npos && raw.find('\\') == std::string_view::npos) {
      for (auto& part : base::split(raw, '.')) {
        if (!part.empty()) made.parts.push_back(std::move(part));
      }
    }
    out.push_back({std::move(made)});
    return std::nullopt;
  }

  Problem number(std::optional<std::int64_t>& into) {
    if (peek() != '-' && (peek() < '0' || peek() > '9')) return std::nullopt;
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [stop, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) return wrong("this is no number that an index can have");
    at_ += static_cast<std::size_t>(stop - begin);
    into = value;
    skip_space();
    return std::nullopt;
  }

  Problem slice(PathSteps& out) {
    PathSlice made;
    KW_STEP(number(made.from));
    if (peek() != ':') {
      if (!made.from) return wrong("an index, '*', a quoted name or '?(' is expected");
      made.single = true;
      out.push_back({made});
      return std::nullopt;
    }
    ++at_;
    skip_space();
    KW_STEP(number(made.to));
    if (peek() == ':') {
      ++at_;
      skip_space();
      std::optional<std::int64_t> step;
      const std::size_t begin = at_;
      KW_STEP(number(step));
      if (step.value_or(1) <= 0) {
        at_ = begin;
        return wrong("the step must be above 0");
      }
      made.step = step.value_or(1);
    }
    out.push_back({made});
    return std::nullopt;
  }

  Problem filter(PathSteps& out) {
    ++at_;
    KW_STEP(expect('('));
    if (++nesting_ > kMaxNesting) return wrong("the filters are nested too deep");
    PathFilter made;
    KW_STEP(any_of(made.condition));
    --nesting_;
    KW_STEP(expect(')'));
    out.push_back({std::move(made)});
    return std::nullopt;
  }

  // a && b || c: as everywhere, && binds closer.
  Problem any_of(PathCondition& out) {
    return joined(out, "||", PathCondition::Op::any, &PathParser::all_of);
  }
  Problem all_of(PathCondition& out) {
    return joined(out, "&&", PathCondition::Op::all, &PathParser::one);
  }
  Problem joined(PathCondition& out, std::string_view word, PathCondition::Op op,
                 Problem (PathParser::*next)(PathCondition&)) {
    PathCondition first;
    KW_STEP((this->*next)(first));
    skip_space();
    if (text_.substr(at_, 2) != word) {
      out = std::move(first);
      return std::nullopt;
    }
    out.op = op;
    out.parts.push_back(std::move(first));
    while (text_.substr(at_, 2) == word) {
      if (out.parts.size() >= kMaxSteps) return wrong("the filter has too many parts");
      at_ += 2;
      out.parts.emplace_back();
      KW_STEP((this->*next)(out.parts.back()));
      skip_space();
    }
    return std::nullopt;
  }

  Problem one(PathCondition& out) {
    skip_space();
    if (peek() == '!' && peek(1) != '=') {
      ++at_;
      out.op = PathCondition::Op::no;
      out.parts.emplace_back();
      return nested(out.parts.back(), &PathParser::one);
    }
    if (peek() == '(') {
      ++at_;
      KW_STEP(nested(out, &PathParser::any_of));
      skip_space();
      return expect(')');
    }
    return comparison(out);
  }
  Problem nested(PathCondition& out, Problem (PathParser::*next)(PathCondition&)) {
    if (++nesting_ > kMaxNesting) return wrong("the filter is nested too deep");
    KW_STEP((this->*next)(out));
    --nesting_;
    return std::nullopt;
  }

  Problem comparison(PathCondition& out) {
    KW_STEP(operand(out.left));
    skip_space();
    static constexpr std::pair<std::string_view, PathCondition::Op> kOps[] = {
        {"==", PathCondition::Op::equal},      {"!=", PathCondition::Op::not_equal},
        {"<=", PathCondition::Op::less_equal}, {">=", PathCondition::Op::greater_equal},
        {"<", PathCondition::Op::less},        {">", PathCondition::Op::greater},
    };
    for (const auto& [word, op] : kOps) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      out.op = op;
      return operand(out.right);
    }
    const std::string_view rest = text_.substr(at_, 2);
    if (rest.starts_with(')') || rest == "&&" || rest == "||") return std::nullopt;
    if (rest == "=~")
      return wrong("regular expressions are not supported (kubectl has none either)");
    return wrong("'==', '!=', '<', '<=', '>', '>=', '&&', '||' or ')' is expected");
  }

  Problem operand(PathOperand& out) {
    skip_space();
    const char c = peek();
    if (c == '@' || c == '$' || c == '.') {
      out.from = c == '$' ? PathOperand::From::root : PathOperand::From::item;
      PathSteps steps;
      PathParser inner(text_, at_, nesting_ + 1);
      auto problem = inner.steps(steps, " )=!<>&|,]}");
      at_ = inner.at();
      out.path = JsonPath(std::move(steps));
      return problem;
    }
    out.from = PathOperand::From::literal;
    if (c == '\'' || c == '"') {
      std::string text;
      KW_STEP(parse_quoted(text_, at_, Quoted::literal, text));
      out.literal = std::move(text);
      return std::nullopt;
    }
    return bare_literal(out.literal);
  }

  Problem bare_literal(Json& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view(" )=!<>&|,]}").find(peek()) == std::string_view::npos) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    out = Json::parse(word, nullptr, false);
    if (!word.empty() && !out.is_discarded() && out.is_primitive()) return std::nullopt;
    at_ = begin;
    return wrong("a path, a quoted text, a number, true, false or null is expected");
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t nesting_;
};

// \xHH, \NNN, \uXXXX, \UXXXXXXXX: how many digits of which base, and up to which value.
struct NumberEscape {
  std::size_t digits;
  int base;
  std::uint32_t most;
  bool byte;  // of the text, else a character
  std::string_view needs;
};

// Of what stands behind the backslash. Absent: that begins no number.
std::optional<NumberEscape> number_escape(char c) {
  if (c == 'x') return NumberEscape{2, 16, 0xff, true, "\\x needs two hexadecimal digits"};
  if (c == 'u') {
    return NumberEscape{4, 16, 0xffff, false, "\\u needs four hexadecimal digits of a character"};
  }
  if (c == 'U') {
    return NumberEscape{8, 16, 0x10ffff, false,
                        "\\U needs eight hexadecimal digits of a character"};
  }
  if (!base::is_digit(c)) return std::nullopt;
  return NumberEscape{3, 8, 0xff, true, "a '\\' before a digit needs three octal digits up to 377"};
}

// `at`: of its first digit, and is moved behind the last. False: these are not its digits.
bool append_number(std::string_view text, const NumberEscape& escape, std::size_t& at,
                   std::string& into) {
  const std::string_view digits = text.substr(at, escape.digits);
  std::uint32_t code = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, code, escape.base);
  const bool surrogate = !escape.byte && code >= 0xd800 && code <= 0xdfff;
  const bool whole = digits.size() == escape.digits && error == std::errc() && stop == end;
  if (!whole || code > escape.most || surrogate) return false;
  at += escape.digits;
  if (escape.byte) {
    into.push_back(static_cast<char>(code));
  } else {
    base::append_utf8(into, code);
  }
  return true;
}

// Absent: no letter that is escaped.
std::optional<char> letter_escape(char c) {
  static constexpr std::string_view kLetters = "abfnrtv";
  static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v";
  const std::size_t found = kLetters.find(c);
  return found == std::string_view::npos ? std::nullopt : std::optional(kMeant[found]);
}

}  // namespace

std::optional<PathProblem> parse_path(std::string_view text, std::size_t& at, PathSteps& into) {
  PathParser parser(text, at, 0);
  auto problem = parser.steps(into, "}");
  at = parser.at();
  return problem;
}

std::optional<PathProblem> parse_quoted(std::string_view text, std::size_t& at, Quoted what,
                                        std::string& into) {
  const std::size_t begin = at;
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      into.push_back(text[at++]);
      continue;
    }
    const std::size_t backslash = at;
    const char c = text[at + 1];
    at += 2;
    const bool escapes =
        what == Quoted::literal || std::string_view("nrtu").find(c) != std::string_view::npos;
    if (const auto meant = letter_escape(c); meant && escapes) {
      into.push_back(*meant);
    } else if (const auto number = number_escape(c); number && escapes) {
      if (base::is_digit(c)) --at;
      if (!append_number(text, *number, at, into)) {
        return PathProblem{std::string(number->needs), backslash};
      }
    } else if (base::is_letter(c) && escapes) {
      return PathProblem{fmt::format("'\\{}' is no escape", c), backslash};
    } else {
      into.push_back(c);
    }
  }
  if (at >= text.size()) return PathProblem{"a quote is not closed", begin};
  ++at;
  return std::nullopt;
}

#undef KW_STEP

}  // namespace kubewatch::core

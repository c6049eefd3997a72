#include "cel/parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "cel/lexer.hpp"
#include "cel/values.hpp"
#include "cel/words.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Token::Kind;

constexpr const char* kExpected =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}";

struct Operator {
  std::string_view symbol;
  const char* function;
};

// Binary operators of one level.
const char* function_of(const Token& token, int level) {
  static constexpr std::array<Operator, 6> kRelations = {{{"<", "_<_"},
                                                          {"<=", "_<=_"},
                                                          {">=", "_>=_"},
                                                          {">", "_>_"},
                                                          {"==", op::kEquals},
                                                          {"!=", op::kNotEquals}}};
  static constexpr std::array<Operator, 2> kSums = {{{"+", op::kAdd}, {"-", "_-_"}}};
  static constexpr std::array<Operator, 3> kProducts = {{{"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}}};
  const auto among = [&token](const auto& operators) -> const char* {
    for (const auto& known : operators) {
      if (token.is(known.symbol)) return known.function;
    }
    return nullptr;
  };
  if (level == 0) {
    if (token.kind == Kind::ident && token.text == "in") return op::kIn;
    return among(kRelations);
  }
  return level == 1 ? among(kSums) : among(kProducts);
}

class Parser {
 public:
  Parser(std::string_view source, Issues& issues, const ParseLimits& limits)
      : issues_(issues), limits_(limits), tokens_(tokenize(source, issues)) {}

  Ast run() {
    Expr* root = expression();
    if (!failed() && now().kind != Kind::end) {
      const bool extra = tokens_[at_ + 1].kind == Kind::end;
      syntax_error((extra ? "extraneous input '" : "mismatched input '") + shown(now()) +
                   "' expecting <EOF>");
    }
    ast_.root = root;
    return std::move(ast_);
  }

 private:
  struct Deeper {
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > parser_.limits_.max_depth) parser_.too_deep();
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser_;
  };

  const Token& now() const { return tokens_[at_]; }
  // Never past the end, not even after an error.
  void advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  // After an error the rest is the end: nothing more is read, and every rule returns.
  bool failed() const { return stopped_; }
  void stop() {
    stopped_ = true;
    at_ = tokens_.size() - 1;
  }
  static std::string shown(const Token& token) { return std::string(token.text); }

  void syntax_error(const std::string& message) {
    if (stopped_) return;
    issues_.add(now().offset, "Syntax error: " + message);
    stop();
  }
  void error(std::uint32_t offset, std::string message) { issues_.add(offset, std::move(message)); }
  void too_deep() {
    if (stopped_) return;
    issues_.add_general("expression recursion limit exceeded: " +
                        std::to_string(limits_.max_depth));
    stop();
  }

  Expr* add(Expr::Kind kind, std::uint32_t offset) {
    if (ast_.size() >= limits_.max_nodes && !stopped_) {
      issues_.add_general("expression has more than " + std::to_string(limits_.max_nodes) +
                          " nodes");
      stop();
    }
    return ast_.add(kind, offset);
  }
  Expr* call(std::uint32_t offset, std::string function, Expr* target, std::vector<Expr*> parts) {
    Expr* node = add(Expr::Kind::call, offset);
    node->name = std::move(function);
    node->target = target;
    node->parts = std::move(parts);
    if (stopped_) return node;
    Expr* expanded = expand_macro(ast_, *node, issues_);
    return expanded == nullptr ? node : expanded;
  }
  Expr* literal(std::uint32_t offset, Value value) {
    Expr* node = add(Expr::Kind::literal, offset);
    node->literal = std::move(value);
    return node;
  }

  bool accept(std::string_view symbol) {
    if (!now().is(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (accept(symbol)) return;
    const bool inserted = symbol != ":" || starts_expression(now());
    syntax_error((inserted ? "missing '" + std::string(symbol) + "' at '" + shown(now()) + "'"
                           : "mismatched input '" + shown(now()) + "' expecting '" +
                                 std::string(symbol) + "'"));
  }
  static bool starts_expression(const Token& token) {
    if (token.kind == Kind::end) return false;
    if (token.kind != Kind::symbol) return true;
    for (const char* first : {"[", "{", "(", ".", "-", "!"}) {
      if (token.is(first)) return true;
    }
    return false;
  }
  void expect_end_of(const char* symbol) {
    if (accept(symbol)) return;
    syntax_error("mismatched input '" + shown(now()) + "' expecting {'" + symbol + "', ','}");
  }

  Expr* expression() {
    const Deeper deeper(*this);
    Expr* condition = logical(true);
    if (!now().is("?")) return condition;
    const auto offset = now().offset;
    advance();
    Expr* yes = logical(true);
    expect(":");
    Expr* no = expression();
    return call(offset, op::kConditional, nullptr, {condition, yes, no});
  }

  // a || b || c as a balanced tree, so that long chains are not deep.
  Expr* logical(bool is_or) {
    std::vector<Expr*> terms{is_or ? logical(false) : binary(0)};
    std::vector<std::uint32_t> offsets;
    while (now().is(is_or ? "||" : "&&")) {
      offsets.push_back(now().offset);
      advance();
      terms.push_back(is_or ? logical(false) : binary(0));
    }
    return balanced(is_or ? op::kOr : op::kAnd, terms, offsets, 0, offsets.size());
  }

  Expr* balanced(const char* function, const std::vector<Expr*>& terms,
                 const std::vector<std::uint32_t>& offsets, std::size_t from, std::size_t to) {
    if (from == to) return terms[from];
    const std::size_t middle = (from + to) / 2;
    Expr* left = balanced(function, terms, offsets, from, middle);
    Expr* right = balanced(function, terms, offsets, middle + 1, to);
    return call(offsets[middle], function, nullptr, {left, right});
  }

  // Relations, sums and products: three levels, left to right.
  Expr* binary(int level) {
    Expr* left = level == 2 ? unary() : binary(level + 1);
    std::size_t chain = 0;
    while (const char* function = function_of(now(), level)) {
      if (++chain > limits_.max_depth) {
        too_deep();
        break;
      }
      const auto offset = now().offset;
      advance();
      Expr* right = level == 2 ? unary() : binary(level + 1);
      left = call(offset, function, nullptr, {left, right});
    }
    return left;
  }

  Expr* unary() {
    const Token first = now();
    if (!first.is("!") && !first.is("-")) return member();
    const auto& next = tokens_[at_ + 1];
    if (first.is("-") && (next.kind == Kind::integer || next.kind == Kind::real)) {
      return member();  // the sign belongs to the literal
    }
    std::size_t count = 0;
    while (accept(first.text)) ++count;
    Expr* operand = member();
    if (count % 2 == 0) return operand;
    return call(first.offset, first.is("!") ? op::kNot : op::kNegate, nullptr, {operand});
  }

  Expr* member() {
    Expr* node = primary();
    std::size_t chain = 0;
    while (!failed()) {
      if (++chain > limits_.max_depth) too_deep();
      const auto offset = now().offset;
      if (accept(".")) {
        node = selection(node, offset);
      } else if (accept("[")) {
        const bool optional = accept("?");
        Expr* index = expression();
        expect("]");
        node = call(offset, optional ? op::kOptIndex : op::kIndex, nullptr, {node, index});
      } else {
        break;
      }
    }
    return node;
  }

  Expr* selection(Expr* operand, std::uint32_t dot) {
    const bool optional = accept("?");
    const Token field = now();
    if (field.kind == Kind::escaped_ident) {
      error(field.offset, "unsupported syntax: '`'");
    } else if (field.kind != Kind::ident || field.text == "in" || field.text == "true" ||
               field.text == "false" || field.text == "null") {
      syntax_error("no viable alternative at input '." + shown(field) + "'");
      return operand;
    }
    advance();
    if (optional) {
      Expr* name = literal(field.offset, Value::string(shown(field)));
      Expr* node = add(Expr::Kind::call, dot);
      node->name = op::kOptSelect;
      node->parts = {operand, name};
      return node;
    }
    if (now().is("(")) {
      const auto offset = now().offset;
      return call(offset, shown(field), operand, arguments());
    }
    Expr* node = add(Expr::Kind::select, dot);
    node->name = shown(field);
    node->target = operand;
    return node;
  }

  // "(a, b)".
  std::vector<Expr*> arguments() {
    std::vector<Expr*> out;
    expect("(");
    if (accept(")")) return out;
    do {
      out.push_back(expression());
    } while (accept(","));
    expect(")");
    return out;
  }

  Expr* primary() {
    const Token first = now();
    if (accept("(")) {
      Expr* inner = expression();
      expect(")");
      return inner;
    }
    if (first.is("[")) return list_literal();
    if (first.is("{")) return map_literal();
    if (first.kind == Kind::ident || first.is(".")) return name_or_call();
    if (Expr* constant = constant_literal()) return constant;
    syntax_error("mismatched input '" + shown(first) + "' expecting " + kExpected);
    return add(Expr::Kind::literal, first.offset);
  }

  Expr* name_or_call() {
    std::string name;
    if (accept(".")) name = ".";
    const Token ident = now();
    if (ident.kind != Kind::ident || ident.text == "in") {
      syntax_error("mismatched input '" + shown(ident) + "' expecting " +
                   (name.empty() ? kExpected : "IDENTIFIER"));
      return add(Expr::Kind::literal, ident.offset);
    }
    advance();
    if (ident.text == "true" || ident.text == "false") {
      return literal(ident.offset, Value::boolean(ident.text == "true"));
    }
    if (ident.text == "null") return literal(ident.offset, Value());
    if (const auto message = message_name()) {
      return message_literal(name + shown(ident) + *message);
    }
    if (is_reserved_word(ident.text)) error(ident.offset, "reserved identifier: " + shown(ident));
    name += ident.text;
    if (now().is("(")) {
      const auto offset = now().offset;
      return call(offset, name, nullptr, arguments());
    }
    Expr* node = add(Expr::Kind::ident, ident.offset);
    node->name = name;
    return node;
  }

  // ".b.c" of "a.b.c{", "" of "a{"; absent when no brace follows.
  std::optional<std::string> message_name() {
    std::size_t ahead = at_;
    std::string name;
    while (tokens_[ahead].is(".") && tokens_[ahead + 1].kind == Kind::ident) {
      name += "." + shown(tokens_[ahead + 1]);
      ahead += 2;
    }
    if (!tokens_[ahead].is("{")) return std::nullopt;
    at_ = ahead;
    return name;
  }

  Expr* message_literal(std::string name) {
    Expr* node = add(Expr::Kind::message, now().offset);
    node->name = std::move(name);
    expect("{");
    while (!failed() && !now().is("}")) {
      accept("?");
      if (now().kind != Kind::ident) syntax_error("mismatched input '" + shown(now()) + "'");
      advance();
      expect(":");
      node->parts.push_back(expression());
      if (!accept(",")) break;
    }
    expect("}");
    return node;
  }

  Expr* list_literal() {
    Expr* node = add(Expr::Kind::list, now().offset);
    advance();
    while (!failed() && !now().is("]")) {
      if (accept(",")) break;
      node->optional.push_back(accept("?"));
      node->parts.push_back(expression());
      if (!now().is(",") || tokens_[at_ + 1].is("]")) {
        accept(",");
        break;
      }
      advance();
    }
    expect_end_of("]");
    return node;
  }

  Expr* map_literal() {
    Expr* node = add(Expr::Kind::map, now().offset);
    advance();
    while (!failed() && !now().is("}")) {
      if (accept(",")) break;
      node->optional.push_back(accept("?"));
      node->parts.push_back(expression());
      expect(":");
      node->parts.push_back(expression());
      if (!now().is(",") || tokens_[at_ + 1].is("}")) {
        accept(",");
        break;
      }
      advance();
    }
    expect_end_of("}");
    return node;
  }

  Expr* constant_literal() {
    const Token first = now();
    const bool negative = first.is("-");
    const Token& token = negative ? tokens_[at_ + 1] : now();
    std::optional<Value> value;
    switch (token.kind) {
      case Kind::integer: value = integer(token, negative); break;
      case Kind::real: value = real(token, negative); break;
      case Kind::uinteger:
        if (!negative) value = uinteger(token);
        break;
      case Kind::string:
      case Kind::bytes:
        if (!negative) value = text(token);
        break;
      default: break;
    }
    if (!value) return nullptr;
    at_ += negative ? 2 : 1;
    return literal(first.offset, std::move(*value));
  }

  Value integer(const Token& token, bool negative) {
    const bool hex = token.text.starts_with("0x");
    const std::string digits = (negative ? "-" : "") + std::string(token.text.substr(hex ? 2 : 0));
    std::int64_t number = 0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    if (code != std::errc() || end != digits.data() + digits.size()) {
      error(token.offset, "invalid int literal");
    }
    return Value::integer(number);
  }

  Value uinteger(const Token& token) {
    const bool hex = token.text.starts_with("0x");
    auto digits = token.text.substr(hex ? 2 : 0);
    digits.remove_suffix(1);
    std::uint64_t number = 0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    if (code != std::errc() || end != digits.data() + digits.size()) {
      error(token.offset, "invalid uint literal");
    }
    return Value::uinteger(number);
  }

  Value real(const Token& token, bool negative) {
    double number = 0;
    const auto [end, code] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    if (code == std::errc::result_out_of_range && number == 0) {
      number = std::strtod(std::string(token.text).c_str(), nullptr);
      if (number > 1) error(token.offset, "invalid double literal");
    }
    return Value::real(negative ? -number : number);
  }

  Value text(const Token& token) {
    auto plain = unquote(token.text, token.kind == Kind::bytes);
    if (!plain.ok()) {
      error(token.offset, plain.error().message());
      return Value();
    }
    return token.kind == Kind::bytes ? Value::bytes(std::move(*plain))
                                     : Value::string(std::move(*plain));
  }

  Issues& issues_;
  const ParseLimits limits_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool stopped_ = false;
  Ast ast_;
};

// Whether a path down the tree is longer than that. Chains in parentheses that begin chains nest
// trees far deeper than the text does. Does not recurse; parts that a macro uses twice count once.
bool higher_than(const Expr* root, std::size_t most) {
  struct Step {
    const Expr* node;
    std::size_t next;    // the child to look at
    std::size_t height;  // of the children so far
  };
  std::unordered_map<const Expr*, std::size_t> heights;
  std::vector<Step> path{{root, 0, 0}};
  while (!path.empty()) {
    if (path.size() > most) return true;
    Step& step = path.back();
    if (step.next > step.node->parts.size()) {
      const std::size_t height = step.height + 1;
      heights[step.node] = height;
      path.pop_back();
      if (!path.empty()) path.back().height = std::max(path.back().height, height);
      continue;
    }
    const Expr* child = step.next == 0 ? step.node->target : step.node->parts[step.next - 1];
    ++step.next;
    if (child == nullptr) continue;
    const auto known = heights.find(child);
    if (known == heights.end()) {
      path.push_back({child, 0, 0});
    } else if (path.size() + known->second > most) {
      return true;
    } else {
      step.height = std::max(step.height, known->second);
    }
  }
  return false;
}

}  // namespace

Ast parse(std::string_view source, Issues& issues, const ParseLimits& limits) {
  const auto length = code_points(source);
  if (length > limits.max_code_points) {
    issues.add_general("expression code point size exceeds limit: size: " + std::to_string(length) +
                       ", limit " + std::to_string(limits.max_code_points));
    return {};
  }
  Ast ast = Parser(source, issues, limits).run();
  if (issues.empty() && ast.root != nullptr && higher_than(ast.root, limits.max_height)) {
    issues.add_general("expression recursion limit exceeded: " + std::to_string(limits.max_height));
  }
  return ast;
}

}  // namespace kubewatch::cel

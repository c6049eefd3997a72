#include "jq/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "jq/builtins.hpp"
#include "jq/number.hpp"

namespace kubewatch::jq {

namespace {

// A pair of parentheses passes three rules that count.
constexpr std::size_t kMaxLevels = 200;
constexpr std::size_t kMaxDepth = 3 * kMaxLevels;
// Evaluation nests one call per node: more than this belongs to libjq, which keeps its stack in the
// heap.
constexpr std::size_t kMaxNodes = 1500;

constexpr std::array<std::string_view, 19> kKeywords = {
    "def", "if",    "then",    "else",  "elif",   "end",     "as",      "and",    "or",   "reduce",
    "try", "catch", "foreach", "label", "import", "include", "__loc__", "module", "break"};

struct OperatorName {
  std::string_view text;
  Operator op;
};
constexpr std::array<OperatorName, 6> kComparisons = {{{"==", Operator::eq},
                                                       {"!=", Operator::ne},
                                                       {"<", Operator::lt},
                                                       {"<=", Operator::le},
                                                       {">", Operator::gt},
                                                       {">=", Operator::ge}}};
constexpr std::array<OperatorName, 2> kSums = {{{"+", Operator::add}, {"-", Operator::subtract}}};
constexpr std::array<OperatorName, 3> kProducts = {
    {{"*", Operator::multiply}, {"/", Operator::divide}, {"%", Operator::modulo}}};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  Result<NodePtr> program() {
    if (now().kind == TokenKind::end) return make(NodeKind::identity);  // as in jq, "" is "."
    KW_ASSIGN(NodePtr root, pipe());
    if (now().kind != TokenKind::end) return unexpected();
    return root;
  }

 private:
  // Counts how deep the parser is; every recursive rule holds one.
  class Level {
   public:
    explicit Level(std::size_t& depth) : depth_(depth) { ++depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth_; }

   private:
    std::size_t& depth_;
  };

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool is_op(std::string_view op) const { return now().kind == TokenKind::op && now().text == op; }
  bool is_word(std::string_view word) const {
    return now().kind == TokenKind::name && now().text == word;
  }
  bool take_op(std::string_view op) {
    if (!is_op(op)) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!is_word(word)) return false;
    ++at_;
    return true;
  }

  Error fail(ErrorKind kind, std::string_view what) const {
    return error_at(kind, text_, now().at, what);
  }
  Error unexpected() const {
    if (now().kind == TokenKind::end) return fail(ErrorKind::invalid, "the program ends too early");
    if (now().kind == TokenKind::string_begin) return fail(ErrorKind::invalid, "unexpected string");
    return fail(ErrorKind::invalid, fmt::format("unexpected \"{}\"", now().text));
  }
  Error unsupported(std::string_view what) const { return fail(ErrorKind::unsupported, what); }
  Result<void> need_op(std::string_view op) {
    if (take_op(op)) return {};
    return fail(ErrorKind::invalid, fmt::format("expected \"{}\"", op));
  }
  Result<void> need_word(std::string_view word) {
    if (take_word(word)) return {};
    return fail(ErrorKind::invalid, fmt::format("expected \"{}\"", word));
  }
  Result<void> check_depth() const {
    if (depth_ <= kMaxDepth) return {};
    return fail(ErrorKind::too_large, fmt::format("nested deeper than {} levels", kMaxLevels));
  }

  template <class... Kids>
  Result<NodePtr> make(NodeKind kind, Kids... kids) {
    return finish(build(kind, std::move(kids)...));
  }
  template <class... Kids>
  std::unique_ptr<Node> build(NodeKind kind, Kids... kids) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    (node->kids.push_back(std::move(kids)), ...);
    return node;
  }
  Result<NodePtr> finish(std::unique_ptr<Node> node) {
    if (++nodes_ > kMaxNodes) return unsupported("the program is too large");
    return NodePtr(std::move(node));
  }

  Result<NodePtr> pipe() {
    const Level level(depth_);
    KW_TRY(check_depth());
    std::vector<NodePtr> stages;
    do {
      KW_ASSIGN(NodePtr stage, comma());
      stages.push_back(std::move(stage));
    } while (take_op("|"));
    NodePtr whole = std::move(stages.back());
    for (std::size_t i = stages.size() - 1; i-- > 0;) {
      KW_ASSIGN(whole, make(NodeKind::pipe, std::move(stages[i]), std::move(whole)));
    }
    return whole;
  }

  Result<NodePtr> comma() {
    KW_ASSIGN(NodePtr first, alternative());
    if (!is_op(",")) return first;
    auto node = build(NodeKind::comma, std::move(first));
    while (take_op(",")) {
      KW_ASSIGN(NodePtr next, alternative());
      node->kids.push_back(std::move(next));
    }
    return finish(std::move(node));
  }

  Result<NodePtr> alternative() {
    const Level level(depth_);
    KW_TRY(check_depth());
    KW_ASSIGN(NodePtr left, disjunction());
    static constexpr std::array<std::string_view, 9> kAssignments = {
        "=", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "?//"};
    if (now().kind == TokenKind::op &&
        std::count(kAssignments.begin(), kAssignments.end(), now().text) != 0) {
      return unsupported("assignment");
    }
    if (!take_op("//")) return left;
    KW_ASSIGN(NodePtr right, alternative());
    return make(NodeKind::alternative, std::move(left), std::move(right));
  }

  Result<NodePtr> disjunction() {
    KW_ASSIGN(NodePtr left, conjunction());
    while (take_word("or")) {
      KW_ASSIGN(NodePtr right, conjunction());
      KW_ASSIGN(left, make(NodeKind::disjunction, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<NodePtr> conjunction() {
    KW_ASSIGN(NodePtr left, comparison());
    while (take_word("and")) {
      KW_ASSIGN(NodePtr right, comparison());
      KW_ASSIGN(left, make(NodeKind::conjunction, std::move(left), std::move(right)));
    }
    return left;
  }

  template <std::size_t N>
  const OperatorName* take_operator(const std::array<OperatorName, N>& names) {
    for (const OperatorName& name : names) {
      if (take_op(name.text)) return &name;
    }
    return nullptr;
  }

  Result<NodePtr> binary(NodeKind kind, Operator op, NodePtr left, NodePtr right) {
    auto node = build(kind, std::move(left), std::move(right));
    node->op = op;
    return finish(std::move(node));
  }

  Result<NodePtr> comparison() {
    KW_ASSIGN(NodePtr left, sum());
    const OperatorName* found = take_operator(kComparisons);
    if (found == nullptr) return left;
    KW_ASSIGN(NodePtr right, sum());
    for (const OperatorName& name : kComparisons) {
      if (is_op(name.text)) {
        return fail(ErrorKind::invalid, "comparisons do not chain: use parentheses");
      }
    }
    return binary(NodeKind::comparison, found->op, std::move(left), std::move(right));
  }

  Result<NodePtr> sum() {
    KW_ASSIGN(NodePtr left, product());
    while (const OperatorName* found = take_operator(kSums)) {
      KW_ASSIGN(NodePtr right, product());
      KW_ASSIGN(left, binary(NodeKind::arithmetic, found->op, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<NodePtr> product() {
    KW_ASSIGN(NodePtr left, unary());
    while (const OperatorName* found = take_operator(kProducts)) {
      KW_ASSIGN(NodePtr right, unary());
      KW_ASSIGN(left, binary(NodeKind::arithmetic, found->op, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<NodePtr> unary() {
    const Level level(depth_);
    KW_TRY(check_depth());
    if (take_op("-")) {
      KW_ASSIGN(NodePtr operand, product());
      return make(NodeKind::negate, std::move(operand));
    }
    KW_ASSIGN(NodePtr node, unary_without_option());
    while (take_op("?")) {
      KW_ASSIGN(node, make(NodeKind::attempt, std::move(node)));
    }
    return node;
  }

  Result<NodePtr> unary_without_option() {
    if (is_op("-")) return unary();
    if (take_word("try")) return attempt();
    if (take_word("if")) return conditional();
    for (const std::string_view word : {"def", "reduce", "foreach", "label", "break"}) {
      if (is_word(word)) return unsupported(word);
    }
    KW_ASSIGN(NodePtr node, term());
    if (is_word("as")) return binding(std::move(node));
    return node;
  }

  Result<NodePtr> attempt() {
    const Level level(depth_);
    KW_TRY(check_depth());
    KW_ASSIGN(NodePtr body, unary_without_option());
    if (!take_word("catch")) return make(NodeKind::attempt, std::move(body));
    KW_ASSIGN(NodePtr handler, unary_without_option());
    return make(NodeKind::attempt, std::move(body), std::move(handler));
  }

  Result<NodePtr> conditional() {
    const Level level(depth_);
    KW_TRY(check_depth());
    KW_ASSIGN(NodePtr condition, pipe());
    KW_TRY(need_word("then"));
    KW_ASSIGN(NodePtr then, pipe());
    NodePtr otherwise;
    if (take_word("elif")) {
      KW_ASSIGN(otherwise, conditional());
    } else if (take_word("else")) {
      KW_ASSIGN(otherwise, pipe());
      KW_TRY(need_word("end"));
    } else if (take_word("end")) {
      KW_ASSIGN(otherwise, make(NodeKind::identity));
    } else {
      return fail(ErrorKind::invalid, "expected \"elif\", \"else\" or \"end\"");
    }
    return make(NodeKind::conditional, std::move(condition), std::move(then), std::move(otherwise));
  }

  Result<NodePtr> binding(NodePtr source) {
    KW_TRY(need_word("as"));
    if (!take_op("$")) return unsupported("destructuring");
    if (now().kind != TokenKind::name) return unexpected();
    const std::string name = now().text;
    ++at_;
    if (is_op("?//")) return unsupported("destructuring alternatives");
    KW_TRY(need_op("|"));
    scope_.push_back(name);
    auto body = pipe();
    scope_.pop_back();
    if (!body.ok()) return body;
    auto node = build(NodeKind::binding, std::move(source), *std::move(body));
    node->text = name;
    return finish(std::move(node));
  }

  Result<NodePtr> term() {
    KW_ASSIGN(NodePtr node, primary());
    while (true) {
      if (now().kind == TokenKind::field) {
        KW_ASSIGN(node, field_of(std::move(node)));
      } else if (is_op(".") && ahead().kind == TokenKind::string_begin) {
        ++at_;
        KW_ASSIGN(node, string_field_of(std::move(node)));
      } else if (is_op("[")) {
        KW_ASSIGN(node, bracket_of(std::move(node)));
      } else {
        return node;
      }
    }
  }

  Result<NodePtr> suffixed(std::unique_ptr<Node> node) {
    node->optional = take_op("?");
    return finish(std::move(node));
  }

  Result<NodePtr> field_of(NodePtr base) {
    auto node = build(NodeKind::field, std::move(base));
    node->text = now().text;
    ++at_;
    return suffixed(std::move(node));
  }

  Result<NodePtr> string_field_of(NodePtr base) {
    KW_ASSIGN(NodePtr key, string());
    return keyed(std::move(base), std::move(key));
  }

  // A constant string key is a field, so that plain paths are recognized as such.
  Result<NodePtr> keyed(NodePtr base, NodePtr key) {
    if (key->kind != NodeKind::literal || !key->value.is_string()) {
      return suffixed(build(NodeKind::index, std::move(base), std::move(key)));
    }
    auto node = build(NodeKind::field, std::move(base));
    node->text = key->value.get<std::string>();
    return suffixed(std::move(node));
  }

  Result<NodePtr> bracket_of(NodePtr base) {
    KW_TRY(need_op("["));
    if (take_op("]")) return suffixed(build(NodeKind::iterate, std::move(base)));
    NodePtr from;
    if (!is_op(":")) {
      KW_ASSIGN(from, pipe());
      if (take_op("]")) return keyed(std::move(base), std::move(from));
    }
    KW_TRY(need_op(":"));
    NodePtr to;
    if (!is_op("]")) {
      KW_ASSIGN(to, pipe());
    } else if (from == nullptr) {
      return unexpected();
    }
    KW_TRY(need_op("]"));
    return suffixed(build(NodeKind::slice, std::move(base), std::move(from), std::move(to)));
  }

  Result<NodePtr> primary() {
    const Token& token = now();
    switch (token.kind) {
      case TokenKind::number: return number();
      case TokenKind::string_begin: return string();
      case TokenKind::format: return unsupported("@" + token.text);
      case TokenKind::name: return call();
      case TokenKind::field: return make(NodeKind::identity);  // term() takes the field
      case TokenKind::op: break;
      default: return unexpected();
    }
    if (token.text == "..") return unsupported("..");
    if (take_op(".")) return after_dot();
    if (take_op("$")) return variable();
    if (take_op("(")) {
      KW_ASSIGN(NodePtr inner, pipe());
      KW_TRY(need_op(")"));
      return inner;
    }
    if (take_op("[")) return array();
    if (take_op("{")) return object();
    return unexpected();
  }

  Result<NodePtr> after_dot() {
    KW_ASSIGN(NodePtr dot, make(NodeKind::identity));
    if (now().kind != TokenKind::string_begin) return dot;
    return string_field_of(std::move(dot));
  }

  Result<NodePtr> literal(Json value) {
    auto node = build(NodeKind::literal);
    node->value = std::move(value);
    return finish(std::move(node));
  }

  Result<NodePtr> number() {
    const auto value = parse_number(now().text);
    if (!value) return unexpected();
    ++at_;
    return literal(*value);
  }

  Result<NodePtr> string() {
    ++at_;
    auto node = build(NodeKind::text);
    while (now().kind != TokenKind::string_end) {
      if (now().kind == TokenKind::string_text) {
        KW_ASSIGN(NodePtr piece, literal(now().text));
        node->kids.push_back(std::move(piece));
        ++at_;
        continue;
      }
      ++at_;  // interpolation_begin: the lexer lets nothing else follow
      KW_ASSIGN(NodePtr inner, pipe());
      if (now().kind != TokenKind::interpolation_end) return unexpected();
      ++at_;
      node->kids.push_back(std::move(inner));
    }
    ++at_;
    if (node->kids.empty()) return literal("");
    const Node& first = *node->kids.front();
    if (node->kids.size() == 1 && first.kind == NodeKind::literal && first.value.is_string()) {
      return std::move(node->kids.front());
    }
    return finish(std::move(node));
  }

  Result<NodePtr> variable() {
    if (now().kind != TokenKind::name) return unexpected();
    if (std::count(scope_.begin(), scope_.end(), now().text) == 0) {
      return fail(ErrorKind::invalid, fmt::format("${} is not defined", now().text));
    }
    auto node = build(NodeKind::variable);
    node->text = now().text;
    ++at_;
    return finish(std::move(node));
  }

  Result<NodePtr> array() {
    if (take_op("]")) return make(NodeKind::array);
    KW_ASSIGN(NodePtr inner, pipe());
    KW_TRY(need_op("]"));
    return make(NodeKind::array, std::move(inner));
  }

  Result<NodePtr> object() {
    auto node = build(NodeKind::object);
    while (!take_op("}")) {
      KW_TRY(entry(*node));
      if (is_op("}")) continue;
      KW_TRY(need_op(","));
    }
    return finish(std::move(node));
  }

  Result<void> entry(Node& object) {
    if (is_op("$")) {
      ++at_;
      const std::string name = now().text;
      KW_ASSIGN(NodePtr value, variable());
      return add_entry(object, literal(name), std::move(value));
    }
    if (take_op("(")) {
      KW_ASSIGN(NodePtr key, pipe());
      KW_TRY(need_op(")"));
      KW_TRY(need_op(":"));
      KW_ASSIGN(NodePtr value, entry_value());
      return add_entry(object, std::move(key), std::move(value));
    }
    if (now().kind == TokenKind::string_begin) return string_entry(object);
    if (now().kind == TokenKind::format) return unsupported("@" + now().text);
    if (now().kind != TokenKind::name) return unexpected();
    const std::string name = now().text;
    ++at_;
    if (take_op(":")) {
      KW_ASSIGN(NodePtr value, entry_value());
      return add_entry(object, literal(name), std::move(value));
    }
    KW_ASSIGN(NodePtr dot, make(NodeKind::identity));
    auto value = build(NodeKind::field, std::move(dot));
    value->text = name;
    return add_entry(object, literal(name), finish(std::move(value)));
  }

  Result<void> string_entry(Node& object) {
    const std::size_t begin = at_;
    KW_ASSIGN(NodePtr key, string());
    if (take_op(":")) {
      KW_ASSIGN(NodePtr value, entry_value());
      return add_entry(object, std::move(key), std::move(value));
    }
    // {"a b"} is {"a b": .["a b"]}: the same string once more as an index.
    at_ = begin;
    KW_ASSIGN(NodePtr again, string());
    KW_ASSIGN(NodePtr dot, make(NodeKind::identity));
    return add_entry(object, std::move(key),
                     make(NodeKind::index, std::move(dot), std::move(again)));
  }

  Result<void> add_entry(Node& object, Result<NodePtr> key, Result<NodePtr> value) {
    if (!key.ok()) return std::move(key).error();
    if (!value.ok()) return std::move(value).error();
    object.kids.push_back(*std::move(key));
    object.kids.push_back(*std::move(value));
    return {};
  }

  // Everything but a comma; operators are jq 1.7's generosity, 1.6 wants parentheses around them.
  Result<NodePtr> entry_value() {
    KW_ASSIGN(NodePtr left, alternative());
    if (!take_op("|")) return left;
    KW_ASSIGN(NodePtr right, entry_value());
    return make(NodeKind::pipe, std::move(left), std::move(right));
  }

  Result<NodePtr> call() {
    const std::string name = now().text;
    if (std::count(kKeywords.begin(), kKeywords.end(), name) != 0) return unexpected();
    const Token start = now();
    ++at_;
    auto node = build(NodeKind::call);
    if (take_op("(")) {
      do {
        KW_ASSIGN(NodePtr argument, pipe());
        node->kids.push_back(std::move(argument));
      } while (take_op(";"));
      KW_TRY(need_op(")"));
    }
    if (node->kids.empty() && (name == "null" || name == "true" || name == "false")) {
      return literal(name == "null" ? Json() : Json(name == "true"));
    }
    node->builtin = find_builtin(name, node->kids.size());
    if (node->builtin == nullptr) {
      return error_at(ErrorKind::unsupported, text_, start.at,
                      fmt::format("{}/{} is not defined", name, node->kids.size()));
    }
    return finish(std::move(node));
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
  std::vector<std::string> scope_;
};

}  // namespace

Result<NodePtr> parse_program(std::string_view text, const std::vector<Token>& tokens) {
  return Parser(text, tokens).program();
}

}  // namespace kubewatch::jq

// Literals that can only fail: cel-go's validators of durations, timestamps, regular expressions
// and of lists and maps whose elements have different types.
#include <set>

#include "base/regex.hpp"
#include "cel/checker.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

namespace {

bool is_literal(const Expr& node, Value::Kind kind) {
  return node.kind == Expr::Kind::literal && node.literal.is(kind);
}

class LiteralChecker {
 public:
  explicit LiteralChecker(Issues& issues) : issues_(issues) {}

  void walk(const Expr& node, bool in_format) {
    if (!seen_.insert(&node).second) return;
    if (node.kind == Expr::Kind::call) {
      call(node);
      // The arguments of format() may be of any types.
      in_format = in_format || node.name == "format";
    }
    if (!in_format && node.kind == Expr::Kind::list) uniform(node, 0, 1);
    if (!in_format && node.kind == Expr::Kind::map) {
      uniform(node, 0, 2);
      uniform(node, 1, 2);
    }
    if (node.target != nullptr) walk(*node.target, in_format);
    for (const Expr* part : node.parts) walk(*part, in_format);
  }

 private:
  void call(const Expr& node) {
    if (node.name == "duration" || node.name == "timestamp") {
      if (node.parts.size() != 1 || !is_literal(*node.parts[0], Value::Kind::string)) return;
      const auto text = node.parts[0]->literal.text();
      const bool fine = node.name == "duration" ? parse_nanos(text, false).has_value()
                                                : parse_timestamp(text, true).has_value();
      if (!fine) issues_.add(node.parts[0]->offset, "invalid " + node.name + " argument");
    }
    if (node.name == "format") format(node);
    if (node.name == "matches") {
      const Expr& pattern = *node.parts[0];
      if (!is_literal(pattern, Value::Kind::string)) return;
      if (!base::Regex::compile(pattern.literal.text()).ok()) {
        issues_.add(pattern.offset, "invalid matches argument");
      }
    }
  }

  // Whether the arguments of "...".format([...]) fit its clauses, as far as types tell.
  void format(const Expr& node) {
    if (node.target == nullptr || !is_literal(*node.target, Value::Kind::string) ||
        node.parts.size() != 1 || node.parts[0]->kind != Expr::Kind::list) {
      return;
    }
    const auto text = node.target->literal.text();
    const auto& given = node.parts[0]->parts;
    std::size_t next = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '%') continue;
      if (++at < text.size() && text[at] == '%') continue;
      if (at < text.size() && text[at] == '.') at = text.find_first_not_of("0123456789", at + 1);
      if (next >= given.size()) {
        issues_.add(node.offset, "index " + std::to_string(next) + " out of range");
        return;
      }
      if (at >= text.size()) return;
      clause(text[at], *given[next++]);
    }
  }

  void clause(char kind, const Expr& argument) {
    using Kind = Type::Kind;
    const Type& type = *argument.type;
    if (is_dyn(type)) return;
    const bool whole = type.is(Kind::integer) || type.is(Kind::uinteger);
    const bool text = type.is(Kind::string);
    const char* why = nullptr;
    if (kind == 'd' && !whole) why = "decimal clause can only be used on integers";
    if (kind == 'f' && !type.is(Kind::real) && !text) {
      why = "fixed-point clause can only be used on doubles";
    }
    if (kind == 'e' && !type.is(Kind::real) && !text) {
      why = "scientific clause can only be used on doubles";
    }
    if (kind == 'b' && !whole && !type.is(Kind::boolean)) {
      why = "only integers and bools can be formatted as binary";
    }
    if (kind == 'o' && !whole) why = "octal clause can only be used on integers";
    if ((kind == 'x' || kind == 'X') && !whole && !text && !type.is(Kind::bytes)) {
      why = "only integers, byte buffers, and strings can be formatted as hex";
    }
    if (why == nullptr) return;
    issues_.add(argument.offset,
                std::string("error during formatting: ") + why + ", was given " + to_string(type));
  }
  static bool is_dyn(const Type& type) {
    return type.is(Type::Kind::dyn) || type.is(Type::Kind::param);
  }

  void uniform(const Expr& node, std::size_t from, std::size_t step) {
    TypePtr type;
    for (std::size_t i = from; i < node.parts.size(); i += step) {
      TypePtr one = node.parts[i]->type;
      const bool value = step == 1 || from == 1;
      if (value && node.optional[i / step] && one->is_optional()) one = one->params[0];
      if (type == nullptr) {
        type = one;
      } else if (!same(*type, *one)) {
        issues_.add(node.parts[i]->offset,
                    "expected type '" + to_string(*type) + "' but found '" + to_string(*one) + "'");
        return;
      }
    }
  }

  Issues& issues_;
  std::set<const Expr*> seen_;
};

}  // namespace

void check_literals(const Ast& ast, Issues& issues) {
  LiteralChecker(issues).walk(*ast.root, false);
}

}  // namespace kubewatch::cel

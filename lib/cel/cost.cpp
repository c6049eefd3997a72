#include "cel/cost.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "cel/cost_calls.hpp"
#include "cel/declarations.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

namespace {

using Path = std::vector<std::string>;
using Kind = Type::Kind;

constexpr Range kUnknown{0, kUnbounded};
constexpr Range kAccess{1, 1};  // of a name or a field

// Sizes of what is in a list (key: its index) or a map.
struct Entries {
  bool list = false;
  Range key;
  Range value;
};

struct Local {
  Path path;
  std::optional<Range> size;
  std::optional<Entries> entries;
};

bool is_scalar(const Type& type) {
  switch (type.kind) {
    case Kind::boolean:
    case Kind::real:
    case Kind::duration:
    case Kind::integer:
    case Kind::timestamp:
    case Kind::uinteger: return true;
    case Kind::opaque: return type.is_optional() && is_scalar(*type.params[0]);
    default: return false;
  }
}

std::optional<Range> written_size(const Expr& node) {
  if (node.kind == Expr::Kind::list) return Range{node.parts.size(), node.parts.size()};
  if (node.kind == Expr::Kind::map) return Range{node.parts.size() / 2, node.parts.size() / 2};
  if (node.kind != Expr::Kind::literal) return std::nullopt;
  const auto size = size_of(node.literal).value_or(1);
  return Range{size, size};
}

class Estimator {
 public:
  explicit Estimator(const DataType& root) : root_(root) {}

  Range cost(const Expr& node) {
    const auto known = costs_.find(&node);
    if (known != costs_.end()) return known->second;
    const Range own = compute(node);
    // Only what macros use twice can be met again, and always with the same names around it.
    if (node.kind == Expr::Kind::call || node.kind == Expr::Kind::comprehension) {
      costs_[&node] = own;
    }
    return own;
  }

 private:
  Range compute(const Expr& node) {
    switch (node.kind) {
      case Expr::Kind::literal: return {};
      case Expr::Kind::ident: return ident(node);
      case Expr::Kind::select: return select(node);
      case Expr::Kind::call: return call(node);
      case Expr::Kind::list: return list(node);
      case Expr::Kind::map: return map(node);
      case Expr::Kind::message: return {40, 40};
      case Expr::Kind::comprehension: return node.is_bind() ? bind(node) : fold(node);
    }
    return {};
  }

  const Local* local(const Expr& node) const {
    if (node.kind != Expr::Kind::ident) return nullptr;
    const auto found = locals_.find(node.name);
    return found == locals_.end() || found->second.empty() ? nullptr : &found->second.back();
  }

  Path path_of(const Expr& node) const {
    if (const auto* known = local(node)) return known->path;
    const auto found = paths_.find(&node);
    return found == paths_.end() ? Path() : found->second;
  }
  Path below(const Expr& node, const char* step) const {
    Path path = path_of(node);
    path.emplace_back(step);
    return path;
  }

  std::optional<Range> size(const Expr& node) {
    if (const auto known = sizes_.find(&node); known != sizes_.end()) return known->second;
    if (const auto written = written_size(node)) return written;
    if (const auto declared = declared_size(root_, path_of(node))) {
      sizes_[&node] = *declared;
      return declared;
    }
    if (is_scalar(*node.type)) return Range{1, 1};
    const auto* known = local(node);
    return known == nullptr ? std::nullopt : known->size;
  }
  Range size_or_unknown(const Expr& node) { return size(node).value_or(kUnknown); }

  std::optional<Entries> entries(const Expr& node) const {
    if (const auto known = entries_.find(&node); known != entries_.end()) return known->second;
    const auto* known = local(node);
    return known == nullptr ? std::nullopt : known->entries;
  }
  void set_entries(const Expr& node, const std::optional<Entries>& entries) {
    if (entries) entries_[&node] = *entries;
  }
  void set_size(const Expr& node, const std::optional<Range>& size) {
    if (size) sizes_[&node] = *size;
  }
  void copy_sizes(const Expr& to, const Expr& from) {
    set_size(to, size(from));
    set_entries(to, entries(from));
  }
  static std::optional<Entries> either(const std::optional<Entries>& left,
                                       const std::optional<Entries>& right) {
    if (!left || !right) return std::nullopt;
    return Entries{left->list, left->key.or_else(right->key), left->value.or_else(right->value)};
  }

  Range ident(const Expr& node) {
    const auto* known = local(node);
    paths_[&node] = known != nullptr ? known->path : Path{node.name};
    return kAccess;
  }

  Range select(const Expr& node) {
    Range sum = cost(*node.target);
    if (node.test_only) return sum;
    const auto& type = *node.target->type;
    if (type.is(Kind::map) || type.is(Kind::object) || type.is(Kind::param)) sum = sum + kAccess;
    paths_[&node] = below(*node.target, node.name.c_str());
    return sum;
  }

  Given given(const Expr& node) {
    Path path = path_of(node);
    if (!path.empty() && path[0] == "@result") path.clear();
    return {&node, std::move(path), size(node)};
  }

  Range call(const Expr& node) {
    if (node.name == "dyn") {
      const Range own = kAccess + cost(*node.parts[0]);
      copy_sizes(node, *node.parts[0]);
      return own;
    }
    std::vector<Range> costs;
    std::vector<Given> arguments;
    for (const Expr* part : node.parts) {
      costs.push_back(cost(*part));
      arguments.push_back(given(*part));
    }
    if (node.overloads.empty()) return {};
    Range sum;
    std::optional<Given> target;
    if (node.target != nullptr) {
      sum = cost(*node.target);
      target = given(*node.target);
    }
    Range widest{kUnbounded, 0};
    std::optional<Range> result;
    for (const auto* overload : node.overloads) {
      const auto one = call_cost(node, overload->id, target ? &*target : nullptr, arguments, costs);
      widest = widest.or_else(one.cost);
      if (one.result) result = result ? result->or_else(*one.result) : *one.result;
      if (overload->id == "index_list" || overload->id == "index_map") {
        const auto inside = entries(*node.parts[0]);
        result = inside ? std::optional(inside->value) : std::nullopt;
        paths_[&node] = below(*node.parts[0], overload->id == "index_list" ? "@items" : "@values");
      }
      if (!result) result = size(node);
    }
    set_size(node, result);
    return sum + widest;
  }

  CallCost call_cost(const Expr& node, const std::string& overload, const Given* target,
                     const std::vector<Given>& arguments, const std::vector<Range>& costs) {
    Range sum;
    for (const auto& one : costs) sum = sum + one;
    const auto special = extension_cost(node.name, overload, target, arguments, root_);
    if (special) return {special->cost + sum, special->result};
    if (overload == "logical_or" || overload == "logical_and") {
      return {{costs[0].min, (costs[0] + costs[1]).max}, {}};
    }
    if (overload == "conditional") {
      set_entries(node, either(entries(*node.parts[1]), entries(*node.parts[2])));
      return {costs[0] + costs[1].or_else(costs[2]),
              known(arguments[1]).or_else(known(arguments[2]))};
    }
    if (overload == "add_string" || overload == "add_bytes" || overload == "add_list") {
      const Range size = known(arguments[0]) + known(arguments[1]);
      set_entries(node, either(entries(*node.parts[0]), entries(*node.parts[1])));
      return {(overload == "add_list" ? kAccess : size * kTraversal) + sum, size};
    }
    const auto standard = standard_cost(overload, target, arguments);
    return {standard.cost + sum, standard.result};
  }

  static Range known(const Given& given) { return given.size.value_or(kUnknown); }

  static CallCost standard_cost(const std::string& overload, const Given* target,
                                const std::vector<Given>& arguments) {
    const auto first = [&arguments] { return known(arguments[0]); };
    if (overload == "string_format") return {known(*target) * kTraversal, {}};
    if (overload == "string_to_bytes") {
      return {first() * kTraversal, Range{first().min, times(first().max, 4)}};
    }
    if (overload == "bytes_to_string") {
      return {first() * kTraversal, Range{first().min / 4, first().max}};
    }
    if (overload == "strings_quote") {
      return {first() * kTraversal, Range{first().min + 2, times(first().max, 2) + 2}};
    }
    if (overload == "starts_with_string" || overload == "ends_with_string") {
      return {first() * kTraversal, {}};
    }
    if (overload == "in_list") return {known(arguments[1]) * 1.0, {}};
    if (overload == "matches_string" && target != nullptr) {
      return {(known(*target) + Range{1, 1}) * kTraversal * (first() * kPattern), {}};
    }
    if (overload == "contains_string" && target != nullptr) {
      return {known(*target) * kTraversal * (first() * kTraversal), {}};
    }
    if (compares_texts(overload)) {
      const auto most = std::min(first().max, known(arguments[1]).max);
      return {Range{most > 0 ? 1U : 0U, most} * kTraversal, {}};
    }
    return {{1, 1}, {}};
  }

  // As the server multiplies here: without a bound.
  static std::uint64_t times(std::uint64_t size, std::uint64_t by) { return size * by; }

  static bool compares_texts(const std::string& overload) {
    if (overload == "equals" || overload == "not_equals") return true;
    if (overload.substr(0, 5) != "less_" && overload.substr(0, 8) != "greater_") return false;
    const auto end = overload.rfind('_');
    const auto type = overload.substr(end + 1);
    return type == "string" || type == "bytes";
  }

  Range list(const Expr& node) {
    Range sum, each{node.parts.empty() ? 0 : kUnbounded, 0};
    for (const Expr* part : node.parts) {
      sum = sum + cost(*part);
      each = each.or_else(size_or_unknown(*part));
    }
    set_entries(node, Entries{true, {1, 1}, each});
    return sum + Range{kListCost, kListCost};
  }

  Range map(const Expr& node) {
    Range sum, key{node.parts.empty() ? 0 : kUnbounded, 0}, value = key;
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      sum = sum + cost(*node.parts[i]) + cost(*node.parts[i + 1]);
      key = key.or_else(size_or_unknown(*node.parts[i]));
      value = value.or_else(size_or_unknown(*node.parts[i + 1]));
    }
    set_entries(node, Entries{false, key, value});
    return sum + Range{kMapCost, kMapCost};
  }

  Range bind(const Expr& node) {
    Range sum = cost(*node.range()) + cost(*node.init());
    push(node.name, {path_of(*node.init()), size(*node.init()), entries(*node.init())});
    sum = sum + cost(*node.result());
    pop(node.name);
    copy_sizes(node, *node.result());
    return sum;
  }

  void push(const std::string& name, Local local) { locals_[name].push_back(std::move(local)); }
  void pop(const std::string& name) { locals_[name].pop_back(); }

  void push_variables(const Expr& node) {
    const Expr& range = *node.range();
    const auto inside = entries(range);
    const bool list = inside ? inside->list : range.type->is(Kind::list);
    const auto key = inside ? std::optional(inside->key) : std::nullopt;
    const auto value = inside ? std::optional(inside->value) : std::nullopt;
    if (node.variable2.empty()) {
      push(node.variable, {below(range, list ? "@items" : "@keys"), list ? value : key, {}});
      return;
    }
    push(node.variable, {below(range, list ? "@indices" : "@keys"), key, {}});
    push(node.variable2, {below(range, list ? "@items" : "@values"), value, {}});
  }

  Range fold(const Expr& node) {
    Range sum = cost(*node.range()) + cost(*node.init());
    push(node.name, {path_of(*node.init()), size(*node.init()), entries(*node.init())});
    push_variables(node);
    const Range loop = cost(*node.condition());
    const Range step = cost(*node.step());
    pop(node.variable);
    if (!node.variable2.empty()) pop(node.variable2);
    sum = sum + cost(*node.result());
    pop(node.name);
    const Range count = size_or_unknown(*node.range());
    sum = sum + count * (step + loop);
    if (node.init()->kind == Expr::Kind::literal) {
      set_size(node, size(*node.init()));
    } else if (node.init()->kind == Expr::Kind::list || node.init()->kind == Expr::Kind::map) {
      set_size(node, count);
      set_entries(node, entries(*node.step()));
    }
    return sum;
  }

  const DataType& root_;
  std::unordered_map<const Expr*, Range> costs_;
  std::unordered_map<const Expr*, Path> paths_;
  std::unordered_map<const Expr*, Range> sizes_;
  std::unordered_map<const Expr*, Entries> entries_;
  std::map<std::string, std::vector<Local>> locals_;
};

}  // namespace

Range estimate_cost(const Ast& ast, const DataType& root) {
  return Estimator(root).cost(*ast.root);
}

}  // namespace kubewatch::cel

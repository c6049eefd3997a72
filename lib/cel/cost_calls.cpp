#include "cel/cost_calls.hpp"

#include <algorithm>
#include <array>

namespace kubewatch::cel {

namespace {

constexpr Range kOne{1, 1};

Range size_in(const DataType& root, const Given& given) {
  if (given.size) return *given.size;
  return declared_size(root, given.path).value_or(Range{0, kUnbounded});
}

// Functions of Kubernetes and of the strings extension, told apart by name.
class Library {
 public:
  Library(std::string_view function, std::string_view overload, const Given* target,
          const std::vector<Given>& arguments, const DataType& root)
      : function_(function),
        overload_(overload),
        target_(target),
        arguments_(arguments),
        root_(root) {}

  std::optional<CallCost> cost() const {
    if (is({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"})) return search();
    if (is({"url"}) && arguments_.size() == 1) return traversal(arguments_[0], true);
    if (is({"lowerAscii", "upperAscii", "substring", "trim"}) && target_ != nullptr) {
      return traversal(*target_, true);
    }
    if (is({"replace"}) && target_ != nullptr && arguments_.size() >= 2) return replace();
    if (is({"split"}) && target_ != nullptr) return split();
    if (is({"join"}) && target_ != nullptr) return join();
    if (is({"find", "findAll"}) && target_ != nullptr && !arguments_.empty()) return find();
    if (is({"ip"}) && overload_ == "cidr_ip") return CallCost{kOne, {}};
    if (is({"cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver"}) &&
        !arguments_.empty()) {
      return traversal(arguments_[0], false);
    }
    if (is({"ip.isCanonical"})) return CallCost{size(arguments_[0]) * (2 * kTraversal), {}};
    if (is({"containsIP", "containsCIDR"}) && !arguments_.empty()) return network();
    if (is({"validate"}) && !arguments_.empty()) {
      return CallCost{size(arguments_[0]) * kTraversal * (128 * kPattern), {}};
    }
    if (is({"_==_"})) return equality();
    if (is({"check"})) return CallCost{{350000, 350000}, {}};
    if (is({"masked",
            "prefixLength",
            "family",
            "isUnspecified",
            "isLoopback",
            "isLinkLocalMulticast",
            "isLinkLocalUnicast",
            "isGlobalUnicast",
            "format.named",
            "sign",
            "asInteger",
            "isInteger",
            "asApproximateFloat",
            "isGreaterThan",
            "isLessThan",
            "compareTo",
            "add",
            "sub",
            "major",
            "minor",
            "patch",
            "getScheme",
            "getHostname",
            "getHost",
            "getPort",
            "getEscapedPath",
            "getQuery"})) {
      return CallCost{kOne, {}};
    }
    return std::nullopt;
  }

 private:
  bool is(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), function_) != names.end();
  }

  Range size(const Given& given) const { return size_in(root_, given); }

  CallCost traversal(const Given& given, bool same_size) const {
    const Range own = size(given);
    return {own * kTraversal, same_size ? std::optional(own) : std::nullopt};
  }

  // Every element is looked at; strings are read on top of that.
  std::optional<CallCost> search() const {
    if (target_ == nullptr) return std::nullopt;
    const auto& type = *target_->node->type;
    if (type.params.empty()) return CallCost{size(*target_) * kTraversal, {}};
    Range each = kOne;
    if (type.params[0]->is(Type::Kind::string) || type.params[0]->is(Type::Kind::bytes)) {
      each = each + element_size(*target_) * kTraversal;
    }
    return CallCost{size(*target_) * each, {}};
  }

  Range element_size(const Given& list) const {
    if (list.path.empty()) return {0, kUnbounded};
    auto path = list.path;
    path.emplace_back("@items");
    return declared_size(root_, path).value_or(Range{0, kUnbounded});
  }

  CallCost replace() const {
    const Range own = size(*target_), old = size(arguments_[0]), with = size(arguments_[1]);
    Range times, kept;
    if (old.min == 0) {  // "" is found between all characters
      times.max = own.max == kUnbounded ? own.max : own.max + 1;
      kept.max = own.max;
    } else if (with.max <= old.min) {
      kept.max = own.max;
    } else {
      times.max = ratio(own.max, old.min);
    }
    if (old.max == 0) {
      times.min = own.min == kUnbounded ? own.min : own.min + 1;
      kept.min = own.min;
    } else if (old.max <= with.min) {
      kept.min = own.min;
    } else {
      times.min = ratio(own.min, old.max);
    }
    return {own * (2 * kTraversal), times * with + kept};
  }

  static std::uint64_t ratio(std::uint64_t amount, std::uint64_t by) {
    const double exact = std::ceil(static_cast<double>(amount) / static_cast<double>(by));
    return exact >= 18446744073709551616.0 ? kUnbounded : static_cast<std::uint64_t>(exact);
  }

  CallCost split() const {
    const Range own = size(*target_);
    Range parts{0, own.max};
    if (arguments_.size() > 1 && arguments_[1].node->kind == Expr::Kind::literal &&
        arguments_[1].node->literal.is(Value::Kind::integer)) {
      parts.max = static_cast<std::uint64_t>(arguments_[1].node->literal.as_int());
    }
    return {own * (2 * kTraversal), parts};
  }

  CallCost join() const {
    const Range count = size(*target_);
    Range text;
    if (!target_->node->type->params.empty()) text = count * element_size(*target_);
    if (!arguments_.empty()) {
      const Range gaps{count.min > 0 ? count.min - 1 : 0, count.max > 0 ? count.max - 1 : 0};
      text = text + size(arguments_[0]) * gaps;
    }
    return {text * kTraversal, text};
  }

  CallCost find() const {
    const Range own = size(*target_);
    const Range pattern = size(arguments_[0]) * kPattern;
    return {(own + kOne) * kTraversal * pattern, Range{0, own.max}};
  }

  CallCost network() const {
    constexpr Range kBytes{4, 16};
    Range cost = (kBytes + kBytes) * kTraversal;
    if (function_ == "containsCIDR") cost = cost + kBytes * kTraversal + kOne;
    if (overload_ == "cidr_contains_ip_string" || overload_ == "cidr_contains_cidr_string") {
      cost = cost + size(arguments_[0]) * kTraversal;
    }
    return {cost, {}};
  }

  std::optional<CallCost> equality() const {
    const auto& type = *arguments_[0].node->type;
    if (!same(type, *arguments_[1].node->type)) return std::nullopt;
    for (const auto* name : {"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"}) {
      if (type.name == name) return CallCost{kOne, {}};
    }
    if (type.name == "kubernetes.NamedFormat") return CallCost{Range{1, 64} * kTraversal, {}};
    if (type.name != "kubernetes.URL") return std::nullopt;
    const auto& other = arguments_[1].size;  // of both sides it is the right one that counts
    return CallCost{Range{1, other ? other->max : 1} * kTraversal, {}};
  }

  std::string_view function_;
  std::string_view overload_;
  const Given* target_;
  const std::vector<Given>& arguments_;
  const DataType& root_;
};

std::uint64_t literal_or(const Given& given, std::uint64_t otherwise) {
  const Expr& node = *given.node;
  if (node.kind != Expr::Kind::literal || !node.literal.is(Value::Kind::integer)) return otherwise;
  return node.literal.as_int() < 0 ? 0 : static_cast<std::uint64_t>(node.literal.as_int());
}

CallCost allocating(const Range& size, double factor) {
  return {size * factor + kOne + Range{kListCost, kListCost}, size};
}

// Functions of the extended lists and sets, told apart by overload.
std::optional<CallCost> list_call_cost(std::string_view overload, const Given* target,
                                       const std::vector<Given>& arguments, const DataType& root) {
  const auto size = [&root](const Given& given) { return size_in(root, given); };
  if (overload.starts_with("list_sets_")) {
    const double factor = overload == "list_sets_equivalent_list" ? 2 : 1;
    return CallCost{size(arguments[0]) * size(arguments[1]) * factor + kOne, {}};
  }
  if (overload == "list_slice") {
    const auto from = literal_or(arguments[0], 0);
    const auto to = literal_or(arguments[1], size(*target).max);
    return allocating({to - from, to - from}, 1);
  }
  if (overload == "lists_range") {
    const auto count = literal_or(arguments[0], kUnbounded);
    return allocating({count, count}, 1);
  }
  if (overload == "list_reverse") return allocating(size(*target), 1);
  if (overload == "list_flatten" || overload == "list_flatten_int") {
    const auto depth = arguments.empty() ? 1 : literal_or(arguments[0], kUnbounded);
    return allocating(size(*target), static_cast<double>(depth));
  }
  const bool sort = overload.ends_with("_sort");
  const bool sort_by = overload.ends_with("_sortByAssociatedKeys");
  if (overload != "list_distinct" && !sort && !sort_by) return std::nullopt;
  double factor = 2;
  if (overload.starts_with("list_string_") || overload.starts_with("list_bytes_")) {
    factor += kTraversal;
  }
  const Range compared = size(sort_by ? arguments[0] : *target);
  return allocating(compared * compared, factor);
}

}  // namespace

std::optional<CallCost> extension_cost(std::string_view function, std::string_view overload,
                                       const Given* target, const std::vector<Given>& arguments,
                                       const DataType& root) {
  if (auto cost = list_call_cost(overload, target, arguments, root)) return cost;
  return Library(function, overload, target, arguments, root).cost();
}

std::optional<Range> declared_size(const DataType& root, const std::vector<std::string>& path) {
  if (path.empty()) return std::nullopt;
  const DataType* at = &root;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto& step = path[i];
    if (step == "@items" || step == "@values") {
      at = at->element.get();
    } else if (step == "@keys") {
      if (at->form != DataType::Form::map) return std::nullopt;
      if (at->key == nullptr) {
        return i + 1 == path.size() ? std::optional(Range{0, 0}) : std::nullopt;
      }
      at = at->key.get();
    } else if (at->entries_are_fields) {
      at = at->element.get();
    } else {
      // As the server: a reserved word that is written as it is has no size there, so no bound.
      const auto* field = at->form == DataType::Form::object ? at->declared_field(step) : nullptr;
      at = field == nullptr ? nullptr : field->type.get();
    }
    if (at == nullptr) return std::nullopt;
  }
  return Range{0, at->max_elements};
}

}  // namespace kubewatch::cel

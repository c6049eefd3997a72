#include "jq/evaluator.hpp"

#include <fmt/format.h>

#include "jq/access.hpp"
#include "jq/arithmetic.hpp"
#include "jq/builtins.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

namespace {

constexpr std::size_t kMaxSteps = 2'000'000;
constexpr std::size_t kMaxBytes = 128U << 20U;

}  // namespace

Evaluator::Evaluator(Duration deadline)
    : deadline_(deadline), end_(std::chrono::steady_clock::now() + deadline) {}

std::optional<Error> Evaluator::failure() const {
  if (fatal_) return fatal_;
  if (!raised_) return std::nullopt;
  if (raised_->is_string()) return Error(ErrorKind::invalid, raised_->get<std::string>());
  return Error(ErrorKind::invalid, fmt::format("(not a string): {}", to_text(*raised_)));
}

bool Evaluator::raise(const Error& error) {
  if (error.kind() != ErrorKind::invalid) {
    fatal_ = error;
    return false;
  }
  return raise_value(error.message());
}

bool Evaluator::raise_value(Json value) {
  // error(null) is no error in jq but no output.
  if (value.is_null()) return true;
  raised_ = std::move(value);
  return false;
}

bool Evaluator::charge(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMaxBytes) return true;
  fatal_ = Error(ErrorKind::too_large, "the program handles too much data");
  return false;
}

bool Evaluator::step() {
  ++steps_;
  if (steps_ > kMaxSteps) {
    fatal_ =
        Error(ErrorKind::too_large, fmt::format("the program takes more than {} steps", kMaxSteps));
    return false;
  }
  // At each step: one of them may walk through all of the object, and a thousand such take long.
  if (std::chrono::steady_clock::now() > end_) {
    fatal_ = Error(ErrorKind::timeout, fmt::format("the program runs longer than {}",
                                                   base::format_duration(deadline_)));
    return false;
  }
  return true;
}

bool Evaluator::emit(const Result<Json>& value, Sink sink) {
  if (!value.ok()) return raise(value.error());
  return charge(cost_of(*value)) && sink(*value);
}

bool Evaluator::eval(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  if (!step()) return false;
  const auto& kids = node.kids;
  switch (node.kind) {
    case NodeKind::identity: return sink(input);
    case NodeKind::literal: return sink(node.value);
    case NodeKind::field: return eval_field(node, input, scope, sink);
    case NodeKind::index: return eval_index(node, input, scope, sink);
    case NodeKind::slice: return eval_slice(node, input, scope, sink);
    case NodeKind::iterate: return eval_iterate(node, input, scope, sink);
    case NodeKind::text: return eval_text(node, kids.size(), "", input, scope, sink);
    case NodeKind::array: return eval_array(node, input, scope, sink);
    case NodeKind::object: {
      Json partial = Json::object();
      return eval_object(node, 0, partial, input, scope, sink);
    }
    case NodeKind::negate:
      return eval(*kids[0], input, scope, [&](const Json& v) { return emit(negate(v), sink); });
    case NodeKind::pipe:
      return eval(*kids[0], input, scope,
                  [&](const Json& v) { return eval(*kids[1], v, scope, sink); });
    case NodeKind::comma:
      for (const NodePtr& kid : kids) {
        if (!eval(*kid, input, scope, sink)) return false;
      }
      return true;
    case NodeKind::arithmetic:
    case NodeKind::comparison: return eval_binary(node, input, scope, sink);
    case NodeKind::conjunction:
    case NodeKind::disjunction: return eval_logic(node, input, scope, sink);
    case NodeKind::alternative: return eval_alternative(node, input, scope, sink);
    case NodeKind::conditional:
      return eval(*kids[0], input, scope, [&](const Json& v) {
        return eval(is_truthy(v) ? *kids[1] : *kids[2], input, scope, sink);
      });
    case NodeKind::attempt: return eval_attempt(node, input, scope, sink);
    case NodeKind::binding: return eval_binding(node, input, scope, sink);
    case NodeKind::variable: {
      const Scope* at = scope;
      while (at->name != node.text) at = at->outer;
      return sink(at->value);
    }
    case NodeKind::call: return eval_call(node, input, scope, sink);
  }
  return true;
}

bool Evaluator::eval_field(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  const auto take = [&](const Json& value) {
    const auto found = get_field(value, node.text);
    if (found.ok()) return sink(**found);
    return node.optional || raise(found.error());
  };
  if (node.kids[0]->kind == NodeKind::identity) return take(input);
  return eval(*node.kids[0], input, scope, take);
}

// Keys vary slowest: (.a,.b)[("x","y")] is .a.x, .b.x, .a.y, .b.y.
bool Evaluator::eval_index(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  return eval(*node.kids[1], input, scope, [&](const Json& key) {
    return eval(*node.kids[0], input, scope, [&](const Json& value) {
      const auto found = get_index(value, key);
      if (!found.ok()) return node.optional || raise(found.error());
      return sink(found->get());
    });
  });
}

bool Evaluator::eval_slice(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  const auto with_from = [&](const Json& from) {
    const auto with_both = [&](const Json& to) {
      return slice_of(node, input, scope, from, to, sink);
    };
    if (node.kids[2] == nullptr) return with_both(null_value());
    return eval(*node.kids[2], input, scope, with_both);
  };
  if (node.kids[1] == nullptr) return with_from(null_value());
  return eval(*node.kids[1], input, scope, with_from);
}

bool Evaluator::slice_of(const Node& node, const Json& input, const Scope* scope, const Json& from,
                         const Json& to, Sink sink) {
  return eval(*node.kids[0], input, scope, [&](const Json& value) {
    const auto found = get_slice(value, from, to);
    if (!found.ok()) return node.optional || raise(found.error());
    return charge(cost_of(found->get())) && sink(found->get());
  });
}

bool Evaluator::eval_iterate(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  return eval(*node.kids[0], input, scope, [&](const Json& value) {
    const auto iterable = check_iterable(value);
    if (!iterable.ok()) return node.optional || raise(iterable.error());
    for (const Json& item : value) {
      if (!step() || !sink(item)) return false;
    }
    return true;
  });
}

// From the last piece to the first: the last interpolation varies slowest.
bool Evaluator::eval_text(const Node& node, std::size_t count, const std::string& tail,
                          const Json& input, const Scope* scope, Sink sink) {
  if (count == 0) {
    if (tail.size() > kMaxText) {
      return raise(
          Error(ErrorKind::too_large, fmt::format("a text is longer than {} bytes", kMaxText)));
    }
    return sink(Json(tail));
  }
  return eval(*node.kids[count - 1], input, scope, [&](const Json& piece) {
    const std::string text = to_display(piece) + tail;
    return charge(text.size()) && eval_text(node, count - 1, text, input, scope, sink);
  });
}

bool Evaluator::eval_array(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  Json out = Json::array();
  if (!node.kids.empty()) {
    const bool done = eval(*node.kids[0], input, scope, [&](const Json& value) {
      if (!charge(cost_of(value))) return false;
      out.push_back(value);
      return true;
    });
    if (!done) return false;
  }
  return sink(out);
}

// `partial` holds the members so far; each level sets its own and takes it back.
bool Evaluator::eval_object(const Node& node, std::size_t at, Json& partial, const Json& input,
                            const Scope* scope, Sink sink) {
  if (at == node.kids.size()) return sink(partial);
  return eval(*node.kids[at], input, scope, [&](const Json& key) {
    return eval(*node.kids[at + 1], input, scope, [&](const Json& value) {
      if (!key.is_string()) {
        return raise(
            Error(ErrorKind::invalid, fmt::format("Cannot use {} as object key", describe(key))));
      }
      const auto& name = key.get_ref<const std::string&>();
      const bool replaces = partial.contains(name);
      Json before = replaces ? std::move(partial[name]) : Json();
      if (!charge(cost_of(value) + name.size())) return false;
      partial[name] = value;
      if (!eval_object(node, at + 2, partial, input, scope, sink)) return false;
      if (replaces) {
        partial[name] = std::move(before);
      } else {
        partial.erase(name);
      }
      return true;
    });
  });
}

// The right operand varies slowest.
bool Evaluator::eval_binary(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  return eval(*node.kids[1], input, scope, [&](const Json& right) {
    return eval(*node.kids[0], input, scope, [&](const Json& left) {
      if (node.kind == NodeKind::comparison) return sink(Json(holds(node.op, left, right)));
      return emit(calculate(node.op, left, right), sink);
    });
  });
}

bool Evaluator::eval_logic(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  const bool decided_by = node.kind == NodeKind::disjunction;
  return eval(*node.kids[0], input, scope, [&](const Json& left) {
    if (is_truthy(left) == decided_by) return sink(Json(decided_by));
    return eval(*node.kids[1], input, scope,
                [&](const Json& right) { return sink(Json(is_truthy(right))); });
  });
}

bool Evaluator::eval_alternative(const Node& node, const Json& input, const Scope* scope,
                                 Sink sink) {
  bool any = false;
  const bool done = eval(*node.kids[0], input, scope, [&](const Json& value) {
    if (!is_truthy(value)) return true;
    any = true;
    return sink(value);
  });
  if (!done) return false;
  return any || eval(*node.kids[1], input, scope, sink);
}

// As in jq 1.6, errors of what follows in the pipe are caught as well: it runs inside the attempt.
bool Evaluator::eval_attempt(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  if (eval(*node.kids[0], input, scope, sink)) return true;
  if (fatal_ || !raised_) return false;
  const Json error = *std::move(raised_);
  raised_.reset();
  return node.kids.size() < 2 || eval(*node.kids[1], error, scope, sink);
}

bool Evaluator::eval_binding(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  return eval(*node.kids[0], input, scope, [&](const Json& value) {
    const Scope inner{node.text, value, scope};
    return eval(*node.kids[1], input, &inner, sink);
  });
}

bool Evaluator::eval_call(const Node& node, const Json& input, const Scope* scope, Sink sink) {
  const Builtin& builtin = *node.builtin;
  if (builtin.closure != nullptr) return builtin.closure(*this, {node, input, scope, sink});
  if (builtin.arity == 0) return emit(builtin.plain(input, null_value()), sink);
  return eval(*node.kids[0], input, scope,
              [&](const Json& argument) { return emit(builtin.plain(input, argument), sink); });
}

}  // namespace kubewatch::jq

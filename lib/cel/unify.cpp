#include "cel/unify.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Type::Kind;

bool fits(Substitution& known, const TypePtr& left, const TypePtr& right);

bool fits_all(Substitution& known, const std::vector<TypePtr>& left,
              const std::vector<TypePtr>& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!fits(known, left[i], right[i])) return false;
  }
  return true;
}

// Types that null may be used for.
bool nullable(const Type& type) {
  switch (type.kind) {
    case Kind::opaque:
    case Kind::object:
    case Kind::duration:
    case Kind::timestamp:
    case Kind::null: return true;
    default: return false;
  }
}

bool says_no_more(const Type& left, const Type& right) {
  if (left.is(Kind::dyn) || left.is(Kind::param)) return true;
  if (right.is(Kind::dyn) || right.is(Kind::param)) return false;
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Kind::opaque:
      if (left.name != right.name) return false;
      [[fallthrough]];
    case Kind::list:
    case Kind::map:
      if (left.params.size() != right.params.size()) return false;
      for (std::size_t i = 0; i < left.params.size(); ++i) {
        if (!says_no_more(*left.params[i], *right.params[i])) return false;
      }
      return true;
    case Kind::type: return true;
    default: return same(left, right);
  }
}

// A variable must not stand for a type that it is part of.
bool is_free_of(const Substitution& known, const Type& variable, const Type& within) {
  if (same(variable, within)) return false;
  if (!known.spend()) return true;
  if (within.is(Kind::param)) {
    const auto* stands_for = known.find(within);
    return stands_for == nullptr || is_free_of(known, variable, **stands_for);
  }
  for (const auto& part : within.params) {
    if (!is_free_of(known, variable, *part)) return false;
  }
  return true;
}

struct Replacement {
  bool valid = false;
  bool known = false;
};

// Whether the variable may stand for the type.
Replacement replace(Substitution& known, const TypePtr& type, const TypePtr& variable) {
  if (same(*type, *variable)) return {true, true};
  if (const auto* found = known.find(*variable)) {
    const TypePtr stands_for = *found;
    if (same(*type, *stands_for)) return {true, true};
    if (!fits(known, type, stands_for)) return {false, true};
    const TypePtr general = most_general(type, stands_for);
    if (is_free_of(known, *variable, *general)) known.set(*variable, general);
    return {true, true};
  }
  if (!is_free_of(known, *variable, *type)) return {false, false};
  known.set(*variable, type);
  return {true, false};
}

bool fits(Substitution& known, const TypePtr& left, const TypePtr& right) {
  if (!known.spend()) return true;
  if (right->is(Kind::param)) {
    const auto replaced = replace(known, left, right);
    if (replaced.valid) return true;
    if (replaced.known) return false;
  }
  if (left->is(Kind::param)) return replace(known, right, left).valid;
  if (is_dyn_or_error(*left) || is_dyn_or_error(*right)) return true;
  if (left->is(Kind::null)) return nullable(*right);
  if (right->is(Kind::null)) return nullable(*left);
  if (left->kind != right->kind) return false;
  switch (left->kind) {
    case Kind::type: return true;
    case Kind::opaque:
    case Kind::list:
    case Kind::map:
      return left->name == right->name && fits_all(known, left->params, right->params);
    default: return left->name == right->name;
  }
}

}  // namespace

const TypePtr* Substitution::find(const Type& type) const {
  if (!type.is(Kind::param)) return nullptr;
  const auto at = types_.find(type.name);
  return at == types_.end() ? nullptr : &at->second;
}

void Substitution::undo() {
  for (auto at = undo_.rbegin(); at != undo_.rend(); ++at) {
    if (at->second == nullptr) {
      types_.erase(at->first);
    } else {
      types_[at->first] = std::move(at->second);
    }
  }
  undo_.clear();
}

bool is_dyn_or_error(const Type& type) {
  return type.is(Kind::dyn) || type.is(Kind::error);
}

bool assignable(Substitution& known, const TypePtr& left, const TypePtr& right) {
  known.begin();
  if (fits(known, left, right)) return true;
  known.undo();
  return false;
}

bool assignable(Substitution& known, const std::vector<TypePtr>& left,
                const std::vector<TypePtr>& right) {
  known.begin();
  if (fits_all(known, left, right)) return true;
  known.undo();
  return false;
}

const TypePtr& most_general(const TypePtr& left, const TypePtr& right) {
  return says_no_more(*left, *right) ? left : right;
}

TypePtr bounded(const Substitution& known, TypePtr type) {
  if (type->parts <= kMostTypeParts) return type;
  known.give_up();
  return simple(Kind::dyn);
}

TypePtr substitute(const Substitution& known, const TypePtr& type, bool free_to_dyn) {
  if (!known.spend()) return simple(Kind::dyn);
  if (const auto* found = known.find(*type)) return substitute(known, *found, free_to_dyn);
  if (type->is(Kind::param)) return free_to_dyn ? simple(Kind::dyn) : type;
  if (type->params.empty()) return type;
  auto copy = std::make_shared<Type>(*type);
  for (auto& part : copy->params) part = substitute(known, part, free_to_dyn);
  copy->parts = parts_of(copy->params);
  return bounded(known, std::move(copy));
}

}  // namespace kubewatch::cel

// Type variables and what they stand for: may a value of one type be used where another is asked
// for, and what does that say of the variables in both. The rules are cel-go's, whose verdicts
// users see.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cel/type.hpp"

namespace kubewatch::cel {

class Substitution {
 public:
  const TypePtr* find(const Type& type) const;
  void set(const Type& variable, TypePtr type) {
    TypePtr& known = types_[variable.name];
    undo_.emplace_back(variable.name, std::exchange(known, std::move(type)));
  }
  // What was set since begin() is as it was again.
  void begin() { undo_.clear(); }
  void undo();
  // Variables may stand for types of variables, and so on, each twice as large as the one before.
  // Once it took too many steps, or a type has become too large, all is said to fit and to be dyn:
  // who asks looks at too_large() in the end.
  bool spend() const { return steps_ < kMostSteps && ++steps_ > 0; }
  void give_up() const { steps_ = kMostSteps; }
  bool too_large() const { return steps_ == kMostSteps; }

 private:
  static constexpr std::size_t kMostSteps = 20'000'000;

  std::map<std::string, TypePtr> types_;
  mutable std::size_t steps_ = 0;
  std::vector<std::pair<std::string, TypePtr>> undo_;  // what variables stood for; null: nothing
};

// Both change `known` only when they say yes.
bool assignable(Substitution& known, const TypePtr& left, const TypePtr& right);
bool assignable(Substitution& known, const std::vector<TypePtr>& left,
                const std::vector<TypePtr>& right);

// The one of two assignable types that says less.
const TypePtr& most_general(const TypePtr& left, const TypePtr& right);

// The type, or dyn where it is too large, of which `known` then knows.
TypePtr bounded(const Substitution& known, TypePtr type);

// With the variables replaced; those that stand for nothing become dyn when asked.
TypePtr substitute(const Substitution& known, const TypePtr& type, bool free_to_dyn);

bool is_dyn_or_error(const Type& type);

}  // namespace kubewatch::cel

// Defaults as data: where a value is missing, which one it gets, and when. Paths go through what is
// there: no parent is made on the way, and what has another type is left alone. No kind's defaults:
// those are in defaults*.cpp. Pure.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::builtin {

// "spec.ports[].protocol": `[]` is each item of a list.
using Path = std::string_view;

// What is at a path, each of it; "" is the object itself.
void for_each_at(Json& object, Path path, const std::function<void(Json&)>& visit);
void for_each_at(const Json& object, Path path, const std::function<void(const Json&)>& visit);

// Null counts as absent.
bool is_absent(const Json& object, std::string_view key);
// Absent, "", 0 or []: what a field of Go that is no pointer cannot tell from absence.
bool is_unset(const Json& object, std::string_view key);
// Whether the object has that text there; "" is unset.
bool has_text(const Json& object, std::string_view key, std::string_view text);

class DefaultRules {
 public:
  enum class Over { absent, unset };
  struct Rule {
    Path path;
    std::string_view value;  // JSON
    Over over = Over::absent;
    // Only where that field beside it has that text.
    std::string_view sibling = {};
    std::string_view text = {};
  };

  DefaultRules(std::initializer_list<Rule> rules);

  // In order: a rule may fill what an earlier one made.
  void apply(Json& object) const;

 private:
  struct Compiled {
    std::string parent;
    std::string key;
    Json value;
    Over over;
    std::string sibling;
    std::string text;
  };
  std::vector<Compiled> rules_;
};

inline constexpr auto kUnset = DefaultRules::Over::unset;
inline constexpr auto kAbsent = DefaultRules::Over::absent;

}  // namespace kubewatch::builtin

// Reading of an object's status the way conditions need it: status.conditions, and whether what was
// observed belongs to the object as it is now. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"

namespace kubewatch::runtime {

// An integer at a path; some controllers write theirs as a string.
std::optional<std::int64_t> integer_at(const Json& object,
                                       std::initializer_list<std::string_view> path);

// The entry of status.conditions of that type (any case); null when absent.
const Json* find_condition(const Json& object, std::string_view type);
// Whether that condition's status is "True", for the object's present generation.
bool condition_is_true(const Json& object, std::string_view type);
// "Ready is False (reason Crash: back-off), of generation 1, now 2".
std::string describe_condition(const Json& object, const std::string& type);

// What was observed is of an older generation: it says nothing about the object as it is now.
struct Behind {
  std::int64_t observed = 0;
  std::int64_t current = 0;
};
// By the condition's observedGeneration, else the status's. Absent: up to date, or nobody says.
std::optional<Behind> behind(const Json& object, const Json* condition);

}  // namespace kubewatch::runtime

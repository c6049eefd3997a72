#include "runtime/object_status.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"

namespace kubewatch::runtime {

std::optional<std::int64_t> integer_at(const Json& object,
                                       std::initializer_list<std::string_view> path) {
  const Json* value = base::find(object, path);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->get<std::int64_t>();
  if (!value->is_string()) return std::nullopt;
  return base::read_number<std::int64_t>(value->get_ref<const std::string&>());
}

const Json* find_condition(const Json& object, std::string_view type) {
  const std::string wanted = base::to_lower(type);
  for (const auto& condition : base::items_at(object, {"status", "conditions"})) {
    if (base::to_lower(base::string_at(condition, {"type"})) == wanted) return &condition;
  }
  return nullptr;
}

bool condition_is_true(const Json& object, std::string_view type) {
  const Json* condition = find_condition(object, type);
  return condition != nullptr && base::string_at(*condition, {"status"}) == "True" &&
         !behind(object, condition);
}

std::string describe_condition(const Json& object, const std::string& type) {
  const Json* condition = find_condition(object, type);
  if (condition == nullptr) return fmt::format("{} is absent", type);
  std::string out = fmt::format("{} is {}", type, base::string_at(*condition, {"status"}));
  const std::string reason = base::string_at(*condition, {"reason"});
  const std::string message = base::string_at(*condition, {"message"});
  if (!reason.empty() && !message.empty()) {
    out += fmt::format(" (reason {}: {})", reason, message);
  } else if (!reason.empty()) {
    out += fmt::format(" (reason {})", reason);
  } else if (!message.empty()) {
    out += fmt::format(" ({})", message);
  }
  if (const auto late = behind(object, condition)) {
    out += fmt::format(", of generation {}, now {}", late->observed, late->current);
  }
  return out;
}

std::optional<Behind> behind(const Json& object, const Json* condition) {
  const auto current = integer_at(object, {"metadata", "generation"});
  auto observed = condition != nullptr ? integer_at(*condition, {"observedGeneration"})
                                       : std::optional<std::int64_t>();
  if (!observed) observed = integer_at(object, {"status", "observedGeneration"});
  if (!current || !observed || *observed >= *current) return std::nullopt;
  return Behind{*observed, *current};
}

}  // namespace kubewatch::runtime

#include "client/delete_result.hpp"

#include <initializer_list>
#include <string_view>

#include "base/json.hpp"

namespace kubewatch::client {

bool is_gone(const Json& answer) {
  if (base::string_at(answer, {"kind"}) == "Status") return true;
  if (base::string_at(answer, {"metadata", "deletionTimestamp"}).empty()) return true;
  const auto holds = [&](std::initializer_list<std::string_view> path) {
    const Json* finalizers = base::find(answer, path);
    return finalizers != nullptr && !finalizers->empty();
  };
  if (holds({"metadata", "finalizers"}) || holds({"spec", "finalizers"})) return false;
  return base::int_at(answer, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

}  // namespace kubewatch::client

#include "apiserver/string_list.hpp"

#include "base/json.hpp"

namespace kubewatch::apiserver {

std::vector<std::string> strings_at(const Json& owner, const char* key) {
  std::vector<std::string> out;
  const auto it = owner.find(key);
  if (it == owner.end() || !it->is_array()) return out;
  for (const auto& item : *it) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace kubewatch::apiserver

#include "hooks/field_warnings.hpp"

#include <set>

namespace kubewatch::hooks {
namespace {

constexpr int kDeepestField = 64;

void look(const Json& value, const std::string& path, int depth, std::size_t most,
          std::vector<std::string>& out) {
  if (out.size() >= most || depth > kDeepestField) return;
  if (value.is_null()) {
    out.push_back(path + " is null");
  } else if (value.is_array()) {
    // An empty mapping often says something ({} selects everything), an empty list hardly ever.
    if (value.empty()) out.push_back(path + " is an empty list");
    for (std::size_t i = 0; i < value.size(); ++i) {
      look(value[i], path + "[" + std::to_string(i) + "]", depth + 1, most, out);
    }
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      look(inner, path.empty() ? key : path + "." + key, depth + 1, most, out);
    }
  }
}

}  // namespace

std::vector<std::string> field_warnings(const Json& manifest, std::size_t most) {
  std::vector<std::string> out;
  static const std::set<std::string> kept = {"generation", "selfLink", "deletionTimestamp",
                                             "deletionGracePeriodSeconds"};
  if (const Json* metadata = base::find(manifest, {"metadata"})) {
    for (const auto& [key, value] : metadata->items()) {
      if (kept.count(key) > 0 && out.size() < most) {
        out.push_back("metadata." + key + " is the server's");
      }
    }
  }
  look(manifest, "", 0, most, out);
  return out;
}

}  // namespace kubewatch::hooks

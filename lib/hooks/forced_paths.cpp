#include "hooks/forced_paths.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/json.hpp"
#include "core/status.hpp"

namespace kubewatch::hooks {

namespace {

// `field` goes on from the value `at`: however it is read, it is at or below `path`.
bool is_within(std::string_view field, const Json& at, std::span<const std::string> path) {
  if (path.empty()) return true;
  if (!at.is_object() || !field.starts_with('.')) return false;
  const std::string_view rest = field.substr(1);
  bool found = false;
  for (const auto& [key, value] : at.items()) {
    if (!rest.starts_with(key)) continue;
    const std::string_view below = rest.substr(key.size());
    if (!below.empty() && below.front() != '.' && below.front() != '[') continue;
    if (key != path.front() || !is_within(below, value, path.subspan(1))) return false;
    found = true;
  }
  return found;
}

}  // namespace

bool is_field_conflict(const Error& error) {
  if (!error.is_conflict() || error.status() == nullptr) return false;
  const auto causes = core::causes_of(error);
  return std::any_of(causes.begin(), causes.end(), [](const core::StatusCause& cause) {
    return cause.reason == "FieldManagerConflict";
  });
}

bool conflicts_are_within(const Error& error, const Json& applied,
                          const std::vector<ForcedPath>& paths) {
  if (paths.empty() || !is_field_conflict(error)) return false;
  const auto causes = core::causes_of(error);
  return std::all_of(causes.begin(), causes.end(), [&](const core::StatusCause& cause) {
    return std::any_of(paths.begin(), paths.end(), [&](const ForcedPath& path) {
      return is_within(cause.field, applied, path);
    });
  });
}

}  // namespace kubewatch::hooks

#include "hooks/forced_paths.hpp"

#include <algorithm>
#include <string_view>

#include "base/json.hpp"
#include "core/field_text.hpp"

namespace kubewatch::hooks {

namespace {

// In whatever way it is read.
bool is_within(std::string_view field, const Json& applied, const ForcedPath& path) {
  const auto readings = core::readings_of(applied, field);
  return !readings.empty() &&
         std::all_of(readings.begin(), readings.end(), [&](const core::FieldReading& reading) {
           return reading.steps.size() >= path.size() &&
                  std::equal(path.begin(), path.end(), reading.steps.begin(),
                             [&](const std::string& key, std::string_view step) {
                               return step.front() == '.' && step.substr(1) == key;
                             });
         });
}

}  // namespace

bool is_field_conflict(const Error& error) {
  if (!error.is_conflict() || error.status() == nullptr) return false;
  const auto causes = core::causes_of(error);
  return std::any_of(causes.begin(), causes.end(), [](const core::StatusCause& cause) {
    return cause.reason == "FieldManagerConflict";
  });
}

std::vector<core::StatusCause> conflicts_outside(const Error& error, const Json& applied,
                                                 const std::vector<ForcedPath>& paths) {
  std::vector<core::StatusCause> causes = core::causes_of(error);
  std::erase_if(causes, [&](const core::StatusCause& cause) {
    return std::any_of(paths.begin(), paths.end(), [&](const ForcedPath& path) {
      return is_within(cause.field, applied, path);
    });
  });
  return causes;
}

bool conflicts_are_within(const Error& error, const Json& applied,
                          const std::vector<ForcedPath>& paths) {
  return !paths.empty() && is_field_conflict(error) &&
         conflicts_outside(error, applied, paths).empty();
}

}  // namespace kubewatch::hooks

// Conflicts as the API server words them.
#include <map>

#include "base/strings.hpp"
#include "schema/managed_fields.hpp"

namespace kubewatch::schema {
namespace {

std::string message_of(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1) {
    return "Apply failed with 1 conflict: conflict with " + conflicts[0].manager_text + ": " +
           path_str(conflicts[0].path);
  }
  std::vector<std::string> managers;
  std::map<std::string, std::vector<std::string>> lines;
  for (const Conflict& conflict : conflicts) {
    std::vector<std::string>& own = lines[conflict.manager_text];
    if (own.empty()) managers.push_back(conflict.manager_text);
    own.push_back("- " + path_str(conflict.path));
  }
  std::vector<std::string> out;
  for (const std::string& manager : managers) {
    out.push_back("conflicts with " + manager + ":");
    for (std::string& line : lines[manager]) out.push_back(std::move(line));
  }
  return "Apply failed with " + std::to_string(conflicts.size()) +
         " conflicts: " + base::join(out, "\n");
}

}  // namespace

Json conflict_status(const std::vector<Conflict>& conflicts) {
  Json causes = Json::array();
  for (const Conflict& conflict : conflicts) {
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + conflict.manager_text},
                      {"field", path_str(conflict.path)}});
  }
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Failure"},
          {"message", message_of(conflicts)},
          {"reason", "Conflict"},
          {"details", {{"causes", std::move(causes)}}},
          {"code", 409}};
}

}  // namespace kubewatch::schema

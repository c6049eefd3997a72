// Conflicts as the API server words them.
#include <map>

#include "base/strings.hpp"
#include "core/status.hpp"
#include "schema/field_error.hpp"
#include "schema/managed_fields.hpp"

namespace kubewatch::schema {
namespace {

std::string message_of(const std::vector<Conflict>& conflicts, std::size_t untold) {
  if (conflicts.size() == 1 && untold == 0) {
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
  if (untold != 0) out.push_back("and " + std::to_string(untold) + " more");
  return "Apply failed with " + std::to_string(conflicts.size() + untold) +
         " conflicts: " + base::join(out, "\n");
}

// What an element takes in a path.
std::size_t bytes_of(const PathElement& element) {
  constexpr std::size_t kEach = 64;
  return kEach +
         (element.kind == PathElement::Kind::field ? element.field.size() : element.str().size());
}

}  // namespace

void ConflictList::add(const std::string& manager_text, const FieldSet& fields) {
  Path prefix;
  add_below(manager_text, fields, prefix, manager_text.size());
}

void ConflictList::add_below(const std::string& manager_text, const FieldSet& fields, Path& prefix,
                             std::size_t prefix_bytes) {
  for (const PathElement& member : fields.members()) {
    if (bytes_ > kMostTold) {
      ++untold_;
      continue;
    }
    bytes_ += prefix_bytes + bytes_of(member);
    told_.push_back({manager_text, prefix});
    told_.back().path.push_back(member);
  }
  for (const auto& [element, child] : fields.children()) {
    prefix.push_back(element);
    add_below(manager_text, child, prefix, prefix_bytes + bytes_of(element));
    prefix.pop_back();
  }
}

Json conflict_status(const std::vector<Conflict>& conflicts, std::size_t untold) {
  Json causes = Json::array();
  for (const Conflict& conflict : conflicts) {
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with " + conflict.manager_text},
                      {"field", path_str(conflict.path)}});
  }
  Json status = core::status_body(409, "Conflict", message_of(conflicts, untold));
  status["details"]["causes"] = std::move(causes);
  return status;
}

}  // namespace kubewatch::schema

// Conflicts of server-side apply as data: which field, who owns it, their value and ours; and which
// of them the user said to take. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::cli {

struct FieldConflict {
  std::string path;   // as the server writes it: .spec.containers[name="web"].image
  std::string owner;  // the manager's name alone
  std::string words;  // the server's: `conflict with "kubectl" with subresource "scale"`
  Json theirs;        // null where the object has nothing there
  Json mine;
  // Where the path looks as if a key ended there, and in what was applied it may not.
  std::vector<std::size_t> no_ends = {};
};

// Of a 409 by field managers; empty for any other error. `theirs` and `mine` are looked up in
// `before` (null: unknown) and `manifest`, whose secrets the caller has hidden.
std::vector<FieldConflict> conflicts_of(const Error& error, const Json& before,
                                        const Json& manifest);

// The object is in another ApplySet than the one that the manifest's label says. No server tells:
// one manager may keep both sets. nullopt: it is in none, or in this one.
std::optional<FieldConflict> set_conflict(const Json& before, const Json& manifest);
bool is_of_set(const FieldConflict& conflict);

// --force-conflicts[=PATH], --force-owner=MANAGER.
struct ForcePolicy {
  bool all = false;
  // The field itself and what is below it: `.data.a` does not take the key `a.b`. As the server
  // writes them.
  std::vector<std::string> paths;
  std::vector<std::string> owners;
  bool any() const { return all || !paths.empty() || !owners.empty(); }
  bool takes(const FieldConflict& conflict) const;
  static bool covers(const std::string& path, const FieldConflict& conflict);
  // Each of them: only then may the apply be forced, since a forced apply takes them all.
  bool takes_all(const std::vector<FieldConflict>& conflicts) const;
  // Of a set_conflict: whoever keeps the label, --force-owner does not speak of sets.
  bool moves(const FieldConflict& conflict) const;
};
// Values of --force-conflicts as given: "true" is all, "false" none, everything else a path; the
// leading dot may be left out, and keys may stand as in what was configured: `.data["a.b"]`.
// Errors: invalid.
Result<ForcePolicy> parse_force(const std::vector<std::string>& conflicts,
                                const std::vector<std::string>& owners);

// {path, owner, theirs, mine}.
Json to_json(const FieldConflict& conflict);
// `.data.color: "red" of manager "kubectl", here "blue"`.
std::string to_text(const FieldConflict& conflict);

}  // namespace kubewatch::cli

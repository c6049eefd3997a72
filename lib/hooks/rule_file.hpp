// Reads and checks rule files: every problem with file:line:column, all of them at once, before
// anything starts.
#pragma once

#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/document_place.hpp"
#include "base/result.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

class RuleProbe;

struct LoadedRules {
  std::vector<Rule> rules;
  std::vector<base::Remark>
      problems;  // sorted by file and position; rules are usable only when empty
  // Folders that can be read and hold no rule; each is a problem, too.
  std::set<std::string> empty_folders;
};

// Files and folders (*.yaml, *.yml, *.json, not recursive, sorted). Checks across rules too: same
// name, same field manager, same finalizer. `probe` sees what is read, and may add problems.
LoadedRules load_rules(const std::vector<std::string>& paths, RuleProbe* probe = nullptr);
// The same for who asks about rules and runs none: the programs and files that they name may be
// missing.
LoadedRules load_rules_to_read(const std::vector<std::string>& paths, RuleProbe* probe = nullptr);
// What load_rules() reads of a folder, sorted; with `failed` not all of it.
std::vector<std::string> rule_files_in(const std::string& folder, std::error_code& failed);
// One text; `file` names it and its folder is the base of relative paths.
LoadedRules parse_rules(std::string_view text, const std::string& file);

}  // namespace kubewatch::hooks

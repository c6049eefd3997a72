// Reads and checks rule files: every problem with file:line:column, all of them at once, before
// anything starts.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "base/result.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

struct Diagnostic {
  std::string file;
  std::size_t line = 0;  // 0: the file as a whole
  std::size_t column = 0;
  std::string message;
  std::string str() const;  // "rules.yaml:12:7: message"
};

struct LoadedRules {
  std::vector<Rule> rules;
  std::vector<Diagnostic>
      problems;  // sorted by file and position; rules are usable only when empty
};

// Files and folders (*.yaml, *.yml, *.json, not recursive, sorted). Checks across rules too: same
// name, same field manager, same finalizer.
LoadedRules load_rules(const std::vector<std::string>& paths);
// The same for who asks about rules and runs none: the programs and files that they name may be
// missing.
LoadedRules load_rules_to_read(const std::vector<std::string>& paths);
// What load_rules() reads of a folder, sorted; with `failed` not all of it.
std::vector<std::string> rule_files_in(const std::string& folder, std::error_code& failed);
// One text; `file` names it and its folder is the base of relative paths.
LoadedRules parse_rules(std::string_view text, const std::string& file);

}  // namespace kubewatch::hooks

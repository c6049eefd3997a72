// Test cases of rules (kind ControllerTest) as data: what the page of `run-controller test` says of
// them, parsed, with every problem at its file:line:column. Reads files; runs nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/trigger_request.hpp"
#include "rehearsal/local_server.hpp"

namespace kubewatch::rehearsal {

enum class ActionKind { apply, remove, advance, fail, restart, compact, trigger };

struct Action {
  ActionKind kind = ActionKind::apply;
  Json object;  // apply, remove: as written
  Duration advance{0};
  Fault fault;
  hooks::TriggerRequest trigger;
  base::YamlMark at;
};

struct Step {
  std::string name;  // "step 2", or as the file calls it
  std::vector<Action> when;
  Json expect;          // null: nothing is expected
  std::string pointer;  // of `expect` in the document
};

struct TestCase {
  std::string name;
  std::string file;
  std::size_t line = 1;
  std::string rules;      // path of the rule file or folder
  std::string rule_name;  // "": all that it holds
  std::vector<Json> given;
  std::optional<WallTime> now;
  std::vector<Step> steps;
  bool idempotent = true;
  bool interrupt = true;
  std::shared_ptr<const base::YamlMarks> marks;
  // "tests.yaml:23", of a value in the document.
  std::string place(const std::string& pointer) const;
};

struct LoadedCases {
  std::vector<TestCase> cases;
  std::vector<base::Remark> problems;  // cases are usable only when empty
};

// Files, and folders with all that is below them; in a folder other documents are passed over.
LoadedCases load_cases(const std::vector<std::string>& paths);
// One text; `file` names it and its folder is the base of relative paths.
LoadedCases parse_cases(std::string_view text, const std::string& file);

}  // namespace kubewatch::rehearsal

#include "rehearsal/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/yaml_document.hpp"
#include "hooks/rule_node.hpp"
#include "hooks/rule_values.hpp"
#include "rehearsal/case_expect.hpp"

namespace kubewatch::rehearsal {

namespace {

namespace fs = std::filesystem;
using hooks::RuleNode;

constexpr std::size_t kMaxFile = 16U << 20U;
constexpr std::size_t kMaxFiles = 10'000;
constexpr std::size_t kMaxDepth = 32;

// Nobody else has such a kind: a version that is missing or misspelt is told.
bool is_case(const Json& document) {
  return base::string_at(document, {"kind"}) == "ControllerTest";
}

bool is_manifest(const RuleNode& node) {
  if (!is_reference(node)) return false;
  if (!base::string_at(node.value(), {"apiVersion"}).empty()) return true;
  return node.problem("needs an apiVersion");
}

bool read_fault(const RuleNode& node, Fault& out) {
  std::int64_t code = 500;
  std::int64_t times = 1;
  static const std::vector<std::string> kVerbs = {"get",    "list",  "watch",  "create", "apply",
                                                  "update", "patch", "delete", "write"};
  const bool ok =
      hooks::read_keys(node, {{"verb",
                               [&](const RuleNode& inner) {
                                 const auto index = hooks::one_of(inner, kVerbs);
                                 if (index) out.verb = kVerbs[*index];
                                 return index.has_value();
                               }},
                              {"kind", hooks::text(out.kind)},
                              {"name", hooks::text(out.name)},
                              {"namespace", hooks::text(out.namespace_)},
                              {"subresource", hooks::text(out.subresource)},
                              {"code",
                               [&](const RuleNode& inner) {
                                 if (inner.value().is_number_integer() && inner.value() == 0) {
                                   code = 0;
                                   return true;
                                 }
                                 return hooks::whole_number(code, 400, 599)(inner);
                               }},
                              {"times", hooks::whole_number(times, 1, 1'000'000)}});
  out.code = static_cast<int>(code);
  out.times = static_cast<std::size_t>(times);
  return ok;
}

// As a line of a trigger program says it.
bool read_trigger(const RuleNode& node, hooks::TriggerRequest& out) {
  if (!is_mapping(node)) return false;
  auto request = hooks::read_trigger_request(base::dump_json(node.value()));
  if (!request.ok()) return node.problem(request.error().message());
  out = std::move(*request);
  return true;
}

bool read_action(const RuleNode& node, std::vector<Action>& out) {
  Action action;
  action.at = node.mark();
  const auto keep = [&](ActionKind kind, const RuleNode& inner) {
    action.kind = kind;
    action.object = inner.value();
    return true;
  };
  const bool ok =
      hooks::read_keys(node, {{"apply",
                               [&](const RuleNode& inner) {
                                 return is_manifest(inner) && keep(ActionKind::apply, inner);
                               }},
                              {"delete",
                               [&](const RuleNode& inner) {
                                 return is_name_of_object(inner) && keep(ActionKind::remove, inner);
                               }},
                              {"advance",
                               [&](const RuleNode& inner) {
                                 action.kind = ActionKind::advance;
                                 return hooks::duration(action.advance, Duration{1})(inner);
                               }},
                              {"fail",
                               [&](const RuleNode& inner) {
                                 action.kind = ActionKind::fail;
                                 return read_fault(inner, action.fault);
                               }},
                              {"restart",
                               [&](const RuleNode& inner) {
                                 action.kind = ActionKind::restart;
                                 return hooks::one_of(inner, {"controller"}).has_value();
                               }},
                              {"trigger",
                               [&](const RuleNode& inner) {
                                 action.kind = ActionKind::trigger;
                                 return read_trigger(inner, action.trigger);
                               }},
                              {"compact", [&](const RuleNode& inner) {
                                 action.kind = ActionKind::compact;
                                 bool value = true;
                                 if (!hooks::flag(value)(inner)) return false;
                                 return value || inner.problem("must be true");
                               }}});
  if (!ok) return false;
  if (node.value().size() != 1) return node.problem("must have exactly one key: one thing happens");
  out.push_back(std::move(action));
  return true;
}

bool read_when(const RuleNode& node, std::vector<Action>& out) {
  if (!is_list(node)) return false;
  bool ok = true;
  for (std::size_t i = 0; i < node.value().size(); ++i) ok = read_action(node.item(i), out) && ok;
  return ok;
}

bool read_step(const RuleNode& node, const std::string& pointer, Step& out) {
  return hooks::read_keys(
      node, {{"name", hooks::text(out.name)},
             {"when", [&](const RuleNode& inner) { return read_when(inner, out.when); }},
             {"expect", [&](const RuleNode& inner) {
                out.expect = inner.value();
                out.pointer = pointer + "/expect";
                return check_expect(inner);
              }}});
}

bool read_steps(const RuleNode& node, std::vector<Step>& out) {
  if (!is_list(node)) return false;
  bool ok = true;
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    Step step;
    step.name = fmt::format("step {}", i + 1);
    ok = read_step(node.item(i), fmt::format("/steps/{}", i), step) && ok;
    out.push_back(std::move(step));
  }
  return ok;
}

bool read_given(const RuleNode& node, std::vector<Json>& out) {
  if (!is_list(node)) return false;
  bool ok = true;
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    ok = is_manifest(node.item(i)) && ok;
    out.push_back(node.value()[i]);
  }
  return ok;
}

bool read_given_file(const RuleNode& node, const fs::path& folder, std::vector<Json>& out) {
  std::string name;
  if (!hooks::text(name)(node)) return false;
  const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : folder / name;
  auto text = base::read_file(path.string(), kMaxFile);
  if (!text.ok()) return node.problem(text.error().render());
  auto documents = base::parse_yaml_values(*text);
  if (!documents.ok()) return node.problem(name + ": " + documents.error().message());
  for (Json& document : *documents) {
    if (base::string_at(document, {"apiVersion"}).starts_with("kubewatch.dev/")) continue;
    if (base::string_at(document, {"apiVersion"}).empty() ||
        base::string_at(document, {"kind"}).empty() ||
        base::string_at(document, {"metadata", "name"}).empty()) {
      return node.problem(name + " has a document without apiVersion, kind or metadata.name");
    }
    out.push_back(std::move(document));
  }
  return true;
}

bool read_files(const RuleNode& node, const fs::path& folder, std::vector<Json>& out) {
  if (!is_list(node)) return false;
  bool ok = true;
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    ok = read_given_file(node.item(i), folder, out) && ok;
  }
  return ok;
}

bool read_rules_path(const RuleNode& node, const fs::path& folder, TestCase& out) {
  std::string name;
  if (!hooks::text(name)(node)) return false;
  const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : folder / name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return node.problem(path.string() + ": there is no such file");
  out.rules = path.lexically_normal().string();
  return true;
}

bool read_controller(const RuleNode& node, const fs::path& folder, TestCase& out) {
  if (node.value().is_string()) return read_rules_path(node, folder, out);
  return hooks::read_keys(
      node,
      {{"file", [&](const RuleNode& inner) { return read_rules_path(inner, folder, out); }, true},
       {"name", hooks::text(out.rule_name)}});
}

bool read_time(const RuleNode& node, std::optional<WallTime>& out) {
  std::string text;
  if (!hooks::text(text)(node)) return false;
  auto time = base::parse_rfc3339(text);
  if (!time.ok()) return node.problem(time.error().message());
  out = *time;
  return true;
}

bool read_version(const RuleNode& node) {
  std::string value;
  if (!hooks::text(value)(node)) return false;
  return value == "kubewatch.dev/v1" ||
         node.problem("must be kubewatch.dev/v1, not \"" + value + "\"");
}

// What is wrong in itself is said elsewhere.
bool may_expect(const Json& steps) {
  return !steps.is_array() || std::any_of(steps.begin(), steps.end(), [](const Json& step) {
    return !step.is_object() || step.contains("expect");
  });
}

void read_case(const RuleNode& node, const fs::path& folder, TestCase& out) {
  Step only;
  only.pointer = "/expect";
  std::string ignored;
  const auto metadata = [&](const RuleNode& inner) {
    return hooks::read_keys(inner, {{"name", hooks::text(out.name), true}});
  };
  hooks::read_keys(
      node, {{"apiVersion", read_version, true},
             {"kind", hooks::text(ignored), true},
             {"metadata", metadata, true},
             {"controller",
              [&](const RuleNode& inner) { return read_controller(inner, folder, out); }, true},
             {"now", [&](const RuleNode& inner) { return read_time(inner, out.now); }},
             {"given", [&](const RuleNode& inner) { return read_given(inner, out.given); }},
             {"files", [&](const RuleNode& inner) { return read_files(inner, folder, out.given); }},
             {"when", [&](const RuleNode& inner) { return read_when(inner, only.when); }},
             {"expect",
              [&](const RuleNode& inner) {
                only.expect = inner.value();
                return check_expect(inner);
              }},
             {"steps", [&](const RuleNode& inner) { return read_steps(inner, out.steps); }},
             {"idempotent", hooks::flag(out.idempotent)},
             {"interrupt", hooks::flag(out.interrupt)}});
  if (!node.value().is_object()) return;
  if (node.has("steps") && (node.has("when") || node.has("expect"))) {
    node.problem("has steps as well as when or expect: put those into a step");
  }
  if (node.has("steps") ? !may_expect(node.value()["steps"]) : !node.has("expect")) {
    node.problem("expects nothing: it needs expect, or steps with expect");
  }
  if (!node.has("steps")) out.steps.push_back(std::move(only));
}

bool read_text(std::string_view text, const std::string& file, bool in_folder, LoadedCases& out) {
  auto documents = base::parse_yaml(text);
  if (!documents.ok()) {
    // In a folder a file that is no YAML may be anything; one that means to be a case is refused.
    if (in_folder && text.find("ControllerTest") == std::string_view::npos) return false;
    out.problems.push_back({file, 0, 0, documents.error().message()});
    return true;
  }
  if (documents->empty() && !in_folder) {
    out.problems.push_back({file, 0, 0, "no test case: the file is empty"});
  }
  bool seen = false;
  const fs::path folder = fs::path(file).parent_path();
  for (base::YamlDocument& document : *documents) {
    if (!is_case(document.value)) {
      if (in_folder) continue;
      const hooks::RuleSource source{file, document.marks, out.problems};
      RuleNode(source, document.value)
          .problem("is no test case: needs apiVersion kubewatch.dev/v1, kind ControllerTest");
      continue;
    }
    seen = true;
    TestCase read;
    read.file = file;
    read.marks = std::make_shared<const base::YamlMarks>(std::move(document.marks));
    const hooks::RuleSource source{file, *read.marks, out.problems};
    const RuleNode node(source, document.value);
    read.line = node.mark().line;
    read_case(node, folder, read);
    out.cases.push_back(std::move(read));
  }
  return seen;
}

// What is not looked at is a problem: cases may be there.
class Collection {
 public:
  explicit Collection(std::vector<base::Remark>& problems) : problems_(problems) {}

  void add(const fs::path& folder, std::size_t depth = 0) {
    if (is_full_) return;
    if (depth > kMaxDepth) return tell(folder, fmt::format("below {} folders", kMaxDepth));
    std::error_code failed;
    fs::directory_iterator it(folder, failed);
    for (; !failed && !is_full_ && it != fs::directory_iterator(); it.increment(failed)) {
      std::error_code ignored;
      if (it->path().filename().string().starts_with('.')) continue;
      if (it->is_directory(ignored)) {
        if (!it->is_symlink(ignored)) add(it->path(), depth + 1);
      } else if (base::holds_documents(it->path().string())) {
        is_full_ = files_.size() == kMaxFiles;
        if (is_full_) {
          return tell(folder, fmt::format("more than {} YAML files", kMaxFiles));
        }
        files_.push_back(it->path().string());
      }
    }
    if (failed) tell(folder, failed.message());
  }

  std::vector<std::string> sorted() && {
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  void tell(const fs::path& folder, const std::string& why) {
    problems_.push_back({folder.string(), 0, 0, "not all of it was looked at: " + why});
  }

  std::vector<base::Remark>& problems_;
  std::vector<std::string> files_;
  bool is_full_ = false;
};

bool read_path(const std::string& file, bool in_folder, LoadedCases& out) {
  auto text = base::read_file(file, kMaxFile);
  if (text.ok()) return read_text(*text, file, in_folder, out);
  out.problems.push_back({file, 0, 0, text.error().message()});
  return true;
}

}  // namespace

std::string TestCase::place(const std::string& pointer) const {
  return fmt::format("{}:{}", file, marks == nullptr ? line : marks->value_at(pointer).line);
}

LoadedCases parse_cases(std::string_view text, const std::string& file) {
  LoadedCases out;
  read_text(text, file, false, out);
  return out;
}

LoadedCases load_cases(const std::vector<std::string>& paths) {
  LoadedCases out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      read_path(path, false, out);
      continue;
    }
    Collection files(out.problems);
    files.add(path);
    bool seen = false;
    for (const std::string& file : std::move(files).sorted()) {
      seen = read_path(file, true, out) || seen;
    }
    if (!seen) {
      out.problems.push_back({path, 0, 0,
                              "no test case: no YAML file below it holds a document of kind "
                              "ControllerTest"});
    }
  }
  return out;
}

}  // namespace kubewatch::rehearsal

// Files and folders to rules; checks across rules. What a document may say is in rule_document.cpp.
#include "hooks/rule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "hooks/rule_document.hpp"

namespace kubewatch::hooks {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 1U << 20U;
constexpr std::size_t kMaxFiles = 10'000;

base::YamlLimits yaml_limits() {
  return {kMaxFileBytes, /*max_depth=*/64, /*max_nodes=*/200'000, /*max_alias_nodes=*/20'000,
          /*max_documents=*/1000};
}

// Everything read so far.
struct Loading {
  std::vector<ReadRule> rules;
  std::vector<base::Remark> problems;
  bool look_for_files = true;  // that the rules name
  RuleProbe* probe = nullptr;
  std::set<std::string> empty_folders;  // as LoadedRules'
  std::set<std::string> files;  // canonical: the same file twice, under whatever name, is one file
};

// "cannot read PATH: why" and "PATH is too large" without the path, which the problem names itself.
std::string without_path(std::string message, const std::string& file) {
  if (message.starts_with(file + " ")) return "the file" + message.substr(file.size());
  const std::size_t at = message.find(" " + file);
  return at == std::string::npos ? message : message.erase(at, file.size() + 1);
}

// "LINE:COLUMN: what", as parse_yaml says it.
base::Remark yaml_problem(const std::string& file, const std::string& message) {
  base::Remark out{file, 0, 0, message};
  const char* end = message.data() + message.size();
  const auto line = std::from_chars(message.data(), end, out.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return out;
  const auto column = std::from_chars(line.ptr + 1, end, out.column);
  const std::string_view rest(column.ptr, static_cast<std::size_t>(end - column.ptr));
  if (column.ec == std::errc() && rest.starts_with(": ")) out.message = rest.substr(2);
  return out;
}

// A file named by the user must hold rules only; in a folder, other manifests are passed over.
// False: no rule was seen, good or bad.
bool read_text(std::string_view text, const std::string& file, bool in_folder, Loading& out) {
  auto documents = base::parse_yaml(text, yaml_limits());
  if (!documents.ok()) {
    out.problems.push_back(yaml_problem(file, documents.error().message()));
    return true;
  }
  std::error_code ignored;
  const std::string folder = fs::absolute(file, ignored).lexically_normal().parent_path().string();
  bool seen = false;
  for (const base::YamlDocument& document : *documents) {
    if (in_folder && is_foreign(document.value)) continue;
    seen = true;
    const RuleSource source{file, document.marks, out.problems, out.probe, out.look_for_files};
    auto rule = read_document(RuleNode(source, document.value), folder);
    if (!rule) continue;
    for (ReadRule& one : one_per_kind(*std::move(rule))) out.rules.push_back(std::move(one));
  }
  return seen;
}

bool read_path(const std::string& file, bool in_folder, Loading& out) {
  std::error_code failed;
  const fs::path real = fs::canonical(file, failed);
  if (!failed && !out.files.insert(real.string()).second) return true;
  auto text = base::read_file(file, kMaxFileBytes);
  if (!text.ok()) {
    out.problems.push_back({file, 0, 0, without_path(text.error().message(), file)});
    return true;
  }
  return read_text(*text, file, in_folder, out);
}

bool is_rule_file(const fs::path& path) {
  const bool hidden = path.filename().string().starts_with('.');
  return !hidden && base::holds_documents(path.string());
}

void read_folder(const std::string& folder, Loading& out) {
  std::error_code failed;
  const std::vector<std::string> files = rule_files_in(folder, failed);
  if (failed) {
    out.problems.push_back({folder, 0, 0, "cannot read the folder: " + failed.message()});
    return;
  }
  bool seen = false;
  for (const std::string& file : files) seen = read_path(file, true, out) || seen;
  if (seen) return;
  out.problems.push_back({folder, 0, 0,
                          "no rule: no *.yaml, *.yml or *.json file in this folder holds "
                          "a document of apiVersion kubewatch.dev/v1"});
  out.empty_folders.insert(folder);
}

std::string place_text(const base::Remark& place) {
  return fmt::format("{}:{}", base::escape_for_terminal(place.file), place.line);
}

struct Clash {
  std::string_view what;
  std::string_view why;
  const std::string& first_name;
};

void report_clash(const Clash& clash, const std::string& value, const base::Remark& first,
                  base::Remark second, std::vector<base::Remark>& problems) {
  second.message =
      fmt::format("{} {} is already that of controller {} ({}){}", clash.what, in_quotes(value),
                  in_quotes(clash.first_name), place_text(first), clash.why);
  problems.push_back(std::move(second));
}

// The first rule of a name, field manager or finalizer has it; each later one is told who.
void check_across(const std::vector<ReadRule>& rules, std::vector<base::Remark>& problems) {
  for (std::size_t second = 0; second < rules.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      const ReadRule& a = rules[first];
      const ReadRule& b = rules[second];
      if (a.rule.name.empty() || b.rule.name.empty()) continue;
      // Of one list: its kinds were compared, and those of groups are named when they are known.
      const bool one_list = a.rule.file == b.rule.file && a.rule.line == b.rule.line;
      if (one_list) continue;
      if (a.rule.name == b.rule.name) {
        // Default manager and finalizer follow the name: saying all three would be noise.
        report_clash({"name", "", a.rule.name}, b.rule.name, a.name_at, b.name_at, problems);
        break;
      }
      const std::string& manager = b.rule.apply.field_manager;
      if (a.rule.apply.field_manager == manager) {
        report_clash({"field manager", ": they would prune each other's fields", a.rule.name},
                     manager, a.manager_at, b.manager_at, problems);
      }
      if (a.rule.finalizer_name == b.rule.finalizer_name) {
        report_clash({"finalizer", ": one would release what the other guards", a.rule.name},
                     b.rule.finalizer_name, a.finalizer_at, b.finalizer_at, problems);
      }
    }
  }
}

LoadedRules finish(Loading loading) {
  check_across(loading.rules, loading.problems);
  LoadedRules out;
  out.empty_folders = std::move(loading.empty_folders);
  out.problems = std::move(loading.problems);
  const auto order = [](const base::Remark& a, const base::Remark& b) {
    return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
  };
  std::stable_sort(out.problems.begin(), out.problems.end(), order);
  for (ReadRule& read : loading.rules) out.rules.push_back(std::move(read.rule));
  return out;
}

LoadedRules load(const std::vector<std::string>& paths, bool look_for_files, RuleProbe* probe) {
  Loading loading;
  loading.look_for_files = look_for_files;
  loading.probe = probe;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      read_folder(path, loading);
    } else if (!read_path(path, false, loading)) {
      loading.problems.push_back({path, 0, 0, "no rule: the file is empty"});
    }
  }
  return finish(std::move(loading));
}

}  // namespace

std::vector<std::string> rule_files_in(const std::string& folder, std::error_code& failed) {
  std::vector<std::string> out;
  fs::directory_iterator it(folder, failed);
  for (; !failed && it != fs::directory_iterator() && out.size() < kMaxFiles;
       it.increment(failed)) {
    std::error_code ignored;
    if (is_rule_file(it->path()) && !it->is_directory(ignored)) out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

LoadedRules load_rules(const std::vector<std::string>& paths, RuleProbe* probe) {
  return load(paths, true, probe);
}

LoadedRules load_rules_to_read(const std::vector<std::string>& paths, RuleProbe* probe) {
  return load(paths, false, probe);
}

LoadedRules parse_rules(std::string_view text, const std::string& file) {
  Loading loading;
  if (!read_text(text, file, false, loading)) {
    loading.problems.push_back({file, 0, 0, "no rule: the file is empty"});
  }
  return finish(std::move(loading));
}

}  // namespace kubewatch::hooks

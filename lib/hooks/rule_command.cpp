// exec, shell and other files that a rule names: found and checked when the rule is loaded, not at
// the first run. Starting them is the runner's business.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/find_program.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"

namespace kubewatch::hooks {

namespace {

std::string resolve(const std::string& path, const std::string& folder) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

// "" when `path` can be run.
std::string why_not_executable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return fmt::format("{}: {}", in_quotes(path), std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return fmt::format("{} is a folder; name the program in it", in_quotes(path));
  }
  if (!S_ISREG(info.st_mode)) return fmt::format("{} is not a file", in_quotes(path));
  if (::access(path.c_str(), X_OK) == 0) return "";
  if ((info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0) {
    return fmt::format("{} may not be executed by this user", in_quotes(path));
  }
  return fmt::format("{} is not executable; run: chmod +x {}", in_quotes(path),
                     base::escape_for_terminal(path));
}

bool resolve_program(const RuleNode& node, const std::string& folder, std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  if (is_path) program = resolve(program, folder);
  if (!node.looks_for_files()) return true;
  if (is_path) {
    const std::string wrong = why_not_executable(program);
    return wrong.empty() || node.problem(wrong);
  }
  const std::string found = base::find_program(program);
  if (!found.empty()) {
    program = resolve(found, folder);
    return true;
  }
  std::error_code ignored;
  const bool beside = std::filesystem::exists(resolve(program, folder), ignored);
  return node.problem(fmt::format("{} is not in PATH{}", in_quotes(program),
                                  beside ? fmt::format("; for the file beside this one write ./{}",
                                                       base::escape_for_terminal(program))
                                         : std::string()));
}

// Later arguments may be empty, the program not.
RuleReader argument(std::vector<std::string>& argv) {
  return [&argv](const RuleNode& node) {
    if (node.value() == "" && !argv.empty()) {
      argv.emplace_back();
      return true;
    }
    return text(argv.emplace_back())(node);
  };
}

}  // namespace

bool read_exec(const RuleNode& node, const std::string& folder, std::vector<std::string>& argv) {
  if (node.value().is_string()) {
    return node.problem("must be a list: [PROGRAM, ARGUMENT...]; for a command line use shell");
  }
  argv.clear();
  if (!list_of(argument(argv), "name the program")(node)) return false;
  return resolve_program(node.item(0), folder, argv.front());
}

bool read_shell(const RuleNode& node, HookRule& out) {
  std::string script;
  if (!text(script)(node)) return false;
  out.shell = true;
  out.argv = {"/bin/sh", "-e", "-c", std::move(script), "hook"};
  return true;
}

bool read_file_path(const RuleNode& node, const std::string& folder, std::string& out) {
  std::string path;
  if (!text(path)(node)) return false;
  out = resolve(path, folder);
  if (!node.looks_for_files()) return true;
  struct stat info {};
  if (::stat(out.c_str(), &info) != 0) {
    return node.problem(fmt::format("{}: {}", in_quotes(out), std::strerror(errno)));
  }
  return S_ISREG(info.st_mode) ||
         node.problem(fmt::format("{} is no regular file", in_quotes(out)));
}

}  // namespace kubewatch::hooks

#include "cli/controller/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/strings.hpp"
#include "cli/exit_code.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostFiles = 3;

}  // namespace

std::string count_of_problems(const std::vector<hooks::Diagnostic>& problems) {
  std::vector<std::string> files;
  for (const hooks::Diagnostic& problem : problems) {
    if (std::find(files.begin(), files.end(), problem.file) == files.end()) {
      files.push_back(problem.file);
    }
  }
  std::string where = fmt::format("{} files", files.size());
  if (files.size() <= kMostFiles) {
    where.clear();
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i > 0) where += i + 1 == files.size() ? " and " : ", ";
      where += files[i];
    }
  }
  return fmt::format("{} problem{} in {}", problems.size(), problems.size() == 1 ? "" : "s", where);
}

int refuse_rules(Context& context, const std::vector<hooks::Diagnostic>& problems,
                 const std::string& consequence) {
  for (const hooks::Diagnostic& problem : problems) {
    context.err << base::escape_for_terminal(problem.str()) << "\n";
  }
  return fail(context, kUsage, count_of_problems(problems) + "; " + consequence);
}

}  // namespace kubewatch::cli

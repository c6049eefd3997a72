#include "cli/controller/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/strings.hpp"
#include "cli/exit_code.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostFiles = 3;

// "rules.yaml", "a.yaml and b.yaml", "7 files"
std::string files_of(const std::vector<base::Remark>& problems) {
  std::vector<std::string> files;
  for (const base::Remark& problem : problems) {
    if (std::find(files.begin(), files.end(), problem.file) == files.end()) {
      files.push_back(problem.file);
    }
  }
  if (files.size() > kMostFiles) return fmt::format("{} files", files.size());
  std::string out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i > 0) out += i + 1 == files.size() ? " and " : ", ";
    out += files[i];
  }
  return out;
}

}  // namespace

std::string count_of_problems(const std::vector<base::Remark>& problems, std::string where) {
  if (where.empty()) where = files_of(problems);
  return fmt::format("{} problem{} in {}", problems.size(), problems.size() == 1 ? "" : "s", where);
}

int refuse_rules(Context& context, const std::vector<base::Remark>& problems,
                 const std::string& consequence, const std::string& where) {
  for (const base::Remark& problem : problems) {
    context.err << base::escape_for_terminal(problem.str()) << "\n";
  }
  return fail(context, kUsage, count_of_problems(problems, where) + "; " + consequence);
}

}  // namespace kubewatch::cli

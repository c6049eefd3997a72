#include "hooks/rule_reload.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

// Editors write in several steps; what is read is what they leave behind.
constexpr Duration kQuiet{200};
constexpr std::size_t kMaxTold = 20;
constexpr std::size_t kMaxLinkedFolders = 100;  // what is behind more links, SIGHUP has read again

std::string stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path + " missing\n";
  return fmt::format("{} {}:{} {} {}.{}\n", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// What of a folder load_rules() reads, sorted.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  std::filesystem::directory_iterator it(folder, failed);
  for (; !failed && it != std::filesystem::directory_iterator(); it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
      files.push_back(it->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string stamp_of_folder(const std::string& folder) {
  std::string out = folder + "/\n";
  for (const std::string& file : files_in(folder)) out += stamp_of(file);
  return out;
}

// With what rule files that are links in a folder lead to, one file for each folder: there they
// change.
std::vector<std::string> followed(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> out = paths;
  std::set<std::string> folders;
  std::error_code failed;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path, failed)) continue;
    for (const std::string& file : files_in(path)) {
      if (folders.size() == kMaxLinkedFolders) return out;
      const fs::path target = fs::read_symlink(file, failed);
      if (failed) continue;  // no link
      const fs::path real = fs::weakly_canonical(fs::path(file).parent_path() / target, failed);
      if (failed || !folders.insert(real.parent_path().string()).second) continue;
      out.push_back(real.string());
    }
  }
  return out;
}

}  // namespace

std::string rule_files_stamp(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    out += std::filesystem::is_directory(path, ignored) ? stamp_of_folder(path) : stamp_of(path);
  }
  return out;
}

RuleReloader::RuleReloader(loop::EventLoop& loop, std::vector<std::string> paths, OnRules on_rules,
                           Load load)
    : loop_(loop),
      paths_(std::move(paths)),
      on_rules_(std::move(on_rules)),
      load_(std::move(load)),
      stamp_(rule_files_stamp(paths_)) {}

Result<void> RuleReloader::start() {
  KW_ASSIGN(watch_, loop::FileWatch::open(loop_, [this] { on_change(); }));
  watch_->follow(followed(paths_));
  on_change();  // what changed before we looked
  return {};
}

// Hooks may write into the folder of their rule all the time: the first change starts the wait,
// none prolongs it.
void RuleReloader::on_change() {
  if (!timer_) timer_ = loop_.after(kQuiet, [this] { look(); });
}

void RuleReloader::look() {
  timer_.reset();
  watch_->follow(followed(paths_));
  if (rule_files_stamp(paths_) != stamp_) read_again();
}

void RuleReloader::read_again() {
  stamp_ = rule_files_stamp(paths_);
  auto loaded = load_(paths_);
  if (loaded.problems.empty()) return on_rules_(std::move(loaded.rules));
  const std::size_t told = std::min(loaded.problems.size(), kMaxTold);
  for (std::size_t i = 0; i < told; ++i) base::log_error(loaded.problems[i].str());
  base::log_error("the rules are wrong now; the controllers go on with the rules they have",
                  {{"problems", std::to_string(loaded.problems.size())}});
}

}  // namespace kubewatch::hooks

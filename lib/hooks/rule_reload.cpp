#include "hooks/rule_reload.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

namespace fs = std::filesystem;

// Editors write in several steps; what is read is what they leave behind.
constexpr Duration kQuiet{200};
constexpr Duration kWrong{5000};
// Folders are filled file by file, perhaps by a person: each file by itself is a good one.
constexpr Duration kLacking{2000};
constexpr std::size_t kMaxTold = 20;
constexpr std::size_t kMaxLinkedFolders = 100;  // what is behind more links, SIGHUP has read again
constexpr std::size_t kMaxLinks = 40;           // of one path: the kernel follows no more either

std::string stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path + " missing\n";
  return fmt::format("{} {}:{} {} {}.{}\n", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// What cannot be looked at is as if it were not there; reading it again is what tells of it.
std::vector<std::string> files_in(const std::string& folder) {
  std::error_code ignored;
  return rule_files_in(folder, ignored);
}

std::string stamp_of_folder(const std::string& folder) {
  std::string out = folder + "/\n";
  for (const std::string& file : files_in(folder)) out += stamp_of(file);
  return out;
}

// The path's links, its folders' included, and what the last one leads to; nothing where it has
// none. Each in the folder that really holds it: there it is that a link is pointed elsewhere.
std::vector<fs::path> links_of(const std::string& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(path, failed);
  std::deque<fs::path> rest(full.begin(), full.end());
  std::vector<fs::path> out;
  fs::path at;
  while (!rest.empty() && out.size() <= kMaxLinks) {
    const fs::path name = std::exchange(rest.front(), {});
    rest.pop_front();
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    if (name.empty() || name == ".") continue;  // "folder/", "./file"
    const fs::path one = at / name;
    const fs::path target = fs::read_symlink(one, failed);
    if (failed) {  // no link, or not there
      at = one;
      continue;
    }
    out.push_back(one);
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  if (!out.empty()) out.push_back(at);
  return out;
}

// With the links on the way to the rule files, in as many folders as they are, one for each: all
// that changes in a folder is seen by one path of it.
std::vector<std::string> followed(const std::vector<std::string>& paths) {
  std::vector<std::string> out = paths;
  std::set<fs::path> folders;
  const auto add_links_of = [&](const std::string& path) {
    for (const fs::path& link : links_of(path)) {
      if (folders.size() == kMaxLinkedFolders) return;
      if (folders.insert(link.parent_path()).second) out.push_back(link.string());
    }
  };
  for (const std::string& path : paths) {
    add_links_of(path);
    std::error_code failed;
    if (!fs::is_directory(path, failed)) continue;
    for (const std::string& file : files_in(path)) {
      if (fs::is_symlink(file, failed)) add_links_of(file);
    }
  }
  return out;
}

}  // namespace

std::set<std::string> names_of(const std::vector<Rule>& rules) {
  std::set<std::string> out;
  for (const Rule& rule : rules) out.insert(rule.name);
  return out;
}

std::string rule_files_stamp(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    out += fs::is_directory(path, ignored) ? stamp_of_folder(path) : stamp_of(path);
  }
  return out;
}

RuleReloader::RuleReloader(loop::EventLoop& loop, std::vector<std::string> paths, OnRules on_rules,
                           Before before, Load load)
    : loop_(loop),
      paths_(std::move(paths)),
      on_rules_(std::move(on_rules)),
      load_(std::move(load)),
      stamp_(std::move(before.stamp)),
      names_(std::move(before.names)) {}

Result<void> RuleReloader::start() {
  KW_ASSIGN(watch_, loop::FileWatch::open(loop_, [this] { on_change(); }));
  on_change();  // what changed before we looked
  return follow();
}

// The first failure until all can be followed again; who asks tells it.
Result<void> RuleReloader::follow() {
  auto done = watch_->follow(followed(paths_));
  const bool known = std::exchange(unfollowed_, !done.ok());
  return known ? Result<void>{} : done;
}

// Hooks may write into the folder of their rule all the time: the first change starts the wait,
// none prolongs it.
void RuleReloader::on_change() {
  if (!timer_) timer_ = loop_.after(kQuiet, [this] { look(); });
}

void RuleReloader::look() {
  timer_.reset();
  if (const auto done = watch_ ? follow() : Result<void>{}; !done.ok()) {
    base::log_warn("some changed rule files are only read again on SIGHUP",
                   {{"error", done.error().render()}});
  }
  const bool changed = rule_files_stamp(paths_) != stamp_;
  if (changed || lacks_since_ || !wrong_.empty()) read(!changed, false);
}

void RuleReloader::read_again() {
  read(false, true);
}

// Takes out of the problems what is none.
void RuleReloader::let_be_empty(LoadedRules& loaded, bool asked) {
  const std::set<std::string> before = std::exchange(empty_, {});
  std::erase_if(loaded.empty_folders, [&](const std::string& folder) {
    if (!asked && !before.contains(folder)) return false;
    empty_.insert(folder);
    return true;
  });
  std::erase_if(loaded.problems,
                [this](const base::Remark& problem) { return empty_.contains(problem.file); });
}

Duration RuleReloader::still_to_lack(bool same_files) {
  const TimePoint now = loop_.now();
  if (!lacks_since_ || !same_files) lacks_since_ = now;
  return kLacking - (now - *lacks_since_);
}

// Quietly: what was told already is not told again.
void RuleReloader::read(bool quietly, bool asked) {
  again_.reset();
  std::string stamp = rule_files_stamp(paths_);
  const bool same_files = stamp == stamp_;
  stamp_ = std::move(stamp);
  auto loaded = load_(paths_);
  let_be_empty(loaded, asked);
  std::string wrong;
  for (const base::Remark& problem : loaded.problems) wrong += problem.str() + "\n";
  const bool told = quietly && wrong == wrong_;
  wrong_ = std::move(wrong);
  if (!wrong_.empty()) {
    if (!told) tell(loaded);
    again_ = loop_.after(kWrong, [this] { look(); });
    return;
  }
  std::set<std::string> names = names_of(loaded.rules);
  const bool lacks = !std::includes(names.begin(), names.end(), names_.begin(), names_.end());
  if (lacks && !asked) {
    if (const Duration left = still_to_lack(same_files); left > Duration{0}) {
      again_ = loop_.after(left, [this] { look(); });
      return;
    }
  }
  lacks_since_.reset();
  if (names.empty() && !names_.empty()) {
    base::log_warn("no rule is left: nothing runs until there is one again");
  }
  names_ = std::move(names);
  on_rules_(std::move(loaded.rules));
}

void RuleReloader::tell(const LoadedRules& loaded) {
  const std::vector<base::Remark>& problems = loaded.problems;
  const std::size_t told = std::min(problems.size(), kMaxTold);
  for (std::size_t i = 0; i < told; ++i) base::log_error(problems[i].str());
  base::log_error("the rules are wrong now; the controllers go on with the rules they have",
                  {{"problems", std::to_string(problems.size())}});
  if (!loaded.empty_folders.empty()) {
    base::log_info("where a folder is to have no rule any more, SIGHUP removes those it had");
  }
}

}  // namespace kubewatch::hooks

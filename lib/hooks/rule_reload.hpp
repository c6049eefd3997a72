// Reads rule files again when they change, or when it is told to (SIGHUP), and hands good rules on;
// broken ones keep the old ones and say so. What makes them good again may lie elsewhere, as a hook
// that was not executable: they are read every few seconds until they are. A rule that is missing
// is looked for once more before it counts as removed, as its finalizers may be released then. A
// folder without any rule is perhaps a volume that is not mounted yet: its rules count as removed
// when a person asks. What changed rules mean for what runs is Engine::reload()'s business.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hooks/rule_file.hpp"
#include "loop/event_loop.hpp"
#include "loop/file_watch.hpp"

namespace kubewatch::hooks {

class RuleReloader {
 public:
  using OnRules = std::function<void(std::vector<Rule>)>;
  using Load = std::function<LoadedRules(const std::vector<std::string>&)>;
  // What was read before, and runs.
  struct Before {
    std::string stamp;            // rule_files_stamp() from before that
    std::set<std::string> names;  // of the rules
  };
  // `paths` as load_rules() takes them; `load` reads them. `loop` must outlive it.
  RuleReloader(
      loop::EventLoop& loop, std::vector<std::string> paths, OnRules on_rules, Before before,
      Load load = [](const std::vector<std::string>& all) { return load_rules(all); });

  // From now on changes are seen. Errors: unavailable (no inotify left, or no watch for one of the
  // folders): read_again() works still.
  Result<void> start();
  // A person asks: what is missing now is removed, all rules of a folder as well.
  void read_again();

 private:
  Result<void> follow();
  void on_change();
  void look();
  // `asked`: by a person.
  void read(bool quietly, bool asked);
  void let_be_empty(LoadedRules& loaded, bool asked);
  // How long a rule has to be missing still, with the files as they are.
  Duration still_to_lack(bool same_files);
  void tell(const LoadedRules& loaded);

  loop::EventLoop& loop_;
  std::vector<std::string> paths_;
  OnRules on_rules_;
  Load load_;
  std::string stamp_;                     // of the files as they were read last
  std::set<std::string> names_;           // of the rules that were handed on last
  std::optional<TimePoint> lacks_since_;  // one of them
  std::set<std::string> empty_;           // folders that may be: a person asked since they are
  std::string wrong_;                     // what is, as it was told; "" = nothing
  std::unique_ptr<loop::FileWatch> watch_;
  bool unfollowed_ = false;  // a folder of the rules is not watched
  loop::Timer timer_;
  loop::Timer again_;  // while it is wrong, or a rule is missing
};

std::set<std::string> names_of(const std::vector<Rule>& rules);

// Changes when one of the rule files does: names, sizes, times and inodes of all that load_rules()
// would read.
std::string rule_files_stamp(const std::vector<std::string>& paths);

}  // namespace kubewatch::hooks

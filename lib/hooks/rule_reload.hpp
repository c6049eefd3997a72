// Reads rule files again when they change, or when it is told to (SIGHUP), and hands good rules on;
// broken ones keep the old ones and say so. What makes them good again may lie elsewhere, as a hook
// that was not executable: they are read every few seconds until they are. What changed rules mean
// for what runs is Engine::reload()'s business.
#pragma once

#include <functional>
#include <memory>
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
  // `paths` as load_rules() takes them; `load` reads them. `loop` must outlive it.
  RuleReloader(loop::EventLoop& loop, std::vector<std::string> paths, OnRules on_rules,
               Load load = load_rules);

  // From now on changes are seen. Errors: unavailable (no inotify left): read_again() works still.
  Result<void> start();
  void read_again();

 private:
  void on_change();
  void look();
  void read(bool quietly);
  void tell(const std::vector<Diagnostic>& problems);

  loop::EventLoop& loop_;
  std::vector<std::string> paths_;
  OnRules on_rules_;
  Load load_;
  std::string stamp_;  // of the files as they were read last
  std::string wrong_;  // what is, as it was told; "" = nothing
  std::unique_ptr<loop::FileWatch> watch_;
  loop::Timer timer_;
  loop::Timer again_;  // while it is wrong
};

// Changes when one of the rule files does: names, sizes, times and inodes of all that load_rules()
// would read.
std::string rule_files_stamp(const std::vector<std::string>& paths);

}  // namespace kubewatch::hooks

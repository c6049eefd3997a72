// The hooks of a folder: finds executables and asks each for its configuration. A hook that fails
// is named, and the others are loaded. I/O through the loop. Owned by engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compat/hook_config.hpp"
#include "loop/event_loop.hpp"
#include "loop/process.hpp"

namespace kubewatch::compat {

struct HookFile {
  std::string name;  // its path below the folder
  std::string path;  // absolute
};

// Sorted by name; folders named lib, and hidden ones, are not looked into; hidden files, and .yaml,
// .json, .md and .txt, are no hooks. Errors: not_found, forbidden, invalid (no folder). `skipped`:
// scripts that are not executable.
Result<std::vector<HookFile>> find_hooks(const std::string& folder,
                                         std::vector<std::string>& skipped);

// This process's own environment, which hooks of shell-operator get as it is.
std::vector<std::string> whole_environment();

// Runs each hook with --config, a few at a time. Destroying it ends those that run.
class HookLoader {
 public:
  // Once for each, in any order. Errors: of the configuration, or of the run.
  using OnConfig = std::function<void(std::size_t place, Result<HookConfig>)>;
  HookLoader(loop::EventLoop& loop, std::vector<HookFile> files,
             std::vector<std::string> environment, OnConfig on_config);
  void start();

 private:
  struct Asked {
    std::unique_ptr<loop::Process> process;
    std::string last_line;
  };
  void fill();
  void ask(std::size_t place);
  void answered(std::size_t place, const loop::ProcessExit& exit);

  loop::EventLoop& loop_;
  std::vector<HookFile> files_;
  std::vector<std::string> environment_;
  OnConfig on_config_;
  std::vector<Asked> asked_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::compat

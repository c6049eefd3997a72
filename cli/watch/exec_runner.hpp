// Runs the command of `watch --exec` for each event: the object on stdin, the event in KW_*
// variables, with the timeout, process group and log of a hook. What it prints goes to `on_output`.
// Thin: exec_queue decides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/watch/exec_queue.hpp"
#include "cli/watch/watched.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/limit_guard.hpp"
#include "hooks/rule.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli::watch {

struct ExecOptions {
  std::string command;  // of /bin/sh -e -c
  Duration timeout{30000};
  std::size_t parallel = 4;
};

class ExecRunner {
 public:
  // `loop` must outlive it.
  ExecRunner(loop::EventLoop& loop, const ExecOptions& options,
             std::function<void(std::string_view)> on_output);

  // False: too many events wait, the commands are slower than what happens.
  bool run(const Event& event);
  // Nothing waits and nothing runs.
  bool idle() const { return queue_.waiting() == 0 && queue_.running() == 0; }
  // Calls back once it is idle, perhaps from inside run(). Another call takes this one's place.
  void when_idle(std::function<void()> idle);
  // What has not started is forgotten: how many. What runs goes on.
  std::size_t drop() { return queue_.drop(); }
  // What runs gets TERM; when_idle follows. How many those are.
  std::size_t terminate();

  std::uint64_t runs() const { return runs_; }
  std::uint64_t failures() const { return failures_; }

 private:
  void start_more();
  Result<std::unique_ptr<hooks::HookCall>> start_one(const ExecJob& job);
  void finish(const std::string& key, const std::string& name, const hooks::HookExit& exit);
  void tell_if_idle();

  loop::EventLoop& loop_;
  hooks::HookRule rule_;
  hooks::LimitGuard guard_;
  std::function<void(std::string_view)> on_output_;
  ExecQueue queue_;
  std::map<std::string, std::unique_ptr<hooks::HookCall>> calls_;  // by object
  std::function<void()> idle_;
  std::uint64_t runs_ = 0;
  std::uint64_t failures_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// "exit 3", "it was ended by signal 9", "timed out"; "" = it went well.
std::string problem_of(const hooks::HookExit& exit);
// The KW_* variables of an event.
std::vector<std::string> exec_environment(const Event& event);
// What a command is given, variables and object, in one text; and back: the variables go to
// `environment`, the object is returned. A server may put anything into a name.
std::string exec_content(const Event& event);
std::string take_content(std::string_view content, std::vector<std::string>& environment);

}  // namespace kubewatch::cli::watch

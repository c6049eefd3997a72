// Starts one hook and watches over its standard error: lines are logged with controller, object,
// reason, run id and attempt, secrets masked, floods cut. Timeout, grace and output limits come
// from the rule.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "hooks/rule.hpp"
#include "hooks/line_tail.hpp"
#include "hooks/secret_mask.hpp"
#include "loop/process.hpp"

namespace kubewatch::hooks {

// Lets through a burst and then a rate; counts the rest. Pure.
class LineLimit {
 public:
  LineLimit(std::size_t burst, std::size_t per_second) : burst_(burst), per_second_(per_second) {}
  bool admit(TimePoint now);
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::size_t burst_;
  std::size_t per_second_;
  double tokens_ = -1;
  TimePoint last_{};
  std::uint64_t dropped_ = 0;
};

struct HookStart {
  std::vector<std::string> environment;
  std::string input;
  base::LogFields log_fields;  // on each line
  SecretMask mask;
  // The hook may print Secrets that are in no input: its lines wait until release() knows them.
  bool hold_lines = false;
};

// Destroying it kills the hook's process group.
class HookProcess {
 public:
  using OnExit = std::function<void(loop::ProcessExit)>;
  // Errors: not_found, forbidden, invalid. on_exit comes later, once, from the loop.
  static Result<std::unique_ptr<HookProcess>> start(loop::EventLoop& loop, const HookRule& rule,
                                                    HookStart start, OnExit on_exit);
  // TERM, grace, KILL.
  void terminate();
  // After the exit: logs the lines that were held, masked by this.
  void release(const SecretMask& mask);
  // The last line of stderr, masked: for messages.
  const std::string& last_line() const { return last_line_; }
  // Its last lines, masked: for the list of runs.
  std::string stderr_tail() const { return tail_.text(); }

 private:
  HookProcess(loop::EventLoop& loop, HookStart start);
  void on_line(std::string_view line);
  void on_end(const loop::ProcessExit& exit);
  void log_line(std::string_view line);

  loop::EventLoop& loop_;
  base::LogFields fields_;
  SecretMask mask_;
  LineLimit limit_;
  std::string last_line_;
  LineTail tail_;
  bool hold_lines_ = false;
  std::vector<std::string> held_;
  std::size_t held_bytes_ = 0;
  std::size_t too_many_ = 0;
  std::unique_ptr<loop::Process> process_;
};

}  // namespace kubewatch::hooks

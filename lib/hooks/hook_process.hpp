// Starts one hook as a process of its own and watches over its standard error, and over its
// standard output where that is for the log alone. Timeout, grace and limits come from the rule.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/limit_guard.hpp"
#include "hooks/rule.hpp"
#include "loop/lines.hpp"

namespace kubewatch::hooks {

// The most memory that a child of ours held, in bytes, once it has ended; 0: not known, see
// own_peak().
std::uint64_t peak_of_child(const rusage& usage);
// Seconds, of it and of the children that it waited for.
double cpu_of_child(const rusage& usage);

class HookProcess : public HookCall {
 public:
  // `guard` must outlive it. `cgroup`: where it is to run; null: in ours. Errors: invalid;
  // unavailable, when it cannot be started in its cgroup. A program that cannot be run ends at
  // once, refused.
  static Result<std::unique_ptr<HookCall>> start(loop::EventLoop& loop, LimitGuard& guard,
                                                 const HookRule& rule, HookStart start,
                                                 OnExit on_exit,
                                                 std::shared_ptr<loop::Cgroup> cgroup = nullptr);
  void terminate() override { process_->terminate(); }
  void release(const SecretMask& mask) override {
    log_.release(mask, loop_.now());
    if (printed_) printed_->log.release(mask, loop_.now());
  }
  std::string withhold(const SecretMask& mask, const std::string& why) override {
    if (printed_) printed_->log.withhold(mask, why);
    return log_.withhold(mask, why);
  }
  std::string last_line() const override { return log_.last_line(); }
  std::string stderr_tail() const override { return log_.tail(); }
  std::string held_by() const override { return ""; }

 private:
  // Of `output: log`: lines as they come, as many as there are, and nothing of them is kept.
  struct Printed {
    Printed(const HookStart& start, std::size_t max_line);
    void take(std::string_view bytes, TimePoint now);
    void end(TimePoint now, bool cut);

    HookLog log;
    loop::LineSplitter lines;
  };

  HookProcess(loop::EventLoop& loop, const HookRule& rule, HookStart start);
  HookExit on_end(loop::ProcessExit exit, const HookRule& rule);
  void judge_limits(HookExit& exit, const HookRule& rule);

  loop::EventLoop& loop_;
  std::optional<Printed> printed_;
  HookLog log_;
  std::string over_limit_;
  std::shared_ptr<loop::Cgroup> cgroup_;
  std::unique_ptr<loop::Process> process_;
  LimitGuard::Watched watched_;  // goes before the process it watches
};

}  // namespace kubewatch::hooks

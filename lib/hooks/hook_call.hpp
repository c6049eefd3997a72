// One run of a hook, whatever runs it: a process of its own (hook_process) or a worker that lives
// on (worker_pool).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hooks/hook_log.hpp"
#include "loop/process.hpp"

namespace kubewatch::hooks {

// How it ended. Of a worker: `code` and `out` are what it answered (without a code: what it printed
// that is no answer), `usage` is unset.
struct HookExit : loop::ProcessExit {
  HookExit() = default;
  HookExit(loop::ProcessExit exit) : loop::ProcessExit(std::move(exit)) {}
  bool is_list = false;               // `out` is one JSON list of documents
  std::optional<std::string> broken;  // a worker's answer was none: invalid output
  std::optional<std::string> died;    // the worker ended before it answered
  bool by_itself = false;             // and no signal ended it: it has printed all that it would
  std::string over_limit;             // "more than limits.memory 256Mi"; why it was ended
  double cpu = 0;                     // seconds, of it and of the children it waited for
  std::uint64_t max_rss = 0;          // bytes, of its largest process; 0: less than our own peak
};

struct HookStart {
  std::vector<std::string> environment;  // of a process; a worker got its own at its start
  std::string input;                     // a worker: one line, without the newline
  std::string id;
  base::LogFields log_fields;  // on each line
  SecretMask mask;
  // The hook may print Secrets that are in no input: its lines wait until release() knows them.
  bool hold_lines = false;
  // Of a worker: told the home of the one that is given the run, before it is. May be empty.
  std::function<void(const std::string& home)> given = {};
  std::string stream = "stderr";  // what its lines say they come from; of a process
};

// Destroying it kills what runs; on_exit does not come then.
class HookCall {
 public:
  // Once, from the loop.
  using OnExit = std::function<void(HookExit)>;
  virtual ~HookCall() = default;
  // TERM, grace, KILL.
  virtual void terminate() = 0;
  // After the exit: logs the lines that were held, masked by this.
  virtual void release(const SecretMask& mask) = 0;
  // Instead, where the mask may not know all secrets: the lines are dropped. Gives what to say of
  // it, "" where none waited.
  virtual std::string withhold(const SecretMask& mask, const std::string& why) = 0;
  // The last line of stderr, masked: for messages.
  virtual std::string last_line() const = 0;
  // Its last lines, masked: for the list of runs.
  virtual std::string stderr_tail() const = 0;
  // What keeps the hook from being run at all for now, as part of a sentence; "" = nothing.
  virtual std::string held_by() const = 0;
};

}  // namespace kubewatch::hooks

// One run of a hook: its files, its process, and what it asks to be written. Ends with one result,
// whatever happens. Owned by engine; destroying it ends the process and what is on its way.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "compat/hook_file.hpp"
#include "compat/metrics_file.hpp"
#include "compat/object_patcher.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/limit_guard.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::compat {

// What runs share; outlives them.
struct RunServices {
  client::Client& client;
  hooks::LimitGuard& guard;
  // The latest discovery; not null once anything runs.
  std::function<std::shared_ptr<const client::ResourceMap>()> resources;
  // Asks the server again; `done` comes in any case.
  std::function<void(std::function<void()> done)> rediscover;
  bool dry = false;  // the client's writes are not carried out
};

struct RunInput {
  std::string folder;   // private, made and removed by the run
  std::string context;  // the JSON array
  std::vector<std::string> environment;
  hooks::SecretMask mask;
  base::LogFields log_fields;
  Duration timeout{0};  // 0 = none
  Duration grace{0};
};

struct RunResult {
  std::string outcome;  // done | failed | timeout | invalid-output | write-failed
  std::string message;
  std::vector<MetricOperation> metrics;  // of a run that is done
  std::vector<std::string> notes;        // what was passed over in its files
  PatchSummary patch;
  hooks::HookExit exit;
  std::string stderr_tail;
  bool cut_off = false;  // terminate() was called, and it did not end well
};

class HookRun {
 public:
  // From the loop, once; it may destroy the run.
  using Done = std::function<void(RunResult)>;
  HookRun(RunServices& services, const HookFile& file, RunInput input, Done done);
  ~HookRun();
  HookRun(const HookRun&) = delete;
  HookRun& operator=(const HookRun&) = delete;

  void start();
  // TERM, grace, KILL; what it wrote before counts only if it ends well.
  void terminate();

 private:
  Result<void> make_files();
  hooks::HookRule make_rule() const;
  void on_exit(hooks::HookExit exit);
  Result<std::vector<Operation>> read_operations();
  Result<void> read_metrics();
  void write(std::vector<Operation> operations);
  void patch(std::vector<Operation> operations);
  void on_written(PatchSummary summary);
  void note_unknown(const char* variable, const std::set<std::string>& fields);
  void mask_metrics();
  void conclude(std::string outcome, std::string message);

  RunServices& services_;
  const HookFile& file_;
  RunInput input_;
  Done done_;
  hooks::HookRule rule_;
  RunResult result_;
  bool terminated_ = false;
  std::unique_ptr<hooks::HookCall> call_;
  std::unique_ptr<ObjectPatcher> patcher_;
  loop::Timer timer_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::compat

// What `wait-condition` and `apply-ssa --wait` share: the flags, the waiting with one deadline, the
// report at its end and the exit code.
//
//   bind_wait_goal(app, flags);                          // --for, --any, --fail-if, ...
//   KW_ASSIGN(auto goal, wait_goal_of(flags));
//   Waiter waiter(context, session, flags, goal, stream);
//   const auto id = waiter.add({type, namespace, name});  // for each object
//   waiter.start();
//   if (auto ready = waiter.until_synced(); !ready.ok()) ...  // every watch has its first list
//   ... PATCH ...; waiter.expect(id, answer);            // older states do not count any more
//   return waiter.finish();                              // waits, reports, gives the exit code
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "runtime/wait_set.hpp"

namespace kubewatch::cli {

struct WaitFlags {
  std::vector<std::string> conditions;  // --for
  bool any = false;
  std::vector<std::string> fail_if;
  bool strict = false;
  std::optional<Duration> strict_grace;
  std::optional<std::size_t> min_count;
  std::optional<std::size_t> exactly;
  std::optional<Duration> hold;
  // Zero: judged once. kubectl's default 30s; a negative one is a week.
  Duration timeout{30000};
  std::string output = "text";  // text, json, json-line, junit, github
  bool quiet = false;
};

// --for, --any, --fail-if, --strict, --strict-grace, --hold and --timeout (under the name given).
// `flags` must outlive the app.
void bind_wait_goal(CLI::App& app, WaitFlags& flags, const std::string& timeout = "--timeout");
// --min-count, --exactly.
void bind_wait_counts(CLI::App& app, WaitFlags& flags);
// Errors: invalid, naming the flag; for paths and programs with a caret below the place.
Result<runtime::WaitGoal> wait_goal_of(const WaitFlags& flags);

class Waiter {
 public:
  // All of them must outlive it.
  Waiter(Context& context, Session& session, const WaitFlags& flags, runtime::WaitGoal goal,
         runtime::WatcherOptions stream);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  std::size_t add(runtime::WaitTarget target);

  // An object whose kind the server does not have, while its deletion is awaited.
  struct Gone {
    core::Gvk gvk;
    core::ObjectKey key;
  };
  // What the server makes of what was asked for: targets, or one of the others.
  struct Resolved {
    std::vector<runtime::WaitTarget> targets;
    // The type may come, or come to be known. Of kind not_found: it is not there now.
    std::optional<Error> later;
    std::optional<Gone> gone;
  };
  using Resolve = std::function<Result<Resolved>()>;
  // What `text` names ("websites/a"). `resolve` is called at once, and again as long as it says
  // "later" (said on stderr), between turns of the loop, so it may use Session; discovery was
  // forgotten before. So it is where the server is away (client::may_come_back), which all that are
  // asked for at that time need to hear once. Errors: its first one, where that is another; later
  // ones that another try cannot mend end the wait.
  Result<void> add(std::string text, Resolve resolve);

  // What it reads is a recording: what that does not have is not asked for again.
  void of_recording();
  // All of the recording was told: what is not met now will not be. From the loop.
  void end_of_recording();

  // The deadline counts from here, and the session's own requests end by it as well. Without it, it
  // counts from start(), for what is waited for alone.
  void start_clock();
  // All that was expected is written: the time begins anew. Before finish().
  void restart_clock();
  // From here on a signal ends the wait in order; before it, and while files are read, the process.
  void heed_signals();
  void start();
  // Turns the loop until every target's first list is in. Errors: those that another try cannot
  // mend; timeout; canceled by a signal.
  Result<void> until_synced();
  void expect(std::size_t target, const Json& written);
  // It could not begin: reports that, in the form that was asked for; the exit code.
  int fail(const Error& error);
  // Turns the loop until it is decided or the deadline passes; reports; the exit code.
  int finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::cli

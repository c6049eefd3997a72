// What the end of a hook means: exit codes (kubewatch-hook(7)), timeouts and invalid output, and
// which failed writes are worth retrying. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/time.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

inline constexpr int kExitNotYet = 75;
inline constexpr int kExitPermanent = 65;

// dropped: what it did is another instance's business by now, and nothing of it counts.
enum class Outcome {
  done,
  not_yet,
  permanent,
  failed,
  timeout,
  invalid_output,
  write_failed,
  dropped
};
inline constexpr std::array kOutcomes = {
    Outcome::done,    Outcome::not_yet,        Outcome::permanent,    Outcome::failed,
    Outcome::timeout, Outcome::invalid_output, Outcome::write_failed, Outcome::dropped};
// done, not-yet, dropped: nobody has to look after it.
bool is_fine(std::string_view outcome);
// "done", "not-yet", ...: as RunRecord and events show it.
std::string_view to_string(Outcome outcome);

// It did not come to its own end with an exit code.
bool was_ended(const HookExit& exit);
// 128 + N: how a shell tells that a program of it was ended by a signal.
bool tells_of_signal(int code);
// Why it may have had more to print, of that as part of a sentence; "" where it had not: it ended
// by itself, also a worker that left instead of answering.
std::string why_cut_off(const HookExit& exit);

// The output of a hook that ended with this code is read: 0, 65, 75 and codes the rule calls
// permanent.
bool reads_output(const HookExit& exit, const RetryRule& retry);

// Its code says that it fails for good: 65, and codes the rule calls permanent.
bool gives_up(int code, const RetryRule& retry);

struct Verdict {
  Outcome outcome = Outcome::done;
  std::string message;            // "" when done
  std::optional<Duration> after;  // failed: wait so long
  bool writes_children() const { return outcome == Outcome::done || outcome == Outcome::not_yet; }
};

// What stdout was, after parsing; only looked at when reads_output().
struct OutputFacts {
  std::optional<std::string> problem;  // why it is invalid
  bool has_result = false;
  std::string result_message;
};

Verdict judge(const HookExit& exit, const HookRule& hook, const RetryRule& retry,
              const OutputFacts& output);

// A write that fails with this needs another input, rule or permission: 400, 403, 404, 413, 422 and
// the like. Network errors, 401, 409, 429 and 5xx are worth another try.
bool is_permanent_write_error(const Error& error);
// The server refuses what was sent for what it is. An apply of fields that the schema lacks it
// answers with a 500.
bool is_refused_value(const Error& error);

}  // namespace kubewatch::hooks

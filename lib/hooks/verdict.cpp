// Exit codes to outcomes.
#include "hooks/verdict.hpp"

#include <csignal>

#include "base/signal_name.hpp"

namespace kubewatch::hooks {
namespace {

bool rule_says_permanent(const RetryRule& retry, int code) {
  auto it = retry.exits.find(code);
  return it != retry.exits.end() && it->second.permanent;
}

Verdict judge_end(const HookExit& exit, const HookRule& hook) {
  if (exit.refused) return {Outcome::failed, exit.refused->render(), {}};
  if (exit.canceled) return {Outcome::failed, "ended by shutdown before it finished", {}};
  if (!exit.over_limit.empty()) return {Outcome::failed, "ended: used " + exit.over_limit, {}};
  if (exit.timed_out) {
    return {Outcome::timeout,
            "timed out after " + base::format_duration(hook.timeout) +
                "; its process group was ended (its `timeout` sets the limit)",
            {}};
  }
  if (exit.output_overflow) {
    return {Outcome::invalid_output,
            "printed more than " + std::to_string(hook.max_output) +
                " bytes on stdout and was ended (limits.output)",
            {}};
  }
  if (exit.broken) return {Outcome::invalid_output, *exit.broken, {}};
  if (exit.died) return {Outcome::failed, *exit.died, {}};
  return {Outcome::failed, "was ended by signal " + base::signal_name(exit.signal.value_or(0)), {}};
}

// Where the rule gives the code its meaning, nothing printed can take it away.
Verdict judge_permanent(int code, const RetryRule& retry, const OutputFacts& output) {
  const std::string said = "exit code " + std::to_string(code);
  const bool by_rule = rule_says_permanent(retry, code);
  if (output.problem && !by_rule) return {Outcome::invalid_output, *output.problem, {}};
  if (!output.has_result && !by_rule) {
    return {Outcome::failed, said + " without a Result document: taken as an ordinary failure", {}};
  }
  const std::string more = output.problem.value_or(output.result_message);
  return {Outcome::permanent, said + ": permanent failure" + (more.empty() ? "" : ": " + more), {}};
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::done: return "done";
    case Outcome::not_yet: return "not-yet";
    case Outcome::permanent: return "permanent";
    case Outcome::failed: return "failed";
    case Outcome::timeout: return "timeout";
    case Outcome::invalid_output: return "invalid-output";
    case Outcome::write_failed: return "write-failed";
    case Outcome::dropped: return "dropped";
  }
  return "failed";
}

bool is_fine(std::string_view outcome) {
  return outcome == to_string(Outcome::done) || outcome == to_string(Outcome::not_yet) ||
         outcome == to_string(Outcome::dropped);
}

bool was_ended(const HookExit& exit) {
  return exit.canceled || exit.timed_out || exit.output_overflow || !exit.over_limit.empty() ||
         !exit.code;
}

bool tells_of_signal(int code) {
  constexpr int kBase = 128;
  return code > kBase && code <= kBase + SIGRTMAX;
}

std::string why_cut_off(const HookExit& exit) {
  if (exit.pipes_held) return "left a process that holds its output";
  if (was_ended(exit) && !exit.by_itself) return "was ended before its stdout was whole";
  if (tells_of_signal(exit.code.value_or(0))) return "ended with a signal's exit code";
  return "";
}

bool reads_output(const HookExit& exit, const RetryRule& retry) {
  if (was_ended(exit)) return false;
  return *exit.code == 0 || *exit.code == kExitNotYet || gives_up(*exit.code, retry);
}

bool gives_up(int code, const RetryRule& retry) {
  return code == kExitPermanent || rule_says_permanent(retry, code);
}

Verdict judge(const HookExit& exit, const HookRule& hook, const RetryRule& retry,
              const OutputFacts& output) {
  if (was_ended(exit)) return judge_end(exit, hook);
  const int code = *exit.code;
  if (gives_up(code, retry)) return judge_permanent(code, retry, output);
  if (code != 0 && code != kExitNotYet) {
    Verdict verdict{Outcome::failed, "exit code " + std::to_string(code), {}};
    if (auto it = retry.exits.find(code); it != retry.exits.end()) verdict.after = it->second.after;
    return verdict;
  }
  if (output.problem) return {Outcome::invalid_output, *output.problem, {}};
  if (code == kExitNotYet) return {Outcome::not_yet, output.result_message, {}};
  return {Outcome::done, output.result_message, {}};
}

bool is_refused_value(const Error& error) {
  if (error.kind() == ErrorKind::invalid) return true;
  return error.status() != nullptr && error.status()->code == 500 &&
         error.status()->message.find("failed to create typed patch object") != std::string::npos;
}

bool is_permanent_write_error(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::forbidden:
    case ErrorKind::too_large:
    case ErrorKind::unsupported: return true;
    default: return false;
  }
}

}  // namespace kubewatch::hooks

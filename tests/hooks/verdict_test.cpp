// Exit codes, signals, timeouts and invalid output as outcomes.
#include "hooks/verdict.hpp"

#include <csignal>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

loop::ProcessExit exited(int code) {
  loop::ProcessExit exit;
  exit.code = code;
  return exit;
}

Verdict judged(const loop::ProcessExit& exit, const OutputFacts& output = {},
               const RetryRule& retry = {}) {
  return judge(exit, HookRule{}, retry, output);
}

OutputFacts with_result() {
  OutputFacts facts;
  facts.has_result = true;
  facts.result_message = "said so";
  return facts;
}

}  // namespace

TEST_CASE("exit code 0 is done, 75 is not yet, others are failures") {
  CHECK(judged(exited(0)).outcome == Outcome::done);
  CHECK(judged(exited(75)).outcome == Outcome::not_yet);
  CHECK(judged(exited(1)).outcome == Outcome::failed);
  CHECK(judged(exited(1)).message == "exit code 1");
}

TEST_CASE("exit code 65 is permanent only where a Result was printed") {
  CHECK(judged(exited(65), with_result()).outcome == Outcome::permanent);
  CHECK(judged(exited(65), with_result()).message.find("said so") != std::string::npos);
  CHECK(judged(exited(65)).outcome == Outcome::failed);
}

TEST_CASE("invalid output fails a run that exits 0, 65 or 75, whatever else it said") {
  OutputFacts bad = with_result();
  bad.problem = "2:1: broken";
  for (const int code : {0, 65, 75}) {
    INFO(code);
    CHECK(judged(exited(code), bad).outcome == Outcome::invalid_output);
    CHECK(judged(exited(code), bad).message == "2:1: broken");
  }
  CHECK(judged(exited(1), bad).outcome == Outcome::failed);
}

TEST_CASE("a signal is a failure that names it, a timeout names the limit") {
  loop::ProcessExit killed;
  killed.signal = SIGSEGV;
  CHECK(judged(killed).outcome == Outcome::failed);
  CHECK(judged(killed).message.find("SIGSEGV") != std::string::npos);
  killed.timed_out = true;
  CHECK(judged(killed).outcome == Outcome::timeout);
  CHECK(judged(killed).message.find("30s") != std::string::npos);
}

TEST_CASE("a hook that exits 0 after its timeout has timed out") {
  loop::ProcessExit exit = exited(0);
  exit.timed_out = true;
  CHECK(judged(exit, with_result()).outcome == Outcome::timeout);
  CHECK_FALSE(reads_output(exit, {}));
}

TEST_CASE("too much output is invalid output") {
  loop::ProcessExit exit = exited(0);
  exit.output_overflow = true;
  CHECK(judged(exit).outcome == Outcome::invalid_output);
}

TEST_CASE("what was cut off may have had more to print, what ended by itself has not") {
  CHECK(why_cut_off(exited(0)).empty());
  CHECK(why_cut_off(exited(3)).empty());
  CHECK(why_cut_off(exited(255)).empty());  // as perl's die
  loop::ProcessExit killed;
  killed.signal = SIGKILL;
  CHECK(why_cut_off(killed) == "was ended before its stdout was whole");
  // A program of a shell script was killed, with what it had not written yet.
  CHECK(why_cut_off(exited(137)) == "ended with a signal's exit code");
  loop::ProcessExit held = exited(0);
  held.pipes_held = true;
  CHECK(why_cut_off(held) == "left a process that holds its output");
  HookExit worker;
  worker.by_itself = true;
  CHECK(why_cut_off(worker).empty());
}

TEST_CASE("the rule's own exit codes are permanent or wait") {
  RetryRule retry;
  retry.exits[17] = {true, std::nullopt};
  retry.exits[3] = {false, Duration{60000}};
  CHECK(judged(exited(17), {}, retry).outcome == Outcome::permanent);
  CHECK(judged(exited(3), {}, retry).outcome == Outcome::failed);
  CHECK(judged(exited(3), {}, retry).after == Duration{60000});
  OutputFacts bad;
  bad.problem = "invalid output: 1:1: broken";
  CHECK(judged(exited(17), bad, retry).outcome == Outcome::permanent);
  CHECK(judged(exited(17), bad, retry).message ==
        "exit code 17: permanent failure: invalid output: 1:1: broken");
  CHECK(reads_output(exited(17), retry));
  CHECK_FALSE(reads_output(exited(3), retry));
}

TEST_CASE("network errors, conflicts, 429 and 5xx are worth another write, refusals are not") {
  for (const ErrorKind kind :
       {ErrorKind::conflict, ErrorKind::rate_limited, ErrorKind::unavailable,
        ErrorKind::unreachable, ErrorKind::timeout, ErrorKind::unauthorized}) {
    CHECK_FALSE(is_permanent_write_error(Error(kind, "x")));
  }
  for (const ErrorKind kind : {ErrorKind::invalid, ErrorKind::forbidden, ErrorKind::not_found}) {
    CHECK(is_permanent_write_error(Error(kind, "x")));
  }
  const auto answered = [](const std::string& message) {
    base::ApiStatus status;
    status.code = 500;
    status.message = message;
    return Error(ErrorKind::unavailable, message, status);
  };
  CHECK_FALSE(is_refused_value(answered("etcdserver: request timed out")));
  CHECK(is_refused_value(answered(
      "failed to create typed patch object (shop/a; v1, Kind=A): .status.b: field not declared in "
      "schema")));
  CHECK_FALSE(is_refused_value(Error(ErrorKind::forbidden, "x")));
}

TEST_CASE("an end by a limit, and a worker's end, say what it was") {
  HookExit over(exited(0));
  over.over_limit = "more than limits.memory 256Mi";
  CHECK_FALSE(reads_output(over, {}));
  CHECK(judge(over, {}, {}, {}).outcome == Outcome::failed);
  CHECK(judge(over, {}, {}, {}).message == "ended: used more than limits.memory 256Mi");

  HookExit broken;
  broken.broken = "the worker printed two lines";
  CHECK_FALSE(reads_output(broken, {}));
  CHECK(judge(broken, {}, {}, {}).outcome == Outcome::invalid_output);
  CHECK(judge(broken, {}, {}, {}).message == "the worker printed two lines");

  HookExit died;
  died.died = "the worker ended (exit code 3) before it answered";
  CHECK(judge(died, {}, {}, {}).outcome == Outcome::failed);
  CHECK(judge(died, {}, {}, {}).message == *died.died);
  // What we did ourselves comes first.
  died.timed_out = true;
  CHECK(judge(died, {}, {}, {}).outcome == Outcome::timeout);
  died.canceled = true;
  CHECK(judge(died, {}, {}, {}).message == "ended by shutdown before it finished");
}

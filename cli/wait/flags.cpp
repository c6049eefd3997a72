// The flags of a wait, and what they ask for. See cli/wait/waiter.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/caret.hpp"
#include "cli/wait/waiter.hpp"

namespace kubewatch::cli {

namespace {

constexpr int kMostObjects = 1'000'000'000;  // and a negative number is none
const char* const kWaitFlags = "Waiting";

// What was parsed: the text in quotes that the message begins with, else the flag's own.
std::string parsed_text(const std::string& message, const std::string& given) {
  const auto open = message.find(" \"");
  const auto close = message.find("\": ");
  if (open != std::string::npos && close != std::string::npos && open + 2 < close) {
    return message.substr(open + 2, close - open - 2);
  }
  return given.substr(given.find('=') + 1);
}

Result<std::vector<runtime::WaitCondition>> parse_all(const std::string& flag,
                                                      const std::vector<std::string>& texts) {
  std::vector<runtime::WaitCondition> out;
  for (const auto& text : texts) {
    auto parsed = runtime::WaitCondition::parse(text);
    if (!parsed.ok()) {
      const Error& error = parsed.error();
      return Error(ErrorKind::invalid, with_named_caret(flag + ": " + error.render(),
                                                        parsed_text(error.message(), text)));
    }
    out.push_back(std::move(parsed).value());
  }
  return out;
}

// kubectl's: negative is a week; 0 judges once.
void bind_timeout(CLI::App& app, const std::string& name, Duration& into) {
  const auto set = [&into, name](const std::string& value) {
    const bool negative = !value.empty() && value.front() == '-';
    const auto digits = negative ? value.substr(1) : value;
    const bool bare = digits.find_first_not_of("0123456789") == std::string::npos;
    if (negative && bare && !digits.empty()) {
      into = Duration{-1};
      return;
    }
    const auto parsed = base::parse_duration(digits);
    if (!parsed.ok()) throw CLI::ValidationError(name, parsed.error().render());
    into = negative && *parsed > Duration::zero() ? Duration{-1} : *parsed;
  };
  app.add_option_function<std::string>(
         name, set, "how long in all (default 30s); 0: judge once; negative: a week")
      ->type_name("DURATION")
      ->group(kWaitFlags);
}

}  // namespace

void bind_wait_goal(CLI::App& app, WaitFlags& flags, const std::string& timeout) {
  app.add_option("--for", flags.conditions,
                 "ready, rollout, condition=TYPE[=STATUS], create, delete, jsonpath=PATH[=VALUE] "
                 "or jq=PROGRAM; repeatable: all at once")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->group(kWaitFlags);
  app.add_flag("--any", flags.any, "one of several --for is enough")->group(kWaitFlags);
  app.add_option("--fail-if", flags.fail_if,
                 "the same forms: an object that meets one has failed, and the wait ends with 4")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->group(kWaitFlags);
  app.add_flag("--strict", flags.strict,
               "for ready: a failed Pod has failed, a running Job is not ready, a load balancer "
               "needs an ingress point, a new custom object without status is not ready yet")
      ->group(kWaitFlags);
  add_duration(app, "--strict-grace", flags.strict_grace,
               "how long after its creation such an object is waited for (default 10s)")
      ->group(kWaitFlags);
  add_duration(app, "--hold", flags.hold, "all must stay as asked for so long")->group(kWaitFlags);
  bind_timeout(app, timeout, flags.timeout);
}

void bind_wait_counts(CLI::App& app, WaitFlags& flags) {
  app.add_option(
         "--min-count", flags.min_count,
         "selectors must choose at least so many objects (default 1 for each type or category)")
      ->type_name("N")
      ->check(CLI::Range(0, kMostObjects).description(""))
      ->group(kWaitFlags);
  app.add_option("--exactly", flags.exactly, "selectors must choose exactly so many objects")
      ->type_name("N")
      ->check(CLI::Range(0, kMostObjects).description(""))
      ->group(kWaitFlags);
}

Result<runtime::WaitGoal> wait_goal_of(const WaitFlags& flags) {
  runtime::WaitGoal out;
  KW_ASSIGN(out.wanted, parse_all("--for", flags.conditions));
  KW_ASSIGN(out.fail_if, parse_all("--fail-if", flags.fail_if));
  out.any = flags.any;
  out.kstatus.strict = flags.strict;
  if (flags.strict_grace) {
    if (!flags.strict) return Error(ErrorKind::invalid, "--strict-grace needs --strict");
    out.kstatus.fresh = *flags.strict_grace;
  }
  out.min_count = flags.min_count;
  out.exactly = flags.exactly;
  out.hold = flags.hold.value_or(Duration{0});
  const bool ends = flags.timeout >= Duration::zero();
  if (out.hold > Duration::zero() && ends && out.hold >= flags.timeout) {
    return Error(
        ErrorKind::invalid,
        fmt::format("--hold {} can never be met before the deadline of {}",
                    base::format_duration(out.hold), base::format_duration(flags.timeout)));
  }
  KW_TRY(out.check());
  return out;
}

}  // namespace kubewatch::cli

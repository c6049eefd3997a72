// kubewatch wait-condition: waits until objects are as asked, with exit codes that CI can use.
#include "runtime/wait_condition.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/session.hpp"
#include "cli/stream_flags.hpp"
#include "runtime/object_watch.hpp"

namespace kubewatch::cli {

namespace {

// One object that is waited for: its watch, and what is known of it.
struct Target {
  core::ResourceType type;
  core::ObjectKey key;
  std::unique_ptr<runtime::ObjectWatch> watch;

  std::string str() const { return fmt::format("{}/{}", type.qualified_plural(), key.name); }
};

class WaitConditionCommand : public Command {
 public:
  std::string name() const override { return "wait-condition"; }
  std::string summary() const override { return "wait for conditions, with exit codes for CI"; }

  void bind(CLI::App& app) override {
    app.add_option("TARGET", targets_, "TYPE/NAME, or TYPE NAME...")->required();
    app.add_option("--for", conditions_,
                   "condition=TYPE[=STATUS], delete, create or jsonpath=PATH[=VALUE]; repeatable: "
                   "all at once")
        ->type_name("CONDITION")
        ->allow_extra_args(false)
        ->required();
    add_duration(app, "--timeout", timeout_, "how long in all (default 30s)");
    bind_stream(app, stream_);
  }

  int run(Context& context) override {
    std::vector<runtime::WaitCondition> wanted;
    for (const auto& text : conditions_) {
      auto parsed = runtime::WaitCondition::parse(text);
      if (!parsed.ok()) return fail(context, kUsage, "--for: " + parsed.error().render());
      wanted.push_back(std::move(parsed).value());
    }
    if (auto checked = check_stream(stream_); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    auto targets = resolve(**session);
    if (!targets.ok()) return fail(context, targets.error());
    return wait(context, **session, *targets, wanted);
  }

 private:
  using Targets = std::vector<std::unique_ptr<Target>>;
  using Conditions = std::vector<runtime::WaitCondition>;

  Result<Targets> resolve(Session& session) {
    std::vector<std::pair<std::string, std::string>> named;
    const bool pairs = targets_.front().find('/') != std::string::npos;
    if (!pairs && targets_.size() < 2) {
      return Error(ErrorKind::invalid, "a name is needed: TYPE/NAME, or TYPE NAME...");
    }
    for (std::size_t i = pairs ? 0 : 1; i < targets_.size(); ++i) {
      const auto slash = targets_[i].find('/');
      if (pairs != (slash != std::string::npos)) {
        return Error(ErrorKind::invalid, "TYPE/NAME and TYPE NAME cannot be mixed");
      }
      named.emplace_back(pairs ? targets_[i].substr(0, slash) : targets_.front(),
                         pairs ? targets_[i].substr(slash + 1) : targets_[i]);
    }
    Targets out;
    for (const auto& [type, name] : named) {
      KW_ASSIGN(const auto types, session.resolve(type));
      auto target = std::make_unique<Target>();
      target->type = types.front();
      target->key = {target->type.namespaced ? session.client().config().namespace_ : "", name};
      out.push_back(std::move(target));
    }
    return out;
  }

  void watch(Session& session, Target& target, const std::function<void()>& changed) {
    runtime::ObjectWatch::Callbacks callbacks;
    callbacks.on_change = changed;
    callbacks.on_failure = [&target](runtime::WatcherFailure where, const Error& error,
                                     Duration retry) {
      warn_of_failure(target.str(), target.watch->stats(), where, error, retry);
    };
    target.watch = std::make_unique<runtime::ObjectWatch>(
        session.client(), target.type, target.key, stream_, session.random(), std::move(callbacks));
    target.watch->start();
  }

  int wait(Context& context, Session& session, Targets& targets, const Conditions& wanted) {
    std::optional<int> code;
    const auto look = [&] {
      if (!code) code = verdict(context, targets, wanted);
    };
    for (auto& target : targets) watch(session, *target, look);
    bool interrupted = false;
    Interrupt interrupt(session.loop(), [&] { interrupted = true; });
    session.loop().run_until([&] { return code || interrupted; },
                             timeout_.value_or(Duration{30000}));
    if (interrupted) return fail(context, kFailed, "interrupted before the conditions were met");
    return code ? *code : timed_out(context, targets, wanted);
  }

  // The exit code once it is decided: all met, or one that can only fail.
  std::optional<int> verdict(Context& context, Targets& targets, const Conditions& wanted) {
    bool all = true;
    for (auto& target : targets) {
      if (!target->watch->synced()) return std::nullopt;
      const Json* object = target->watch->object();
      for (const auto& condition : wanted) {
        auto met = condition.met(object);
        if (!met.ok()) {
          return fail(context, kFailed, fmt::format("{}: {}", target->str(), met.error().render()));
        }
        if (*met) continue;
        all = false;
        const bool gone = target->watch->seen() && object == nullptr;
        if (gone && !condition.waits_for_creation()) {
          return fail(
              context, kNotFound,
              fmt::format("{} was deleted while waiting for {}", target->str(), condition.text()));
        }
      }
    }
    if (!all) return std::nullopt;
    for (const auto& target : targets) {
      context.out << base::escape_for_terminal(target->str()) << " "
                  << (wanted.front().waits_for_deletion() ? "deleted" : "condition met") << "\n";
    }
    return kDone;
  }

  int timed_out(Context& context, const Targets& targets, const Conditions& wanted) const {
    bool never_seen = false;
    std::optional<int> unread;
    for (const auto& target : targets) {
      const runtime::ObjectWatch& watch = *target->watch;
      const Json* object = watch.object();
      for (const auto& condition : wanted) {
        if (const auto met = condition.met(object); met.ok() && *met && watch.synced()) continue;
        fail(context, kTimedOut,
             fmt::format("timed out waiting for {} on {}: {}", condition.text(), target->str(),
                         state_of(watch, condition)));
        if (const auto code = unread_code(watch)) unread = code;
        never_seen = never_seen || (watch.synced() && !watch.seen());
      }
    }
    if (unread) return *unread;
    return never_seen ? kNotFound : kTimedOut;
  }

  static std::string state_of(const runtime::ObjectWatch& watch,
                              const runtime::WaitCondition& condition) {
    const std::string failure = watch.failure() != nullptr ? watch.failure()->render() : "";
    if (!watch.synced()) return failure.empty() ? "no answer from the server yet" : failure;
    const std::string state = condition.describe(watch.object());
    return failure.empty() ? state : state + "; then the watch failed: " + failure;
  }

  // Set when the object's state at the end is not known: the exit code says why.
  static std::optional<int> unread_code(const runtime::ObjectWatch& watch) {
    const int code = watch.failure() != nullptr ? exit_code_of(*watch.failure()) : kTimedOut;
    if (!watch.synced()) return code;
    if (code == kUnreachable || code == kForbidden) return code;
    return std::nullopt;
  }

  std::vector<std::string> targets_;
  std::vector<std::string> conditions_;
  std::optional<Duration> timeout_;
  runtime::WatcherOptions stream_;
};

}  // namespace

std::unique_ptr<Command> make_wait_condition() {
  return std::make_unique<WaitConditionCommand>();
}

}  // namespace kubewatch::cli

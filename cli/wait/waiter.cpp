#include "cli/wait/waiter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/stream_flags.hpp"
#include "cli/wait/diagnosis.hpp"
#include "cli/wait/report.hpp"
#include "cli/wait/view.hpp"
#include "client/retry.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kWeek{7LL * 24 * 3600 * 1000};
constexpr Duration kFirstReads{30000};  // how long a wait that judges once waits for them
constexpr Duration kRetryFirst{1000};
constexpr Duration kRetryMost{5000};
constexpr Duration kDiagnosis{5000};
constexpr Duration kDrawEvery{100};              // many changes are shown as one
constexpr std::size_t kDiagnosed = 10;           // objects whose cause is looked for
constexpr const char* kDiscovery = "discovery";  // the rule that judges what no watch sees

using runtime::WaitedObject;
using runtime::WaitOutcome;
using runtime::WaitState;

bool any_in(const std::vector<WaitedObject>& objects, WaitState state) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const auto& object) { return object.state == state; });
}

const char* outcome_of(int code) {
  switch (code) {
    case kDone: return "met";
    case kTimedOut: return "timedOut";
    case kAwaitedFailed: return "failed";
    case kNotFound: return "notFound";
    case kForbidden: return "forbidden";
    case kUnreachable: return "unreachable";
    default: return "error";
  }
}

}  // namespace

struct Waiter::Impl {
  struct Unresolved {
    std::string text;
    Error why;
    Resolve resolve;
  };

  Context& context;
  Session& session;
  const WaitFlags& flags;
  runtime::WaitSet set;
  WaitView view;
  std::vector<Unresolved> unresolved;
  std::optional<Error> away;       // why the server did not say what it has, when it was asked last
  std::vector<WaitedObject> gone;  // with their kind
  std::optional<Interrupt> interrupt;
  bool begun = false;
  std::optional<Error> error;  // of a type that cannot be asked for, or of a recording
  bool recorded = false;       // it reads a recording
  bool told_all = false;       // which is at its end
  TimePoint started{};
  TimePoint deadline{};
  TimePoint retry_at{};
  Duration retry_in = kRetryFirst;
  WaitOutcome outcome = WaitOutcome::pending;
  bool dirty = true;
  std::optional<TimePoint> shown;
  loop::Timer tick;

  Impl(Context& the_context, Session& the_session, const WaitFlags& the_flags,
       runtime::WaitGoal goal, runtime::WatcherOptions stream)
      : context(the_context),
        session(the_session),
        flags(the_flags),
        set(session.client(), std::move(goal), std::move(stream), session.random(), callbacks()),
        view(the_context.err, wait_view_mode(the_flags.quiet), the_context.global.log.color) {}

  runtime::WaitSet::Callbacks callbacks() {
    runtime::WaitSet::Callbacks out;
    out.on_change = [this] {
      if (set.synced()) session.note_answered();
      dirty = true;
    };
    // Recorded states follow each other at once; each of them is judged.
    out.on_state = [this] {
      if (recorded && outcome == WaitOutcome::pending) judge();
    };
    out.on_failure = [this](const std::string& what, const runtime::ReflectorStats& stats,
                            runtime::WatcherFailure where, const Error& failure, Duration retry) {
      view.clear();
      const bool first_list = where == runtime::WatcherFailure::initial_list;
      const bool hopeless = recorded || session.is_hopeless(failure);
      if (first_list && hopeless) {
        if (!error) error.emplace(failure);
        return;
      }
      warn_of_failure(what, stats, where, failure, retry);
    };
    out.on_version = [this](const std::string& what, const core::Gvk& before,
                            const core::Gvk& after) {
      view.clear();
      base::log_warn("the server does not serve this version any more, going on with another",
                     {{"kind", what}, {"version", before.version}, {"with", after.version}});
    };
    out.on_moved = [this](const std::string& what, const core::ResourceType& after) {
      view.clear();
      base::log_warn("the definition of this kind was made anew, going on with that",
                     {{"kind", what}, {"with", after.qualified_plural()}});
    };
    return out;
  }

  TimePoint now() const { return session.loop().now(); }
  bool once() const { return flags.timeout == Duration::zero(); }
  bool interrupted() const { return interrupt && interrupt->happened(); }
  const Error* stopped() const { return error ? &*error : set.hopeless(); }

  void start_clock() {
    started = now();
    const Duration time = once()                             ? kFirstReads
                          : flags.timeout < Duration::zero() ? kWeek
                                                             : flags.timeout;
    deadline = started + time;
  }

  void heed_signals() {
    if (!interrupt) interrupt.emplace(session.loop(), [this] { dirty = true; });
  }

  void start() {
    heed_signals();
    if (!std::exchange(begun, true)) {
      if (deadline == TimePoint{}) start_clock();
      retry_at = now() + retry_in;
    }
    set.start();
  }

  // Of what says what the server has. What the deadline cut off is no answer of anybody.
  bool outlasts(const Error& why) const {
    const bool cut_off = why.kind() == ErrorKind::timeout && session.over();
    return !recorded && !cut_off && client::may_come_back(why);
  }

  // A server that is away is asked once for all of them.
  Result<Resolved> ask(const Resolve& resolve) {
    if (away) return *away;
    auto answer = resolve();
    if (!answer.ok() && outlasts(answer.error())) away = answer.error();
    return answer;
  }

  // Why it is to be asked for again; absent: it is known now.
  std::optional<Error> take(Resolved resolved) {
    if (resolved.later) return std::move(resolved.later);
    for (auto& target : resolved.targets) set.add(std::move(target));
    if (resolved.gone) add_gone(std::move(*resolved.gone));
    return std::nullopt;
  }

  void add_gone(Gone one) {
    WaitedObject object;
    object.type.gvk = std::move(one.gvk);
    object.type.plural = base::to_lower(object.type.gvk.kind);  // the server has no word for it
    object.key = std::move(one.key);
    object.state = WaitState::met;
    object.condition = set.judge().goal().wanted.front().text();
    object.judgement.state = runtime::Judgement::State::met;
    object.judgement.current = "gone: the server does not have its type";
    object.judgement.wanted = "it does not exist";
    object.judgement.rule = kDiscovery;
    if (!flags.quiet) {
      view.clear();
      context.err << base::escape_for_terminal(
          object.str() + " is " + object.judgement.current + "\n", true);
    }
    gone.push_back(std::move(object));
  }

  // Types that were missing may be there now. Between turns of the loop.
  void resolve_again() {
    session.forget_resources();
    away.reset();
    std::vector<Unresolved> still;
    for (auto& one : unresolved) {
      auto resolved = ask(one.resolve);
      std::optional<Error> why =
          resolved.ok() ? take(std::move(*resolved)) : std::optional(resolved.error());
      if (!why) continue;
      const bool waits = resolved.ok() || (why->is_retryable() && !session.is_hopeless(*why));
      if (!waits && !error) error = why;
      // What the deadline or a signal cuts off says less than the answer before it.
      const bool ended = why->kind() == ErrorKind::timeout || why->kind() == ErrorKind::canceled;
      if (!ended || !session.over()) one.why = std::move(*why);
      still.push_back(std::move(one));
    }
    unresolved = std::move(still);
    set.start();
    retry_in = std::min(retry_in * 2, kRetryMost);
    retry_at = now() + retry_in;
    dirty = true;
  }

  void look() {
    if (!dirty) return;
    dirty = false;
    if (!recorded || outcome == WaitOutcome::pending) judge();
    if (outcome == WaitOutcome::pending) show();
  }
  void judge() {
    outcome = set.outcome(once());
    if (set.judge().targets() == 0 && !gone.empty()) outcome = WaitOutcome::met;
    if (outcome == WaitOutcome::met && !unresolved.empty()) outcome = WaitOutcome::pending;
  }

  void show() {
    if (once() || flags.quiet) return;
    if (shown && now() - *shown < kDrawEvery) {
      if (!tick) tick = session.loop().after(kDrawEvery, [this] { look_again(); });
      return;
    }
    shown = now();
    tick.reset();
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now() - started);
    const std::string head =
        fmt::format("waiting for {}: {}, {}s of {}", set.judge().goal().text(), set.summary(),
                    passed.count(), base::format_duration(deadline - started));
    if (view.update(objects(), head, now()) || view.draws()) {
      tick = session.loop().after(Duration{1000}, [this] { look_again(); });
    }
  }
  void look_again() {
    tick.reset();
    dirty = true;
  }

  // Turns the loop until it holds, the deadline passes, or nothing can help.
  void turn_until(const std::function<bool()>& holds) {
    const auto ends = [&] { return holds() || interrupted() || told_all || stopped() != nullptr; };
    while (!ends() && now() < deadline) {
      const TimePoint until = unresolved.empty() ? deadline : std::min(deadline, retry_at);
      session.loop().run_until(ends, std::max(until - now(), Duration{0}));
      if (!unresolved.empty() && now() >= retry_at && !ends()) resolve_again();
    }
  }

  std::vector<WaitedObject> objects() const {
    auto out = set.report();
    out.insert(out.end(), gone.begin(), gone.end());
    for (const auto& one : unresolved) {
      WaitedObject object;
      const auto slash = one.text.find('/');
      object.type.plural = one.text.substr(0, slash);
      if (slash != std::string::npos) object.key.name = one.text.substr(slash + 1);
      object.selector = "not known yet";
      // A server that did not say whether there is such a type did not say that there is none.
      const bool absent = one.why.is_not_found();
      object.state = absent ? WaitState::not_found : WaitState::unknown;
      object.condition = set.judge().goal().wanted.front().text();
      object.judgement.current = one.why.render();
      object.judgement.wanted = absent ? "the type" : "whether there is such a type";
      object.judgement.rule = kDiscovery;
      out.push_back(std::move(object));
    }
    return out;
  }

  // The exit code when it is not met, and the report's word for it.
  int code_of_failure(const std::vector<WaitedObject>& all, std::string& word) const {
    if (outcome == WaitOutcome::failed) return kAwaitedFailed;
    if (outcome == WaitOutcome::invalid) return word = "invalid", kFailed;
    if (outcome == WaitOutcome::deleted) return word = "deleted", kNotFound;
    if (interrupted()) return word = "interrupted", kFailed;
    if (const Error* why = stopped()) return exit_code_of(*why);
    if (const Error* why = set.failure()) {
      const int code = exit_code_of(*why);
      const bool matters = code == kUnreachable || code == kForbidden;
      // A server that only says "later" has used up the time.
      if (matters || (any_in(all, WaitState::unknown) && !why->is_retryable())) return code;
    }
    const bool unreachable = std::any_of(unresolved.begin(), unresolved.end(),
                                         [](const auto& one) { return one.why.is_unreachable(); });
    if (unreachable) return kUnreachable;
    if (any_in(all, WaitState::not_found)) return kNotFound;
    return kTimedOut;
  }

  std::string message(const std::vector<WaitedObject>& all) const {
    if (interrupted()) return "interrupted before the conditions were met";
    if (const Error* why = stopped()) {
      return all.size() == 1 ? all.front().str() + ": " + why->render() : why->render();
    }
    if (told_all && outcome == WaitOutcome::pending) {
      return fmt::format("the recording ends before {}: {}", set.judge().goal().text(),
                         set.summary());
    }
    const bool none_left = std::all_of(
        all.begin(), all.end(), [](const auto& object) { return object.state == WaitState::met; });
    if (!none_left || outcome != WaitOutcome::pending) return "";
    if (const Error* why = set.failure()) {
      return "all were as asked when last seen, but a watch fails: " + why->render();
    }
    const bool holds = set.judge().goal().hold > Duration{0};
    if (holds && set.judge().hold_ends()) {
      return fmt::format("timed out: all were as asked, but not for {} (--hold)",
                         base::format_duration(set.judge().goal().hold));
    }
    return fmt::format("timed out waiting for {}: {}", set.judge().goal().text(), set.summary());
  }

  void find_causes(WaitReport& report) {
    WaitDiagnosis diagnosis(session, kDiagnosis);
    std::size_t looked_at = 0;
    for (auto& object : report.objects) {
      if (!report.decides(object) || object.uid.empty() || looked_at == kDiagnosed) continue;
      const auto state = set.object(object);
      if (!state) continue;
      ++looked_at;
      object.cause = diagnosis.cause(object, *state);
    }
  }

  // A watch that failed says more than the last state that it saw.
  void name_failures(WaitReport& report) const {
    const Error* why = set.failure();
    if (why == nullptr || report.exit_code == kDone) return;
    for (auto& object : report.objects) {
      if (object.state == WaitState::met || object.judgement.rule == kDiscovery) continue;
      if (object.state == WaitState::unknown) {
        object.judgement.current = why->render();
        for (auto& [text, judgement] : object.conditions) judgement.current = why->render();
      } else {
        object.judgement.current += "; then the watch failed: " + why->render();
      }
    }
  }

  WaitReport make_report() {
    WaitReport out;
    out.objects = objects();
    if (outcome != WaitOutcome::met) out.exit_code = code_of_failure(out.objects, out.outcome);
    if (out.outcome.empty()) out.outcome = outcome_of(out.exit_code);
    out.several_namespaces = several_namespaces(out.objects);
    out.elapsed = now() - started;
    out.wanted = flags.conditions;
    out.any = flags.any;
    out.fail_if = flags.fail_if;
    if (out.exit_code == kDone) return out;
    out.message = message(out.objects);
    name_failures(out);
    const bool readable = out.exit_code != kUnreachable && out.exit_code != kForbidden;
    if (readable && !interrupted()) find_causes(out);
    return out;
  }

  int print(const WaitReport& report) {
    if (flags.output == "json") {
      context.out << shown_json(base::dump_json_pretty(report_json(report))) << "\n";
    } else if (flags.output == "json-line") {
      context.out << shown_json(base::dump_json(report_json(report))) << "\n";
    } else if (flags.output == "junit") {
      context.out << report_junit(report);
    } else if (flags.output == "github") {
      context.out << report_github(report);
    } else if (!flags.quiet) {
      context.out << met_lines(report);
    }
    context.out.flush();
    context.err << error_lines(report);
    return report.exit_code;
  }
};

Waiter::Waiter(Context& context, Session& session, const WaitFlags& flags, runtime::WaitGoal goal,
               runtime::WatcherOptions stream)
    : impl_(std::make_unique<Impl>(context, session, flags, std::move(goal), std::move(stream))) {}

Waiter::~Waiter() {
  impl_->session.bound_waits(std::nullopt);
}

std::size_t Waiter::add(runtime::WaitTarget target) {
  return impl_->set.add(std::move(target));
}

Result<void> Waiter::add(std::string text, Resolve resolve) {
  Impl& impl = *impl_;
  auto resolved = impl.ask(resolve);
  if (!resolved.ok() && !impl.outlasts(resolved.error())) return std::move(resolved).error();
  auto why = resolved.ok() ? impl.take(std::move(*resolved)) : std::optional(resolved.error());
  if (!why) return {};
  const bool told =
      std::any_of(impl.unresolved.begin(), impl.unresolved.end(),
                  [&](const auto& other) { return other.why.render() == why->render(); });
  if (!told && !impl.flags.quiet && !impl.once() && !impl.session.over()) {
    impl.context.err << base::escape_for_terminal(why->render())
                     << "; asking for it again until the deadline" << std::endl;
  }
  impl.unresolved.push_back({std::move(text), std::move(*why), std::move(resolve)});
  return {};
}

int Waiter::fail(const Error& error) {
  Impl& impl = *impl_;
  if (impl.flags.output == "text") return cli::fail(impl.context, error);
  impl.error.emplace(error);
  return impl.print(impl.make_report());
}

void Waiter::of_recording() {
  impl_->recorded = true;
}

void Waiter::end_of_recording() {
  impl_->told_all = impl_->dirty = true;
}

void Waiter::start_clock() {
  Impl& impl = *impl_;
  impl.start_clock();
  impl.session.bound_waits(Session::Bound{impl.deadline,
                                          base::format_duration(impl.deadline - impl.started),
                                          [&impl] { return impl.interrupted(); }});
}

void Waiter::restart_clock() {
  impl_->start_clock();
}

void Waiter::heed_signals() {
  impl_->heed_signals();
}

void Waiter::start() {
  impl_->start();
}

Result<void> Waiter::until_synced() {
  Impl& impl = *impl_;
  impl.turn_until([&] { return impl.set.synced(); });
  if (impl.set.synced()) return {};
  if (const Error* why = impl.stopped()) return Error(*why);
  if (impl.interrupted()) return Error(ErrorKind::canceled, "interrupted");
  if (const Error* why = impl.set.failure()) return Error(*why);
  return Error(ErrorKind::timeout, "timed out waiting for the server's first answers");
}

void Waiter::expect(std::size_t target, const Json& written) {
  impl_->set.expect(target, written);
  impl_->dirty = true;
}

int Waiter::finish() {
  Impl& impl = *impl_;
  impl.turn_until([&] {
    impl.look();
    return impl.outcome != WaitOutcome::pending || (impl.once() && impl.set.synced());
  });
  impl.dirty = true;
  impl.look();  // the end may have come in the turn that told it
  impl.tick.reset();
  const WaitReport report = impl.make_report();
  impl.view.clear();
  return impl.print(report);
}

}  // namespace kubewatch::cli

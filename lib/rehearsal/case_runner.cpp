#include "rehearsal/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hooks/rule_file.hpp"
#include "hooks/verdict.hpp"
#include "hooks/write_order.hpp"
#include "rehearsal/world.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr std::size_t kShownDifferences = 5;

constexpr std::size_t kMostFailedRuns = 10;

// Of a run or a write, as Observed has them.
std::string named(const Json& one) {
  return fmt::format("{} {}{}{}", base::string_at(one, {"kind"}),
                     base::string_at(one, {"namespace"}), one.contains("namespace") ? "/" : "",
                     base::string_at(one, {"name"}));
}

class CaseRun {
 public:
  CaseRun(const TestCase& test, const CaseOptions& options) : test_(test), options_(options) {}

  CaseResult run() {
    auto rules = load();
    if (!rules) return std::move(result_);
    WorldOptions options;
    options.now = test_.now;
    options.patience = options_.patience;
    options.through_retries = options_.interruption.has_value();
    World world(std::move(*rules), options);
    world_ = &world;
    if (give() && all_steps()) second_pass();
    note_failed(world.take_runs());  // of a step that did not end
    result_.log = world.log();
    return std::move(result_);
  }

 private:
  bool fail(const std::string& place, std::string message) {
    result_.failures.push_back({place, std::move(message)});
    return false;
  }
  std::string here() const { return test_.place(""); }

  void note_failed(const std::vector<Json>& runs) {
    auto& told = result_.failed_runs;
    for (const Json& run : runs) {
      const std::string outcome = base::string_at(run, {"outcome"});
      if (hooks::is_fine(outcome) || told.size() >= kMostFailedRuns) continue;
      std::string line = fmt::format("{} {}: {}: {}", base::string_at(run, {"controller"}),
                                     named(run), outcome, base::string_at(run, {"message"}));
      if (std::find(told.begin(), told.end(), line) == told.end()) told.push_back(std::move(line));
    }
  }

  std::optional<std::vector<hooks::Rule>> load() {
    auto loaded = hooks::load_rules({test_.rules});
    for (const auto& problem : loaded.problems) fail(here(), problem.str());
    if (!loaded.problems.empty()) return std::nullopt;
    if (test_.rule_name.empty()) return std::move(loaded.rules);
    std::vector<hooks::Rule> chosen;
    for (auto& rule : loaded.rules) {
      // A document whose `for` is a list has one rule for each of its kinds.
      const bool named = rule.name == test_.rule_name || rule.document == test_.rule_name;
      if (named) chosen.push_back(std::move(rule));
    }
    if (!chosen.empty()) return chosen;
    fail(test_.place("/controller"),
         fmt::format("{} has no controller {}", test_.rules, test_.rule_name));
    return std::nullopt;
  }

  // The objects that are there before the controller starts.
  bool give() {
    std::vector<Json> given = test_.given;
    hooks::sort_for_writing(given, [](const Json& object) -> const Json& { return object; });
    for (const Json& object : given) {
      auto applied = world_->apply(object);
      if (!applied.ok()) {
        return fail(test_.place("/given"), "given: " + applied.error().render());
      }
    }
    if (options_.interruption) world_->server().interrupt(*options_.interruption);
    world_->start_engine();
    return settle(here(), Duration{0});
  }

  bool settle(const std::string& place, Duration advance,
              World::Debounced debounced = World::Debounced::waited_for) {
    auto settled = world_->settle(advance, debounced);
    const auto status = world_->status();
    if (status.failing > 0 || status.parked > 0) result_.fails_on_purpose = true;
    return settled.ok() || fail(place, settled.error().message());
  }

  bool all_steps() {
    for (const Step& step : test_.steps) {
      ++result_.steps;
      for (const Action& action : step.when) {
        const std::string place = fmt::format("{}:{}", test_.file, action.at.line);
        if (!act(action, place)) return false;
      }
      // What the step has changed within a debounce is one run.
      if (!settle(here(), Duration{0})) return false;
      const Observed seen = world_->take();
      note_failed(seen.runs);
      result_.runs +=
          static_cast<std::size_t>(std::count_if(seen.runs.begin(), seen.runs.end(), has_run));
      if (options_.interruption) continue;
      for (Failure& failure : check_step(test_, step, seen)) {
        if (test_.steps.size() > 1) failure.message = step.name + ": " + failure.message;
        result_.failures.push_back(std::move(failure));
      }
    }
    if (!options_.interruption) look_for_unmet_faults();
    result_.client_writes = world_->server().client_writes();
    result_.end_state = snapshot_of(world_->objects());
    for (const ApiWrite& write : world_->server().writes()) {
      if (write.verb != "create" || write.by_hook) continue;
      result_.made_once.insert(snapshot_name(write.gvk.kind, write.key));
    }
    return true;
  }

  bool act(const Action& action, const std::string& place) {
    Duration advance{0};
    Result<void> done{};
    switch (action.kind) {
      case ActionKind::apply: done = world_->apply(action.object); break;
      case ActionKind::remove: done = world_->remove(action.object); break;
      case ActionKind::advance: advance = action.advance; break;
      case ActionKind::fail: done = stage(action.fault, place); break;
      case ActionKind::compact: world_->server().compact(); break;
      case ActionKind::trigger: done = trigger(action.trigger); break;
      case ActionKind::restart:
        if (!world_->end_engine()) return fail(place, "the controller did not end");
        world_->start_engine();
        break;
    }
    if (!done.ok()) return fail(place, done.error().render());
    return settle(place, advance, World::Debounced::left);
  }

  // A failure that nothing meets shows nothing, which is worse than none.
  Result<void> stage(const Fault& fault, const std::string& place) {
    if (!fault.kind.empty() && !world_->has_kind(fault.kind)) {
      return Error(
          ErrorKind::not_found,
          fmt::format("there is no kind {}: give its CustomResourceDefinition before", fault.kind));
    }
    world_->server().add_fault(fault);
    staged_.push_back({place, fault.times});
    return {};
  }

  void look_for_unmet_faults() {
    const auto& faults = world_->server().faults();
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      if (faults[i].times == staged_[i].times) {
        fail(staged_[i].place, "nothing failed by this: there was no such request");
      }
    }
  }

  // As the request would come from a program: what it does not say is not filled in.
  Result<void> trigger(const hooks::TriggerRequest& request) {
    if (world_->engine().trigger("", request, runtime::Reason::external) > 0) return {};
    std::string why = "the trigger names no object that the rules see";
    if (request.key) {
      why += fmt::format(" (name \"{}\", namespace \"{}\")", request.key->name,
                         request.key->namespace_);
    }
    return Error(ErrorKind::not_found, std::move(why));
  }

  void look_for_failed_runs(const Observed& seen) {
    for (const Json& run : seen.runs) {
      const std::string outcome = base::string_at(run, {"outcome"});
      if (!has_run(run) || hooks::is_fine(outcome)) continue;
      fail(here(), fmt::format("a second pass over the end state must succeed, but the run of {} "
                               "ended with {}: {} (idempotent: false switches this off)",
                               named(run), outcome, base::string_at(run, {"message"})));
    }
  }

  // On its end state, and from an empty memory, the controller must find nothing to do.
  void second_pass() {
    if (!test_.idempotent || options_.interruption || !result_.ok()) return;
    if (!world_->end_engine()) {
      fail(here(), "the controller did not end");
      return;
    }
    world_->start_engine();
    const bool failed_before = result_.fails_on_purpose;
    if (!settle(here(), Duration{0})) return;
    const Observed seen = world_->take();
    note_failed(seen.runs);
    // One that fails writes nothing either.
    if (!failed_before) look_for_failed_runs(seen);
    for (const Json& write : seen.writes) {
      const std::string effect = base::string_at(write, {"effect"});
      if (effect == "unchanged") continue;
      fail(here(), fmt::format("a second pass over the end state must write nothing, but: {} {}: "
                               "{} (idempotent: false switches this off)",
                               base::string_at(write, {"verb"}), named(write), effect));
    }
  }

  const TestCase& test_;
  const CaseOptions& options_;
  World* world_ = nullptr;
  CaseResult result_;
  struct Staged {
    std::string place;
    std::size_t times;
  };
  std::vector<Staged> staged_;  // as the server's faults
};

}  // namespace

CaseResult run_case(const TestCase& test, const CaseOptions& options) {
  return CaseRun(test, options).run();
}

InterruptResult run_interrupted(const TestCase& test, const CaseResult& plain,
                                const CaseOptions& options) {
  InterruptResult out;
  for (std::size_t write = 0; write < plain.client_writes; ++write) {
    for (const bool done : {false, true}) {
      CaseOptions with = options;
      with.interruption = Interruption{write, done};
      const CaseResult ended = run_case(test, with);
      ++out.interruptions;
      const std::string what =
          fmt::format("with write {} {}: ", write + 1, done ? "done but not answered" : "refused");
      for (const Failure& failure : ended.failures) {
        out.failures.push_back({failure.place, what + failure.message});
      }
      if (!ended.ok()) continue;
      std::size_t shown_so_far = 0;
      for (const auto& one :
           snapshot_differences(plain.end_state, ended.end_state, plain.made_once)) {
        if (++shown_so_far > kShownDifferences) break;
        out.failures.push_back({test.place(""), what + "it ends otherwise: " + one});
      }
    }
  }
  return out;
}

}  // namespace kubewatch::rehearsal

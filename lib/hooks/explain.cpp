#include "hooks/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/meta.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/reduced.hpp"

namespace kubewatch::hooks {
namespace {

Explanation state(const char* name, std::string text) {
  Explanation out;
  out.state = name;
  out.text = std::move(text);
  return out;
}

std::string in(Duration duration) {
  return base::format_duration(std::max(Duration{0}, duration));
}

std::string by_schedule(Duration wait) {
  return "nothing is to be done; the schedule runs it in " + in(wait);
}

// What keeps an object of the server out of the rule's cache; "" when nothing of it can be seen.
std::string why_not_selected(const StreamRule& stream, const Json& object) {
  const core::ObjectMeta meta = core::meta_of(object);
  if (auto outside = outside_namespaces(stream, meta.namespace_); !outside.empty()) return outside;
  if (!stream.label_selector.matches(meta.labels)) {
    return "its labels do not match the labelSelector " + stream.label_selector.str();
  }
  if (!stream.field_selector.matches(object)) {
    return "it does not match the fieldSelector " + stream.field_selector.str();
  }
  if (!is_of_shard(stream, meta)) {
    return "it is in none of this instance's shards: " + stream.shard_selector;
  }
  if (!stream.namespace_selector.empty()) {
    return fmt::format(
        "its namespace {} does not match the namespaceSelector {}, or did not a "
        "moment ago",
        meta.namespace_, stream.namespace_selector.str());
  }
  return "";
}

std::optional<Explanation> of_the_rule(const ExplainFacts& facts) {
  if (facts.stopping) return state("stopping", "the controller is ending; nothing new starts");
  if (!facts.waits_for.empty()) {
    return state("waiting-for-kind", "the controller waits: " + facts.waits_for);
  }
  if (facts.blocked) {
    return state("forbidden",
                 "the controller waits: one of its kinds may not be listed, or is gone" +
                     (facts.not_listed.empty() ? "; the log names it" : ": " + facts.not_listed));
  }
  if (!facts.started) {
    return state("syncing", "the controller waits for the first list of all its kinds" +
                                (facts.not_listed.empty() ? "" : ": " + facts.not_listed));
  }
  if (facts.outdated) {
    return state("syncing",
                 "the controller waits until its kinds are listed anew: the server's "
                 "data went back, as after a restore from a backup" +
                     (facts.not_listed.empty() ? "" : ": " + facts.not_listed));
  }
  return std::nullopt;
}

Explanation of_absent(const Rule& rule, const ExplainFacts& facts) {
  if (!facts.live_error.empty()) {
    return not_selected(
        "it is not in the rule's selection, and the server could not be asked why: " +
        facts.live_error);
  }
  if (facts.live == nullptr) {
    return state("not-found", "the server has no such object");
  }
  std::string why = why_not_selected(rule.for_, *facts.live);
  if (why.empty()) {
    why =
        "the server has it, the cache does not show it yet, or it is in a namespace that is not "
        "watched";
  }
  Explanation out = not_selected(why);
  if (core::meta_of(*facts.live).has_finalizer(rule.finalizer_name)) {
    out.details.push_back("it still carries the finalizer " + rule.finalizer_name);
  }
  return out;
}

// What next_step() would do, in words; absent: it would run a hook.
std::optional<Explanation> of_the_object(const Rule& rule, const ExplainFacts& facts) {
  const bool guarded = facts.meta.has_finalizer(rule.finalizer_name);
  if (facts.meta.deleting() && !guarded) {
    return state("deleting", "it is being deleted and does not carry our finalizer: nothing runs");
  }
  if (facts.reduced && needs_whole_object(rule, facts.meta)) {
    return state("reduced", why_reduced("it"));
  }
  if (!facts.filter_error.empty() && !facts.meta.deleting())
    return std::nullopt;  // its run says it
  if (facts.passes_filter.value_or(true) || facts.meta.deleting()) return std::nullopt;
  const std::string text = "the filter is not true for it";
  if (!guarded || rule.when_no_longer_matched == WhenUnmatched::keep)
    return state("filtered", text);
  return std::nullopt;  // it is to be released or finalized
}

Explanation of_pending(const runtime::KeyState& key, const Rule& rule, const ExplainFacts& facts) {
  const Duration wait = key.due - facts.now;
  const std::string reason(runtime::to_string(key.reason));
  Explanation out;
  if (wait <= Duration{0}) {
    out = state("due", fmt::format("it is due ({}) and runs next", reason));
    const bool rule_full = facts.held_keys >= rule.concurrency;
    const bool slots_full = facts.slot_limit != 0 && facts.used_slots >= facts.slot_limit;
    if (rule_full || slots_full) {
      out.state = "limited";
      out.text = rule_full ? fmt::format(
                                 "it is due ({}), but {} objects of this rule run already: "
                                 "concurrency {}",
                                 reason, facts.held_keys, rule.concurrency)
                           : fmt::format(
                                 "it is due ({}), but {} objects run already over all rules: "
                                 "--concurrency {}",
                                 reason, facts.used_slots, facts.slot_limit);
      if (facts.ready_ahead > 1) {
        out.details.push_back(
            fmt::format("{} objects of this rule wait for a place", facts.ready_ahead));
      }
    }
    out.next_run = Duration{0};
    return out;
  }
  switch (key.reason) {
    case runtime::Reason::retry:
      out = state("backoff",
                  fmt::format("{} failed; it is tried again in {}",
                              key.failures == 1 ? "its last run"
                                                : fmt::format("its last {} runs", key.failures),
                              in(wait)));
      break;
    case runtime::Reason::requeue:
      out = state("requeued", "its hook asked to run again; in " + in(wait));
      break;
    case runtime::Reason::resync:
      out = state("resync", fmt::format("nothing is to be done; the resync of every {} runs it in "
                                        "{}",
                                        base::format_duration(rule.resync), in(wait)));
      break;
    case runtime::Reason::schedule: out = state("scheduled", by_schedule(wait)); break;
    case runtime::Reason::updated:
    case runtime::Reason::owned_changed:
    case runtime::Reason::related_changed:
      if (facts.loop) {
        out = state("slowed", fmt::format("its runs cause each other, so the next one ({}) is put "
                                          "off; it comes in {}",
                                          reason, in(wait)));
        break;
      }
      [[fallthrough]];
    default:
      if (!facts.held_by.empty()) {
        out = state("waiting-for-worker", "its run waits for a worker: " + facts.held_by);
        break;
      }
      out = state("debounced", fmt::format("it changed ({}); the debounce of {} runs it in {}",
                                           reason, base::format_duration(rule.debounce), in(wait)));
  }
  out.next_run = wait;
  return out;
}

Explanation of_parked(const ExplainFacts& facts) {
  Explanation out = state("parked",
                          "it is parked: its last run failed for good or its attempts are used "
                          "up; a change of it, of what it owns or relates to, of the rule, or a "
                          "trigger runs it");
  if (facts.slow_retry_in) {
    out.details.push_back("without a change it is tried again in " + in(*facts.slow_retry_in));
    out.next_run = facts.slow_retry_in;
  }
  return out;
}

Explanation of_idle(const Rule& rule, const ExplainFacts& facts) {
  Explanation out = facts.failing.empty()
                        ? state("idle", "nothing is to be done: a change runs it")
                        : state("stale",
                                "nothing was to be done when its watches last worked; what has "
                                "changed since is not known, and runs it when they work again");
  if (!facts.ignored) return out;
  const std::string paths = rule.changed.empty()
                                ? "the default (all but status and what the server counts)"
                                : base::join(rule.changed, ", ");
  out.details.push_back(fmt::format(
      "its last change (resourceVersion {}, {} ago) touched nothing that `changed` names: {}",
      facts.ignored->resource_version, in(facts.ignored->ago), paths));
  return out;
}

Explanation of_the_queue(const Rule& rule, const ExplainFacts& facts) {
  if (!facts.queued) return of_idle(rule, facts);
  const runtime::KeyState& key = *facts.queued;
  if (key.held) {
    Explanation out = facts.held_by.empty() ? state("running", "it runs now")
                                            : state("waiting-for-worker",
                                                    "its run waits for a worker: " + facts.held_by);
    if (key.pending) out.details.push_back("something changed meanwhile: it runs once more");
    return out;
  }
  if (key.parked) return of_parked(facts);
  if (key.pending && !facts.lacks.empty()) {
    return state("incomplete",
                 "its run waits: whether an object belongs to one of its lists cannot be told");
  }
  if (key.pending && !facts.behind.empty()) {
    const Duration wait = std::max(Duration{0}, key.due - facts.now);
    Explanation out =
        state("behind", fmt::format("its run ({}) waits, {} more at most: {}",
                                    runtime::to_string(key.reason), in(wait), facts.behind));
    out.next_run = wait;
    return out;
  }
  return key.pending ? of_pending(key, rule, facts) : of_idle(rule, facts);
}

// The clock of a schedule is in no queue: it wakes what is due.
void look_at_schedule(const ExplainFacts& facts, Explanation& out) {
  if (!facts.schedule_in || (out.state != "idle" && out.state != "resync")) return;
  if (out.next_run && *out.next_run <= *facts.schedule_in) return;
  out.state = "scheduled";
  out.text = by_schedule(*facts.schedule_in);
  out.next_run = std::max(Duration{0}, *facts.schedule_in);
}

void add_details(const Rule& rule, const ExplainFacts& facts, Explanation& out) {
  if (!facts.filter_error.empty()) {
    out.details.push_back("the filter fails on it: " + facts.filter_error);
  }
  for (const std::string& why : facts.failing) out.details.push_back(why);
  for (const std::string& why : facts.lacks) {
    out.details.push_back("no hook runs for it before its lists are whole: " + why);
  }
  if (facts.deleted) {
    out.details.push_back("an object of this name was deleted, and onDelete has yet to run for it");
  }
  if (facts.guarded_outside) {
    out.details.push_back("it left the rule's selection and still carries the finalizer " +
                          rule.finalizer_name);
  }
  if (facts.meta.deleting() && facts.meta.has_finalizer(rule.finalizer_name)) {
    out.details.push_back(
        fmt::format("it is being deleted since {}; the finalizer {} holds it until {}",
                    *facts.meta.deletion_timestamp, rule.finalizer_name,
                    rule.finalize ? "the finalize hook has succeeded" : "its children are gone"));
  }
  if (facts.loop) {
    out.details.push_back(
        !facts.loop->compared ? "it was found to loop: its runs change it, and cause each other"
        : facts.loop->paths.empty()
            ? "it was found to loop: its hook prints the same each time, and another program "
              "changes what it writes, or it writes what it watches"
            : "it was found to loop: its hook prints something else each time at " +
                  base::join(facts.loop->paths, ", "));
    out.details.push_back("runs that it causes itself are put off by " + in(facts.loop->delay) +
                          " until one changes nothing, or none has come for a minute more");
  }
  if (facts.last) {
    std::string text =
        fmt::format("its last run {} {} ago: {}", facts.last->by_state ? "began" : "ended",
                    in(facts.last->ago), facts.last->outcome);
    if (!facts.last->message.empty()) text += ": " + facts.last->message;
    out.details.push_back(std::move(text));
  }
}

}  // namespace

std::string outside_namespaces(const StreamRule& stream, const std::string& namespace_) {
  const auto& names = stream.namespaces;
  const bool inside =
      names.empty() || std::find(names.begin(), names.end(), namespace_) != names.end();
  if (inside) return "";
  return fmt::format("namespace {} is none of the rule's namespaces: {}", namespace_,
                     base::join(names, ", "));
}

Explanation not_selected(std::string text) {
  return state("not-selected", std::move(text));
}

Explanation other_shard(const std::string& lead_trouble) {
  if (lead_trouble.empty()) return state("other-shard", "another instance leads its shard");
  return state(
      "other-shard",
      "this instance does not lead its shard, and could not take it over: " + lead_trouble);
}

Explanation explain(const Rule& rule, const ExplainFacts& facts) {
  if (auto out = of_the_rule(facts)) return *std::move(out);
  Explanation out;
  if (!facts.is_known()) {
    out = of_absent(rule, facts);
  } else if (!facts.owns_shard && facts.sharded) {
    out = other_shard(facts.lead_trouble);
  } else if (auto object =
                 facts.cached && !facts.deleted ? of_the_object(rule, facts) : std::nullopt) {
    out = *std::move(object);
  } else {
    out = of_the_queue(rule, facts);
    out.matched = true;
    look_at_schedule(facts, out);
    if (!facts.may_write) {
      out.state = "standby";
      out.text = facts.lead_trouble.empty()
                     ? "this instance may not write now: another one leads, or the lead is not sure"
                     : "this instance may not write now, and cannot lead: " + facts.lead_trouble;
      out.next_run.reset();
    }
  }
  add_details(rule, facts, out);
  return out;
}

Json to_json(const Explanation& explanation) {
  Json out = {{"state", explanation.state},
              {"matched", explanation.matched},
              {"text", explanation.text},
              {"details", explanation.details}};
  if (explanation.next_run) {
    out["nextRunMilliseconds"] = std::max<std::int64_t>(0, explanation.next_run->count());
  }
  return out;
}

}  // namespace kubewatch::hooks

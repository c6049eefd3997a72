// Rules that are read again: what is as it was goes on, what changed ends first and starts then.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/engine_impl.hpp"
#include "hooks/left_places.hpp"

namespace kubewatch::hooks {
namespace {

struct IsOf {
  const std::vector<std::string>& names;
  bool operator()(const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  bool operator()(const Rule& rule) const { return (*this)(rule.name); }
};

// The names must outlive it.
IsOf is_of(const std::vector<std::string>& names) {
  return {names};
}

// With the same finalizer on the same objects.
bool comes_after(const Rule& rule, const Rule& former) {
  return former.has_for && is_guarded({rule}, former.for_.gvk, former.finalizer_name);
}

}  // namespace

void Engine::Impl::keep_state_of_current() {
  // Of rules for every kind of a group the names are not known before their kinds are.
  const auto names_later = [](const Rule& rule) { return rule.for_.every_kind; };
  if (options.state == nullptr || !families.empty() || std::ranges::any_of(rules, names_later) ||
      std::ranges::any_of(to_start, names_later)) {
    return;
  }
  std::vector<std::string> names;
  for (const RuleIdentity& rule : current) names.push_back(rule.name);
  options.state->keep_only(names);
}

Result<RulePlan> Engine::Impl::reload(std::vector<Rule> wanted) {
  if (stopping) return Error(ErrorKind::canceled, "the controller is ending");
  std::vector<Rule> all = wanted;
  wanted = of_single_shard(std::move(wanted));
  std::vector<RuleIdentity> identities;
  for (const Rule& rule : wanted) identities.push_back(identity_of(rule));
  RulePlan plan = plan_reload(current, identities);
  if (plan.empty()) return plan;
  if (narrows()) {
    return Error(ErrorKind::unsupported,
                 "rules are not read again with --shard-by, which decides what is watched: restart "
                 "the instance");
  }
  KW_TRY(change_triggers(plan, wanted));
  current = std::move(identities);
  const std::vector<Rule> unstarted = take_unstarted(plan.ended);
  // As at a start: what has a name of its own goes before a controller of a group's kind.
  std::vector<RuleIdentity> starting;
  for (const Rule& rule : wanted) {
    if (is_of(plan.started)(rule) && !rule.for_.every_kind) starting.push_back(identity_of(rule));
  }
  const std::vector<std::string> yielding = families.give_way(starting);
  const auto ends = [of_plan = is_of(plan.ended), of_group = is_of(yielding)](const Rule& rule) {
    return of_plan(rule) || of_plan(rule.document) || of_group(rule);
  };
  std::vector<const Rule*> ending;
  for (const auto& driver : drivers) {
    if (ends(driver->rule())) ending.push_back(&driver->rule());
  }
  for (const Restart& one : restarts) {
    if (ends(one.rule)) ending.push_back(&one.rule);
  }
  warn_of_left_places(ending, wanted);
  // What was to come after them, with their finalizer, may be what ends now.
  const std::vector<Rule> former = former_rules(unstarted);
  for (const Rule& rule : former) ending.push_back(&rule);
  // A rule of which nothing is in the shard is not gone, but no controller here gives way to it.
  for (Rule& rule : all) {
    const auto is_it = [&](const Rule& other) { return other.name == rule.name; };
    if (std::ranges::any_of(wanted, is_it)) continue;
    rule.name.clear();
    rule.apply.field_manager.clear();
  }
  orphans.reload(ending, all, known.resources().get());
  note_watched(ending);
  std::erase_if(restarts, [&](const Restart& one) { return ends(one.rule); });
  retire(ends);
  for (Rule& rule : wanted) {
    if (is_of(plan.started)(rule)) to_start.push_back(std::move(rule));
  }
  keep_state_of_current();
  start_waiting_rules();
  return plan;
}

// Rules that are other ones now and have not started, or not all that they mean: those of an
// earlier reload, and those for every kind of a group, which end with all that they made.
std::vector<Rule> Engine::Impl::take_unstarted(const std::vector<std::string>& ended) {
  std::vector<Rule> out;
  const auto first = std::stable_partition(to_start.begin(), to_start.end(),
                                           [&](const Rule& rule) { return !is_of(ended)(rule); });
  std::move(first, to_start.end(), std::back_inserter(out));
  to_start.erase(first, to_start.end());
  for (const std::string& name : ended) {
    if (auto rule = families.remove(name)) out.push_back(std::move(*rule));
  }
  return out;
}

// Of the controllers that still end. What an unstarted rule says of their finalizers was said later
// than what their own rules say.
std::vector<Rule> Engine::Impl::former_rules(const std::vector<Rule>& unstarted) {
  std::vector<Rule> out;
  for (const auto& driver : retiring) {
    out.push_back(driver->rule());
    for (const Rule& rule : unstarted) {
      if (comes_after(rule, driver->rule())) said_last[driver.get()] = rule.when_removed;
    }
    const auto said = said_last.find(driver.get());
    if (said != said_last.end()) out.back().when_removed = said->second;
  }
  for (const Rule& rule : unstarted) {
    if (auto left = left_to(rule)) out.push_back(std::move(*left));
  }
  return out;
}

// The rule where who held its finalizer has ended already, and it waited for another: as that
// one's, whose end comes next.
std::optional<Rule> Engine::Impl::left_to(const Rule& unstarted) const {
  const auto before = watched.find(watched_as(unstarted));
  if (!unstarted.has_for || before == watched.end()) return std::nullopt;
  const auto held = [&](const auto& driver) { return comes_after(unstarted, driver->rule()); };
  if (std::ranges::any_of(retiring, held)) return std::nullopt;
  const auto awaited = std::ranges::find_if(retiring, [&](const auto& driver) {
    return !may_start(identity_of(unstarted), {identity_of(driver->rule())});
  });
  if (awaited == retiring.end()) return std::nullopt;
  Rule out = unstarted;
  out.name = (*awaited)->rule().name;
  const auto& names = before->second.namespaces;
  out.for_.namespaces.clear();
  if (!before->second.all) out.for_.namespaces.assign(names.begin(), names.end());
  return out;
}

void Engine::Impl::warn_of_left_places(const std::vector<const Rule*>& ending,
                                       const std::vector<Rule>& wanted) const {
  for (const Rule* before : ending) {
    const auto now =
        std::ranges::find_if(wanted, [&](const Rule& rule) { return rule.name == before->name; });
    if (now == wanted.end()) continue;
    const auto namespaced = [&](const Rule& rule) {
      const core::ResourceType* owner =
          rule.has_for && known.resources() ? known.resources()->find(rule.for_.gvk) : nullptr;
      return rule.has_for && (owner == nullptr || owner->namespaced);
    };
    const auto left = places_left({*before, namespaced(*before)}, {*now, namespaced(*now)});
    if (left.empty()) continue;
    base::log_warn(
        "the rule names no more where it may have children: those there are not removed "
        "any more, neither by a run nor with their objects; name that again and let the "
        "hook run without them, or delete what has the label " +
            std::string(kControllerLabel) + "=" + before->name,
        {{"controller", before->name}, {"places", base::join(left, ", ")}});
  }
}

// What comes after them with the same finalizer may name fewer namespaces.
void Engine::Impl::note_watched(const std::vector<const Rule*>& ending) {
  for (const Rule* rule : ending) {
    if (!rule->has_for) continue;
    const auto& names = rule->for_.namespaces;
    watched[watched_as(*rule)].merge({{names.begin(), names.end()}, names.empty()});
  }
}

// Those of unchanged rules go on, and all of them when the new ones cannot be opened.
Result<void> Engine::Impl::change_triggers(const RulePlan& plan, const std::vector<Rule>& wanted) {
  std::set<std::string> ended;
  for (const Rule& rule : with_triggers) {
    if (is_of(plan.ended)(rule)) ended.insert(rule.document);
  }
  KW_TRY(triggers.change(wanted, services.work_dir, options.triggers, ended));
  keep_with_triggers(wanted);
  return {};
}

void Engine::Impl::keep_with_triggers(const std::vector<Rule>& of) {
  with_triggers.clear();
  for (const Rule& rule : of) {
    if (!rule.triggers.empty()) with_triggers.push_back(rule);
  }
}

void Engine::Impl::retire(const std::function<bool(const Rule&)>& ends) {
  for (auto& driver : drivers) {
    if (!ends(driver->rule()) || ends_with_its_shard(*driver)) continue;
    Driver* raw = driver.get();
    retiring.push_back(std::move(driver));
    raw->shut_down([this, raw, there = std::weak_ptr<char>(alive)] {
      if (!there.expired()) on_retired(raw);
    });
  }
  drivers.erase(std::remove(drivers.begin(), drivers.end(), nullptr), drivers.end());
}

void Engine::Impl::on_retired(const Driver* driver) {
  const auto it = std::find_if(retiring.begin(), retiring.end(),
                               [&](const auto& one) { return one.get() == driver; });
  if (it == retiring.end()) return;
  base::log_info("controller ended: its rule changed or is gone, or its kind",
                 {{"controller", driver->rule().name}});
  const std::string name = driver->rule().name;
  if (!stopping) {
    orphans.ended(name);
    Legacy left = (*it)->leave();
    if (!left.gvk.kind.empty()) legacies[{name, driver->scope().only}] = std::move(left);
  }
  said_last.erase(driver);
  retiring.erase(it);
  const auto [first, last] = when_drained.equal_range(driver);
  for (auto waiting = first; waiting != last; ++waiting) loop.post(std::move(waiting->second));
  when_drained.erase(first, last);
  start_waiting_rules();
  // A controller of a group's kind may have waited for this name.
  if (!stopping && known.resources() != nullptr && !families.empty()) resolve_rules();
  forget_legacies();
  tell();
}

// Of rules that nothing comes after.
void Engine::Impl::forget_legacies() {
  std::erase_if(legacies, [&](const auto& left) {
    const auto is_it = [&](const Rule& rule) {
      return rule.name == left.first.first || rule.for_.every_kind;
    };
    const auto starts_again = [&](const Restart& one) {
      return is_it(one.rule) && one.scope.only == left.first.second;
    };
    return std::none_of(to_start.begin(), to_start.end(), is_it) &&
           std::none_of(restarts.begin(), restarts.end(), starts_again);
  });
}

// No controller that there still is would collide with it. One for a group's kinds is none itself:
// its controllers are compared one by one.
bool Engine::Impl::is_free(const Rule& rule, std::optional<std::size_t> shard) const {
  const RuleIdentity identity = identity_of(rule);
  const auto collides = [&](const auto& driver) {
    return driver->scope().only == shard && !may_start(identity, {identity_of(driver->rule())});
  };
  return std::ranges::none_of(retiring, collides) &&
         (rule.for_.every_kind || std::ranges::none_of(drivers, collides));
}

void Engine::Impl::start_waiting_rules() {
  if (stopping) return;
  DriverScope scope;
  if (options.shards) scope.shards = options.shards->count;
  bool any = false;
  for (auto it = to_start.begin(); it != to_start.end();) {
    if (!is_free(*it, std::nullopt)) {
      ++it;
      continue;
    }
    const std::size_t before = drivers.size();
    add_driver(std::move(*it), scope);
    if (drivers.size() > before) {
      for (const std::size_t shard : led) drivers.back()->lead(shard);
    }
    it = to_start.erase(it);
    any = true;
  }
  start_again(any);
  if (any && known.resources() != nullptr) resolve_rules();
}

void Engine::Impl::start_again(bool& any) {
  for (auto it = restarts.begin(); it != restarts.end();) {
    if (!is_free(it->rule, it->scope.only)) {
      ++it;
      continue;
    }
    Driver& made = make_driver(std::move(it->rule), it->scope);
    made.run_all_at_start();
    made.comes_late();
    for (const std::size_t shard : led) {
      if (it->scope.shards > 0) made.lead(shard);
    }
    it = restarts.erase(it);
    any = true;
  }
}

}  // namespace kubewatch::hooks

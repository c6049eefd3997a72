// Rules that are read again: what is as it was goes on, what changed ends first and starts then.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/engine_impl.hpp"

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

}  // namespace

void Engine::Impl::keep_state_of_current() {
  // Of rules for every kind of a group the names are not known before their kinds are.
  if (options.state == nullptr || !families.empty()) return;
  std::vector<std::string> names;
  for (const RuleIdentity& rule : current) names.push_back(rule.name);
  options.state->keep_only(names);
}

Result<RulePlan> Engine::Impl::reload(std::vector<Rule> wanted) {
  if (narrows()) {
    return Error(ErrorKind::unsupported,
                 "rules are not read again with --shard-by, which decides what is watched: restart "
                 "the instance");
  }
  if (stopping) return Error(ErrorKind::canceled, "the controller is ending");
  // A rule of which nothing is in the shard is not gone.
  const std::vector<Rule> all = wanted;
  wanted = of_single_shard(std::move(wanted));
  std::vector<RuleIdentity> identities;
  for (const Rule& rule : wanted) identities.push_back(identity_of(rule));
  RulePlan plan = plan_reload(current, identities);
  if (plan.empty()) return plan;
  KW_TRY(change_triggers(plan, wanted));
  current = std::move(identities);
  // Rules of an earlier reload that have not started yet, and are other ones now.
  to_start.erase(std::remove_if(to_start.begin(), to_start.end(), is_of(plan.ended)),
                 to_start.end());
  // A rule for every kind of a group ends with all that it made.
  for (const std::string& name : plan.ended) families.remove(name);
  const auto ends = [of_plan = is_of(plan.ended)](const Rule& rule) {
    return of_plan(rule) || of_plan(rule.document);
  };
  std::vector<const Rule*> ending;
  for (const auto& driver : drivers) {
    if (ends(driver->rule())) ending.push_back(&driver->rule());
  }
  for (const Restart& one : restarts) {
    if (ends(one.rule)) ending.push_back(&one.rule);
  }
  orphans.reload(ending, all, resources.get());
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
    LeftDeletions left = (*it)->leave_deletions();
    if (!left.gvk.kind.empty()) left_deletions[{name, driver->scope().only}] = std::move(left);
  }
  retiring.erase(it);
  const auto [first, last] = when_retired.equal_range(driver);
  for (auto waiting = first; waiting != last; ++waiting) loop.post(std::move(waiting->second));
  when_retired.erase(first, last);
  start_waiting_rules();
  // A controller of a group's kind may have waited for this name.
  if (!stopping && resources != nullptr && !families.empty()) resolve_rules();
  forget_left_deletions();
  tell();
}

// Of rules that nothing comes after.
void Engine::Impl::forget_left_deletions() {
  std::erase_if(left_deletions, [&](const auto& left) {
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

void Engine::Impl::start_waiting_rules() {
  if (stopping) return;
  std::vector<RuleIdentity> ending;
  for (const auto& driver : retiring) ending.push_back(identity_of(driver->rule()));
  DriverScope scope;
  if (options.shards) scope.shards = options.shards->count;
  bool any = false;
  for (auto it = to_start.begin(); it != to_start.end();) {
    if (!may_start(identity_of(*it), ending)) {
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
  start_again(ending, any);
  if (any && resources != nullptr) resolve_rules();
}

void Engine::Impl::start_again(const std::vector<RuleIdentity>& ending, bool& any) {
  for (auto it = restarts.begin(); it != restarts.end();) {
    if (!may_start(identity_of(it->rule), ending)) {
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

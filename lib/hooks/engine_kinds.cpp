// What the server knows, asked for until all kinds of the rules are there, and again as definitions
// come and go.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/engine_impl.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {

void Engine::Impl::add_driver(Rule rule, DriverScope scope) {
  if (rule.for_.every_kind) return families.add(std::move(rule), scope.only);
  make_driver(std::move(rule), scope);
}

Driver& Engine::Impl::make_driver(Rule rule, DriverScope scope) {
  const auto before = watched.find(watched_as(rule));
  if (scope.only) {
    auto& shared = rule_slots[rule.name];
    if (shared == nullptr) shared = std::make_unique<runtime::RunSlots>(rule.concurrency, &slots);
    scope.slots = shared.get();
  }
  drivers.push_back(std::make_unique<Driver>(services, std::move(rule), scope));
  if (before != watched.end()) drivers.back()->watched_before(before->second);
  if (auto left = legacies.extract({drivers.back()->rule().name, scope.only})) {
    drivers.back()->take_over(std::move(left.mapped()));
  }
  return *drivers.back();
}

// The controllers of rules for every kind of a group.
void Engine::Impl::follow_kinds() {
  if (families.empty()) return;
  std::vector<KindFamilies::Taken> taken;
  each_driver([&](const Driver& driver) {
    taken.push_back({identity_of(driver.rule()), driver.scope().only});
  });
  for (const Rule& rule : to_start) {
    if (!rule.for_.every_kind) taken.push_back({identity_of(rule), std::nullopt});
  }
  for (const Restart& one : restarts) taken.push_back({identity_of(one.rule), one.scope.only});
  auto change = families.look(*known.resources(), std::move(taken));
  const auto ends = [&](const std::string& name) {
    return std::find(change.end.begin(), change.end.end(), name) != change.end.end();
  };
  retire([&](const Rule& rule) { return ends(rule.name); });
  std::erase_if(restarts, [&](const Restart& one) { return ends(one.rule.name); });
  for (auto& start : change.start) {
    DriverScope scope;
    if (options.shards && !narrows()) scope.shards = options.shards->count;
    scope.only = start.shard;
    Driver& made = make_driver(std::move(start.rule), scope);
    if (start.late) made.comes_late();
    if (scope.shards == 0) continue;
    for (const std::size_t shard : led) made.lead(shard);
  }
}

bool Engine::Impl::follows(const std::string& group) const {
  const auto uses = [&](const auto& driver) {
    const auto streams = streams_of(driver->rule());
    return std::any_of(streams.begin(), streams.end(),
                       [&](const StreamRule* stream) { return stream->gvk.group == group; });
  };
  return families.follows(group) || std::any_of(drivers.begin(), drivers.end(), uses);
}

// Where kinds are awaited that may come or go. Other rules are told by their watches.
void Engine::Impl::follow_definitions() {
  const bool awaits = std::any_of(drivers.begin(), drivers.end(), [](const auto& driver) {
    return !optional_kinds(driver->rule()).empty();
  });
  if (awaits || !families.empty()) definitions.start(*known.resources());
}

// After a discovery: rules whose kinds are not what they were start anew, as they are; those for
// every kind of a group in the version that there is now.
void Engine::Impl::restart_outdated() {
  std::set<const Rule*> outdated;
  std::vector<Restart> anew;
  bool doubts = families.discovered(*known.resources());
  for (const auto& driver : drivers) {
    if (ends_with_its_shard(*driver)) continue;
    const Rule& rule = driver->rule();
    auto why = driver->why_outdated(*known.resources());
    doubts = doubts || driver->doubts_kinds();
    const core::Gvk gvk = families.served_as(rule, *known.resources());
    if (!why && !driver->resolved() && gvk != rule.for_.gvk)
      why = "its kind is served as " + gvk.str() + " now";
    if (!why) continue;
    base::log_info("the controller starts anew: " + *why, {{"controller", rule.name}});
    outdated.insert(&rule);
    anew.push_back({rule, driver->scope()});
    anew.back().rule.for_.gvk = gvk;
  }
  if (doubts) definitions.confirm();
  if (anew.empty()) return;
  retire([&](const Rule& rule) { return outdated.count(&rule) > 0; });
  for (Restart& one : anew) restarts.push_back(std::move(one));
  start_waiting_rules();
}

void Engine::Impl::give_up(const Error& error) {
  stopping = true;
  if (callbacks.on_fatal) loop.post([fatal = callbacks.on_fatal, error] { fatal(error); });
}

// A rule whose kinds are missing waits alone; the server is asked again while one does.
void Engine::Impl::resolve_rules() {
  if (stopping) return;
  follow_kinds();
  follow_definitions();
  bool waiting = false;
  for (auto& driver : drivers) {
    if (driver->resolved()) continue;
    auto resolved = driver->resolve(*known.resources());
    if (resolved.ok()) {
      if (driver->is_late() && callbacks.on_kinds_came) callbacks.on_kinds_came(driver->rule());
      continue;
    }
    driver->comes_late();
    if (driver->absent()) {
      if (driver->in_no_shard()) tell_idle(driver->rule(), resolved.error().message());
      continue;
    }
    waiting = true;
    tell_wait(driver->rule(), resolved.error().message());
  }
  for (const auto& one : families.unknown()) {
    waiting = true;
    tell_wait(one.rule, one.why);
  }
  if (waiting) {
    known.ask_again();
  } else {
    known.none_missing();
  }
  tell();
}

// Once, however many shards are led here.
void Engine::Impl::tell_idle(const Rule& rule, const std::string& why) {
  if (!idle_told.insert(rule.name).second) return;
  base::log_warn("controller has nothing to do: " + why,
                 {{"controller", rule.name}, {"file", fmt::format("{}:{}", rule.file, rule.line)}});
}

void Engine::Impl::tell_wait(const Rule& rule, const std::string& why) {
  if (!told.admit("rule " + rule.name + why, loop.now())) return;
  base::log_warn("controller waits: " + why,
                 {{"controller", rule.name}, {"file", fmt::format("{}:{}", rule.file, rule.line)}});
}

}  // namespace kubewatch::hooks

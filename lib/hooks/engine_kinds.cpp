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
  auto change = families.look(*resources, std::move(taken));
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
  if (awaits || !families.empty()) definitions.start(*resources);
}

// After a discovery: rules whose kinds are not what they were start anew, as they are; those for
// every kind of a group in the version that there is now.
void Engine::Impl::restart_outdated() {
  std::set<const Rule*> outdated;
  std::vector<Restart> anew;
  bool doubts = families.discovered(*resources);
  for (const auto& driver : drivers) {
    if (ends_with_its_shard(*driver)) continue;
    const Rule& rule = driver->rule();
    auto why = driver->why_outdated(*resources);
    doubts = doubts || driver->doubts_kinds();
    const core::Gvk gvk = families.served_as(rule, *resources);
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

void Engine::Impl::discover() {
  if (discovering || stopping) return;
  discovering = true;
  using Answer = Result<std::shared_ptr<const client::ResourceMap>>;
  requests.run<Answer>([this](Answer answer) { on_discovered(std::move(answer)); },
                       [&](auto done) { return client::discover(client, std::move(done)); });
}

void Engine::Impl::on_discovered(Result<std::shared_ptr<const client::ResourceMap>> answer) {
  discovering = false;
  discovered_at = loop.now();
  if (answer.ok()) {
    resources = std::move(*answer);
    discovery_backoff.succeed();
    if (!stopping) restart_outdated();
    resolve_rules();
  } else {
    on_unreachable(answer.error());
  }
  auto waiting = std::move(after_discovery);
  after_discovery.clear();
  for (auto& done : waiting) done();
}

void Engine::Impl::on_unreachable(const Error& error) {
  if (stopping) return;
  if (resources == nullptr && start_patience.is_over(error, loop.now())) {
    return give_up(error);
  }
  const Duration wait = discovery_backoff.fail(random);
  if (told.admit("discovery " + error.message(), loop.now())) {
    base::log_warn(fmt::format("cannot ask {} what kinds it has; trying again in {}",
                               client.config().server, base::format_duration(wait)),
                   {{"error", error.render()}});
  }
  discovery_timer = loop.after(wait, [this] { discover(); });
}

// A rule whose kinds are missing waits alone; the server is asked again while one does.
void Engine::Impl::resolve_rules() {
  if (stopping) return;
  follow_kinds();
  follow_definitions();
  bool waiting = false;
  for (auto& driver : drivers) {
    if (driver->resolved()) continue;
    auto resolved = driver->resolve(*resources);
    if (resolved.ok()) {
      if (driver->is_late() && callbacks.on_kinds_came) callbacks.on_kinds_came(driver->rule());
      continue;
    }
    driver->comes_late();
    if (driver->absent()) continue;
    waiting = true;
    tell_wait(driver->rule(), resolved.error().message());
  }
  for (const auto& one : families.unknown()) {
    waiting = true;
    tell_wait(one.rule, one.why);
  }
  if (waiting) {
    discovery_timer = loop.after(missing_backoff.fail(random), [this] { discover(); });
  }
  tell();
}

void Engine::Impl::tell_wait(const Rule& rule, const std::string& why) {
  if (!told.admit("rule " + rule.name + why, loop.now())) return;
  base::log_warn("controller waits: " + why,
                 {{"controller", rule.name}, {"file", fmt::format("{}:{}", rule.file, rule.line)}});
}

void Engine::Impl::rediscover(std::function<void()> done) {
  if (stopping) return done();
  if (!discovering && loop.now() - discovered_at < kRediscoverPause) return done();
  after_discovery.push_back(std::move(done));
  discover();
}

}  // namespace kubewatch::hooks

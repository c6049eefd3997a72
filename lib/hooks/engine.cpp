// Starts rules as their kinds become known, and ends them.
#include "hooks/engine.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "hooks/definition_watch.hpp"
#include "hooks/driver.hpp"
#include "hooks/kind_families.hpp"
#include "hooks/orphaned_finalizers.hpp"
#include "hooks/trigger_hub.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kRediscoverPause{5000};

std::string temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/kubewatch-XXXXXX";
  return mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
}

Duration longest_run(const Rule& rule) {
  const Duration reconcile = rule.reconcile.timeout + rule.reconcile.grace;
  if (!rule.finalize) return reconcile;
  return std::max(reconcile, rule.finalize->hook.timeout + rule.finalize->hook.grace);
}

RuleIdentity identity_of(const Rule& rule) {
  return {rule.name, rule.fingerprint, rule.apply.field_manager, rule.finalizer_name};
}

}  // namespace

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

struct Engine::Impl {
  loop::EventLoop& loop;
  client::Client& client;
  EngineOptions options;
  EngineCallbacks callbacks;
  std::function<void()> progress;

  base::Random random = base::Random::from_system();
  runtime::RunSlots slots;
  StreamPool pool;
  Reporter reporter;
  mutable Telemetry telemetry;  // collecting lets series expire
  bool own_folder = false;
  Services services;
  std::vector<Rule> rules;  // until start(); with a plan that narrows, what shards are made from
  std::set<std::size_t> led;
  std::vector<std::string> cut_off;
  std::vector<std::unique_ptr<Driver>> drivers;
  KindFamilies families;
  DefinitionWatch definitions;
  OrphanedFinalizers orphans;
  TriggerHub triggers;

  std::shared_ptr<const client::ResourceMap> resources;
  base::Backoff discovery_backoff{{Duration{1000}, Duration{30000}, 2.0, 0.2}};
  base::Backoff missing_backoff{{kRediscoverPause, Duration{30000}, 1.5, 0.1}};
  OncePer told{Duration{60000}};
  TimePoint discovered_at{};
  bool discovering = false;
  std::optional<TimePoint> last_finish;
  bool stopping = false;
  std::vector<std::function<void()>> after_discovery;
  loop::Timer discovery_timer;
  loop::Timer shutdown_timer;
  std::vector<RuleIdentity> current;  // as they were asked for last
  std::vector<Rule> to_start;         // by reload(), after what ends
  struct Restart {
    Rule rule;
    DriverScope scope;
  };
  std::vector<Restart> restarts;    // of unchanged rules, once their former drivers have ended
  std::vector<Rule> with_triggers;  // whose sources are open
  // Ended by reload(), or of kinds that went: their last runs go on.
  std::vector<std::unique_ptr<Driver>> retiring;
  std::shared_ptr<char> alive = std::make_shared<char>();  // posted calls ask whether we are there
  std::size_t draining = 0;
  std::function<void()> on_shut_down;
  client::InFlight requests;

  Impl(loop::EventLoop& the_loop, client::Client& the_client, std::vector<Rule> the_rules,
       EngineOptions the_options, EngineCallbacks the_callbacks);
  ~Impl();

  Services make_services();
  void start();
  void discover();
  void on_discovered(Result<std::shared_ptr<const client::ResourceMap>> answer);
  void on_unreachable(const Error& error);
  void resolve_rules();
  void add_driver(Rule rule, DriverScope scope);
  void follow_kinds();
  void follow_optional_kinds();
  bool follows(const std::string& group) const;
  void start_again(const std::vector<RuleIdentity>& ending, bool& any);
  void rediscover(std::function<void()> done);
  void shut_down(std::function<void()> done);
  void lead(std::size_t shard);
  void end_runs(std::size_t shard, std::function<void()> ended);
  void abandon(Duration within, std::function<void()> done);
  void note_cut_off();
  void give_up(const Error& error);
  std::optional<std::size_t> from_outside(const std::string& document,
                                          const TriggerRequest& request);
  std::size_t trigger(const std::string& document, const TriggerRequest& request,
                      runtime::Reason reason);
  bool narrows() const { return options.shards && options.shards->narrows(); }
  EngineStatus status() const;
  Result<RulePlan> reload(std::vector<Rule> wanted);
  void retire(const std::function<bool(const Rule&)>& ends);
  void keep_with_triggers(const std::vector<Rule>& of);
  Result<void> change_triggers(const RulePlan& plan, const std::vector<Rule>& wanted);
  void on_retired(const Driver* driver);
  void start_waiting_rules();
  void keep_state_of_current();
  void each_driver(const std::function<void(Driver&)>& call) {
    for (auto* list : {&drivers, &retiring}) {
      for (auto& driver : *list) call(*driver);
    }
  }
  EngineFacts facts() const;
  std::string metrics_text(const EngineFacts& facts, bool ready) const;
  void start_traces();
  void ran(const RunRecord& record);
  void tell() {
    if (progress) progress();
  }
};

Engine::Impl::Impl(loop::EventLoop& the_loop, client::Client& the_client,
                   std::vector<Rule> the_rules, EngineOptions the_options,
                   EngineCallbacks the_callbacks)
    : loop(the_loop),
      client(the_client),
      options(std::move(the_options)),
      callbacks(std::move(the_callbacks)),
      slots(options.concurrency),
      pool(client, random),
      reporter(client, random),
      own_folder(options.work_dir.empty()),
      services(make_services()),
      rules(std::move(the_rules)),
      definitions(
          loop, pool, [this] { discover(); },
          [this](const std::string& group) { return follows(group); }),
      orphans(client, random, [this] { tell(); }),
      triggers(loop, random, [this](const std::string& document, const TriggerRequest& request) {
        return from_outside(document, request);
      }) {
  for (const Rule& rule : rules) current.push_back(identity_of(rule));
}

Engine::Impl::~Impl() {
  drivers.clear();
  retiring.clear();
  client.observers().all = nullptr;
  if (!own_folder || services.work_dir.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(services.work_dir, ignored);
}

Services Engine::Impl::make_services() {
  std::string folder = own_folder ? temporary_folder() : options.work_dir;
  if (!own_folder) mkdir(folder.c_str(), 0700);
  return Services{loop,
                  client,
                  random,
                  slots,
                  pool,
                  reporter,
                  [this] { return resources; },
                  [this](std::function<void()> done) { rediscover(std::move(done)); },
                  [this](const RunRecord& record) { ran(record); },
                  [this] { tell(); },
                  std::move(folder),
                  telemetry,
                  options.state.get(),
                  callbacks.on_exchange,
                  options.steady};
}

void Engine::Impl::ran(const RunRecord& record) {
  last_finish = loop.now();
  telemetry.metrics.run_ended(record, loop.now());
  if (callbacks.on_run) callbacks.on_run(record);
}

// Without a way to send them there are no traces; the controllers run all the same.
void Engine::Impl::start_traces() {
  if (!options.traces) return;
  auto made = TraceExporter::make(loop, *options.traces);
  if (made.ok()) {
    telemetry.traces = std::move(*made);
  } else {
    base::log_error("no traces: " + made.error().render());
  }
}

void Engine::Impl::start() {
  client.observers().all = &telemetry.metrics;
  start_traces();
  if (services.work_dir.empty()) {
    const Error error(ErrorKind::forbidden,
                      "cannot make a private folder for the hooks under TMPDIR (or /tmp)");
    base::log_error(error.message());
    return give_up(error);
  }
  if (auto opened = triggers.open(rules, services.work_dir, options.triggers); !opened.ok()) {
    return give_up(opened.error());
  }
  keep_with_triggers(rules);
  if (!narrows()) {
    DriverScope scope;
    if (options.shards) scope.shards = options.shards->count;
    for (Rule& rule : rules) add_driver(std::move(rule), scope);
    rules.clear();
  }
  keep_state_of_current();
  discover();
}

void Engine::Impl::add_driver(Rule rule, DriverScope scope) {
  if (rule.for_.every_kind) return families.add(std::move(rule), scope.only);
  drivers.push_back(std::make_unique<Driver>(services, std::move(rule), scope));
}

// The controllers of rules for every kind of a group.
void Engine::Impl::follow_kinds() {
  if (families.empty()) return;
  std::set<std::string> running;
  for (const auto& driver : drivers) running.insert(driver->rule().name);
  for (const auto& driver : retiring) running.insert(driver->rule().name);
  auto change = families.look(*resources, running);
  retire([&](const Rule& rule) {
    return std::find(change.end.begin(), change.end.end(), rule.name) != change.end.end();
  });
  for (auto& start : change.start) {
    DriverScope scope;
    if (options.shards && !narrows()) scope.shards = options.shards->count;
    scope.only = start.shard;
    drivers.push_back(std::make_unique<Driver>(services, std::move(start.rule), scope));
    if (scope.shards == 0) continue;
    for (const std::size_t shard : led) drivers.back()->lead(shard);
  }
}

bool Engine::Impl::follows(const std::string& group) const {
  const auto optional = [&](const auto& driver) {
    const auto kinds = optional_kinds(driver->rule());
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const core::Gvk& gvk) { return gvk.group == group; });
  };
  return families.follows(group) || std::any_of(drivers.begin(), drivers.end(), optional);
}

// Rules whose optional kinds have come or gone start anew, as they are.
void Engine::Impl::follow_optional_kinds() {
  std::set<const Rule*> outdated;
  std::vector<Restart> anew;
  bool any = !families.empty();
  for (const auto& driver : drivers) {
    any = any || !optional_kinds(driver->rule()).empty();
    if (!driver->is_outdated(*resources)) continue;
    base::log_info("an optional kind has come or gone: the controller starts anew",
                   {{"controller", driver->rule().name}});
    outdated.insert(&driver->rule());
    anew.push_back({driver->rule(), driver->scope()});
  }
  if (any) definitions.start(*resources);
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
  if (options.fail_fast && resources == nullptr) {
    stopping = true;
    if (callbacks.on_fatal) callbacks.on_fatal(error);
    return;
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
  follow_optional_kinds();
  bool waiting = false;
  for (auto& driver : drivers) {
    if (driver->resolved()) continue;
    auto resolved = driver->resolve(*resources);
    if (resolved.ok() || driver->absent()) continue;
    waiting = true;
    const std::string& name = driver->rule().name;
    if (told.admit("rule " + name + resolved.error().message(), loop.now())) {
      base::log_warn("controller waits: " + resolved.error().message(),
                     {{"controller", name},
                      {"file", fmt::format("{}:{}", driver->rule().file, driver->rule().line)}});
    }
  }
  if (waiting) {
    discovery_timer = loop.after(missing_backoff.fail(random), [this] { discover(); });
  }
  tell();
}

void Engine::Impl::rediscover(std::function<void()> done) {
  if (stopping) return done();
  if (!discovering && loop.now() - discovered_at < kRediscoverPause) return done();
  after_discovery.push_back(std::move(done));
  discover();
}

EngineStatus Engine::Impl::status() const {
  EngineStatus out;
  bool all_idle = true;
  std::size_t absent = 0;
  for (const auto& driver : drivers) {
    if (driver->absent()) {
      ++absent;
      continue;
    }
    const DriverStatus status = driver->status();
    const bool waits = !status.started && (!driver->resolved() || driver->blocked());
    if (waits && resources != nullptr) ++out.waiting_rules;
    if (!status.started && !waits) all_idle = false;
    if (status.started && !status.idle) all_idle = false;
    out.failing += status.failing;
    out.parked += status.parked;
    out.unfinished += status.unfinished;
    out.hooks += status.hooks;
    out.runs += status.runs;
    out.failed_runs += status.failed_runs;
  }
  std::size_t started = 0;
  for (const auto& driver : drivers) started += driver->status().started ? 1 : 0;
  all_idle =
      all_idle && to_start.empty() && restarts.empty() && retiring.empty() && orphans.empty();
  out.synced = resources != nullptr && started + out.waiting_rules + absent == drivers.size();
  out.idle = out.synced && all_idle && (!options.shards || !led.empty());
  return out;
}

EngineFacts Engine::Impl::facts() const {
  EngineFacts out;
  out.discovered = resources != nullptr;
  out.stopping = stopping;
  for (const auto& driver : drivers) out.controllers.push_back(driver->facts());
  // The last runs of rules that are gone hold back those that come after them.
  for (const auto* list : {&drivers, &retiring}) {
    for (const auto& driver : *list) {
      out.longest_run = std::max(out.longest_run, longest_run(driver->rule()));
    }
  }
  out.watches = pool.facts();
  if (last_finish) out.since_finish = loop.now() - *last_finish;
  return out;
}

std::string Engine::Impl::metrics_text(const EngineFacts& facts, bool ready) const {
  ProcessFacts process;
  process.ready = ready;
  process.slow_turns = loop.stalls().slow_turns;
  process.longest_turn = loop.stalls().longest;
  if (telemetry.traces) {
    process.spans_sent = telemetry.traces->sent();
    process.spans_dropped = telemetry.traces->dropped();
  }
  read_process(process);
  return telemetry.metrics.text(facts, process, loop.now());
}

void Engine::Impl::shut_down(std::function<void()> done) {
  stopping = true;
  triggers.close();
  families.stop();
  definitions.stop();
  orphans.stop();
  discovery_timer.reset();
  on_shut_down = std::move(done);
  to_start.clear();
  restarts.clear();
  draining = drivers.size() + retiring.size() + 1;
  auto drained = [this] {
    if (--draining > 0) return;
    shutdown_timer.reset();
    auto callback = std::move(on_shut_down);
    if (!callback) return;
    telemetry.traces ? telemetry.traces->flush(std::move(callback)) : callback();
  };
  shutdown_timer = loop.after(options.shutdown_timeout, [this] {
    base::log_warn("shutdown timeout: ending the hooks that still run");
    each_driver([](Driver& driver) { driver.terminate_hooks(); });
    // Then only writes can be left, to a server that does not answer.
    shutdown_timer = loop.after(options.last_writes, [this] {
      note_cut_off();
      auto callback = std::move(on_shut_down);
      if (callback) callback();
    });
  });
  each_driver([&](Driver& driver) { driver.shut_down(drained); });
  drained();
}

void Engine::Impl::note_cut_off() {
  each_driver([this](Driver& driver) {
    for (std::string& object : driver.running_objects()) {
      base::log_error("shutdown: the outcome of a run could not be written in time",
                      {{"controller", driver.rule().name}, {"object", object}});
      cut_off.push_back(std::move(object));
    }
  });
}

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
  orphans.reload(ending, wanted, resources.get());
  std::erase_if(restarts, [&](const Restart& one) { return ends(one.rule); });
  retire(ends);
  for (Rule& rule : wanted) {
    if (is_of(plan.started)(rule)) to_start.push_back(std::move(rule));
  }
  keep_state_of_current();
  start_waiting_rules();
  return plan;
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
    if (!ends(driver->rule())) continue;
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
  if (!stopping) orphans.ended(driver->rule().name);
  retiring.erase(it);
  start_waiting_rules();
  // A controller of a group's kind may have waited for this name.
  if (!stopping && resources != nullptr && !families.empty()) resolve_rules();
  tell();
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
    drivers.push_back(std::make_unique<Driver>(services, std::move(it->rule), it->scope));
    drivers.back()->run_all_at_start();
    for (const std::size_t shard : led) {
      if (it->scope.shards > 0) drivers.back()->lead(shard);
    }
    it = restarts.erase(it);
    any = true;
  }
}

void Engine::Impl::lead(std::size_t shard) {
  if (stopping || !led.insert(shard).second) return;
  if (!narrows()) {
    for (auto& driver : drivers) driver->lead(shard);
    return tell();
  }
  for (const Rule& rule : rules) {
    auto narrowed = rule_of_shard(rule, *options.shards, shard);
    if (!narrowed) continue;
    DriverScope scope;
    scope.only = shard;
    add_driver(std::move(*narrowed), scope);
  }
  if (resources != nullptr) resolve_rules();
}

void Engine::Impl::end_runs(std::size_t shard, std::function<void()> ended) {
  led.erase(shard);
  families.remove_shard(shard);
  // A driver tells only one when it is drained: shut_down() waits for it, and then all are
  // released.
  if (stopping && narrows()) return;
  std::erase_if(restarts, [&](const Restart& one) { return one.scope.only == shard; });
  auto left = std::make_shared<std::size_t>(1);
  auto one_less = [this, left, shard, ended = std::move(ended)] {
    if (--*left > 0) return;
    if (narrows()) {
      const auto of_shard = [&](const auto& driver) { return driver->scope().only == shard; };
      drivers.erase(std::remove_if(drivers.begin(), drivers.end(), of_shard), drivers.end());
    }
    ended();
    tell();
  };
  each_driver([&](Driver& driver) {
    if (narrows() && driver.scope().only != shard) return;
    ++*left;
    narrows() ? driver.shut_down(one_less) : driver.end_runs(shard, one_less);
  });
  loop.post(one_less);
}

void Engine::Impl::abandon(Duration within, std::function<void()> done) {
  stopping = true;
  triggers.close();
  families.stop();
  definitions.stop();
  orphans.stop();
  led.clear();
  discovery_timer.reset();
  on_shut_down = std::move(done);
  to_start.clear();
  restarts.clear();
  draining = drivers.size() + retiring.size() + 1;
  // What has not ended by then is killed with its driver, whatever grace its rule gives it.
  const auto end = [this] {
    auto callback = std::exchange(on_shut_down, nullptr);
    if (!callback) return;
    after_discovery.clear();  // of runs and drivers
    drivers.clear();
    retiring.clear();
    callback();
  };
  const auto drained = [this, end] {
    if (--draining > 0) return;
    loop.post([end, there = std::weak_ptr<char>(alive)] {
      if (!there.expired()) end();
    });
  };
  shutdown_timer = loop.after(within, end);
  each_driver([&](Driver& driver) { driver.abandon(drained); });
  drained();
}

// A start runs everything, so that nothing is lost where it has not come to that.
std::optional<std::size_t> Engine::Impl::from_outside(const std::string& document,
                                                      const TriggerRequest& request) {
  const bool started = std::any_of(drivers.begin(), drivers.end(), [&](const auto& driver) {
    return driver->rule().document == document && driver->status().started;
  });
  if (stopping || (options.shards && led.empty())) return std::nullopt;
  if (!started) {
    for (auto& driver : drivers) {
      if (driver->rule().document == document) driver->run_all_at_start();
    }
    return std::nullopt;
  }
  return trigger(document, request, runtime::Reason::external);
}

std::size_t Engine::Impl::trigger(const std::string& document, const TriggerRequest& request,
                                  runtime::Reason reason) {
  std::size_t count = 0;
  for (auto& driver : drivers) {
    if (!document.empty() && driver->rule().document != document) continue;
    count += driver->trigger(request, reason).size();
  }
  return count;
}

Engine::Engine(loop::EventLoop& loop, client::Client& client, std::vector<Rule> rules,
               EngineOptions options, EngineCallbacks callbacks)
    : impl_(std::make_unique<Impl>(loop, client, std::move(rules), std::move(options),
                                   std::move(callbacks))) {}

Engine::~Engine() = default;

void Engine::start() {
  impl_->start();
}

EngineStatus Engine::status() const {
  return impl_->status();
}

EngineFacts Engine::facts() const {
  return impl_->facts();
}

std::string Engine::metrics_text(const EngineFacts& facts, bool ready) const {
  return impl_->metrics_text(facts, ready);
}

void Engine::on_progress(std::function<void()> callback) {
  impl_->progress = std::move(callback);
}

void Engine::shut_down(std::function<void()> done) {
  impl_->shut_down(std::move(done));
}

std::size_t Engine::trigger(const std::string& document, const TriggerRequest& request,
                            runtime::Reason reason) {
  return impl_->trigger(document, request, reason);
}

std::uint16_t Engine::trigger_port() const {
  return impl_->triggers.port();
}

const std::vector<std::string>& Engine::cut_off() const {
  return impl_->cut_off;
}

void Engine::lead(std::size_t shard) {
  impl_->lead(shard);
}

void Engine::end_runs(std::size_t shard, std::function<void()> ended) {
  impl_->end_runs(shard, std::move(ended));
}

void Engine::abandon(Duration within, std::function<void()> done) {
  impl_->abandon(within, std::move(done));
}

Result<RulePlan> Engine::reload(std::vector<Rule> rules) {
  return impl_->reload(std::move(rules));
}

std::vector<Driver*> Engine::drivers() {
  std::vector<Driver*> out;
  impl_->each_driver([&](Driver& driver) { out.push_back(&driver); });
  return out;
}

}  // namespace kubewatch::hooks

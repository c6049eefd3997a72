// Starts rules as their kinds become known, and ends them.
#include "hooks/engine.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/engine_impl.hpp"
#include "hooks/verdict.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kLastEvents{2000};
// Definitions are watched beside (DefinitionWatch): to ask more often finds nothing more.
constexpr Duration kKindsPause{5000};

Duration longest_run(const Rule& rule) {
  const Duration reconcile = rule.reconcile.timeout + rule.reconcile.grace;
  if (!rule.finalize) return reconcile;
  return std::max(reconcile, rule.finalize->hook.timeout + rule.finalize->hook.grace);
}

}  // namespace

Engine::Impl::Impl(loop::EventLoop& the_loop, client::Client& the_client,
                   std::vector<Rule> the_rules, EngineOptions the_options,
                   EngineCallbacks the_callbacks)
    : loop(the_loop),
      client(the_client),
      options(std::move(the_options)),
      callbacks(std::move(the_callbacks)),
      slots(options.concurrency),
      pool(client, random),
      reporter(client, random, callbacks.on_event),
      cgroups(loop, options.cgroups),
      services(make_services()),
      rules(std::move(the_rules)),
      definitions(
          client, pool, [this] { known.ask(); },
          [this](const std::string& group) { return follows(group); }),
      orphans(client, random, [this] { tell(); }),
      triggers(loop, random,
               [this](const std::string& document, const TriggerRequest& request) {
                 return from_outside(document, request);
               }),
      known(loop, client, random, {options.give_up_start, kKindsPause, kKindsPause},
            {[this] {
               if (!stopping) restart_outdated();
               resolve_rules();
             },
             [this](const Error& error) { give_up(error); }}) {
  if (narrows() && options.shards->count == 1) {
    single_shard = *options.shards;
    options.shards->by = ShardPlan::By::hash;
    rules = of_single_shard(std::move(rules));
  }
  pool.on_answer([this] { server_answered(); });
  pool.on_doubt([this](const core::Gvk& gvk) { definitions.doubt(gvk); });
  for (const Rule& rule : rules) current.push_back(identity_of(rule));
}

std::vector<Rule> Engine::Impl::of_single_shard(std::vector<Rule> all) const {
  if (!single_shard) return all;
  std::vector<Rule> out;
  for (const Rule& rule : all) {
    if (auto narrowed = rule_of_shard(rule, *single_shard, 0)) out.push_back(std::move(*narrowed));
  }
  return out;
}

Engine::Impl::~Impl() {
  end_drivers();
  client.observers().all = nullptr;
}

// One that goes gives its slots to the others, and they tell of it: none of them may start
// anything then, and nobody may look at those that are half gone.
void Engine::Impl::end_drivers() {
  progress = nullptr;
  for (auto& driver : drivers) driver->shut_down([] {});
  const auto gone = std::exchange(drivers, {});
  const auto retired = std::exchange(retiring, {});
}

Services Engine::Impl::make_services() {
  if (options.work_dir.empty()) {
    auto made = WorkFolder::make(temporary_base());
    if (made.ok()) {
      own_folder = std::move(*made);
    } else {
      folder_error = made.error();
    }
  } else {
    mkdir(options.work_dir.c_str(), 0700);
  }
  std::string folder = options.work_dir.empty() ? own_folder.path() : options.work_dir;
  return Services{loop,
                  client,
                  random,
                  slots,
                  pool,
                  reporter,
                  [this] { return known.resources(); },
                  [this](std::function<void()> done) { known.refresh(std::move(done)); },
                  [this](const RunRecord& record) { ran(record); },
                  [this](const RunRecord& record) {
                    if (callbacks.on_held) callbacks.on_held(record);
                  },
                  [this] { tell(); },
                  [this] { return rule_managers(); },
                  std::move(folder),
                  telemetry,
                  options.state.get(),
                  callbacks.on_exchange,
                  callbacks.on_metric,
                  &cgroups,
                  options.steady,
                  options.hand_over,
                  options.most_failed_deletions};
}

void Engine::Impl::ran(const RunRecord& record) {
  last_finish = loop.now();
  ++run_count;
  if (!is_fine(record.outcome)) ++failed_count;
  telemetry.metrics.run_ended(record, loop.now());
  if (callbacks.on_run) callbacks.on_run(record);
}

void Engine::Impl::on_request(const client::RequestFacts& request) {
  telemetry.metrics.on_request(request);
  look_for_silence(request);
}

// A server that hangs keeps its watches open, and a flow that something in between has forgotten
// looks the same: who is refused everything else need not wait for them.
void Engine::Impl::look_for_silence(const client::RequestFacts& request) {
  if (request.status != 0) return server_answered();
  if (request.error == nullptr) return;  // given up by who asked
  if (!request.error->is_disconnect() && request.error->kind() != ErrorKind::timeout) return;
  const auto since = silence.ended(ServerSilence::End::no_answer, request.took, loop.now());
  if (!since || stopping) return;
  base::log_warn("the server does not answer: watches that are silent are opened anew",
                 {{"error", request.error->render()}});
  pool.on_server_silent(*since);
}

void Engine::Impl::server_answered() {
  silence.ended(ServerSilence::End::answered, Duration{0}, loop.now());
  pool.on_server_answers();
}

// Without a way to send them there are no traces; the controllers run all the same.
void Engine::Impl::start_traces() {
  if (!options.traces) return;
  auto made = TraceExporter::make(loop, *options.traces, random);
  if (made.ok()) {
    telemetry.traces = std::move(*made);
  } else {
    base::log_error("no traces: " + made.error().render());
  }
}

void Engine::Impl::start() {
  client.observers().all = this;
  start_traces();
  if (services.work_dir.empty()) {
    return give_up(*folder_error);
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
  known.ask();
}

EngineStatus Engine::Impl::status() const {
  EngineStatus out;
  bool all_idle = true;
  bool only_retries = true;
  bool only_debounced = true;
  std::size_t absent = 0;
  std::size_t started = 0;  // and not held again
  for (const auto& driver : drivers) {
    if (driver->absent()) {
      ++absent;
      continue;
    }
    const DriverStatus status = driver->status();
    const bool has_all = status.started && !status.held;
    const bool waits = !has_all && (!driver->resolved() || driver->blocked() || driver->stalled());
    if (waits && known.resources() != nullptr) ++out.waiting_rules;
    if (!has_all && !waits) all_idle = only_retries = only_debounced = false;
    if (has_all && !status.idle) all_idle = false;
    if (has_all && status.at_work) only_retries = false;
    if (has_all && !status.idle && !status.debounced) only_debounced = false;
    started += has_all ? 1 : 0;
    out.failing += status.failing;
    out.parked += status.parked;
    out.unfinished += status.unfinished;
    out.given_up += status.given_up;
    out.hooks += status.hooks;
  }
  out.runs = run_count;
  out.failed_runs = failed_count;
  const std::size_t unknown = known.resources() != nullptr ? families.unknown().size() : 0;
  out.waiting_rules += unknown;
  out.synced = known.resources() != nullptr &&
               started + out.waiting_rules + absent == drivers.size() + unknown;
  const bool settled = out.synced && to_start.empty() && restarts.empty() && retiring.empty() &&
                       orphans.empty() && (!options.shards || !led.empty());
  out.idle = settled && all_idle;
  out.at_work = !settled || !only_retries;
  out.debounced = settled && !all_idle && only_debounced;
  return out;
}

EngineFacts Engine::Impl::facts() const {
  EngineFacts out;
  out.discovered = known.resources() != nullptr;
  out.stopping = stopping;
  for (const auto& driver : drivers) out.controllers.push_back(driver->facts());
  const auto waits = [&](const Rule& rule, std::string why) {
    ControllerFacts& one = out.controllers.emplace_back();
    one.controller = rule.name;
    one.why_not_started = std::move(why);
  };
  const std::string follows = "it waits for the last runs of the rule that it follows";
  for (const Rule& rule : to_start) waits(rule, follows);
  for (const Restart& one : restarts) waits(one.rule, follows);
  for (auto& one : families.unknown()) waits(one.rule, std::move(one.why));
  // The last runs of rules that are gone hold back those that come after them.
  for (const auto* list : {&drivers, &retiring}) {
    for (const auto& driver : *list) {
      out.longest_run = std::max(out.longest_run, longest_run(driver->rule()));
    }
  }
  out.watches = pool.facts();
  for (std::size_t i = 0; options.shards && i < options.shards->count; ++i) {
    out.leads[i] = led.contains(i);
  }
  if (last_finish) out.since_finish = loop.now() - *last_finish;
  if (lead_trouble) out.lead_trouble = lead_trouble();
  return out;
}

// Of a rule for every kind of a group its controllers have one each.
std::set<std::string> Engine::Impl::rule_managers() const {
  std::set<std::string> out;
  for (const RuleIdentity& rule : current) out.insert(rule.field_manager);
  for (const auto& driver : drivers) out.insert(driver->rule().apply.field_manager);
  return out;
}

std::vector<std::string> Engine::Impl::why_not_started() const {
  std::vector<std::string> out;
  const auto add = [&](const Rule& rule, const std::string& why) {
    out.push_back(rule.name + ": " + why);
  };
  for (const auto& driver : drivers) {
    for (const std::string& why : driver->why_not_started()) add(driver->rule(), why);
  }
  for (const auto& one : families.unknown()) add(one.rule, one.why);
  return out;
}

std::string Engine::Impl::metrics_text(const EngineFacts& facts, bool ready) const {
  ProcessFacts process = process_facts(loop, ready);
  if (telemetry.traces) {
    process.spans_sent = telemetry.traces->sent();
    process.spans_dropped = telemetry.traces->dropped();
  }
  return telemetry.metrics.text(facts, process, loop.now());
}

void Engine::Impl::begin_end(std::function<void()> done) {
  stopping = true;
  triggers.close();
  families.stop();
  definitions.stop();
  orphans.stop();
  known.stop();
  on_shut_down = std::move(done);
  to_start.clear();
  restarts.clear();
}

void Engine::Impl::shut_down(std::function<void()> done) {
  begin_end(std::move(done));
  const auto drained = each_drained([this] {
    shutdown_timer.reset();
    if (on_shut_down) tell_the_last();
  });
  shutdown_timer = loop.after(options.shutdown_timeout, [this] {
    base::log_warn("shutdown timeout: ending the hooks that still run");
    Duration grace{0};
    each_driver([&](Driver& driver) {
      driver.terminate_hooks();
      grace = std::max(grace, driver.longest_grace());
    });
    // After their grace only writes can be left, to a server that does not answer.
    shutdown_timer = loop.after(grace + options.last_writes, [this] {
      note_cut_off();
      auto callback = std::move(on_shut_down);
      if (callback) callback();
    });
  });
  each_driver([&](Driver& driver) {
    if (retires(driver)) return void(when_drained.emplace(&driver, drained));
    driver.start_no_hooks();
    drain(driver, drained);
  });
  drained();
}

void Engine::Impl::drain(Driver& driver, std::function<void()> then) {
  when_drained.emplace(&driver, std::move(then));
  driver.shut_down([this, raw = &driver, there = std::weak_ptr<char>(alive)] {
    if (there.expired()) return;
    std::vector<std::function<void()>> waiting;
    const auto [first, last] = when_drained.equal_range(raw);
    for (auto one = first; one != last; ++one) waiting.push_back(std::move(one->second));
    when_drained.erase(first, last);
    // One of them may end the driver, and whoever is told of the end of all may end us.
    const auto still_there = there;
    for (const auto& one : waiting) {
      if (!still_there.expired()) one();
    }
  });
}

// One call for each driver, and one for who has told all of them; `then` comes with the last. A
// later shutdown waits for itself: a driver may have the call of an earlier one on its way still.
std::function<void()> Engine::Impl::each_drained(std::function<void()> then) {
  const auto left = std::make_shared<std::size_t>(drivers.size() + retiring.size() + 1);
  draining = left;
  return [this, there = std::weak_ptr<char>(alive), left, then = std::move(then)] {
    if (--*left == 0 && !there.expired() && draining == left) then();
  };
}

bool Engine::Impl::retires(const Driver& driver) const {
  return std::any_of(retiring.begin(), retiring.end(),
                     [&](const auto& one) { return one.get() == &driver; });
}

// What the last runs said besides their writes; nobody waits long for it.
void Engine::Impl::tell_the_last() {
  auto left = std::make_shared<int>(telemetry.traces ? 2 : 1);
  const auto one_less = [left, done = std::exchange(on_shut_down, nullptr)] {
    if (--*left == 0) done();
  };
  if (telemetry.traces) telemetry.traces->flush(one_less);
  reporter.flush(kLastEvents, one_less);
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

void Engine::Impl::lead(std::size_t shard) {
  if (stopping || !led.insert(shard).second) return;
  orphans.lead();
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
  if (known.resources() != nullptr) resolve_rules();
}

void Engine::Impl::end_runs(std::size_t shard, std::function<void()> ended) {
  led.erase(shard);
  families.remove_shard(shard);
  std::erase_if(restarts, [&](const Restart& one) { return one.scope.only == shard; });
  auto left = std::make_shared<std::size_t>(1);
  auto one_less = [this, left, shard, ended = std::move(ended)] {
    if (--*left > 0) return;
    // A shutdown waits for the drivers that there are.
    if (narrows() && !stopping) {
      const auto of_shard = [&](const auto& driver) { return driver->scope().only == shard; };
      drivers.erase(std::remove_if(drivers.begin(), drivers.end(), of_shard), drivers.end());
    }
    ended();
    tell();
  };
  each_driver([&](Driver& driver) {
    if (narrows() && driver.scope().only != shard) return;
    ++*left;
    if (!narrows()) {
      return stopping ? driver.end_last_runs(shard, one_less) : driver.end_runs(shard, one_less);
    }
    if (retires(driver)) return void(when_drained.emplace(&driver, one_less));
    drain(driver, one_less);
  });
  loop.post(one_less);
}

void Engine::Impl::abandon(Duration within, std::function<void()> done) {
  begin_end(std::move(done));
  led.clear();
  // Hooks die with their drivers, whatever grace their rules give them.
  const auto kill_all = [this] {
    known.forget_waiting();  // of runs and drivers
    end_drivers();
  };
  const auto end = [this, kill_all] {
    auto callback = std::exchange(on_shut_down, nullptr);
    if (!callback) return;
    kill_all();
    callback();
  };
  const auto end_soon = [this, end] {
    loop.post([end, there = std::weak_ptr<char>(alive)] {
      if (!there.expired()) end();
    });
  };
  const auto drained = each_drained(end_soon);
  // No time for TERM: whoever leads now may be at work on the same objects.
  if (within <= Duration{0}) {
    shutdown_timer.reset();
    kill_all();
    return end_soon();
  }
  shutdown_timer = loop.after(within, end);
  each_driver([&](Driver& driver) {
    if (!retires(driver)) return driver.abandon(drained);
    when_drained.emplace(&driver, drained);
    driver.abandon_runs();
  });
  drained();
}

// Of those that have started; the others keep the request for their start. None: what it names may
// be another instance's, and who asks again may come to that one.
std::optional<std::size_t> Engine::Impl::from_outside(const std::string& document,
                                                      const TriggerRequest& request) {
  if (stopping || (options.shards && led.empty())) return std::nullopt;
  if (request.key && names_nothing(document, request)) return 0;
  std::optional<std::size_t> count;
  for (auto& driver : drivers) {
    if (driver->rule().document != document) continue;
    if (driver->started()) {
      count = count.value_or(0) + driver->trigger(request).size();
    } else {
      driver->trigger_at_start(request);
    }
  }
  if (count == std::size_t{0} && request.key && may_be_elsewhere(document, *request.key)) {
    return std::nullopt;
  }
  return count;
}

// Told: what only is not there yet may come, but this is a mistake of whoever asks.
bool Engine::Impl::names_nothing(const std::string& document, const TriggerRequest& request) {
  std::string why;
  for (const auto& driver : drivers) {
    if (driver->rule().document != document) continue;
    why = driver->why_never(*request.key);
    if (why.empty()) return false;
  }
  if (!why.empty() && told.admit("trigger " + document + " " + request.source, loop.now())) {
    base::log_warn(
        "a trigger names an object that cannot be: " + why,
        {{"controller", document}, {"trigger", request.source}, {"object", request.key->str()}});
  }
  return !why.empty();
}

bool Engine::Impl::may_be_elsewhere(const std::string& document, const core::ObjectKey& key) const {
  if (!options.shards || led.size() >= options.shards->count) return false;
  // Which shard it is of is known by its name, or by what only its list tells.
  return narrows() || std::any_of(drivers.begin(), drivers.end(), [&](const auto& driver) {
           return driver->rule().document == document && !driver->leads(key);
         });
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

std::vector<std::string> Engine::why_not_started() const {
  return impl_->why_not_started();
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

void Engine::ask_about_lead(std::function<std::optional<LeadTrouble>()> trouble) {
  impl_->lead_trouble = std::move(trouble);
}

std::optional<LeadTrouble> Engine::lead_trouble() const {
  return impl_->lead_trouble ? impl_->lead_trouble() : std::nullopt;
}

void Engine::abandon(Duration within, std::function<void()> done) {
  impl_->abandon(within, std::move(done));
}

Result<RulePlan> Engine::reload(std::vector<Rule> rules) {
  return impl_->reload(std::move(rules));
}

std::optional<SharedOut> Engine::shared_out() const {
  if (!impl_->narrows()) return std::nullopt;
  return SharedOut{*impl_->options.shards, impl_->rules, impl_->led};
}

std::vector<Driver*> Engine::drivers() {
  std::vector<Driver*> out;
  impl_->each_driver([&](Driver& driver) { out.push_back(&driver); });
  return out;
}

}  // namespace kubewatch::hooks

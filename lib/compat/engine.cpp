// Hooks and queues. What is combined, compacted and retried is task_queue's; one run is hook_run's.
#include "compat/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.hpp"
#include "client/request_observer.hpp"
#include "compat/hook.hpp"
#include "compat/hook_run.hpp"
#include "hooks/hook_credentials.hpp"
#include "hooks/known_kinds.hpp"
#include "hooks/metric_text.hpp"
#include "hooks/metrics.hpp"
#include "hooks/work_folder.hpp"

namespace kubewatch::compat {
namespace {

// Beyond a hook's own time: what it wrote is still on its way.
constexpr Duration kLastWrites{15000};

struct Running {
  std::size_t hook = 0;
  std::string id;
  TimePoint since;
  std::unique_ptr<HookRun> run;
};

struct Queue {
  TaskQueue tasks;
  std::optional<Running> running;
};

}  // namespace

struct Engine::Impl {
  loop::EventLoop& loop;
  client::Client& client;
  EngineOptions options;
  EngineCallbacks callbacks;
  std::function<void()> progress;

  base::Random random = base::Random::from_system();
  mutable hooks::Metrics metrics;
  mutable HookMetrics hook_metrics;
  hooks::WorkFolder folder;
  std::string work_dir;
  // kubectl in a hook talks to the server that we talk to.
  const hooks::CredentialsRule identity{hooks::CredentialsRule::Kind::kubeconfig, ""};
  hooks::HookCredentials credentials;
  hooks::HookEnvironment environment;  // what each hook gets beside its files
  hooks::LimitGuard guard;
  hooks::StreamPool pool;
  RunServices services;
  std::vector<std::unique_ptr<Hook>> hooks;
  std::unique_ptr<HookLoader> loader;

  hooks::KnownKinds known;
  hooks::OncePer told{Duration{60000}};

  std::map<std::string, Queue> queues;
  std::string last_started;  // queues take turns where processes are few
  std::size_t startup_left = 0;
  bool started_up = false;  // all onStartup hooks are done
  std::uint64_t runs = 0;
  std::uint64_t failed_runs = 0;
  std::optional<TimePoint> last_finish;
  loop::Timer pump_timer;

  bool stopping = false;
  loop::Timer shutdown_timer;
  std::function<void()> on_shut_down;
  std::vector<std::string> cut_off;
  std::shared_ptr<char> alive = std::make_shared<char>();

  Impl(loop::EventLoop& the_loop, client::Client& the_client, EngineOptions the_options,
       EngineCallbacks the_callbacks);
  ~Impl();

  Result<void> start();
  void on_config(std::size_t place, Result<HookConfig> config);
  void queue_startup();
  void give_up(const Error& error);
  void resolve_hooks();
  void advance();
  void enqueue(const std::string& queue, Task task);
  void pump();
  void plan();
  void start_run(const std::string& name, Queue& queue);
  std::vector<std::string> hook_environment() const;
  void on_done(const std::string& name, RunResult result);
  void record(const Running& running, const Batch& batch, const RunResult& result);
  void shut_down(std::function<void()> done);
  void drained();
  std::size_t running() const;
  hooks::EngineStatus status() const;
  hooks::EngineFacts facts() const;
  std::string metrics_text(const hooks::EngineFacts& facts, bool ready) const;
  std::string hook_metrics_text() const;
  bool can_run() const { return !stopping && known.resources() != nullptr; }
  bool all_configured() const {
    return std::all_of(hooks.begin(), hooks.end(),
                       [](const auto& hook) { return hook->configured(); });
  }
  void tell() {
    if (progress) progress();
  }
};

Engine::Impl::Impl(loop::EventLoop& the_loop, client::Client& the_client, EngineOptions the_options,
                   EngineCallbacks the_callbacks)
    : loop(the_loop),
      client(the_client),
      options(std::move(the_options)),
      callbacks(std::move(the_callbacks)),
      credentials(client),
      guard(loop),
      pool(client, random),
      services{client, guard, [this] { return known.resources(); },
               [this](std::function<void()> done) { known.refresh(std::move(done)); }, options.dry},
      known(loop, client, random, {.give_up_start = options.give_up_start},
            {[this] { resolve_hooks(); }, [this](const Error& error) { give_up(error); }}) {}

Engine::Impl::~Impl() {
  client.observers().all = nullptr;
  queues.clear();
  loader.reset();
  hooks.clear();
}

Result<void> Engine::Impl::start() {
  std::vector<std::string> skipped;
  KW_ASSIGN(auto files, find_hooks(options.folder, skipped));
  for (const std::string& name : skipped) {
    base::log_warn("a script that is not executable is no hook", {{"file", name}});
  }
  if (files.empty()) {
    return Error(ErrorKind::not_found, options.folder + ": there is no executable file in it");
  }
  KW_ASSIGN(folder, hooks::WorkFolder::make(hooks::temporary_base()));
  work_dir = folder.path();
  KW_ASSIGN(environment, credentials.write_kept(identity, work_dir));
  client.observers().all = &metrics;
  for (std::size_t i = 0; i < files.size(); ++i) {
    hooks.push_back(std::make_unique<Hook>(
        loop, i, files[i],
        Hook::Callbacks{
            [this](const std::string& queue, Task task) { enqueue(queue, std::move(task)); },
            [this] { advance(); }}));
  }
  loader = std::make_unique<HookLoader>(loop, std::move(files), hook_environment(),
                                        [this](std::size_t place, Result<HookConfig> config) {
                                          on_config(place, std::move(config));
                                        });
  loader->start();
  known.ask();
  return {};
}

std::vector<std::string> Engine::Impl::hook_environment() const {
  std::vector<std::string> out = whole_environment();
  std::erase_if(out, [](const std::string& entry) { return entry.starts_with("KUBECONFIG="); });
  out.insert(out.end(), environment.variables.begin(), environment.variables.end());
  return out;
}

void Engine::Impl::on_config(std::size_t place, Result<HookConfig> config) {
  if (stopping) return;
  hooks[place]->configure(std::move(config));
  if (all_configured()) queue_startup();
  resolve_hooks();
}

void Engine::Impl::queue_startup() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    if (!hooks[i]->broken() && hooks[i]->config().on_startup) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return *hooks[a]->config().on_startup < *hooks[b]->config().on_startup;
  });
  startup_left = order.size();
  started_up = startup_left == 0;
  for (const std::size_t place : order) {
    enqueue(std::string(kMainQueue), {place, startup_context(), false});
  }
}

void Engine::Impl::give_up(const Error& error) {
  stopping = true;
  if (callbacks.on_fatal) callbacks.on_fatal(error);
}

// A hook whose kinds are missing waits alone; the server is asked again while one does.
void Engine::Impl::resolve_hooks() {
  if (!can_run()) return;
  bool waiting = false;
  for (auto& hook : hooks) {
    if (!hook->configured() || hook->broken() || hook->resolved()) continue;
    const auto resolved = hook->resolve(pool, *known.resources());
    if (resolved.ok()) continue;
    if (hook->broken()) {
      base::log_error("hook is not run: " + resolved.error().render(),
                      {{"controller", hook->file().name}});
      continue;
    }
    waiting = true;
    if (told.admit(hook->file().name + resolved.error().message(), loop.now())) {
      base::log_warn("hook waits: " + resolved.error().render(),
                     {{"controller", hook->file().name}});
    }
  }
  if (waiting) {
    known.ask_again();
  } else {
    known.none_missing();
  }
  advance();
}

// Hooks begin in the order of their paths; one that waits for the server holds up nobody.
void Engine::Impl::advance() {
  if (can_run() && started_up && all_configured()) {
    for (auto& hook : hooks) {
      if (hook->begun() || hook->broken() || hook->blocked()) continue;
      if (!hook->ready()) break;
      hook->begin();
    }
  }
  pump();
  tell();
}

void Engine::Impl::enqueue(const std::string& queue, Task task) {
  auto it = queues.find(queue);
  if (it == queues.end()) {
    it = queues.try_emplace(queue).first;
    it->second.tasks = TaskQueue(options.retry);
  }
  it->second.tasks.push(std::move(task), loop.now());
  // What comes in the same turn runs together.
  if (!stopping) pump_timer = loop.after(Duration{0}, [this] { pump(); });
}

std::size_t Engine::Impl::running() const {
  return static_cast<std::size_t>(
      std::count_if(queues.begin(), queues.end(),
                    [](const auto& entry) { return entry.second.running.has_value(); }));
}

void Engine::Impl::pump() {
  if (!can_run()) return;
  auto it = queues.upper_bound(last_started);
  for (std::size_t i = 0; i < queues.size(); ++i, ++it) {
    if (it == queues.end()) it = queues.begin();
    if (options.concurrency > 0 && running() >= options.concurrency) break;
    Queue& queue = it->second;
    const auto hook = queue.tasks.ready(loop.now());
    if (!hook) continue;
    if (const auto when = hooks[*hook]->rate().take(loop.now())) {
      queue.tasks.hold_until(*when);
      continue;
    }
    last_started = it->first;
    start_run(it->first, queue);
  }
  plan();
}

void Engine::Impl::plan() {
  std::optional<TimePoint> next;
  for (const auto& [name, queue] : queues) {
    const auto due = queue.tasks.due(loop.now());
    if (due && (!next || *due < *next)) next = due;
  }
  if (!next) return;
  const auto wait = std::chrono::ceil<Duration>(*next - loop.now());
  pump_timer = loop.after(std::max(Duration{1}, wait), [this] { pump(); });
}

void Engine::Impl::start_run(const std::string& name, Queue& queue) {
  // What one run cannot carry in memory stays queued for the next.
  const bool several = queue.tasks.may_combine();
  const std::size_t next = *queue.tasks.ready(loop.now());
  const Batch& batch = queue.tasks.start(several ? hooks[next]->most_contexts() : 1);
  if (shows_state(batch.contexts)) {
    for (auto& [of, other] : queues) other.tasks.shown(batch.hook);
  }
  Hook& hook = *hooks[batch.hook];
  Running& running = queue.running.emplace();
  running.hook = batch.hook;
  running.id = random.suffix(10);
  running.since = loop.now();
  RunInput input;
  input.folder = work_dir + "/" + running.id;
  input.context = hook.render(batch.contexts);
  input.environment = hook_environment();
  input.mask = hook.secrets(batch.contexts);
  // Tokens are renewed while we live, and whatever cleans up temporary folders may take this one.
  credentials.refresh(identity, work_dir);
  for (const std::string& secret : credentials.secrets(identity)) input.mask.add_value(secret);
  input.log_fields = {{"controller", hook.file().name},
                      {"queue", name},
                      {"run", running.id},
                      {"attempt", std::to_string(batch.attempt)}};
  input.timeout = options.hook_timeout;
  input.grace = options.grace;
  running.run = std::make_unique<HookRun>(
      services, hook.file(), std::move(input),
      [this, name](RunResult result) { on_done(name, std::move(result)); });
  running.run->start();
}

void Engine::Impl::record(const Running& running, const Batch& batch, const RunResult& result) {
  hooks::RunRecord out;
  out.id = running.id;
  out.controller = hooks[running.hook]->file().name;
  out.object = describe(batch.contexts);
  out.reason = batch.attempt > 1 ? "Retry" : "Event";
  out.attempt = batch.attempt;
  out.outcome = result.outcome;
  out.message = result.message;
  out.exit_code = result.exit.code;
  out.elapsed = std::chrono::duration_cast<Duration>(loop.now() - running.since);
  out.cpu = result.exit.cpu;
  out.max_rss = result.exit.max_rss;
  out.created = result.patch.created;
  out.configured = result.patch.configured;
  out.unchanged = result.patch.unchanged;
  out.deleted = result.patch.deleted;
  out.writes = result.patch.writes;
  out.stderr_tail = result.stderr_tail;
  metrics.run_ended(out, loop.now());
  metrics.run_used(out.controller, out.cpu, static_cast<double>(out.max_rss), loop.now());
  if (callbacks.on_run) callbacks.on_run(out);
}

void Engine::Impl::on_done(const std::string& the_name, RunResult result) {
  const std::string name = the_name;  // it goes with the run
  Queue& queue = queues.find(name)->second;
  const Running running = *std::exchange(queue.running, std::nullopt);
  const Batch batch = queue.tasks.head();
  Hook& hook = *hooks[running.hook];
  const bool success = result.outcome == "done";
  ++runs;
  failed_runs += success ? 0 : 1;
  last_finish = loop.now();
  record(running, batch, result);
  for (const std::string& note : result.notes) {
    // A hook writes the same in each run.
    if (!told.admit(hook.file().name + note, loop.now())) continue;
    base::log_warn(note, {{"controller", hook.file().name}});
  }
  if (result.cut_off) cut_off.push_back(hook.file().name + ": " + describe(batch.contexts));
  for (const std::string& problem :
       hook_metrics.apply(hook.file().name, result.metrics, loop.now())) {
    base::log_warn("a metric of a hook is not taken: " + problem,
                   {{"controller", hook.file().name}});
  }
  if (queue.tasks.finish(success, loop.now(), random)) {
    if (batch.contexts.front().type == ContextType::startup) {
      started_up = --startup_left == 0;
      // What the last of them made may be a kind that others wait for.
      if (started_up) known.ask();
    }
    hook.synchronized(batch.synchronized);
  }
  if (stopping) return drained();
  advance();
}

void Engine::Impl::shut_down(std::function<void()> done) {
  stopping = true;
  on_shut_down = std::move(done);
  known.stop();
  pump_timer.reset();
  loader.reset();
  for (auto& hook : hooks) hook->stop();
  shutdown_timer = loop.after(options.shutdown_timeout, [this] {
    base::log_warn("shutdown timeout: ending the hooks that still run");
    for (auto& [name, queue] : queues) {
      if (queue.running) queue.running->run->terminate();
    }
    // Then only writes can be left, to a server that does not answer.
    shutdown_timer = loop.after(options.grace + kLastWrites, [this] {
      for (auto& [name, queue] : queues) {
        if (!queue.running) continue;
        cut_off.push_back(hooks[queue.running->hook]->file().name + ": " +
                          describe(queue.tasks.head().contexts));
        queue.running.reset();
      }
      drained();
    });
  });
  loop.post([this, there = std::weak_ptr<char>(alive)] {
    if (!there.expired()) drained();
  });
}

void Engine::Impl::drained() {
  if (running() > 0) return;
  shutdown_timer.reset();
  auto callback = std::exchange(on_shut_down, nullptr);
  if (callback) callback();
}

hooks::EngineStatus Engine::Impl::status() const {
  hooks::EngineStatus out;
  std::size_t begun = 0;
  for (const auto& hook : hooks) {
    begun += hook->begun() ? 1 : 0;
    const bool waits =
        hook->configured() && known.resources() != nullptr && (hook->blocked() || hook->stalled());
    if (hook->broken() || (waits && !hook->begun())) ++out.waiting_rules;
  }
  out.synced = known.resources() != nullptr && all_configured() && started_up &&
               begun + out.waiting_rules == hooks.size();
  out.idle = out.synced;
  for (const auto& [name, queue] : queues) {
    out.hooks += queue.running ? 1 : 0;
    out.failing += queue.tasks.failing() ? 1 : 0;
    if (!queue.tasks.empty() && !queue.tasks.failing()) out.idle = false;
  }
  // Stuck before the start: nothing happens by itself but the next try.
  if (!started_up && out.failing > 0 && out.hooks == 0) out.idle = true;
  out.at_work = !out.idle && out.failing == 0;
  out.runs = runs;
  out.failed_runs = failed_runs;
  return out;
}

hooks::EngineFacts Engine::Impl::facts() const {
  hooks::EngineFacts out;
  out.discovered = known.resources() != nullptr;
  out.stopping = stopping;
  out.longest_run = options.hook_timeout + options.grace;
  std::map<std::size_t, hooks::ControllerFacts> of;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    of[i].controller = hooks[i]->file().name;
    of[i].started = hooks[i]->begun();
    of[i].why_not_started = hooks[i]->why_not_ready();
    if (of[i].why_not_started.empty() && !started_up) {
      of[i].why_not_started = all_configured() ? "the onStartup hooks have not all run yet"
                                               : "the --config of another hook has not ended yet";
    }
  }
  for (const auto& [name, queue] : queues) {
    if (queue.running) ++of[queue.running->hook].running;
    if (queue.tasks.failing()) {
      ++of[queue.tasks.head().hook].failing;
      ++of[queue.tasks.head().hook].waiting;
    }
    queue.tasks.each_waiting([&](std::size_t hook, TimePoint since) {
      ++of[hook].ready;
      const Duration age = std::chrono::duration_cast<Duration>(loop.now() - since);
      of[hook].oldest = std::max(of[hook].oldest.value_or(age), age);
    });
  }
  for (auto& [place, one] : of) out.controllers.push_back(std::move(one));
  out.watches = pool.facts();
  if (last_finish) {
    out.since_finish = std::chrono::duration_cast<Duration>(loop.now() - *last_finish);
  }
  return out;
}

std::string Engine::Impl::metrics_text(const hooks::EngineFacts& facts, bool ready) const {
  return metrics.text(facts, hooks::process_facts(loop, ready), loop.now()) + hook_metrics_text();
}

std::string Engine::Impl::hook_metrics_text() const {
  return hooks::metric_text(hook_metrics.collect(loop.now()));
}

Engine::Engine(loop::EventLoop& loop, client::Client& client, EngineOptions options,
               EngineCallbacks callbacks)
    : impl_(std::make_unique<Impl>(loop, client, std::move(options), std::move(callbacks))) {}
Engine::~Engine() = default;

Result<void> Engine::start() {
  return impl_->start();
}
hooks::EngineStatus Engine::status() const {
  return impl_->status();
}
hooks::EngineFacts Engine::facts() const {
  return impl_->facts();
}
std::string Engine::metrics_text(const hooks::EngineFacts& facts, bool ready) const {
  return impl_->metrics_text(facts, ready);
}
std::string Engine::hook_metrics_text() const {
  return impl_->hook_metrics_text();
}
void Engine::on_progress(std::function<void()> callback) {
  impl_->progress = std::move(callback);
}
void Engine::shut_down(std::function<void()> done) {
  impl_->shut_down(std::move(done));
}
const std::vector<std::string>& Engine::cut_off() const {
  return impl_->cut_off;
}

}  // namespace kubewatch::compat

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
#include "hooks/driver.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kRediscoverPause{5000};

std::string temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      std::string(base == nullptr || *base == '\0' ? "/tmp" : base) + "/kubewatch-XXXXXX";
  return mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
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
  bool own_folder = false;
  Services services;
  std::vector<Rule> rules;  // until start(); with a plan that narrows, what shards are made from
  std::set<std::size_t> led;
  std::vector<std::string> cut_off;
  std::vector<std::unique_ptr<Driver>> drivers;

  std::shared_ptr<const client::ResourceMap> resources;
  base::Backoff discovery_backoff{{Duration{1000}, Duration{30000}, 2.0, 0.2}};
  base::Backoff missing_backoff{{kRediscoverPause, Duration{30000}, 1.5, 0.1}};
  OncePer told{Duration{60000}};
  TimePoint discovered_at{};
  bool discovering = false;
  bool stopping = false;
  std::vector<std::function<void()>> after_discovery;
  loop::Timer discovery_timer;
  loop::Timer shutdown_timer;
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
  void rediscover(std::function<void()> done);
  void shut_down(std::function<void()> done);
  void lead(std::size_t shard);
  void end_runs(std::size_t shard, std::function<void()> ended);
  void abandon(Duration within, std::function<void()> done);
  void note_cut_off();
  bool narrows() const { return options.shards && options.shards->narrows(); }
  EngineStatus status() const;
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
      rules(std::move(the_rules)) {}

Engine::Impl::~Impl() {
  drivers.clear();
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
                  [this](const RunRecord& record) {
                    if (callbacks.on_run) callbacks.on_run(record);
                  },
                  [this] { tell(); },
                  std::move(folder),
                  callbacks.on_trace,
                  options.steady};
}

void Engine::Impl::start() {
  if (services.work_dir.empty()) {
    stopping = true;
    const Error error(ErrorKind::forbidden,
                      "cannot make a private folder for the hooks under TMPDIR (or /tmp)");
    base::log_error(error.message());
    if (callbacks.on_fatal) loop.post([fatal = callbacks.on_fatal, error] { fatal(error); });
    return;
  }
  if (!narrows()) {
    DriverScope scope;
    if (options.shards) scope.shards = options.shards->count;
    for (Rule& rule : rules) {
      drivers.push_back(std::make_unique<Driver>(services, std::move(rule), scope));
    }
    rules.clear();
  }
  discover();
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
  bool waiting = false;
  for (auto& driver : drivers) {
    if (driver->resolved()) continue;
    auto resolved = driver->resolve(*resources);
    if (resolved.ok()) continue;
    waiting = true;
    const std::string& name = driver->rule().name;
    if (told.admit("rule " + name + resolved.error().message(), loop.now())) {
      base::log_warn("controller waits: " + resolved.error().message(),
                     {{"controller", name}, {"file", driver->rule().file}});
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
  for (const auto& driver : drivers) {
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
  out.synced = resources != nullptr && started + out.waiting_rules == drivers.size();
  out.idle = out.synced && all_idle && (!options.shards || !led.empty());
  return out;
}

void Engine::Impl::shut_down(std::function<void()> done) {
  stopping = true;
  discovery_timer.reset();
  on_shut_down = std::move(done);
  draining = drivers.size() + 1;
  auto drained = [this] {
    if (--draining > 0) return;
    shutdown_timer.reset();
    auto callback = std::move(on_shut_down);
    if (callback) callback();
  };
  shutdown_timer = loop.after(options.shutdown_timeout, [this] {
    base::log_warn("shutdown timeout: ending the hooks that still run");
    for (auto& driver : drivers) driver->terminate_hooks();
    // Then only writes can be left, to a server that does not answer.
    shutdown_timer = loop.after(options.last_writes, [this] {
      note_cut_off();
      auto callback = std::move(on_shut_down);
      if (callback) callback();
    });
  });
  for (auto& driver : drivers) driver->shut_down(drained);
  drained();
}

void Engine::Impl::note_cut_off() {
  for (const auto& driver : drivers) {
    for (std::string& object : driver->running_objects()) {
      base::log_error("shutdown: the outcome of a run could not be written in time",
                      {{"controller", driver->rule().name}, {"object", object}});
      cut_off.push_back(std::move(object));
    }
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
    drivers.push_back(std::make_unique<Driver>(services, std::move(*narrowed), scope));
  }
  if (resources != nullptr) resolve_rules();
}

void Engine::Impl::end_runs(std::size_t shard, std::function<void()> ended) {
  led.erase(shard);
  // A driver tells only one when it is drained: shut_down() waits for it, and then all are
  // released.
  if (stopping && narrows()) return;
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
  for (auto& driver : drivers) {
    if (narrows() && driver->scope().only != shard) continue;
    ++*left;
    narrows() ? driver->shut_down(one_less) : driver->end_runs(shard, one_less);
  }
  loop.post(one_less);
}

void Engine::Impl::abandon(Duration within, std::function<void()> done) {
  stopping = true;
  led.clear();
  discovery_timer.reset();
  on_shut_down = std::move(done);
  draining = drivers.size() + 1;
  // What has not ended by then is killed with its driver, whatever grace its rule gives it.
  const auto end = [this] {
    auto callback = std::exchange(on_shut_down, nullptr);
    if (!callback) return;
    after_discovery.clear();  // of runs and drivers
    drivers.clear();
    callback();
  };
  const auto drained = [this, end] {
    if (--draining == 0) loop.post(end);
  };
  shutdown_timer = loop.after(within, end);
  for (auto& driver : drivers) driver->abandon(drained);
  drained();
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

void Engine::on_progress(std::function<void()> callback) {
  impl_->progress = std::move(callback);
}

void Engine::shut_down(std::function<void()> done) {
  impl_->shut_down(std::move(done));
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

}  // namespace kubewatch::hooks

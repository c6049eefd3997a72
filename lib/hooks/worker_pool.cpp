// Carries out what WorkerQueue decides.
#include "hooks/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/printed_secrets.hpp"
#include "hooks/program_changes.hpp"
#include "hooks/program_files.hpp"
#include "hooks/worker_end.hpp"
#include "hooks/worker_queue.hpp"
#include "loop/lines.hpp"
#include "loop/process_table.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxShownLine = 64U << 10U;
constexpr Duration kMemoryPause{1000};  // between two looks at what a worker's memory was
constexpr Duration kToldPause{1000};    // a shorter one before a start is not worth a line

}  // namespace

class WorkerCall;

struct WorkerPool::Impl : std::enable_shared_from_this<WorkerPool::Impl> {
  struct Worker {
    std::string home;
    std::map<std::string, std::string> files;  // of its program, with their stamps at its start
    loop::LineSplitter lines{0, loop::LineSplitter::Longer::refused};
    std::optional<HookLog> idle_log;
    base::LogFields answered;  // of the last run that it answered
    SecretMask seen;           // it may say later what it was told before
    bool used = false;         // it was sent a run
    std::chrono::nanoseconds cpu_before{0};
    std::uint64_t max_rss = 0;
    TimePoint memory_seen{};
    WorkerEnd end;
    loop::Timer deadline;
    std::shared_ptr<loop::Cgroup> cgroup;
    std::unique_ptr<loop::Process> process;
    LimitGuard::Watched watched;  // goes before the process it watches
  };

  Impl(loop::EventLoop& the_loop, base::Random& the_random, LimitGuard& the_guard,
       const HookRule& the_rule, WorkerSurroundings the_surroundings)
      : loop(the_loop),
        random(the_random),
        guard(the_guard),
        rule(the_rule),
        surroundings(std::move(the_surroundings)),
        now(surroundings.now ? surroundings.now : [clock = &the_loop] { return clock->now(); }),
        queue(surroundings.slots, surroundings.restart),
        workers(std::max<std::size_t>(surroundings.slots, 1)) {}

  void pump();
  void tell(const WorkerQueue::Hold& hold);
  void start_worker(std::size_t slot);
  Result<void> launch(Worker& worker, std::size_t slot);
  void send(std::size_t slot, const std::string& id);
  bool is_to_be_replaced(const Worker& worker);
  std::string outdated_by(const Worker& worker);
  void on_output(std::size_t slot, std::string_view bytes);
  void on_line(std::size_t slot, std::string_view line, bool more);
  void tell_repeated(std::size_t slot) const;
  void show_line(std::size_t slot, std::string_view line);
  void on_errors(std::size_t slot, std::string_view line, bool cut);
  void on_timeout(std::size_t slot);
  void on_over_limit(std::size_t slot, std::string why);
  void on_worker_end(std::size_t slot, const loop::ProcessExit& exit);
  void stop(std::size_t slot);
  void leave_home(const Worker& worker) const;
  void judge_limits(Worker& worker) const;
  void cancel(const std::string& id);
  void drop(const std::string& id);
  void finish(const std::string& id, HookExit exit);
  void count(Worker& worker, HookExit& exit);
  void end_workers(bool busy_too);
  void shut_down(std::function<void()> done);
  bool any_alive() const;

  loop::EventLoop& loop;
  base::Random& random;
  LimitGuard& guard;
  const HookRule& rule;
  WorkerSurroundings surroundings;
  std::function<TimePoint()> now;
  WorkerQueue queue;
  ProgramChanges changes;
  std::vector<Worker> workers;
  std::map<std::string, WorkerCall*> calls;
  std::map<std::size_t, WorkerCall*> unreleased;  // answered; what it printed is not known yet
  bool prints_secrets = false;                    // the rule may
  std::uint64_t started = 0;
  bool stopping = false;
  std::function<void()> on_stopped;
  loop::Timer restart;
  TimePoint told_hold{};  // until when the one that the log has was
};

class WorkerCall : public HookCall {
 public:
  WorkerCall(std::weak_ptr<WorkerPool::Impl> pool, HookStart start, OnExit exit_handler,
             std::function<TimePoint()> now)
      : id(std::move(start.id)),
        input(std::move(start.input) + '\n'),
        told(start.mask),
        log(std::move(start.log_fields), std::move(start.mask), start.hold_lines),
        given(std::move(start.given)),
        started(now()),
        on_exit(std::move(exit_handler)),
        pool_(std::move(pool)),
        now_(std::move(now)) {}
  ~WorkerCall() override {
    auto pool = pool_.lock();
    if (!pool) return;
    leave(*pool);
    if (on_exit) pool->drop(id);
  }
  void terminate() override {
    if (auto pool = pool_.lock(); pool && on_exit) pool->cancel(id);
  }
  void release(const SecretMask& mask) override {
    learn(mask);
    log.release(mask, now_());
  }
  std::string withhold(const SecretMask& mask, const std::string& why) override {
    learn(mask);
    return log.withhold(mask, why);
  }
  std::string last_line() const override { return log.last_line(); }
  std::string stderr_tail() const override { return log.tail(); }
  std::string held_by() const override {
    const auto pool = pool_.lock();
    if (!pool || !pool->queue.waits(id)) return "";
    const auto hold = pool->queue.hold(now_());
    return hold ? why_held(*hold, now_()) : "";
  }

  std::string id;
  std::string input;
  SecretMask told;  // with the input
  HookLog log;
  std::function<void(const std::string& home)> given;
  TimePoint started;
  OnExit on_exit;

 private:
  void learn(const SecretMask& mask) {
    auto pool = pool_.lock();
    if (!pool) return;
    bool known = false;
    for (const auto& [slot, call] : pool->unreleased) {
      if (call != this) continue;
      known = true;
      pool->workers[slot].seen.merge(mask);
    }
    if (!known) {
      for (auto& worker : pool->workers) worker.seen.merge(mask);
    }
    leave(*pool);
  }
  void leave(WorkerPool::Impl& pool) {
    std::erase_if(pool.unreleased, [this](const auto& one) { return one.second == this; });
  }

  std::weak_ptr<WorkerPool::Impl> pool_;
  std::function<TimePoint()> now_;
};

void WorkerPool::Impl::pump() {
  restart.reset();
  // One time for both questions: a hold that ends between them would be waited out by nobody.
  TimePoint asked = now();
  for (auto step = queue.next(asked); step; step = queue.next(asked = now())) {
    if (step->kind == WorkerQueue::Step::Kind::start) {
      start_worker(step->slot);
    } else {
      send(step->slot, step->id);
    }
  }
  const auto hold = queue.hold(asked);
  if (!hold) return;
  restart = loop.after(std::chrono::ceil<Duration>(hold->until - now()), [this] { pump(); });
  tell(*hold);
}

// Runs that wait for it would seem to hang.
void WorkerPool::Impl::tell(const WorkerQueue::Hold& hold) {
  if (hold.until == told_hold || hold.until - now() < kToldPause) return;
  told_hold = hold.until;
  base::LogFields fields = {{"controller", surroundings.controller}};
  if (hold.runs > 0) fields.emplace_back("runs_waiting", std::to_string(hold.runs));
  base::log_warn(why_held(hold, now()), fields);
}

void WorkerPool::Impl::start_worker(std::size_t slot) {
  Worker& worker = workers[slot];
  worker = {};
  const auto launched = launch(worker, slot);
  if (launched.ok()) return;
  leave_home(worker);
  const std::string id = queue.on_start_failed(slot, now(), random);
  HookExit exit;
  exit.died = "the worker cannot be started: " + launched.error().render();
  // Whoever submitted it may still be on the stack.
  loop.post([weak = weak_from_this(), id, exit]() mutable {
    if (auto self = weak.lock()) self->finish(id, std::move(exit));
  });
}

Result<void> WorkerPool::Impl::launch(Worker& worker, std::size_t slot) {
  const std::string name = fmt::format("worker-{}", ++started);
  KW_ASSIGN(worker.home, surroundings.new_home(name));
  worker.idle_log.emplace(
      base::LogFields{{"controller", surroundings.controller}, {"worker", name}}, SecretMask{},
      false);
  worker.lines = loop::LineSplitter(rule.max_output, loop::LineSplitter::Longer::refused);
  // Before it reads them: what changes meanwhile is newer than the worker.
  for (const std::string& path : program_files_of(rule)) worker.files[path] = file_stamp(path);
  loop::ProcessOptions options;
  options.argv = rule.argv;
  KW_ASSIGN(HookEnvironment around, surroundings.environment(worker.home));
  for (const std::string& secret : around.secrets) worker.seen.add_value(secret);
  options.environment = std::move(around.variables);
  options.directory = rule.directory;
  options.timeout = Duration{0};  // of a run, not of the worker
  options.grace = rule.grace;
  options.keep_begun = true;
  if (surroundings.new_cgroup) {
    KW_ASSIGN(worker.cgroup, surroundings.new_cgroup());
  }
  options.cgroup = worker.cgroup;
  options.on_output = [this, slot](std::string_view bytes) { on_output(slot, bytes); };
  KW_ASSIGN(worker.process,
            loop::Process::start(
                loop, std::move(options),
                [this, slot](std::string_view line) { on_errors(slot, line, false); },
                [this, slot](const loop::ProcessExit& exit) { on_worker_end(slot, exit); }));
  worker.watched = guard.watch(
      worker.process->pid(), rule.limits,
      [this, slot](std::string why) { on_over_limit(slot, std::move(why)); }, nullptr,
      worker.cgroup);
  return {};
}

void WorkerPool::Impl::send(std::size_t slot, const std::string& id) {
  Worker& worker = workers[slot];
  if (loop::has_exited(worker.process->pid())) return queue.on_not_sent(slot);
  if (is_to_be_replaced(worker)) {
    queue.on_outdated(slot);
    return worker.process->terminate();
  }
  WorkerCall& call = *calls.at(id);
  // What has answered before may answer that once more: then another worker is told all this.
  const bool may_be_given_anew = std::exchange(worker.used, true);
  worker.seen.merge(call.told);
  if (!may_be_given_anew) call.told = {};
  if (surroundings.refresh) {
    for (const std::string& secret : surroundings.refresh(worker.home)) {
      worker.seen.add_value(secret);
    }
  }
  if (call.given) call.given(worker.home);
  worker.cpu_before = loop::cpu_time_of(worker.process->pid()).value_or(worker.cpu_before);
  worker.watched.restart_cpu();
  call.started = now();
  worker.process->write(call.input);
  if (!may_be_given_anew) call.input = {};
  if (rule.timeout > Duration::zero()) {
    worker.deadline = loop.after(rule.timeout, [this, slot] { on_timeout(slot); });
  }
}

// Told as well.
bool WorkerPool::Impl::is_to_be_replaced(const Worker& worker) {
  base::LogFields fields = worker.idle_log->fields();
  if (worker.used && worker.seen.nearly_full()) {
    base::log_info(
        "the worker was told so many secrets that its lines could not be masked for long: it is "
        "ended, another one started",
        fields);
    return true;
  }
  const std::string file = outdated_by(worker);
  if (file.empty()) return false;
  fields.emplace_back("file", file);
  base::log_info("the worker's program has changed: the worker is ended, another one started",
                 fields);
  return true;
}

// The file for which it is to be ended, "" = none. While one is missing it is perhaps being
// replaced, and no worker could be started.
std::string WorkerPool::Impl::outdated_by(const Worker& worker) {
  std::map<std::string, std::string> changed;
  for (const auto& [path, was] : worker.files) {
    std::string stamp = file_stamp(path);
    if (stamp.empty()) return "";
    if (stamp != was) changed[path] = std::move(stamp);
  }
  std::string out;
  for (const auto& [path, stamp] : changed) {
    const auto judged = changes.judge(path, stamp, now());
    if (judged.counts) out = path;
    if (!judged.pause) continue;
    base::log_warn(
        fmt::format("a file of the worker's command line changes again and again: its next change "
                    "counts in {}, later ones after longer pauses; where the hook itself writes "
                    "the file, name it in env",
                    base::format_duration(*judged.pause)),
        {{"controller", surroundings.controller}, {"file", path}});
  }
  return out;
}

// What follows a line is nothing that anybody asked for.
void WorkerPool::Impl::on_output(std::size_t slot, std::string_view bytes) {
  using Fed = loop::LineSplitter::Fed;
  queue.on_bytes(slot);
  const auto fed =
      workers[slot].lines.feed(bytes, [&](std::string_view line, std::string_view rest) {
        on_line(slot, line, !rest.empty());
        return false;
      });
  if (fed == Fed::too_long) {
    queue.on_overflow(slot, rule.max_output);
    return stop(slot);
  }
  if (fed == Fed::all && queue.run_of(slot).empty()) on_line(slot, bytes, false);
}

void WorkerPool::Impl::on_line(std::size_t slot, std::string_view line, bool more) {
  Worker& worker = workers[slot];
  const std::string id = queue.run_of(slot);
  const Result<WorkerAnswer> answer = parse_worker_answer(line);
  if (!queue.on_line(slot, answer, more)) {
    worker.end.printed = line;
    queue.repeats(slot).empty() ? show_line(slot, line) : tell_repeated(slot);
    return stop(slot);
  }
  worker.deadline.reset();
  HookExit exit;
  exit.code = answer->exit;
  exit.out = answer->documents;
  exit.is_list = true;
  count(worker, exit);
  worker.answered.clear();
  if (const auto call = calls.find(id); call != calls.end()) {
    unreleased[slot] = call->second;
    worker.answered = call->second->log.fields();
    worker.answered.pop_back();  // the stream of lines
  }
  finish(id, std::move(exit));
}

// That run is over, and its object is the one to look at.
void WorkerPool::Impl::tell_repeated(std::size_t slot) const {
  base::LogFields fields = workers[slot].answered;
  if (fields.empty()) {  // nobody waited for it
    fields = workers[slot].idle_log->fields();
    fields.emplace_back("run", queue.repeats(slot));
  }
  base::log_warn(
      "the worker answered this run twice, the second time when it had been given another: it is "
      "ended",
      fields);
}

// A line that is none of ours: what went wrong is seen best in it.
void WorkerPool::Impl::show_line(std::size_t slot, std::string_view line) {
  if (line.size() > kMaxShownLine) return;
  SecretMask& seen = workers[slot].seen;
  if (prints_secrets && !mask_printed(line, true, seen)) return;
  const auto call = calls.find(queue.run_of(slot));
  const HookLog& log = call == calls.end() ? *workers[slot].idle_log : call->second->log;
  // It may be the first part of a line, as far as it was read.
  log.warn("the worker printed what is no answer", seen.mask_cut(line));
}

void WorkerPool::Impl::on_errors(std::size_t slot, std::string_view line, bool cut) {
  const std::string masked = masked_line(workers[slot].seen, line, cut);
  const auto call = calls.find(queue.run_of(slot));
  if (call != calls.end()) return call->second->log.line(masked, now(), cut);
  if (const auto last = unreleased.find(slot); last != unreleased.end()) {
    return last->second->log.line(masked, now(), cut);
  }
  workers[slot].idle_log->line(masked, now(), cut);
}

void WorkerPool::Impl::on_timeout(std::size_t slot) {
  workers[slot].end.timed_out = true;
  queue.on_stopped(slot);
  workers[slot].process->terminate();
}

void WorkerPool::Impl::on_over_limit(std::size_t slot, std::string why) {
  if (queue.run_of(slot).empty()) {
    base::log_warn("a worker is ended: used " + why, workers[slot].idle_log->fields());
  }
  workers[slot].end.over_limit = std::move(why);
  stop(slot);
}

void WorkerPool::Impl::leave_home(const Worker& worker) const {
  if (!worker.home.empty() && surroundings.forget) surroundings.forget(worker.home);
}

// At once: what it does is wrong already.
void WorkerPool::Impl::stop(std::size_t slot) {
  Worker& worker = workers[slot];
  queue.on_stopped(slot);
  if (worker.end.printed.empty()) worker.end.printed = worker.lines.begun();
  worker.lines.clear();
  worker.process->kill();
}

void WorkerPool::Impl::cancel(const std::string& id) {
  if (calls.count(id) == 0) return;
  if (queue.withdraw(id)) {
    HookExit exit;
    exit.canceled = true;
    return loop.post([weak = weak_from_this(), id, exit]() mutable {
      if (auto self = weak.lock()) self->finish(id, std::move(exit));
    });
  }
  const auto slot = queue.slot_of(id);
  if (!slot) return;
  workers[*slot].end.canceled = true;
  queue.keep_run(*slot);
  queue.on_stopped(*slot);
  workers[*slot].process->terminate();
}

// Nobody waits for its end any more.
void WorkerPool::Impl::drop(const std::string& id) {
  if (calls.erase(id) == 0 || queue.withdraw(id)) return;
  if (const auto slot = queue.slot_of(id)) {
    queue.keep_run(*slot);
    stop(*slot);
  }
}

void WorkerPool::Impl::count(Worker& worker, HookExit& exit) {
  const int pid = worker.process->pid();
  if (const auto cpu = loop::cpu_time_of(pid)) {
    exit.cpu = std::chrono::duration<double>(*cpu - worker.cpu_before).count();
  }
  if (worker.max_rss == 0 || now() - worker.memory_seen >= kMemoryPause) {
    worker.max_rss = loop::peak_memory_of(pid);
    worker.memory_seen = now();
  }
  exit.max_rss = worker.max_rss;
}

// The kernel ends what is over a limit of its cgroup before anybody looks.
void WorkerPool::Impl::judge_limits(Worker& worker) const {
  if (worker.cgroup == nullptr) return;
  loop::CgroupUsage usage = worker.cgroup->usage();
  usage.cpu = {};
  if (worker.end.over_limit.empty()) worker.end.over_limit = over_limit(rule.limits, usage);
  worker.cgroup.reset();
}

void WorkerPool::Impl::on_worker_end(std::size_t slot, const loop::ProcessExit& exit) {
  const auto self = shared_from_this();
  // A worker is not to end: whatever ended it, it would have gone on.
  if (!exit.begun.empty()) on_errors(slot, exit.begun, true);
  Worker worker = std::exchange(workers[slot], {});
  worker.watched.reset();
  worker.deadline.reset();
  judge_limits(worker);
  leave_home(worker);
  // This is the process's own callback: it goes when that is over.
  loop.post([process = std::shared_ptr<loop::Process>(std::move(worker.process))] {});
  if (stopping && !queue.repeats(slot).empty()) {  // no other worker is started
    queue.keep_run(slot);
    worker.end.canceled = true;
  }
  const auto ended = queue.on_ended(slot, now(), random);
  worker.idle_log->end();
  if (const auto call = calls.find(ended.given); call != calls.end()) {
    base::log_info("the run is given to another worker", call->second->log.fields());
  }
  if (!ended.id.empty()) {
    HookExit out = worker.end.of_run(ended, exit, worker.lines.begun());
    out.max_rss = peak_of_child(exit.usage);
    out.cpu = cpu_of_child(exit.usage) - std::chrono::duration<double>(worker.cpu_before).count();
    finish(ended.id, std::move(out));
  } else if (!stopping && !ended.broken.empty() && ended.given.empty()) {
    base::log_warn(worker.seen.mask(broken_answer(ended)), worker.idle_log->fields());
  } else if (!stopping && ended.fault && ended.given.empty()) {
    base::log_warn(worker.end.without_run(exit), worker.idle_log->fields());
  }
  if (!stopping) return pump();
  if (!any_alive() && on_stopped) loop.post(std::exchange(on_stopped, {}));
}

// The last thing on the way: it may be the end of us.
void WorkerPool::Impl::finish(const std::string& id, HookExit exit) {
  const auto self = shared_from_this();
  const auto it = calls.find(id);
  if (it == calls.end()) return;
  WorkerCall& call = *it->second;
  calls.erase(it);
  call.log.end();
  call.input = {};
  call.told = {};
  exit.elapsed = std::chrono::duration_cast<Duration>(now() - call.started);
  const auto on_exit = std::exchange(call.on_exit, {});
  on_exit(std::move(exit));
  if (!stopping) pump();
}

bool WorkerPool::Impl::any_alive() const {
  return std::any_of(workers.begin(), workers.end(),
                     [](const Worker& worker) { return worker.process != nullptr; });
}

void WorkerPool::Impl::end_workers(bool busy_too) {
  stopping = true;
  restart.reset();
  for (std::size_t slot = 0; slot < workers.size(); ++slot) {
    const bool ends = busy_too || queue.run_of(slot).empty();
    if (workers[slot].process == nullptr || !ends) continue;
    queue.on_stopped(slot);
    workers[slot].process->terminate();
  }
}

void WorkerPool::Impl::shut_down(std::function<void()> done) {
  end_workers(true);
  if (!any_alive()) return loop.post(std::move(done));
  on_stopped = std::move(done);
}

WorkerPool::WorkerPool(loop::EventLoop& loop, base::Random& random, LimitGuard& guard,
                       const HookRule& rule, WorkerSurroundings surroundings)
    : impl_(std::make_shared<Impl>(loop, random, guard, rule, std::move(surroundings))) {}

// Impl may be on the stack below us, and live a little longer than what it refers to.
WorkerPool::~WorkerPool() {
  impl_->stopping = true;
  impl_->restart.reset();
  impl_->calls.clear();
  impl_->unreleased.clear();
  for (auto& worker : std::exchange(impl_->workers, {})) {
    worker.watched.reset();
    worker.process.reset();
    impl_->leave_home(worker);
  }
}

std::unique_ptr<HookCall> WorkerPool::run(HookStart start, HookCall::OnExit on_exit) {
  impl_->prints_secrets = start.hold_lines;
  auto call = std::make_unique<WorkerCall>(impl_, std::move(start), std::move(on_exit), impl_->now);
  impl_->calls[call->id] = call.get();
  impl_->queue.submit(call->id);
  impl_->pump();
  return call;
}

std::optional<WorkerPool::Held> WorkerPool::held() const {
  const TimePoint now = impl_->now();
  const auto hold = impl_->queue.would_hold(now);
  if (!hold) return std::nullopt;
  impl_->tell(*hold);
  return Held{hold->until, why_held(*hold, now)};
}

bool WorkerPool::any_alive() const {
  return impl_->any_alive();
}

void WorkerPool::end_idle() {
  impl_->end_workers(false);
}

void WorkerPool::shut_down(std::function<void()> done) {
  impl_->shut_down(std::move(done));
}

}  // namespace kubewatch::hooks

#include "model/simulation.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "model/api_server.hpp"
#include "model/subscriber.hpp"
#include "model/worker.hpp"

namespace kubewatch::model {

namespace {

constexpr std::size_t kKinds = 3;
// After the last fault. The slowest way back: a half-open socket (240 s), a retry that was put off
// by Retry-After (300 s at most), a streaming list that does not end (60 s), and the backoff.
constexpr Duration kConverge{420000};
constexpr Duration kConvergeAbsurd{720000};
// Once all is well: what is written now is told within this.
constexpr Duration kPrompt{8000};
constexpr Duration kRunsDone{240000};

class Simulation {
 public:
  Simulation(std::uint64_t seed, bool trace)
      : random_(seed * 2654435761U + 1),
        cluster_(kKinds, random_),
        server_(cluster_, traits(), random_) {
    verdict_.tracing = trace;
    make_token_file();
    make_subscribers();
  }
  ~Simulation() {
    if (!token_file_.empty()) std::remove(token_file_.c_str());
  }

  Verdict run() {
    for (int i = 0; i < 12; ++i) write_any();
    server_.tick(true);
    for (auto& subscriber : subscribers_) subscriber->start();
    const int steps = 60 + static_cast<int>(random_.below(120));
    for (int i = 0; i < steps && verdict_.ok(); ++i) chaos();
    if (chance(15)) outage();
    calm_down();
    return std::move(verdict_);
  }

 private:
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  // ------------------------------------------------------------ the schedule's choices
  ServerTraits traits() {
    ServerTraits out;
    out.refuses_streaming = chance(20);
    out.never_ends_streaming = chance(10);
    out.resends = chance(10);
    out.gone_by_http = chance(40);
    out.typed_items = chance(50);
    out.pages_drift = chance(10);
    out.shapes = chance(15);
    out.future_is_error = chance(30);
    if (chance(20)) out.token_life = Duration(chance(50) ? 0 : 300);
    if (chance(8)) out.unreadable_every = 20 + random_.below(20);
    if (chance(20)) out.bookmark_every = Duration{0};
    if (chance(50)) out.max_lag = 1 + random_.below(12);
    return out;
  }

  runtime::WatcherOptions watcher_options() {
    runtime::WatcherOptions out;
    out.strategy = static_cast<runtime::ListStrategy>(random_.below(4));
    out.semantics = static_cast<runtime::ListSemantics>(random_.below(3));
    out.page_size = static_cast<std::uint32_t>(1 + random_.below(4));
    out.server = core::ServerVersion{1, chance(50) ? 36 : 30};
    out.bookmarks = chance(80);
    if (chance(20)) out.timeout = Duration(5000 + 1000 * random_.below(20));
    return out;
  }

  LinkFaults link_faults() {
    LinkFaults out;
    static constexpr std::array<std::uint64_t, 5> kPercents = {0, 2, 6, 15, 35};
    out.percent = kPercents.at(random_.below(kPercents.size()));
    out.http_errors = chance(60);
    out.refused = chance(60);
    out.cuts = chance(60);
    out.ends = chance(60);
    out.silence = chance(40);
    out.error_events = chance(60);
    out.oddities = chance(60);
    out.slow = chance(10);
    out.absurd_retry = absurd_;
    return out;
  }

  void make_token_file() {
    if (!chance(15)) return;
    token_file_ = fmt::format("/tmp/kubewatch-model-{}-{}", ::getpid(), random_.next());
    token_ = "token-0";
    write_token();
  }
  void write_token() { std::ofstream(token_file_) << token_; }

  void make_subscribers() {
    absurd_ = chance(5);
    quiet_neighbours_ = chance(15);
    restarts_ = !quiet_neighbours_ && chance(40);
    restores_ = !quiet_neighbours_ && chance(25);
    compacts_ = !quiet_neighbours_ && chance(60);
    forgets_ = chance(30);
    if (chance(50)) twin_rewinds_ = std::make_shared<client::Rewinds>(loop_);
    const std::size_t count = 2 + random_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      SubscriberOptions options;
      options.view.kind = random_.below(kKinds);
      if (chance(25)) options.view.namespace_ = "shop";
      options.view.selected_only = chance(40);
      options.watcher = watcher_options();
      options.token_file = token_file_;
      options.twin_rewinds = twin_rewinds_;
      auto subscriber = std::make_unique<Subscriber>(fmt::format("w{}", i), options, loop_, server_,
                                                     rewinds_, random_, verdict_);
      if (!token_file_.empty()) subscriber->link.valid_token = &token_;
      subscriber->link.faults = link_faults();
      if (quiet_neighbours_) subscriber->link.faults.percent = 0;
      subscribers_.push_back(std::move(subscriber));
    }
    // One kind that is missing or forbidden, beside the others, for the whole schedule.
    if (chance(25) || quiet_neighbours_) {
      broken_ = subscribers_.front().get();
      broken_->link.faults.always = chance(50) ? 403 : 404;
      verdict_.fault(loop_.now(), "a kind that is missing or forbidden", broken_->name);
    }
    worker_ = std::make_unique<Worker>(loop_, random_, verdict_);
    for (auto& subscriber : subscribers_) connect(*subscriber);
  }

  void connect(Subscriber& subscriber) {
    subscriber.on_change = [this, &subscriber](const runtime::StoreChange& change) {
      const core::ObjectKey key{subscriber.name + "." + change.meta.namespace_, change.meta.name};
      if (change.type == runtime::ChangeType::deleted && forgets_) return worker_->forget(key);
      worker_->matters(key, change.initial);
    };
    // A kind that is missing does not hold the others.
    subscriber.on_synced = [this] {
      for (const auto& other : subscribers_) {
        if (!other->synced() && other.get() != broken_) return;
      }
      worker_->release();
    };
  }

  // ------------------------------------------------------------ steps
  void pass(Duration time) {
    loop_.run_until([this] { return !verdict_.ok(); }, time);
    for (const auto& subscriber : subscribers_) {
      subscriber->check();
      subscriber->compare_twin();
    }
    worker_->check();
  }

  void write_any() {
    const std::size_t kind = random_.below(kKinds);
    cluster_.write(kind, server_.traits().shapes);
    verdict_.trace(loop_.now(), [&] {
      return fmt::format("kind {} is written, revision {}", kind, cluster_.revision());
    });
  }

  // A restored server is not written beyond what a reflector knows before one of them has noticed:
  // all would be watches from the past of another world, which nobody could notice. What one has
  // noticed they all know.
  bool may_write() const {
    if (noticed_) return true;
    for (const auto& subscriber : subscribers_) {
      if (subscriber->lost() && cluster_.revision() + 8 >= subscriber->position()) return false;
    }
    return true;
  }

  void chaos() {
    for (std::uint64_t i = random_.below(4); i > 0 && may_write(); --i) write_any();
    if (compacts_ && chance(6)) {
      verdict_.fault(loop_.now(), "compaction", "etcd");
      cluster_.compact_to(cluster_.revision() -
                          random_.below(std::min<std::uint64_t>(cluster_.revision(), 12)));
    }
    if (restarts_ && chance(4)) restart(random_.below(2));
    if (restores_ && chance(4)) restore();
    if (!token_file_.empty() && chance(4)) rotate_token();
    server_.tick(false);
    pass(Duration(1 + random_.below(chance(3) ? 100000 : 800)));
    if (quiet_neighbours_) check_neighbours();
  }

  void restart(std::size_t front) {
    verdict_.fault(loop_.now(), "API server restarted", fmt::format("front end {}", front));
    server_.restart(front);
    for (const auto& subscriber : subscribers_) subscriber->link.cut_front(front);
  }

  void restore() {
    for (const auto& subscriber : subscribers_) {
      if (subscriber->lost()) return;
    }
    const std::uint64_t now = cluster_.revision();
    if (now < 30) return;
    const std::uint64_t to = now - 1 - random_.below(20);
    const bool bump = chance(30);
    verdict_.fault(loop_.now(), bump ? "etcd restored, revision bumped" : "etcd restored",
                   fmt::format("{} -> {}", now, to));
    cluster_.restore(to, bump);
    noticed_ = false;
    for (const auto& subscriber : subscribers_) subscriber->on_restore(to);
    restart(0);
    restart(1);
  }

  void rotate_token() {
    verdict_.fault(loop_.now(), "token rotated", "401 in mid-watch");
    token_ = fmt::format("token-{}", random_.next() % 1000000);
    write_token();
    for (const auto& subscriber : subscribers_) {
      if (chance(50)) subscriber->link.expire_token();
    }
  }

  // Nothing happens to them: a broken neighbour is no reason to fail or to be late.
  void check_neighbours() {
    if (!token_file_.empty() || server_.traits().max_lag > 0) return;
    const ServerTraits& traits = server_.traits();
    if (traits.refuses_streaming || traits.never_ends_streaming || traits.resends ||
        traits.pages_drift || traits.unreadable_every > 0 || traits.token_life < Duration{10000}) {
      return;
    }
    for (const auto& subscriber : subscribers_) {
      if (subscriber.get() == broken_ || subscriber->link.faults.slow) continue;
      verdict_.expect(Guarantee::independent, subscriber->failures() == 0, [&] {
        return subscriber->describe() + " fails though nothing happens to it";
      });
    }
  }

  // Nothing works for anybody for a while.
  void outage() {
    verdict_.fault(loop_.now(), "outage", "all");
    restart(0);
    restart(1);
    for (auto& subscriber : subscribers_) {
      LinkFaults faults;
      faults.percent = 100;
      faults.oddities = false;
      faults.silence = false;
      faults.cuts = false;
      subscriber->link.faults = faults;
    }
    for (int i = 0; i < 40 && verdict_.ok(); ++i) pass(Duration(1 + random_.below(3000)));
  }

  // ------------------------------------------------------------ the end
  bool all_converged() const {
    for (const auto& subscriber : subscribers_) {
      if (subscriber.get() == broken_) continue;
      if (!subscriber->converged() || subscriber->link.half_open()) return false;
    }
    return true;
  }

  bool wait_for_all(Duration limit) {
    const TimePoint until = loop_.now() + limit;
    while (verdict_.ok() && loop_.now() < until) {
      if (all_converged()) return true;
      server_.tick(true);
      pass(Duration(1000));
    }
    return all_converged();
  }

  void expect_converged(Duration limit, const char* when) {
    const bool done = wait_for_all(limit);
    for (const auto& subscriber : subscribers_) {
      if (subscriber.get() == broken_) continue;
      verdict_.expect(Guarantee::converges, done || subscriber->converged(),
                      [&] { return fmt::format("{}: {}", when, subscriber->describe()); });
    }
  }

  // A server that tells old events again looks like one that was restored: each time costs a list.
  Duration prompt() const { return server_.traits().resends ? kConverge : kPrompt; }

  void calm_down() {
    verdict_.trace(loop_.now(), [] { return "faults end"; });
    server_.unreadable_until = cluster_.revision();
    for (auto& subscriber : subscribers_) subscriber->link.calm = true;
    server_.tick(true);
    expect_converged(absurd_ ? kConvergeAbsurd : kConverge, "after the faults");
    // A watch that has just been opened may yet be told that its version is gone, and then waits as
    // long as its earlier failures say.
    pass(Duration(10000));
    expect_converged(kConverge, "a little after the faults");
    if (broken_ != nullptr && chance(50)) recover_broken();
    for (int round = 0; round < 3 && verdict_.ok(); ++round) {
      for (int i = 0; i < 4; ++i) write_any();
      server_.tick(true);
      // Watches that are just being reopened, and bookmarks.
      expect_converged(prompt(), "writes in a calm time");
      pass(Duration(random_.below(30000)));
    }
    finish_runs();
  }

  // The kind comes into being: no later than the longest backoff.
  void recover_broken() {
    broken_->link.faults.always = 0;
    broken_ = nullptr;
    expect_converged(Duration(35000) + prompt(), "after a missing kind appeared");
  }

  void finish_runs() {
    worker_->calm = true;
    const TimePoint until = loop_.now() + kRunsDone;
    while (verdict_.ok() && loop_.now() < until && !worker_->settled()) pass(Duration(2000));
    verdict_.expect(Guarantee::runs_after, worker_->settled(), [&] { return worker_->describe(); });
    for (int i = 0; i < 6; ++i) write_any();
    server_.tick(true);
    pass(Duration(1 + random_.below(1500)));
    worker_->shut_down();
    pass(Duration(3000));
    verdict_.expect(Guarantee::one_at_a_time, worker_->drained(),
                    [] { return "the controller does not drain"; });
  }

  base::Random random_;
  loop::EventLoop loop_{loop::VirtualClock{}};
  std::shared_ptr<client::Rewinds> rewinds_ = std::make_shared<client::Rewinds>(loop_);
  std::shared_ptr<client::Rewinds::Listener> witness_ =
      rewinds_->listen("the simulation", [this] { noticed_ = true; });
  // Null: no twins. All or none: what one sees go back, the others are told.
  std::shared_ptr<client::Rewinds> twin_rewinds_;
  bool noticed_ = false;  // the last restore, by one of the reflectors
  Verdict verdict_;
  Cluster cluster_;
  ApiServer server_;
  std::string token_file_;
  std::string token_;
  bool absurd_ = false, quiet_neighbours_ = false, restarts_ = false, restores_ = false;
  bool compacts_ = false, forgets_ = false;
  std::vector<std::unique_ptr<Subscriber>> subscribers_;
  Subscriber* broken_ = nullptr;
  std::unique_ptr<Worker> worker_;
};

}  // namespace

Verdict run_schedule(std::uint64_t seed, bool trace) {
  return Simulation(seed, trace).run();
}

}  // namespace kubewatch::model

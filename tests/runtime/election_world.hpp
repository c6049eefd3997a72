// A world for elections without I/O: virtual true time, a server with Leases, a network that delays
// and loses, and instances whose clocks run at their own rates. Everything follows from the seed.
// Model of the network: bytes reach the server before the request's own timeout or never; answers
// may be lost; a crashed process's last bytes still arrive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "runtime/leader_election.hpp"

namespace kubewatch::runtime::model {

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}

  std::int64_t now() const { return now_; }
  base::Random& random() { return random_; }
  bool chance(double p) { return random_.unit() < p; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void at(std::int64_t when, std::function<void()> what) {
    events_.push({std::max(when, now_), ++sequence_, std::move(what)});
  }
  void run_until(std::int64_t end) {
    while (!events_.empty() && events_.top().when <= end) {
      Event event = events_.top();
      events_.pop();
      now_ = event.when;
      event.what();
    }
    now_ = end;
  }

  // --- the server ---
  std::string holder_of(const std::string& name) const {
    auto it = leases_.find(name);
    return it == leases_.end() ? "" : base::string_at(it->second, {"spec", "holderIdentity"});
  }
  Result<Json> get(const std::string& name) const {
    auto it = leases_.find(name);
    if (it == leases_.end()) return Error(ErrorKind::not_found, "no lease " + name);
    return it->second;
  }
  Result<Json> create(Json object) {
    const std::string name = base::string_at(object, {"metadata", "name"});
    if (leases_.count(name) > 0) return Error(ErrorKind::already_exists, name);
    return store(name, std::move(object));
  }
  Result<Json> update(Json object) {
    const std::string name = base::string_at(object, {"metadata", "name"});
    auto it = leases_.find(name);
    if (it == leases_.end()) return Error(ErrorKind::not_found, name);
    if (base::string_at(object, {"metadata", "resourceVersion"}) !=
        base::string_at(it->second, {"metadata", "resourceVersion"})) {
      return Error(ErrorKind::conflict, name);
    }
    return store(name, std::move(object));
  }
  void erase(const std::string& name) { leases_.erase(name); }
  std::vector<Lease> leases_with(const std::string& part) const {
    std::vector<Lease> out;
    for (const auto& [name, object] : leases_) {
      if (name.find(part) != std::string::npos) out.push_back(*read_lease(object));
    }
    return out;
  }

  // --- what is found wrong, in words; empty is good ---
  std::vector<std::string> violations;
  void check_holder(const std::string& lease, const std::string& writer) {
    ++fenced_writes;
    if (holder_of(lease) == writer) return;
    violations.push_back("at " + std::to_string(now_) + " " + writer + " wrote, but " + lease +
                         " is held by '" + holder_of(lease) + "'");
  }
  std::uint64_t fenced_writes = 0;

 private:
  struct Event {
    std::int64_t when;
    std::uint64_t sequence;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return std::pair(other.when, other.sequence) < std::pair(when, sequence);
    }
  };
  Result<Json> store(const std::string& name, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    leases_[name] = object;
    return object;
  }

  base::Random random_;
  std::int64_t now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t version_ = 0;
  std::priority_queue<Event> events_;
  std::map<std::string, Json> leases_;
};

// One process: its clock, its network, whether it is stopped. A restart is a new Process.
class Process : public std::enable_shared_from_this<Process> {
 public:
  Process(World& the_world, std::string the_identity)
      : world(the_world),
        identity(std::move(the_identity)),
        rate_(0.92 + 0.16 * world.random().unit()),
        offset_(world.between(0, 1000000000)),
        wall_offset_(world.between(-86400000, 86400000)) {}

  World& world;
  const std::string identity;
  bool alive = true;
  bool loses_requests = false;
  bool loses_answers = false;
  bool slow = false;

  TimePoint clock() const {
    return TimePoint(
        Duration(offset_ + static_cast<std::int64_t>(static_cast<double>(world.now()) * rate_)));
  }
  WallTime wall() const {
    return WallTime(std::chrono::milliseconds(1700000000000 + wall_offset_ + world.now()));
  }
  // True milliseconds from now until this clock shows `when`.
  std::int64_t true_until(TimePoint when) const {
    return static_cast<std::int64_t>(static_cast<double>((when - clock()).count()) / rate_) + 1;
  }
  std::int64_t true_length(Duration length) const {
    return static_cast<std::int64_t>(static_cast<double>(length.count()) / rate_);
  }

  // Does it later, unless dead by then; when stopped, once it goes on.
  void later(std::int64_t delay, std::function<void()> what) {
    world.at(world.now() + delay, [self = shared_from_this(), what = std::move(what)] {
      if (!self->alive) return;
      self->stopped_ ? self->held_.push_back(what) : what();
    });
  }
  void stop() { stopped_ = true; }
  // What has become due meanwhile happens in any order.
  void go_on() {
    stopped_ = false;
    auto held = std::exchange(held_, {});
    while (!held.empty() && alive) {
      const auto pick =
          held.begin() + static_cast<std::ptrdiff_t>(world.random().below(held.size()));
      const auto what = *pick;
      held.erase(pick);
      what();
    }
  }

  std::int64_t network_delay() {
    return slow && world.chance(0.6) ? world.between(100, 7000) : world.between(1, 80);
  }
  // A request with its own timeout. `serve` runs on the server; `answer` gets what came back.
  void request(Duration timeout, std::function<Result<Json>()> serve,
               std::function<void(Result<Json>)> answer) {
    const std::int64_t patience = true_length(timeout);
    const std::int64_t there = network_delay();
    const std::int64_t back = there + network_delay();
    auto open = std::make_shared<bool>(true);
    const auto reply = [open, answer](Result<Json> result) {
      if (std::exchange(*open, false)) answer(std::move(result));
    };
    if (!loses_requests && there < patience) {
      world.at(world.now() + there, [self = shared_from_this(), serve, reply, there, back] {
        auto result = serve();
        if (self->loses_answers) return;
        self->later(back - there, [reply, result] { reply(result); });
      });
    }
    later(patience, [reply] { reply(Error(ErrorKind::timeout, "no answer in time")); });
  }

 private:
  double rate_;
  std::int64_t offset_;
  std::int64_t wall_offset_;
  bool stopped_ = false;
  std::vector<std::function<void()>> held_;
};

// An elector's driver in this world.
class Seat {
 public:
  struct Callbacks {
    std::function<void()> leading, lost, released;
  };
  Seat(Process& process, ElectionOptions options, Callbacks callbacks)
      : process_(process),
        random_(process.world.random().next()),
        elector_(std::move(options), random_),
        callbacks_(std::move(callbacks)) {}

  void start() { run(elector_.start(process_.clock(), process_.wall())); }
  void release() { run(elector_.release(process_.clock(), process_.wall())); }
  const LeaderElector& elector() const { return elector_; }

 private:
  void ask(std::function<Result<Json>()> serve) {
    const auto token = ++request_;
    process_.request(
        elector_.options().request_timeout(), std::move(serve), [this, token](Result<Json> answer) {
          if (token != request_) return;
          run(elector_.on_answer(process_.clock(), process_.wall(), std::move(answer)));
        });
  }
  void run(ElectionActions actions) {
    World& world = process_.world;
    const std::string name = elector_.options().lease.name;
    for (auto& action : actions) {
      if (std::get_if<GetLease>(&action)) {
        ask([&world, name] { return world.get(name); });
      } else if (auto* made = std::get_if<CreateLease>(&action)) {
        ask([&world, object = made->object] { return world.create(object); });
      } else if (auto* changed = std::get_if<UpdateLease>(&action)) {
        ask([&world, object = changed->object] { return world.update(object); });
      } else if (std::get_if<CancelLeaseRequest>(&action)) {
        ++request_;
      } else if (auto* timer = std::get_if<SetElectionTimer>(&action)) {
        const auto token = ++timer_;
        process_.later(process_.true_until(timer->at), [this, token] {
          if (token == timer_) run(elector_.on_timer(process_.clock(), process_.wall()));
        });
      } else if (std::get_if<BecameLeader>(&action)) {
        if (callbacks_.leading) callbacks_.leading();
      } else if (std::get_if<LostLead>(&action)) {
        ++timer_;
        if (callbacks_.lost) callbacks_.lost();
      } else if (std::get_if<ReleasedLead>(&action)) {
        ++timer_;
        if (callbacks_.released) callbacks_.released();
      }
    }
  }

  Process& process_;
  base::Random random_;
  LeaderElector elector_;
  Callbacks callbacks_;
  std::uint64_t request_ = 0;
  std::uint64_t timer_ = 0;
};

}  // namespace kubewatch::runtime::model

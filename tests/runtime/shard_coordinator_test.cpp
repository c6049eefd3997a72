// Instances that come, go and crash: every shard is run by one of them at a time, and by somebody
// soon. The model is election_world.hpp; KUBEWATCH_SEED=n replays one seed.
#include "runtime/shard_coordinator.hpp"

#include <algorithm>
#include <cstdlib>

#include "runtime/election_world.hpp"
#include "runtime/shard_map.hpp"
#include "support/catch.hpp"

namespace kubewatch::runtime::model {
namespace {

constexpr std::size_t kShards = 5;
// A crash: 15 s by a slow clock, 5.4 retry periods, and the longest run.
constexpr std::int64_t kConverges = 40000;
constexpr std::int64_t kLongestRun = 3000;

ElectionOptions election(const std::string& lease, const std::string& identity) {
  ElectionOptions options;
  options.lease = {"ns", lease};
  options.identity = identity;
  return options;
}

// One instance: its electors, its coordinator, and runs that write while their shard is led.
class Instance {
 public:
  Instance(World& world, const std::string& identity)
      : process(std::make_shared<Process>(world, identity)),
        coordinator_(kShards, identity, Duration{15000}) {
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      Seat::Callbacks callbacks;
      callbacks.leading = [this, shard] {
        coordinator_.on_leading(shard);
        run_something(shard);
      };
      callbacks.lost = [this] { process->alive = false; };
      callbacks.released = [this, shard] {
        carry_out(coordinator_.on_released(shard));
        end_if_released();
      };
      seats_.push_back(std::make_unique<Seat>(
          *process, election("lead-" + std::to_string(shard), identity), std::move(callbacks)));
    }
    Seat::Callbacks callbacks;
    callbacks.leading = [this] { list(); };
    callbacks.lost = [this] { member_->start(); };
    callbacks.released = [this] { end_if_released(); };
    member_ = std::make_unique<Seat>(*process, election("member-" + identity, identity),
                                     std::move(callbacks));
  }

  void start() { member_->start(); }
  bool leads(std::size_t shard) const {
    return process->alive && seats_[shard]->elector().state() == ElectionState::leading;
  }
  void leave() {
    leaving_ = true;
    carry_out(coordinator_.leave());
    member_->release();
  }
  std::shared_ptr<Process> process;

 private:
  void list() {
    if (leaving_) return;
    auto seen = std::make_shared<std::vector<Lease>>();
    process->request(
        Duration{5000},
        [this, seen]() -> Result<Json> {
          *seen = process->world.leases_with("member-");
          return Json::object();
        },
        [this, seen](const Result<Json>& answer) {
          if (leaving_) return;
          if (answer.ok()) carry_out(coordinator_.on_members(process->clock(), *seen));
          process->later(process->true_length(Duration{2000}), [this] { list(); });
        });
  }
  void carry_out(const ShardActions& actions) {
    for (const ShardAction& action : actions) {
      if (const auto* stand = std::get_if<StandFor>(&action)) {
        seats_[stand->shard]->start();
      } else if (const auto* withdraw = std::get_if<Withdraw>(&action)) {
        seats_[withdraw->shard]->release();
      } else {
        const std::size_t shard = std::get<EndRuns>(action).shard;
        ending_.insert(shard);
        if (running_.count(shard) == 0) end_runs(shard);
      }
    }
  }
  void end_runs(std::size_t shard) {
    ending_.erase(shard);
    carry_out(coordinator_.runs_ended(shard));
  }
  // A run: a few writes over some time, each under the fence.
  void run_something(std::size_t shard) {
    World& world = process->world;
    if (!leads(shard) || ending_.count(shard) > 0) return;
    running_.insert(shard);
    step(shard, process->clock() + Duration(world.between(100, kLongestRun)));
  }
  void step(std::size_t shard, TimePoint end) {
    World& world = process->world;
    const auto fence = seats_[shard]->elector().fence();
    if (!fence || process->clock() >= fence->start_before)
      return;  // lost: it ends with the process
    process->request(
        fence->end_before - process->clock(),
        [&world, shard, id = process->identity]() -> Result<Json> {
          world.check_holder("lead-" + std::to_string(shard), id);
          return Json::object();
        },
        [this, shard, end](const Result<Json>&) {
          if (process->clock() < end) return step(shard, end);
          running_.erase(shard);
          if (ending_.count(shard) > 0) return end_runs(shard);
          process->later(process->world.between(50, 500), [this, shard] { run_something(shard); });
        });
  }
  void end_if_released() {
    if (!leaving_ || member_->elector().state() != ElectionState::idle) return;
    const auto idle = [](const auto& seat) {
      return seat->elector().state() == ElectionState::idle;
    };
    if (std::all_of(seats_.begin(), seats_.end(), idle)) process->alive = false;
  }

  ShardCoordinator coordinator_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::unique_ptr<Seat> member_;
  std::set<std::size_t> running_;
  std::set<std::size_t> ending_;
  bool leaving_ = false;
};

class Fleet {
 public:
  explicit Fleet(std::uint64_t seed) : world_(seed) {}
  World& world() { return world_; }
  std::size_t hand_overs = 0;

  void add() {
    instances_.push_back(
        std::make_unique<Instance>(world_, "host-" + std::to_string(instances_.size())));
    instances_.back()->start();
  }
  Instance* any() {
    std::vector<Instance*> alive = living();
    return alive.empty() ? nullptr : alive[world_.random().below(alive.size())];
  }
  std::vector<Instance*> living() {
    std::vector<Instance*> out;
    for (auto& instance : instances_) {
      if (instance->process->alive) out.push_back(instance.get());
    }
    return out;
  }
  // Every shard is led by whom the living agree on.
  bool settled() {
    std::vector<std::string> names;
    for (Instance* instance : living()) names.push_back(instance->process->identity);
    const auto owners = assign_shards(names, kShards);
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      if (world_.holder_of("lead-" + std::to_string(shard)) != owners[shard]) return false;
    }
    return true;
  }
  bool settles() {
    const std::int64_t end = world_.now() + kConverges;
    while (!settled() && world_.now() < end) world_.run_until(world_.now() + 100);
    return settled();
  }
  std::string disturb() {
    Instance* victim = any();
    const std::uint64_t what = world_.random().below(6);
    if (living().size() < 2 || (what < 2 && living().size() < 6)) {
      add();
      return "a join";
    }
    switch (what) {
      case 2: victim->process->alive = false; return "a crash";
      case 3:
        victim->process->stop();
        stopped_ = victim;
        return "a stop";
      case 4: victim->process->loses_requests = true; return "a partition";
      default: victim->leave(); return "a leave";
    }
  }
  void heal() {
    if (stopped_ != nullptr) stopped_->process->go_on();
    stopped_ = nullptr;
    for (auto& instance : instances_) instance->process->loses_requests = false;
  }

 private:
  World world_;
  std::vector<std::unique_ptr<Instance>> instances_;
  Instance* stopped_ = nullptr;
};

}  // namespace

TEST_CASE("shards have one runner at a time and find an owner soon, whoever comes, goes or dies") {
  const char* replay = std::getenv("KUBEWATCH_SEED");
  const std::uint64_t only = replay == nullptr ? 0 : std::strtoull(replay, nullptr, 10);
  std::uint64_t writes = 0;
  for (std::uint64_t seed = only > 0 ? only : 1; seed <= (only > 0 ? only : 10); ++seed) {
    INFO("KUBEWATCH_SEED=" << seed);
    Fleet fleet(seed);
    fleet.add();
    fleet.add();
    REQUIRE(fleet.settles());
    for (int i = 0; i < 12; ++i) {
      const std::string what = fleet.disturb();
      INFO(what << " at " << fleet.world().now());
      fleet.world().run_until(fleet.world().now() + fleet.world().between(0, 25000));
      fleet.heal();
      REQUIRE(fleet.settles());
      REQUIRE(fleet.world().violations == std::vector<std::string>{});
    }
    writes += fleet.world().fenced_writes;
  }
  if (only == 0) CHECK(writes > 2000);
}

TEST_CASE("an owner that should not own a shard any more lets its runs end before it releases") {
  ShardCoordinator coordinator(1, "b", Duration{15000});
  const TimePoint now{};
  auto actions = coordinator.on_members(now, {});
  REQUIRE(actions.size() == 1);
  CHECK(std::get_if<StandFor>(&actions[0]));
  coordinator.on_leading(0);
  // Whichever of some other names should own the shard instead.
  std::vector<Lease> others;
  for (const char* name : {"a", "c", "d", "e", "f", "g"}) {
    others.push_back(*read_lease(new_lease({"ns", name}, {}, name, Duration{15000}, WallTime{})));
  }
  actions = coordinator.on_members(now, others);
  REQUIRE(actions.size() == 1);
  CHECK(std::get_if<EndRuns>(&actions[0]));
  CHECK(coordinator.on_members(now, others).empty());
  actions = coordinator.runs_ended(0);
  REQUIRE(actions.size() == 1);
  CHECK(std::get_if<Withdraw>(&actions[0]));
  CHECK(coordinator.on_released(0).empty());
}

TEST_CASE("membership leases that nobody renews count no more, and are cleaned up much later") {
  ShardCoordinator coordinator(4, "me", Duration{15000});
  const auto other = *read_lease(new_lease({"ns", "m"}, {}, "other", Duration{15000}, WallTime{}));
  const auto at = [](int seconds) { return TimePoint(Duration(seconds * 1000)); };
  coordinator.on_members(at(0), {other});
  CHECK(coordinator.live_members() == std::vector<std::string>{"me", "other"});
  coordinator.on_members(at(15), {other});
  CHECK(coordinator.live_members() == std::vector<std::string>{"me"});
  CHECK(coordinator.abandoned(at(149)).empty());
  CHECK(coordinator.abandoned(at(150)).size() == 1);
}

}  // namespace kubewatch::runtime::model

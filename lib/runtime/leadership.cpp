#include "runtime/leadership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "loop/boot_clock.hpp"
#include "runtime/shard_map.hpp"

namespace kubewatch::runtime {
namespace {

// On membership Leases: the name of the election that they belong to.
constexpr const char* kMemberLabel = "kubewatch.dev/election-member";
constexpr std::size_t kMostShards = 1000;

std::string held_by(const std::string& holder) {
  if (holder.find(kPlanWords) == std::string::npos) return "standing by: held by " + holder;
  return "standing by: the Lease is that of instances which share the objects out (" + holder +
         "); none of them gives it back, and it runs out when none has renewed it for its duration";
}

}  // namespace

Result<void> LeadershipOptions::validate(const LeadershipNames& names) const {
  KW_TRY(election.validate(names.election));
  if (shards == 0 || shards > kMostShards) {
    return Error(ErrorKind::invalid, fmt::format("{} must be 1 to {}", names.shards, kMostShards));
  }
  if (shards == 1) return {};
  // Instances of another plan would take each other's shards for their own.
  if (plan.find(kPlanWords) == std::string::npos) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} \"{}\" must say how the objects are shared out to {} shards, with "
                             "\"{}\" in its words, as \"{}{}hash of names\"",
                             names.plan, plan, shards, kPlanWords, shards, kPlanWords));
  }
  if (auto wrong = core::check_label_value(election.lease.name); !wrong.empty()) {
    return Error(ErrorKind::invalid,
                 names.election.lease_name + " \"" + election.lease.name +
                     "\" is also a label value when there are shards: " + wrong);
  }
  return {};
}

struct Leadership::Impl {
  client::Client& client;
  LeadershipOptions options;
  base::Random& random;
  LeadershipCallbacks callbacks;
  ShardCoordinator coordinator;
  LeaseTurns turns;                                   // of the shards' alone: the others are few
  std::vector<std::unique_ptr<LeaseKeeper>> keepers;  // one per shard
  std::unique_ptr<LeaseKeeper> plan;                  // with more than one shard, as the next
  std::unique_ptr<LeaseKeeper> member;
  bool lost = false;
  bool leaving = false;  // from leave() or release() on, until it starts again
  bool left = false;     // from release() on
  bool let_in = false;   // it has led or stood by, or seen the other instances
  std::function<void()> on_all_released;
  loop::Timer list_timer;
  client::PendingPtr listing;
  client::PendingPtr cleaning;
  LastingTrouble list_trouble;

  Impl(client::Client& the_client, LeadershipOptions the_options, base::Random& the_random,
       LeadershipCallbacks the_callbacks);
  std::unique_ptr<LeaseKeeper> make_keeper(std::size_t shard);
  void make_plan();
  void make_member();
  bool sharded() const { return options.shards > 1; }
  std::string lease_name(std::size_t shard) const;
  bool holds_plan() const {
    const auto fence = plan->fence();
    return fence && loop::boot_now() < fence->start_before;
  }
  void run(const ShardActions& actions);
  void on_runs_ended(std::size_t shard);
  bool leads_only(std::size_t shard) const;
  void stop_listing() {
    list_timer.reset();
    listing.reset();
    list_trouble.forget();
  }
  void on_leading(std::size_t shard);
  void on_trouble(const Error& error);
  void on_lost(const LeaseKeeper& keeper, const LostLead& loss);
  void list_members();
  void on_members(Result<client::ListResult> answer);
  void clean(const std::vector<Lease>& abandoned);
  void check_released();
  std::optional<Fence> fence() const;
  std::optional<LeaseTrouble> trouble() const;
};

Leadership::Impl::Impl(client::Client& the_client, LeadershipOptions the_options,
                       base::Random& the_random, LeadershipCallbacks the_callbacks)
    : client(the_client),
      options(std::move(the_options)),
      random(the_random),
      callbacks(std::move(the_callbacks)),
      coordinator(options.shards, options.election.identity, options.election.lease_duration) {
  for (std::size_t shard = 0; shard < options.shards; ++shard) {
    keepers.push_back(make_keeper(shard));
  }
  if (!sharded()) return;
  make_plan();
  make_member();
}

std::string Leadership::Impl::lease_name(std::size_t shard) const {
  const std::string& name = options.election.lease.name;
  return sharded() ? name + "-" + std::to_string(shard) : name;
}

std::unique_ptr<LeaseKeeper> Leadership::Impl::make_keeper(std::size_t shard) {
  ElectionOptions election = options.election;
  election.lease.name = lease_name(shard);
  election.one_of_many = sharded();
  LeaseKeeperCallbacks keeper;
  keeper.on_leading = [this, shard] { on_leading(shard); };
  keeper.on_trouble = [this](const Error& error) { on_trouble(error); };
  keeper.on_standing_by = [this, lease = election.lease.str()](const std::string& holder) {
    let_in = true;
    base::log_info(held_by(holder), {{"lease", lease}});
  };
  keeper.on_lost = [this, shard](const LostLead& loss) { on_lost(*keepers[shard], loss); };
  keeper.on_released = [this, lease = election.lease.str(), shard](bool confirmed) {
    if (!confirmed) {
      base::log_warn("the lease could not be given back; it runs out by itself",
                     {{"lease", lease}});
    }
    run(coordinator.on_released(shard));
    check_released();
  };
  return std::make_unique<LeaseKeeper>(client, std::move(election), random, std::move(keeper),
                                       &turns);
}

// Nobody gives it back: the others of this plan still need it.
void Leadership::Impl::make_plan() {
  ElectionOptions election = options.election;
  election.identity = options.plan;
  election.shared = true;
  LeaseKeeperCallbacks keeper;
  keeper.on_leading = [this] {
    if (!leaving && member->state() == ElectionState::idle) member->start();
  };
  keeper.on_trouble = [this](const Error& error) { on_trouble(error); };
  keeper.on_standing_by = [this, lease = election.lease.str(),
                           ours = options.plan](const auto& holder) {
    let_in = true;
    base::log_warn(
        "standing by: other instances share the objects out in another way, and must end first",
        {{"lease", lease}, {"theirs", holder}, {"ours", ours}});
  };
  keeper.on_lost = [this](const LostLead& loss) {
    // Nothing is led any more; what is still given back has a deadline of its own.
    const auto is_led = [](const auto& one) { return one->state() == ElectionState::leading; };
    if (left || (leaving && std::none_of(keepers.begin(), keepers.end(), is_led))) return;
    const auto is_idle = [](const auto& one) { return one->state() == ElectionState::idle; };
    if (!std::all_of(keepers.begin(), keepers.end(), is_idle)) return on_lost(*plan, loss);
    // A spare: no member either, or those of another plan would count on it.
    if (lost) return;
    stop_listing();
    if (!is_idle(member)) member->release();
    plan->start();
  };
  plan = std::make_unique<LeaseKeeper>(client, std::move(election), random, std::move(keeper));
}

void Leadership::Impl::make_member() {
  ElectionOptions election = options.election;
  const std::string group = election.lease.name;
  election.lease.name =
      fmt::format("{}-member-{:016x}", group, stable_hash(options.election.identity));
  election.labels = {{kMemberLabel, group}};
  LeaseKeeperCallbacks keeper;
  keeper.on_leading = [this] {
    if (!listing && !lost && !leaving) list_members();
  };
  keeper.on_trouble = [this](const Error& error) { on_trouble(error); };
  // Without it the others count us as gone and take what we release; the shards' own Leases decide.
  keeper.on_lost = [this](const LostLead&) {
    if (!lost && !leaving && holds_plan()) member->start();
    check_released();
  };
  keeper.on_released = [this](bool) {
    if (!leaving && !lost && holds_plan()) member->start();
    check_released();
  };
  member = std::make_unique<LeaseKeeper>(client, std::move(election), random, std::move(keeper));
}

void Leadership::Impl::run(const ShardActions& actions) {
  for (const ShardAction& action : actions) {
    if (const auto* stand = std::get_if<StandFor>(&action)) {
      keepers[stand->shard]->start();
    } else if (const auto* withdraw = std::get_if<Withdraw>(&action)) {
      keepers[withdraw->shard]->release();
    } else {
      const std::size_t shard = std::get<EndRuns>(action).shard;
      base::log_info("handing over", {{"lease", lease_name(shard)}});
      if (callbacks.end_runs) {
        callbacks.end_runs(shard, [this, shard] { on_runs_ended(shard); });
      } else {
        on_runs_ended(shard);
      }
    }
  }
}

// Events of the last runs may be on their way still.
void Leadership::Impl::on_runs_ended(std::size_t shard) {
  if (!leaving || !leads_only(shard)) run(coordinator.runs_ended(shard));
}

bool Leadership::Impl::leads_only(std::size_t shard) const {
  for (std::size_t other = 0; other < keepers.size(); ++other) {
    if (other != shard && keepers[other]->state() == ElectionState::leading) return false;
  }
  return true;
}

void Leadership::Impl::on_trouble(const Error& error) {
  if (!let_in && !leaving && !lost && callbacks.refused) callbacks.refused(error);
}

void Leadership::Impl::on_leading(std::size_t shard) {
  let_in = true;
  base::log_info("leading", {{"lease", keepers[shard]->options().lease.str()},
                             {"identity", options.election.identity}});
  coordinator.on_leading(shard);
  // Taken while the server was away from us: it may have been long enough for another plan.
  if (plan != nullptr && !holds_plan()) {
    return on_lost(*plan, {"it was not renewed in time", plan->fence().value_or(Fence{})});
  }
  if (callbacks.gained) callbacks.gained(shard);
}

// With one lease everything ends: by the first fence of all, since the others are not renewed in
// time either where the process was stopped.
void Leadership::Impl::on_lost(const LeaseKeeper& keeper, const LostLead& loss) {
  if (std::exchange(lost, true)) return;
  list_timer.reset();
  const TimePoint now = loop::boot_now();
  Duration within = time_to_end(loss.fence, now);
  const auto ends_by = [&](const std::optional<Fence>& other) {
    if (other) within = std::min(within, time_to_end(*other, now));
  };
  for (const auto& other : keepers) ends_by(other->fence());
  if (plan != nullptr) ends_by(plan->fence());
  if (callbacks.lost) {
    callbacks.lost("lost the lease " + keeper.options().lease.str() + ": " + loss.why, within);
  }
}

void Leadership::Impl::list_members() {
  core::ListParams params;
  params.label_selector = std::string(kMemberLabel) + "=" + options.election.lease.name;
  listing =
      client.list(lease_type(), options.election.lease.namespace_, params,
                  [this](Result<client::ListResult> answer) { on_members(std::move(answer)); });
}

void Leadership::Impl::on_members(Result<client::ListResult> answer) {
  if (lost || leaving) return;
  const Duration pause = options.election.retry_period;
  list_timer = client.loop().after(pause, [this] { list_members(); });
  if (!answer.ok()) {
    if (list_trouble.note(answer.error(), loop::boot_now())) {
      base::log_warn("cannot see the other instances; shards stay as they are",
                     {{"error", answer.error().render()}});
    }
    return on_trouble(answer.error());
  }
  list_trouble.is_over();
  let_in = true;
  std::vector<Lease> members;
  for (const std::string& item : answer->items) {
    const auto object = base::parse_json(item);
    if (!object.ok()) continue;
    auto lease = read_lease(*object);
    if (lease.ok()) members.push_back(std::move(*lease));
  }
  const TimePoint now = loop::boot_now();
  const auto before = coordinator.live_members();
  const auto actions = coordinator.on_members(now, members);
  if (before != coordinator.live_members()) {
    base::log_info("instances", {{"live", std::to_string(coordinator.live_members().size())},
                                 {"shards", std::to_string(options.shards)}});
  }
  run(actions);
  clean(coordinator.abandoned(now));
}

// Members that crashed leave their Lease behind. One at a time, by whoever leads the first shard.
void Leadership::Impl::clean(const std::vector<Lease>& abandoned) {
  if (abandoned.empty() || coordinator.leading().count(0) == 0) return;
  const Json& object = abandoned.front().object;
  core::DeleteParams params;
  params.uid = base::string_at(object, {"metadata", "uid"});
  params.resource_version = abandoned.front().resource_version;
  cleaning = client.remove(
      lease_type(),
      {options.election.lease.namespace_, base::string_at(object, {"metadata", "name"})}, params,
      [](Result<Json> answer) {
        if (answer.ok() || !answer.error().is_forbidden()) return;
        base::vlog(2, "an abandoned membership lease stays: " + answer.error().render());
      });
}

void Leadership::Impl::check_released() {
  if (!on_all_released) return;
  const auto is_idle = [](const auto& keeper) { return keeper->state() == ElectionState::idle; };
  if (!std::all_of(keepers.begin(), keepers.end(), is_idle)) return;
  if (member != nullptr && !is_idle(member)) return;
  if (plan != nullptr) plan->release();
  client.loop().post(std::exchange(on_all_released, nullptr));
}

std::optional<Fence> Leadership::Impl::fence() const {
  if (lost) return std::nullopt;
  std::optional<Fence> out;
  for (const auto& keeper : keepers) {
    const auto fence = keeper->fence();
    if (!fence) continue;
    if (!out || fence->start_before < out->start_before) out = fence;
  }
  if (!out || plan == nullptr) return out;
  const auto shared = plan->fence();
  return shared && shared->start_before > out->start_before ? out : shared;
}

std::optional<LeaseTrouble> Leadership::Impl::trouble() const {
  std::optional<LeaseTrouble> out = list_trouble.get();
  const auto look_at = [&out](const LeaseKeeper* keeper) {
    if (keeper == nullptr || keeper->state() == ElectionState::idle) return;
    const auto& one = keeper->trouble();
    if (one && (!out || one->since < out->since)) out = one;
  };
  for (const auto& keeper : keepers) look_at(keeper.get());
  look_at(plan.get());
  look_at(member.get());
  return out;
}

Leadership::Leadership(client::Client& client, LeadershipOptions options, base::Random& random,
                       LeadershipCallbacks callbacks)
    : impl_(std::make_unique<Impl>(client, std::move(options), random, std::move(callbacks))),
      // One that was lost has run out, which says more than that there is none.
      gate_([this] { return impl_->lost ? Fence{} : impl_->fence(); }) {}

Leadership::~Leadership() = default;

void Leadership::start() {
  impl_->leaving = impl_->left = false;
  impl_->coordinator.stay();
  if (impl_->sharded()) {
    impl_->plan->start();
  } else {
    impl_->run(impl_->coordinator.on_members(loop::boot_now(), {}));  // the only one: stands for it
  }
}

void Leadership::leave() {
  if (std::exchange(impl_->leaving, true) || impl_->lost) return;
  impl_->stop_listing();
  // First: who takes what is given back has to know that nobody else is to have it.
  if (impl_->member != nullptr) impl_->member->release();
  impl_->run(impl_->coordinator.leave());
}

void Leadership::release(std::function<void()> done) {
  impl_->leaving = impl_->left = true;
  impl_->on_all_released = done ? std::move(done) : [] {};
  impl_->stop_listing();
  const auto actions = impl_->coordinator.leave();
  for (const ShardAction& action : actions) {
    if (const auto* end = std::get_if<EndRuns>(&action)) {
      impl_->run(impl_->coordinator.runs_ended(end->shard));
    } else {
      impl_->run({action});
    }
  }
  // What was cut off while it was handed over.
  for (auto& keeper : impl_->keepers) {
    if (keeper->state() != ElectionState::idle) keeper->release();
  }
  if (impl_->member != nullptr) impl_->member->release();
  impl_->check_released();
}

std::optional<Fence> Leadership::fence() const {
  return impl_->fence();
}

std::optional<LeaseTrouble> Leadership::trouble() const {
  return impl_->trouble();
}

}  // namespace kubewatch::runtime

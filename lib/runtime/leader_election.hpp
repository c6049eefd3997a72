// Decides who holds one Lease: when to read it, take it, renew it, give it up. A plain class: no
// I/O, no clock; inputs come with `now`, outputs are actions for its driver (lease_keeper). The
// rules are client-go's (tools/leaderelection), and where those let two processes write at once,
// stricter:
// - A lease expires `leaseDurationSeconds` after this process SAW its spec change. renewTime is
//   never compared with a clock: clocks of two machines may differ by hours.
// - A holder counts from the moment it SENT its last confirmed renewal. `renew_deadline` after that
//   it has lost, whatever comes later; nothing may be written then (Fence).
// - Work that was begun before must be over by Fence::end_before, half-way to `lease_duration`: so
//   clocks may run at different rates by (lease_duration + renew_deadline) / 2 to lease_duration
//   (1.2 with the defaults) before two can write at once.
// - A lease that names this identity with a renewal that this process did not send is held by
//   another process of the same identity: lost; unless the lease is one that many share. There a
//   renewal by another counts as one that was sent at the look before it was seen: it came after
//   that, so for no rival the lease began to run out earlier. Looks come twice in a retry period,
//   and who can count on nothing that is newer than most of a period renews it itself: its own
//   write is tried as long before the fence as that of a lease with one holder.
//   A shared lease lasts as long as the longest of those who ever shared it wanted: nobody can tell
//   whether whoever counts on that is gone.
// - What fails is tried again after a retry period, or half-way to the fence where that is sooner.
// - Whoever deletes or edits a held Lease by hand takes these promises away. So does a network that
//   delivers a write after its sender gave up on it: a Lease is no token that the server checks.
// `now` must go on while the process is stopped and the machine is suspended (loop/boot_clock).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "runtime/lease.hpp"

namespace kubewatch::runtime {

// What errors call the options: a program that takes them from flags gives those.
struct ElectionNames {
  std::string lease_name = "lease.name";
  std::string lease_namespace = "lease.namespace_";
  std::string identity = "identity";
  std::string lease_duration = "lease_duration";
  std::string renew_deadline = "renew_deadline";
  std::string retry_period = "retry_period";
};

struct ElectionOptions {
  core::ObjectKey lease;
  std::string identity;  // one per process that lives, e.g. hostname_uuid
  Duration lease_duration{15000};
  Duration renew_deadline{10000};
  Duration retry_period{2000};
  std::map<std::string, std::string> labels;  // of a Lease that it creates
  bool shared = false;  // others of the same identity hold it too, and none gives it back
  // Renewals come a little early, each time by another while: those of many Leases that one process
  // has taken together would go on coming all at once.
  bool one_of_many = false;

  // lease_duration > renew_deadline > 1.2 * retry_period > 0, whole seconds in lease_duration, and
  // no more than fit into 32 bits (that is what a Lease can say), a name, a namespace, an identity.
  // Errors: invalid, with the option by its name in `names`.
  Result<void> validate(const ElectionNames& names = {}) const;
  // For each request on the lease: one that hangs leaves time for another.
  Duration request_timeout() const;
};

// What the last confirmed renewal allows.
struct Fence {
  TimePoint start_before;  // no write starts at or after this
  TimePoint end_before;    // and each is given up by then
};

// How long what runs may go on, to be killed then, when the loss of the lead is noticed at `now`:
// until `end_before`, and never longer than a write that starts last. 0: that time is over already
// (the process was stopped, the machine suspended) and another may lead, so it is killed at once.
Duration time_to_end(const Fence& fence, TimePoint now);

struct GetLease {};
struct CreateLease {
  Json object;
};
struct UpdateLease {
  Json object;  // with its resourceVersion
};
struct CancelLeaseRequest {};
// One timer; replaces the one before.
struct SetElectionTimer {
  TimePoint at;
};
struct BecameLeader {};
// Another holds it; told when the holder changes.
struct StandingBy {
  std::string holder;
};
// Not by our will. Final: nothing follows until start().
struct LostLead {
  std::string why;
  Fence fence;  // the last one
};
// The answer to release(): not ours any more. `confirmed`: the server says so; else it runs out by
// itself. Nothing follows until start().
struct ReleasedLead {
  bool confirmed = true;
};
struct ElectionTrouble {
  Error error;
  Duration retry_in;
};
using ElectionAction =
    std::variant<GetLease, CreateLease, UpdateLease, CancelLeaseRequest, SetElectionTimer,
                 BecameLeader, StandingBy, LostLead, ReleasedLead, ElectionTrouble>;
using ElectionActions = std::vector<ElectionAction>;

enum class ElectionState { idle, standing_by, leading, releasing };

class LeaderElector {
 public:
  // Precondition: options.validate(). `random` must outlive it.
  LeaderElector(ElectionOptions options, base::Random& random);

  // From idle: stands for election.
  ElectionActions start(TimePoint now, WallTime wall);
  ElectionActions on_timer(TimePoint now, WallTime wall);
  // The answer to the one request that is open: the object, or why not.
  ElectionActions on_answer(TimePoint now, WallTime wall, Result<Json> answer);
  // Gives up: to be called when the work under the lease has ended. Bounded by renew_deadline.
  ElectionActions release(TimePoint now, WallTime wall);

  ElectionState state() const { return state_; }
  // While leading.
  std::optional<Fence> fence() const;
  const ElectionOptions& options() const { return options_; }
  // Who held it when it was last seen; "" for nobody.
  const std::string& holder() const { return holder_; }

 private:
  enum class Open { nothing, get, create, renewal, release };

  void get();
  void write(TimePoint now, WallTime wall);
  void write_release(WallTime wall);
  void observe(TimePoint now, Lease lease);
  void on_got(TimePoint now, WallTime wall, Result<Json> answer);
  void on_put(TimePoint now, WallTime wall, Open what, Result<Json> answer);
  void on_put_failed(TimePoint now, Open what, const Error& error);
  void confirmed(TimePoint now, WallTime wall);
  void decide(TimePoint now, WallTime wall);
  bool is_expired(TimePoint now) const;
  bool is_rival() const;
  bool renewed_by_others(const Lease& before) const;
  void confirm(TimePoint now, TimePoint since);
  bool is_due(TimePoint now, TimePoint renewed) const;
  void look_again(TimePoint now);
  void retry(TimePoint now, const Error* error);
  void set_timer();
  void lose(std::string why);
  void finish_release(bool confirmed);
  ElectionActions take();

  ElectionOptions options_;
  base::Random& random_;
  ElectionState state_ = ElectionState::idle;
  Open open_ = Open::nothing;
  TimePoint sent_at_{};            // of the open request
  TimePoint looked_at_{};          // when the request was sent that showed observed_
  std::optional<Lease> record_;    // good for an update; absent: read first
  std::optional<Lease> observed_;  // the last one seen
  TimePoint observed_at_{};        // when its spec was first seen
  TimePoint confirmed_at_{};       // when the last confirmed renewal was sent
  TimePoint retry_at_{};
  TimePoint release_until_{};
  int conflicts_ = 0;                         // in a row
  std::string sent_renew_time_;               // of the open write
  std::vector<std::string> own_renew_times_;  // confirmed, and those whose answer was lost
  std::string holder_;
  std::optional<std::string> told_holder_;
  ElectionActions actions_;
};

}  // namespace kubewatch::runtime

// An elector that is told what happens, and tells its actions as words. Used by the tests of
// elections.
#pragma once

#include <string>
#include <vector>

#include "runtime/leader_election.hpp"
#include "support/catch.hpp"

namespace kubewatch::runtime {

inline constexpr WallTime kWall{std::chrono::microseconds(1700000000000000)};

inline TimePoint at(std::int64_t ms) {
  return TimePoint(Duration(ms));
}

// Feeds an elector and tells its actions as words: "get", "update me 15s", "timer 2000", ...
class Script {
 public:
  explicit Script(const std::string& identity = "me", bool shared = false)
      : random(7), elector(options(identity, shared), random) {}

  static ElectionOptions options(const std::string& identity, bool shared = false) {
    ElectionOptions out;
    out.shared = shared;
    out.lease = {"ns", "lead"};
    out.identity = identity;
    return out;
  }
  using Words = std::vector<std::string>;

  Words start(std::int64_t ms = 0) { return words(elector.start(at(ms), kWall)); }
  Words timer(std::int64_t ms) { return words(elector.on_timer(at(ms), wall(ms))); }
  Words release(std::int64_t ms) { return words(elector.release(at(ms), wall(ms))); }
  Words answer(std::int64_t ms, Result<Json> result) {
    return words(elector.on_answer(at(ms), wall(ms), std::move(result)));
  }
  // The server does what was asked last, at `ms`.
  Words accept(std::int64_t ms) { return answer(ms, stored()); }
  Words refuse(std::int64_t ms, ErrorKind kind) { return answer(ms, Error(kind, "refused")); }
  Words lose_answer(std::int64_t ms) {
    stored();
    return refuse(ms, ErrorKind::timeout);
  }
  Json stored() {
    server = asked;
    server["metadata"]["resourceVersion"] = std::to_string(++version);
    return server;
  }
  static Json held_by(const std::string& holder, int seconds = 15,
                      const std::string& renewed = "t0") {
    Json lease = {{"metadata", {{"name", "lead"}, {"namespace", "ns"}, {"resourceVersion", "1"}}}};
    lease["spec"] = {{"holderIdentity", holder},
                     {"leaseDurationSeconds", seconds},
                     {"renewTime", renewed},
                     {"leaseTransitions", 3}};
    return lease;
  }
  void lead() {
    start();
    answer(0, Error(ErrorKind::not_found, "none"));
    accept(10);
    REQUIRE(elector.state() == ElectionState::leading);
  }

  base::Random random;
  LeaderElector elector;
  Json asked;   // the last write
  Json server;  // what the server has
  int version = 10;

 private:
  static WallTime wall(std::int64_t ms) { return kWall + std::chrono::milliseconds(ms); }
  Words words(const ElectionActions& actions) {
    Words out;
    for (const auto& action : actions) out.push_back(word(action));
    return out;
  }
  std::string word(const ElectionAction& action) {
    if (std::get_if<GetLease>(&action)) return "get";
    if (const auto* create = std::get_if<CreateLease>(&action)) {
      asked = create->object;
      return "create";
    }
    if (const auto* update = std::get_if<UpdateLease>(&action)) {
      asked = update->object;
      return "update '" + base::string_at(asked, {"spec", "holderIdentity"}) + "'";
    }
    if (std::get_if<CancelLeaseRequest>(&action)) return "cancel";
    if (const auto* timer = std::get_if<SetElectionTimer>(&action)) {
      last_timer = timer->at.time_since_epoch().count();
      return "timer";
    }
    if (std::get_if<BecameLeader>(&action)) return "leading";
    if (const auto* by = std::get_if<StandingBy>(&action)) return "standing by " + by->holder;
    if (const auto* lost = std::get_if<LostLead>(&action)) {
      last_fence = lost->fence;
      return "lost: " + lost->why;
    }
    if (const auto* done = std::get_if<ReleasedLead>(&action)) {
      return done->confirmed ? "released" : "released unconfirmed";
    }
    return "trouble";
  }

 public:
  std::int64_t last_timer = -1;
  Fence last_fence{};  // of the lead that was lost
};

using Words = Script::Words;

}  // namespace kubewatch::runtime

#include "runtime/leader_election.hpp"

#include <set>

#include "runtime/election_script.hpp"

namespace kubewatch::runtime {

TEST_CASE("an election without a lease creates it and leads") {
  Script s;
  CHECK(s.start() == Words{"get"});
  CHECK(s.answer(5, Error(ErrorKind::not_found, "none")) == Words{"create"});
  CHECK(base::string_at(s.asked, {"spec", "renewTime"}) == "2023-11-14T22:13:20.005000Z");
  CHECK(s.asked["spec"]["leaseTransitions"] == 0);
  CHECK(s.accept(10) == Words{"leading", "timer"});
  CHECK(s.last_timer == 2010);
}

TEST_CASE("a lease whose namespace is not there is trouble that is told") {
  Script s;
  CHECK(s.start() == Words{"get"});
  CHECK(s.answer(5, Error(ErrorKind::not_found, "none")) == Words{"create"});
  CHECK(s.refuse(10, ErrorKind::not_found) == Words{"trouble", "timer"});
}

TEST_CASE("a leader renews with the record that it knows, without reading it first") {
  Script s;
  s.lead();
  CHECK(s.timer(2010) == Words{"update 'me'", "timer"});
  CHECK(base::string_at(s.asked, {"metadata", "resourceVersion"}) == "11");
  CHECK(s.asked["spec"]["leaseTransitions"] == 0);
  CHECK(s.accept(2050) == Words{"timer"});
  // Counted from when the renewal was sent, not from its answer.
  CHECK(s.elector.fence()->start_before == at(2010 + 10000));
  CHECK(s.elector.fence()->end_before == at(2010 + 12500));
}

TEST_CASE("many leases that were taken at once are not renewed at once") {
  base::Random random(7);
  std::set<TimePoint> due;
  for (int i = 0; i < 50; ++i) {
    ElectionOptions options = Script::options("me");
    options.one_of_many = true;
    LeaderElector elector(options, random);
    elector.start(at(0), kWall);
    elector.on_answer(at(0), kWall, Script::held_by(""));
    const auto actions = elector.on_answer(at(0), kWall, Script::held_by("me"));
    REQUIRE(elector.state() == ElectionState::leading);
    due.insert(std::get<SetElectionTimer>(actions.back()).at);
  }
  CHECK(due.size() > 25);
  CHECK(*due.begin() >= at(1400));
  CHECK(*due.rbegin() <= at(2000));
}

TEST_CASE(
    "a standby takes over when the record did not change for its duration by the local clock") {
  Script s;
  s.start();
  CHECK(s.answer(100, Script::held_by("other", 15, "2099-01-01T00:00:00.000000Z")) ==
        Words{"standing by other", "timer"});
  CHECK(s.last_timer >= 2100);
  CHECK(s.last_timer <= 100 + 4400);
  // A renewal starts the wait anew.
  s.timer(9000);
  CHECK(s.answer(9000, Script::held_by("other", 15, "t1")) == Words{"timer"});
  s.timer(23999);
  CHECK(s.answer(23999, Script::held_by("other", 15, "t1")) == Words{"timer"});
  s.timer(24000);
  CHECK(s.answer(24000, Script::held_by("other", 15, "t1")) == Words{"update 'me'"});
  CHECK(s.asked["spec"]["leaseTransitions"] == 4);
  CHECK(s.accept(24010) == Words{"leading", "timer"});
}

TEST_CASE("a change of labels is no renewal") {
  Script s;
  s.start();
  s.answer(0, Script::held_by("other"));
  Json edited = Script::held_by("other");
  edited["metadata"]["labels"]["a"] = "b";
  s.timer(14000);
  s.answer(14000, edited);
  s.timer(15000);
  CHECK(s.answer(15000, edited) == Words{"update 'me'"});
}

TEST_CASE("a released lease, and one of the same identity, are taken at once") {
  for (const char* holder : {"", "me"}) {
    Script s;
    s.start();
    CHECK(s.answer(1, Script::held_by(holder, 1)) == Words{"update 'me'"});
    CHECK(s.asked["spec"]["leaseTransitions"] == (*holder == '\0' ? 4 : 3));
    CHECK(s.asked["spec"]["leaseDurationSeconds"] == 15);
  }
}

TEST_CASE("labels and unknown fields of a lease are kept") {
  Script s;
  s.start();
  Json lease = Script::held_by("");
  lease["metadata"]["labels"]["team"] = "web";
  lease["metadata"]["managedFields"] = Json::array({1});
  lease["spec"]["strategy"] = "OldestEmulationVersion";
  s.answer(1, lease);
  CHECK(s.asked["metadata"]["labels"]["team"] == "web");
  CHECK(s.asked["spec"]["strategy"] == "OldestEmulationVersion");
  CHECK_FALSE(s.asked["metadata"].contains("managedFields"));
}

TEST_CASE("failed renewals are tried again until the deadline, then the lead is lost") {
  Script s;
  s.lead();
  CHECK(s.timer(2010) == Words{"update 'me'", "timer"});
  // A whole period later would leave no time for another.
  CHECK(s.refuse(7010, ErrorKind::timeout) == Words{"trouble", "timer"});
  CHECK(s.last_timer == 8505);
  CHECK(s.timer(8505) == Words{"update 'me'", "timer"});
  CHECK(s.refuse(9900, ErrorKind::unavailable) == Words{"trouble", "timer"});
  CHECK(s.last_timer == 10000);
  CHECK(s.timer(10000) == Words{"lost: no renewal was confirmed for 10s"});
  CHECK_FALSE(s.elector.fence());
  CHECK(s.accept(10001) == Words{});  // an answer that comes too late
}

TEST_CASE("one failed renewal does not end the loop") {
  for (const auto kind : {ErrorKind::unavailable, ErrorKind::rate_limited, ErrorKind::forbidden,
                          ErrorKind::unauthorized, ErrorKind::unreachable}) {
    Script s;
    s.lead();
    s.timer(2010);
    CHECK(s.refuse(2020, kind) == Words{"trouble", "timer"});
    CHECK(s.timer(4020) == Words{"update 'me'", "timer"});
    CHECK(s.accept(4030) == Words{"timer"});
    CHECK(s.elector.state() == ElectionState::leading);
  }
}

TEST_CASE("a renewal whose answer was lost is found to be ours") {
  Script s;
  s.lead();
  s.timer(2010);
  s.lose_answer(7010);
  CHECK(s.timer(9010) == Words{"update 'me'", "timer"});
  CHECK(s.refuse(9020, ErrorKind::conflict) == Words{"get", "timer"});
  CHECK(s.answer(9030, s.server) == Words{"update 'me'", "timer"});
  CHECK(s.accept(9040) == Words{"timer"});
  CHECK(s.elector.fence()->start_before == at(9030 + 10000));
}

TEST_CASE("a lease that another took is lost at once") {
  Script s;
  s.lead();
  s.timer(2010);
  s.refuse(2020, ErrorKind::conflict);
  CHECK(s.answer(2030, Script::held_by("other")) == Words{"lost: it is held by other"});
}

TEST_CASE("what runs under a lost lead ends by its fence, however late that is noticed") {
  const Fence fence{at(10000), at(12500)};
  const auto left = [&](std::int64_t ms) { return time_to_end(fence, at(ms)).count(); };
  CHECK(left(2030) == 2500);  // another took the lease: no longer than a last write
  CHECK(left(10000) == 2500);
  CHECK(left(10001) == 2499);
  CHECK(left(12499) == 1);
  CHECK(left(12500) == 0);
  CHECK(left(86400000) == 0);
}

TEST_CASE("a lost lead tells the fence of its last confirmed renewal") {
  Script taken;
  taken.lead();
  taken.timer(2010);
  taken.accept(2020);
  taken.timer(4020);
  taken.refuse(4030, ErrorKind::conflict);
  CHECK(taken.answer(4040, Script::held_by("other")) == Words{"lost: it is held by other"});
  CHECK(taken.last_fence.start_before == at(2010 + 10000));
  CHECK(time_to_end(taken.last_fence, at(4040)) == Duration{2500});

  Script stopped;
  stopped.lead();
  CHECK(stopped.timer(11500) == Words{"lost: no renewal was confirmed for 10s"});
  CHECK(time_to_end(stopped.last_fence, at(11500)) == Duration{1000});

  Script suspended;
  suspended.lead();
  CHECK(suspended.timer(60000) == Words{"lost: no renewal was confirmed for 10s"});
  CHECK(time_to_end(suspended.last_fence, at(60000)) == Duration{0});
}

TEST_CASE("another process with the same identity is found out") {
  Script s;
  s.lead();
  s.timer(2010);
  s.refuse(2020, ErrorKind::conflict);
  CHECK(s.answer(2030, Script::held_by("me", 15, "not mine")) ==
        Words{"lost: another process renews it with the same identity me"});
}

TEST_CASE("a deleted lease is made anew by its leader") {
  Script s;
  s.lead();
  s.timer(2010);
  CHECK(s.refuse(2020, ErrorKind::not_found) == Words{"get", "timer"});
  CHECK(s.refuse(2030, ErrorKind::not_found) == Words{"create", "timer"});
  CHECK(s.accept(2040) == Words{"timer"});
  CHECK(s.elector.state() == ElectionState::leading);
}

TEST_CASE("a release writes nobody for one second and keeps the transitions") {
  Script s;
  s.start();
  s.answer(1, Script::held_by(""));
  s.accept(2);
  CHECK(s.release(500) == Words{"update ''", "timer"});
  CHECK_FALSE(s.elector.fence());
  CHECK(s.asked["spec"]["leaseDurationSeconds"] == 1);
  CHECK(s.asked["spec"]["leaseTransitions"] == 4);
  CHECK(s.accept(510) == Words{"released"});
  CHECK(s.start(600) == Words{"get"});
}

TEST_CASE("a release that meets a conflict reads again, and gives up at the deadline") {
  Script s;
  s.lead();
  s.release(500);
  CHECK(s.refuse(510, ErrorKind::conflict) == Words{"get", "timer"});
  CHECK(s.answer(520, s.server) == Words{"update ''", "timer"});
  CHECK(s.refuse(530, ErrorKind::unavailable) == Words{"trouble", "timer"});
  CHECK(s.timer(2530) == Words{"get", "timer"});
  CHECK(s.timer(10500) == Words{"cancel", "released unconfirmed"});
}

TEST_CASE("a release while a renewal or a take-over is on its way waits for its answer") {
  Script leader;
  leader.lead();
  leader.timer(2010);
  CHECK(leader.release(2015) == Words{"timer"});
  CHECK(leader.accept(2020) == Words{"update ''", "timer"});
  CHECK(leader.accept(2030) == Words{"released"});

  Script standby;
  standby.start();
  standby.answer(1, Script::held_by(""));
  CHECK(standby.release(2) == Words{"timer"});
  CHECK(standby.lose_answer(3) == Words{"trouble", "timer"});
  CHECK(standby.timer(2003) == Words{"get", "timer"});
  CHECK(standby.answer(2004, standby.server) == Words{"update ''", "timer"});
  CHECK(standby.accept(2005) == Words{"released"});
}

TEST_CASE("a standby that gives up just stops") {
  Script s;
  s.start();
  CHECK(s.release(1) == Words{"cancel", "released"});
  CHECK(s.accept(2) == Words{});
}

TEST_CASE("a take-over that was confirmed too late is renewed before it counts") {
  Script s;
  s.start();
  s.answer(1, Script::held_by(""));
  CHECK(s.accept(10001) == Words{"update 'me'"});
  CHECK(s.accept(10010) == Words{"leading", "timer"});
  CHECK(s.elector.fence()->start_before == at(20001));
}

TEST_CASE("durations of an election that cannot work are refused by the option's name") {
  const auto wrong = [](auto change) {
    ElectionOptions options = Script::options("me");
    change(options);
    const auto checked = options.validate();
    return checked.ok() ? std::string() : checked.error().render();
  };
  CHECK(wrong([](auto&) {}).empty());
  CHECK(wrong([](auto& o) { o.renew_deadline = o.lease_duration; }) ==
        "lease_duration 15s must be more than renew_deadline 15s");
  CHECK(wrong([](auto& o) { o.renew_deadline = Duration{2400}; }) ==
        "renew_deadline 2.4s must be more than 1.2 times retry_period 2s");
  CHECK(wrong([](auto& o) { o.renew_deadline = Duration{2401}; }).empty());
  CHECK(wrong([](auto& o) { o.retry_period = Duration{0}; }) == "retry_period must be more than 0");
  CHECK(wrong([](auto& o) { o.lease_duration = Duration{15500}; }) ==
        "lease_duration 15.5s must be whole seconds: a Lease holds no less");
  CHECK(wrong([](auto& o) { o.lease_duration = Duration{2147483647000}; }).empty());
  CHECK(wrong([](auto& o) {
          o.lease_duration = Duration{2147483648000};
        }).ends_with(" at most: a Lease holds no more"));
  CHECK(wrong([](auto& o) { o.identity = ""; }) == "identity is empty");
  CHECK(wrong([](auto& o) { o.identity = "host\xff"; }) ==
        "identity is not UTF-8: a Lease holds no other text");
  CHECK(wrong([](auto& o) { o.lease.name = "A_b"; }).find("lease.name \"A_b\": ") == 0);
  CHECK(wrong([](auto& o) { o.lease.name = ""; }) == "lease.name is missing");
  CHECK(wrong([](auto& o) { o.lease.namespace_ = ""; }) == "lease.namespace_ is missing");
}

TEST_CASE("who takes the options of an election from flags is told of those") {
  ElectionOptions options = Script::options("me");
  options.renew_deadline = options.lease_duration;
  ElectionNames names;
  names.lease_duration = "--lease-duration";
  CHECK(options.validate(names).error().render() ==
        "--lease-duration 15s must be more than renew_deadline 15s");
}

}  // namespace kubewatch::runtime

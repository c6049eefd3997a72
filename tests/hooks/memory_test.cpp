// What is remembered between runs: children, claims, expected writes, and what is said once.
#include "base/json.hpp"
#include "hooks/child_memory.hpp"
#include "hooks/expected_writes.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/once_per.hpp"
#include "hooks/reporter.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const ChildId kChild{"", "ConfigMap", {"shop", "c"}};

TimePoint at(std::int64_t ms) {
  return TimePoint{Duration{ms}};
}

}  // namespace

TEST_CASE("that the children of an owner are to stay is remembered until it is gone") {
  using Orphaning = ChildMemory::Orphaning;
  ChildMemory memory;
  const auto dies = [&memory](std::vector<std::string> finalizers, bool begins = false) {
    core::ObjectMeta owner;
    owner.uid = "u1";
    owner.deletion_timestamp = "2026-01-01T00:00:00Z";
    owner.finalizers = std::move(finalizers);
    memory.note_dying(owner, begins);
    return memory.orphaning("u1");
  };
  CHECK(memory.orphaning("u1") == Orphaning::unknown);
  CHECK(dies({"kubewatch.dev/web"}) == Orphaning::unknown);
  CHECK(memory.owners() == 0);
  CHECK(dies({"kubewatch.dev/web", "orphan"}) == Orphaning::yes);
  memory.begin_run("u1");
  memory.end_run("u1", false);
  CHECK(memory.orphaning("u1") == Orphaning::yes);
  CHECK(memory.orphaning("u2") == Orphaning::unknown);
  // The garbage collector is done, or it was deleted again.
  CHECK(dies({"kubewatch.dev/web"}) == Orphaning::unsure);
  CHECK(dies({"kubewatch.dev/web", "foregroundDeletion"}) == Orphaning::unknown);
  CHECK(dies({"kubewatch.dev/web", "orphan"}) == Orphaning::yes);
  memory.end_run("u1", true);
  CHECK(memory.orphaning("u1") == Orphaning::unknown);
  // Seen as it began.
  CHECK(dies({"kubewatch.dev/web"}, true) == Orphaning::no);
  CHECK(dies({"kubewatch.dev/web"}) == Orphaning::no);
  CHECK(dies({"kubewatch.dev/web", "orphan"}) == Orphaning::yes);
  memory.forget("u1");
  CHECK(dies({"kubewatch.dev/web", "orphan"}, true) == Orphaning::yes);
}

TEST_CASE("a child that may be there is a guess, and takes nothing from what is known") {
  ChildMemory memory;
  memory.note_guess("u1", kChild, {});
  REQUIRE(memory.find("u1", kChild) != nullptr);
  CHECK(memory.find("u1", kChild)->guess);
  CHECK_FALSE(memory.wrote("u1", kChild, "10"));
  memory.remember("u1", kChild, {{}, 7, "10"});
  memory.note_guess("u1", kChild, {});
  CHECK_FALSE(memory.find("u1", kChild)->guess);
  CHECK(memory.wrote("u1", kChild, "10"));
}

TEST_CASE("a child that was found is no guess once versions say nothing any more") {
  ChildMemory memory;
  memory.remember("u1", kChild, {{}, 0, "10"});
  memory.forget_versions();
  REQUIRE(memory.find("u1", kChild) != nullptr);
  CHECK(memory.find("u1", kChild)->resource_version.empty());
  CHECK_FALSE(memory.find("u1", kChild)->guess);
}

TEST_CASE("children are listed once for each place that takes in more") {
  ChildMemory memory;
  memory.set_listed("u1", true);
  CHECK(memory.is_listed("u1", true));
  CHECK(memory.is_listed("u1", false));
  CHECK_FALSE(memory.is_listed("u1", false, true));
  memory.set_listed("u1", false, true);
  CHECK(memory.is_listed("u1", false, true));
  CHECK_FALSE(memory.is_listed("u1", true, true));  // neither was both
}

TEST_CASE("an object that is no child is news once, another one of its name again") {
  ChildMemory memory;
  CHECK(memory.is_new_stranger(kChild, "u-1", at(0)));
  CHECK_FALSE(memory.is_new_stranger(kChild, "u-1", at(100'000'000)));
  CHECK(memory.is_new_stranger(kChild, "u-2", at(100'000'001)));
}

TEST_CASE("a child is remembered per owner until it is forgotten") {
  ChildMemory memory;
  memory.remember("u1", kChild, {{}, 7, "10"});
  REQUIRE(memory.find("u1", kChild) != nullptr);
  CHECK(memory.find("u1", kChild)->resource_version == "10");
  CHECK(memory.find("u2", kChild) == nullptr);
  memory.forget_child("u1", kChild);
  CHECK(memory.find("u1", kChild) == nullptr);
  CHECK_FALSE(memory.is_listed("u1", false));
  memory.set_listed("u1", false);
  CHECK(memory.is_listed("u1", false));
  memory.forget("u1");
  CHECK_FALSE(memory.is_listed("u1", false));
}

TEST_CASE("what a run wrote is told from what others made of it since") {
  ChildMemory memory;
  memory.remember("u1", kChild, {{}, 7, "10"});
  CHECK(memory.wrote("u1", kChild, "10"));
  CHECK_FALSE(memory.wrote("u1", kChild, "11"));
  CHECK_FALSE(memory.wrote("u2", kChild, "10"));
  memory.claim(kChild, "u2");  // its event may come before the answer
  CHECK(memory.wrote("u2", kChild, "12"));
  memory.release(kChild, "u2");
  CHECK_FALSE(memory.wrote("u2", kChild, "12"));

  CHECK_FALSE(memory.wrote_status("u1", "20"));
  memory.begin_status("u1");
  CHECK(memory.wrote_status("u1", "20"));
  memory.end_status("u1");
  CHECK_FALSE(memory.wrote_status("u1", "20"));
  memory.status("u1").written_version = "20";
  CHECK(memory.wrote_status("u1", "20"));
  memory.end_status("gone");
  CHECK(memory.owners() == 1);
}

TEST_CASE("when versions mean nothing any more, children are known and nothing is taken for ours") {
  ChildMemory memory;
  memory.remember("u1", kChild, {{}, 7, "10"});
  memory.status("u1") = {9, "11", "12", false};
  REQUIRE(memory.wrote("u1", kChild, "10"));
  REQUIRE(memory.wrote_status("u1", "12"));
  memory.forget_versions();
  CHECK_FALSE(memory.wrote("u1", kChild, "10"));
  CHECK_FALSE(memory.wrote_status("u1", "12"));
  CHECK(memory.status("u1").resource_version.empty());
  REQUIRE(memory.find("u1", kChild) != nullptr);
  CHECK(memory.find("u1", kChild)->resource_version.empty());
}

TEST_CASE("an owner that dies during its run leaves nothing behind") {
  ChildMemory memory;
  memory.begin_run("u1");
  memory.forget("u1");  // its deletion
  memory.remember("u1", kChild, {{}, 7, "10"});
  memory.status("u1").hash = 1;
  memory.end_run("u1", true);
  CHECK(memory.owners() == 0);
}

TEST_CASE("the owners that are remembered are bounded, those at work stay") {
  ChildMemory memory(10);
  memory.begin_run("busy");
  memory.remember("busy", kChild, {{}, 7, "10"});
  for (int i = 0; i < 100; ++i) {
    const std::string uid = "u" + std::to_string(i);
    memory.begin_run(uid);
    memory.remember(uid, kChild, {{}, 7, "10"});
    memory.end_run(uid, false);
    REQUIRE(memory.owners() <= 10);
  }
  CHECK(memory.find("busy", kChild) != nullptr);
  CHECK(memory.find("u99", kChild) != nullptr);
  CHECK(memory.find("u0", kChild) == nullptr);
  // A new run makes an owner young again.
  memory.begin_run("u95");
  memory.end_run("u95", false);
  memory.end_run("busy", false);
  for (int i = 0; i < 8; ++i) {
    memory.begin_run("v" + std::to_string(i));
    memory.end_run("v" + std::to_string(i), false);
  }
  CHECK(memory.find("u95", kChild) != nullptr);
  CHECK(memory.find("u99", kChild) == nullptr);
}

TEST_CASE("a child is written for one owner at a time") {
  ChildMemory memory;
  CHECK(memory.claim(kChild, "u1"));
  CHECK(memory.claim(kChild, "u1"));
  CHECK_FALSE(memory.claim(kChild, "u2"));
  memory.release(kChild, "u2");
  CHECK_FALSE(memory.claim(kChild, "u2"));
  memory.release(kChild, "u1");
  CHECK(memory.claim(kChild, "u2"));
}

namespace {

const core::ObjectKey kOwner{"shop", "a"};
using Keys = std::vector<core::ObjectKey>;

ExpectedWrite written(const std::string& version) {
  return {kChild, version, "", {}};
}

CacheView showing(const std::string& version, const std::string& up_to = "") {
  core::ObjectMeta meta;
  meta.uid = "u-child";
  meta.resource_version = version;
  return {meta, up_to.empty() ? version : up_to};
}

ExpectedWrites::Views views(std::vector<CacheView> of_all) {
  return [of_all](const ExpectedWrite&) { return of_all; };
}

}  // namespace

TEST_CASE("an expected write is settled by its version, a later one, or time") {
  ExpectedWrites expected(Duration{5000});
  expected.expect("u1", kOwner, written("10"), at(0));
  CHECK(expected.has(kChild));
  CHECK_FALSE(expected.is_reached(kChild, "9"));
  CHECK(expected.is_reached(kChild, "10"));
  CHECK(expected.settle(kChild, views({showing("9")})).empty());
  CHECK_FALSE(expected.empty());
  CHECK(expected.settle(kChild, views({showing("11")})) == Keys{kOwner});
  CHECK(expected.empty());
  expected.expect("u1", kOwner, written("20"), at(0));
  CHECK(expected.until("u1") == at(5000));
  CHECK_FALSE(expected.until("u2"));
  CHECK(expected.expire(at(4999)).empty());
  const auto missed = expected.expire(at(5000));
  REQUIRE(missed.size() == 1);
  CHECK(missed[0].owner == kOwner);
  CHECK(missed[0].owner_uid == "u1");
  CHECK(missed[0].id == kChild);
  CHECK(expected.empty());
  CHECK_FALSE(expected.until("u1"));
}

TEST_CASE("a write is shown when every cache that selects its object has it, or is past it") {
  const ExpectedWrite write = written("10");
  CHECK(write.is_shown({}));
  CHECK(write.is_shown({showing("10")}));
  CHECK(write.is_shown({{std::nullopt, "12"}}));  // deleted since
  CHECK_FALSE(write.is_shown({{std::nullopt, "9"}}));
  CHECK_FALSE(write.is_shown({showing("11"), showing("9")}));
  CHECK(write.is_shown({showing("11"), showing("9", "10")}));
  // Of versions that are no numbers only the same one is known.
  CHECK(written("x").is_shown({showing("x", "y")}));
  CHECK_FALSE(written("x").is_shown({showing("y")}));
}

TEST_CASE("a deletion is shown when the object is gone, another one, or dying") {
  const ExpectedWrite gone{kChild, "", "u-child", {}};
  CHECK_FALSE(gone.is_shown({showing("99")}));
  CHECK(gone.is_shown({{std::nullopt, "1"}}));
  CacheView view = showing("99");
  view.object->deletion_timestamp = "2026-01-02T03:04:05Z";
  CHECK(gone.is_shown({view}));
  view = showing("99");
  view.object->uid = "u-new";
  CHECK(gone.is_shown({view}));
  ExpectedWrites expected;
  expected.expect("u1", kOwner, gone, at(0));
  CHECK_FALSE(expected.is_reached(kChild, "99"));
}

TEST_CASE("an object waits for all that it wrote, and for nothing that others wrote") {
  ExpectedWrites expected(Duration{5000});
  const ChildId second{"", "ConfigMap", {"shop", "second"}};
  const core::ObjectKey other{"shop", "b"};
  expected.expect("u1", kOwner, written("10"), at(0));
  expected.expect("u1", kOwner, {second, "11", "", {}}, at(1000));
  expected.expect("u2", other, written("12"), at(2000));
  CHECK(expected.until("u1") == at(6000));
  CHECK(expected.settle(kChild, views({showing("10")})).empty());
  CHECK(expected.first_of("u1") == second);
  CHECK(expected.settle(second, views({showing("11")})) == Keys{kOwner});
  CHECK_FALSE(expected.until("u1"));
  CHECK(expected.until("u2") == at(7000));
  // What it writes again takes the place of what it wrote.
  expected.expect("u2", other, written("15"), at(3000));
  CHECK(expected.settle(kChild, views({showing("12")})).empty());
  CHECK(expected.expire(at(7000)).empty());
  CHECK(expected.settle(views({showing("15")})) == Keys{other});
  CHECK(expected.empty());
}

TEST_CASE("the same thing is said once per window") {
  OncePer once(Duration{60000});
  CHECK(once.admit("x", at(0)));
  CHECK_FALSE(once.admit("x", at(59999)));
  CHECK(once.admit("y", at(1)));
  CHECK(once.admit("x", at(60000)));
}

TEST_CASE("what was said is remembered within bounds, the latest first") {
  OncePer once(Duration{60000}, 100);
  for (int i = 0; i < 10000; ++i) {
    REQUIRE(once.admit("message " + std::to_string(i), at(i / 100)));
    REQUIRE(once.remembered() <= 100);
  }
  CHECK_FALSE(once.admit("message 9950", at(100)));
  CHECK(once.admit("message 0", at(100)));
  CHECK(once.admit("late", at(70000)));
  CHECK(once.remembered() == 1);
}

TEST_CASE("a flood of lines is cut to a burst and a rate") {
  LineLimit limit(3, Duration{100});
  int admitted = 0;
  for (int i = 0; i < 100; ++i) admitted += limit.admit(at(0)) ? 1 : 0;
  CHECK(admitted == 3);
  CHECK(limit.dropped() == 97);
  CHECK(limit.admit(at(1000)));
}

TEST_CASE("the Event of a failed run names the object and the reason") {
  const Owner owner{{"demo.kubewatch.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
  const runtime::Happening told = failure_of(owner, Outcome::timeout, "took too long");
  CHECK(told.reason == "HookTimedOut");
  CHECK(told.action == "Reconcile");
  CHECK(told.type == runtime::EventType::warning);
  CHECK(told.note == "took too long");
  CHECK(told.regarding ==
        core::ObjectRef{"demo.kubewatch.dev/v1", "Website", "shop", "a", "uid-1"});
}

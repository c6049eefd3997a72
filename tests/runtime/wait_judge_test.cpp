// The decisions of a wait, without a server: what is told in, what is decided.
#include "runtime/wait_judge.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

constexpr TimePoint kStart{Duration{1000}};
const WallTime kWall = *base::parse_rfc3339("2026-01-02T03:04:05Z");

WaitGoal goal(const std::vector<std::string>& wanted,
              const std::vector<std::string>& fail_if = {}) {
  WaitGoal out;
  for (const auto& text : wanted) out.wanted.push_back(*WaitCondition::parse(text));
  for (const auto& text : fail_if) out.fail_if.push_back(*WaitCondition::parse(text));
  return out;
}

WaitTarget pods(const std::string& name = "") {
  WaitTarget out;
  out.type.gvk = {"", "v1", "Pod"};
  out.type.plural = "pods";
  out.namespace_ = "shop";
  out.name = name;
  if (name.empty()) out.label_selector = "app=web";
  return out;
}

Json pod(const std::string& name, const std::string& ready, const std::string& uid = "u",
         int version = 5, const std::string& phase = "Running") {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"uid", uid},
            {"resourceVersion", std::to_string(version)}}},
          {"status",
           {{"phase", phase},
            {"conditions", Json::array({Json{{"type", "Ready"}, {"status", ready}}})}}}};
}

struct Case {
  explicit Case(WaitGoal wanted) : judge(std::move(wanted)) {}
  void see(std::size_t target, const Json& object) { judge.seen(target, object, kWall); }
  void gone(std::size_t target, const std::string& name) { judge.gone(target, {"shop", name}); }
  WaitOutcome decide(bool confirmed = true) {
    return judge.decide(now, confirmed ? now : kStart - Duration{1});
  }
  WaitedObject object(std::size_t at = 0) const { return judge.report().at(at); }

  WaitJudge judge;
  TimePoint now = kStart;
};

}  // namespace

TEST_CASE("a wait is not decided before every watch has told its first list") {
  Case it(goal({"condition=Ready"}));
  const auto a = it.judge.add(pods("a"));
  const auto b = it.judge.add(pods("b"));
  it.see(a, pod("a", "True"));
  it.judge.synced(a);
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object(1).state == WaitState::unknown);
  it.see(b, pod("b", "True"));
  it.judge.synced(b);
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("several conditions hold at once, on one state of the object") {
  Case it(goal({"condition=Ready", "jsonpath={.status.phase}=Done"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::pending);
  // The second comes true when the first is no longer: one after the other would be satisfied.
  it.see(a, pod("a", "False", "u", 6, "Done"));
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().condition == "condition=Ready");
  it.see(a, pod("a", "True", "u", 7, "Done"));
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.object().resource_version == "7");
}

TEST_CASE("any is met by one of several conditions, also by absence") {
  WaitGoal either = goal({"condition=Ready", "delete"});
  either.any = true;
  Case it(either);
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "False"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.gone(a, "a");
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.object().condition == "delete");
}

TEST_CASE("any with ready fails only when no other condition can be met") {
  WaitGoal either = goal({"ready", "condition=Other"});
  either.any = true;
  either.kstatus.strict = true;
  Case it(either);
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "False", "u", 5, "Failed"));
  CHECK(it.decide() == WaitOutcome::pending);
  WaitGoal both = goal({"ready", "condition=Other"});
  both.kstatus.strict = true;
  Case strict(both);
  const auto b = strict.judge.add(pods("a"));
  strict.judge.synced(b);
  strict.see(b, pod("a", "False", "u", 5, "Failed"));
  CHECK(strict.decide() == WaitOutcome::failed);
}

TEST_CASE("fail-if ends a wait at once and says by which condition") {
  Case it(goal({"condition=Ready"}, {"jsonpath={.status.phase}=Broken"}));
  const auto a = it.judge.add(pods("a"));
  const auto b = it.judge.add(pods("b"));  // not told yet: a failure does not wait for it
  it.judge.synced(a);
  it.see(a, pod("a", "True", "u", 5, "Broken"));
  CHECK(it.decide() == WaitOutcome::failed);
  CHECK(it.object().condition == "jsonpath={.status.phase}=Broken");
  CHECK(it.object().judgement.wanted == "not jsonpath={.status.phase}=Broken");
  CHECK_FALSE(it.judge.is_synced(b));
}

TEST_CASE("fail-if=delete takes a deletion for a failure, but not what never was") {
  Case it(goal({"condition=Ready"}, {"delete"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  CHECK(it.decide() == WaitOutcome::pending);
  it.see(a, pod("a", "False"));
  it.gone(a, "a");
  CHECK(it.decide() == WaitOutcome::failed);
}

TEST_CASE("a named object that is deleted while it is waited for ends the wait") {
  Case it(goal({"condition=Ready"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().state == WaitState::not_found);
  it.see(a, pod("a", "False"));
  it.gone(a, "a");
  CHECK(it.decide() == WaitOutcome::deleted);
  CHECK(it.object().state == WaitState::deleted);
}

TEST_CASE("an object that was made anew is judged anew, by its uid") {
  WaitGoal held = goal({"condition=Ready"});
  held.hold = Duration{100};
  Case it(held);
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "True", "one"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.now += Duration{90};
  it.see(a, pod("a", "True", "two", 9));
  CHECK(it.decide() == WaitOutcome::pending);
  it.now += Duration{90};
  CHECK(it.decide() == WaitOutcome::pending);
  it.now += Duration{10};
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.object().uid == "two");
}

TEST_CASE("a deletion is met by absence, and by another object under the name") {
  Case it(goal({"delete"}));
  const auto a = it.judge.add(pods("a"));
  const auto never = it.judge.add(pods("never"));
  it.judge.synced(a);
  it.judge.synced(never);
  it.see(a, pod("a", "True", "one"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.see(a, pod("a", "True", "two", 9));
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("nothing is met by a state that may be old, and a hold goes on behind it") {
  WaitGoal held = goal({"condition=Ready"});
  held.hold = Duration{1000};
  Case it(held);
  const auto web = it.judge.add(pods("a"));
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  CHECK(it.decide(false) == WaitOutcome::pending);
  it.now += Duration{2000};
  CHECK(it.judge.decide(it.now, kStart + Duration{999}) == WaitOutcome::pending);
  CHECK(it.decide(false) == WaitOutcome::pending);
  SECTION("what came meanwhile is told, and was as asked all the time") {
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("what came meanwhile was missed") {
    it.judge.missed();
    CHECK(it.decide() == WaitOutcome::pending);
    it.now += Duration{1000};
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("what came meanwhile is not as asked") {
    it.see(web, pod("a", "False"));
    CHECK(it.decide(false) == WaitOutcome::pending);
    it.see(web, pod("a", "True"));
    CHECK(it.decide() == WaitOutcome::pending);
  }
  SECTION("an end that no state to come can mend is one at once") {
    it.gone(web, "a");
    CHECK(it.decide(false) == WaitOutcome::deleted);
  }
}

TEST_CASE("a selector's objects come and go while it is waited for") {
  Case it(goal({"condition=Ready"}));
  const auto web = it.judge.add(pods());
  it.judge.synced(web);
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().state == WaitState::not_found);
  CHECK(it.object().str() == "pods (-l app=web)");
  it.see(web, pod("a", "True"));
  it.see(web, pod("b", "False", "v"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.gone(web, "b");  // it left: nobody asks for it any more
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.judge.report().size() == 1);
}

TEST_CASE("of a category one object of any kind is enough, of several words one of each") {
  for (const bool category : {true, false}) {
    Case it(goal({"create"}));
    WaitTarget first = pods();
    WaitTarget second = pods();
    second.type.gvk.kind = "Service";
    second.type.plural = "services";
    first.category = second.category = category ? "all" : "";
    const auto a = it.judge.add(first);
    const auto b = it.judge.add(second);
    it.judge.synced(a);
    it.judge.synced(b);
    CHECK(it.decide() == WaitOutcome::pending);
    CHECK(it.judge.report().size() == 2);
    it.see(a, pod("a", "True"));
    CHECK(it.decide() == (category ? WaitOutcome::met : WaitOutcome::pending));
    CHECK(it.judge.report().size() == (category ? 1 : 2));
  }
}

TEST_CASE("of a category each namespace needs an object") {
  Case it(goal({"create"}));
  WaitTarget here = pods();
  here.category = "all";
  WaitTarget there = here;
  there.namespace_ = "blog";
  const auto a = it.judge.add(here);
  it.judge.synced(a);
  it.judge.synced(it.judge.add(there));
  it.see(a, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::pending);
}

TEST_CASE("min-count and exactly count what selectors choose") {
  for (const bool exactly : {false, true}) {
    WaitGoal counted = goal({"condition=Ready"});
    (exactly ? counted.exactly : counted.min_count) = 2;
    Case it(counted);
    const auto web = it.judge.add(pods());
    it.judge.synced(web);
    it.see(web, pod("a", "True"));
    CHECK(it.decide() == WaitOutcome::pending);
    it.see(web, pod("b", "True", "v"));
    CHECK(it.decide() == WaitOutcome::met);
    it.see(web, pod("c", "True", "w"));
    CHECK(it.decide() == (exactly ? WaitOutcome::pending : WaitOutcome::met));
    if (exactly) {
      CHECK(it.judge.summary() == "3 of 3 objects are as asked; 3 match, exactly 2 are wanted");
    }
  }
}

TEST_CASE("exactly 0 is met when nothing is left") {
  WaitGoal none = goal({"create"});
  none.exactly = 0;
  Case it(none);
  const auto web = it.judge.add(pods());
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.gone(web, "a");
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("a deletion by selector is met when nothing matches, and tells what went") {
  Case it(goal({"delete"}));
  const auto web = it.judge.add(pods());
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.gone(web, "a");
  CHECK(it.decide() == WaitOutcome::met);
  REQUIRE(it.judge.report().size() == 1);
  CHECK(it.object().state == WaitState::met);
  Case nothing(goal({"delete"}));
  const auto none = nothing.judge.add(pods());
  CHECK(nothing.decide() == WaitOutcome::pending);
  nothing.judge.synced(none);
  CHECK(nothing.decide() == WaitOutcome::met);
}

TEST_CASE("hold: all must stay met for so long, and begins anew when they do not") {
  WaitGoal held = goal({"condition=Ready"});
  held.hold = Duration{100};
  Case it(held);
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::pending);
  REQUIRE(it.judge.hold_ends().has_value());
  CHECK(*it.judge.hold_ends() == kStart + Duration{100});
  it.now += Duration{99};
  it.see(a, pod("a", "False", "u", 6));
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK_FALSE(it.judge.hold_ends().has_value());
  it.see(a, pod("a", "True", "u", 7));
  CHECK(it.decide() == WaitOutcome::pending);
  it.now += Duration{100};
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("after a write only its state and later ones count") {
  Case it(goal({"condition=Ready"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "True", "u", 5));
  it.judge.expect(a, "u", "9");
  CHECK(it.decide() == WaitOutcome::pending);
  it.see(a, pod("a", "True", "u", 8));  // an older state, on its way when we wrote
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().judgement.current == "the state after the write was not seen yet");
  it.see(a, pod("a", "False", "u", 9));
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().judgement.current == "Ready is False");
  it.see(a, pod("a", "True", "u", 10));
  CHECK(it.decide() == WaitOutcome::met);
  // The watch may be ahead of the answer.
  it.judge.expect(a, "u", "10");
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("what was written and has gone again is waited for no more") {
  Case it(goal({"condition=Ready"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  SECTION("gone before the answer of the write came") {
    it.see(a, pod("a", "False", "u", 9));
    it.gone(a, "a");
    it.judge.expect(a, "u", "9");
    CHECK(it.decide() == WaitOutcome::deleted);
    CHECK(it.object().judgement.current == "was deleted while waiting");
  }
  SECTION("an older state alone was seen before it went") {
    it.see(a, pod("a", "False", "u", 5));
    it.gone(a, "a");
    it.judge.expect(a, "u", "9");
    CHECK(it.decide() == WaitOutcome::deleted);
  }
  SECTION("another object had its name before the answer came, and is judged") {
    it.see(a, pod("a", "True", "u2", 12));
    it.judge.expect(a, "u", "9");
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("another object comes in its place") {
    it.judge.expect(a, "u", "9");
    it.see(a, pod("a", "False", "u2", 12));
    CHECK(it.decide() == WaitOutcome::pending);
    CHECK(it.object().judgement.current == "Ready is False");
    it.see(a, pod("a", "True", "u2", 13));
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("the one that was there before the write is not in its place") {
    it.judge.expect(a, "u", "9");
    it.see(a, pod("a", "True", "u0", 7));
    CHECK(it.decide() == WaitOutcome::pending);
    it.gone(a, "a");
    CHECK(it.decide() == WaitOutcome::pending);
    it.see(a, pod("a", "True", "u", 9));
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("a list that is as new does not have it") {
    it.judge.expect(a, "u", "9");
    it.judge.absent(a, "8");
    CHECK(it.decide() == WaitOutcome::pending);
    CHECK(it.object().state == WaitState::unknown);
    it.judge.absent(a, "9");
    CHECK(it.decide() == WaitOutcome::deleted);
    CHECK(it.object().uid == "u");
    it.see(a, pod("a", "True", "u2", 12));
    CHECK(it.decide() == WaitOutcome::met);
  }
  SECTION("where nothing was written, what a list does not have is waited for") {
    it.judge.absent(a, "9");
    CHECK(it.decide() == WaitOutcome::pending);
    CHECK(it.object().state == WaitState::not_found);
  }
}

TEST_CASE("what time alone changes is told as due") {
  Case it(goal({"ready"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  Json waiting = pod("a", "False", "u", 5, "Pending");
  waiting["metadata"]["creationTimestamp"] = "2026-01-02T03:04:00Z";
  waiting["status"]["conditions"].push_back(
      {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}});
  it.see(a, waiting);
  CHECK(it.decide() == WaitOutcome::pending);
  REQUIRE(it.judge.due().size() == 1);
  const auto due = it.judge.due().front();
  CHECK(base::format_rfc3339(due.at) == "2026-01-02T03:04:15Z");
  it.judge.seen(a, waiting, due.at);
  CHECK(it.decide() == WaitOutcome::failed);
  CHECK(it.judge.due().empty());
}

TEST_CASE("a condition that cannot be asked of an object is no reason to wait") {
  Case it(goal({"jsonpath={.status.conditions}=x"}));
  const auto a = it.judge.add(pods("a"));
  it.judge.synced(a);
  it.see(a, pod("a", "True"));
  CHECK(it.decide() == WaitOutcome::invalid);
}

TEST_CASE("goals that contradict themselves are refused") {
  const auto error = [](WaitGoal wanted) {
    const auto checked = wanted.check();
    return checked.ok() ? std::string() : checked.error().render();
  };
  CHECK(error(goal({})) == "nothing is waited for: give --for");
  CHECK(error(goal({"delete", "ready"})) ==
        "no object can be delete and ready at once: join them with --any");
  WaitGoal any = goal({"delete", "ready"});
  any.any = true;
  CHECK(error(any).empty());
  WaitGoal counted = goal({"delete"});
  counted.min_count = 1;
  CHECK(error(counted).find("--min-count") == 0);
  WaitGoal narrow = goal({"ready"});
  narrow.min_count = 3;
  narrow.exactly = 2;
  CHECK(error(narrow) == "--min-count is more than --exactly");
}

TEST_CASE("nothing is decided by what lacks of an object that could not be kept whole") {
  const Json metadata = {{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata", {{"name", "a"}, {"namespace", "shop"}, {"uid", "u"}}}};
  for (const char* wanted : {"ready", "jq=.status == null", "condition=Ready"}) {
    Case it(goal({wanted}));
    const auto a = it.judge.add(pods("a"));
    it.judge.seen(a, metadata, kWall, true);
    it.judge.synced(a);
    CHECK(it.decide() == WaitOutcome::invalid);
    CHECK(it.object().judgement.current.find("only the metadata is kept") != std::string::npos);
    // A smaller one is judged.
    it.see(a, pod("a", "True"));
    CHECK(it.decide() != WaitOutcome::invalid);
  }
  for (const char* fails : {"", "condition=Stalled"}) {
    WaitGoal wanted = goal({"create"});
    if (*fails != '\0') wanted.fail_if.push_back(*WaitCondition::parse(fails));
    Case there(std::move(wanted));
    const auto a = there.judge.add(pods("a"));
    there.judge.seen(a, metadata, kWall, true);
    there.judge.synced(a);
    CHECK(there.decide() == (*fails == '\0' ? WaitOutcome::met : WaitOutcome::invalid));
  }
}

TEST_CASE("what left a selection is undecided until it is known whether it exists") {
  Case it(goal({"delete"}));
  const auto web = it.judge.add(pods());
  CHECK(it.judge.may_only_have_left(web));
  CHECK_FALSE(it.judge.may_only_have_left(it.judge.add(pods("b"))));
  it.judge.synced(1);
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  CHECK(it.judge.inside(web).size() == 1);
  it.judge.left(web, {"shop", "a"});
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().state == WaitState::unknown);
  CHECK(it.judge.inside(web).empty());
  CHECK(it.judge.uid_of(web, {"shop", "a"}) == "u");
  REQUIRE(it.judge.outside(web, {"shop", "a"}));
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK(it.object().state == WaitState::not_met);
  it.gone(web, "a");
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.judge.uid_of(web, {"shop", "a"}).empty());
}

TEST_CASE("what is outside a selection does not count among its objects") {
  WaitGoal either = goal({"condition=Ready", "delete"});
  either.any = true;
  either.exactly = 1;
  Case it(either);
  const auto web = it.judge.add(pods());
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  it.see(web, pod("b", "True", "v"));
  CHECK(it.decide() == WaitOutcome::pending);
  it.judge.left(web, {"shop", "b"});
  CHECK(it.decide() == WaitOutcome::pending);
  REQUIRE(it.judge.outside(web, {"shop", "b"}));
  CHECK(it.decide() == WaitOutcome::met);
}

TEST_CASE("only a failure by deletion does not keep what left a selection") {
  Case it(goal({"condition=Ready"}, {"delete"}));
  const auto web = it.judge.add(pods());
  it.judge.synced(web);
  it.see(web, pod("a", "True"));
  it.see(web, pod("b", "False", "v"));
  it.judge.left(web, {"shop", "b"});
  CHECK(it.decide() == WaitOutcome::pending);
  CHECK_FALSE(it.judge.outside(web, {"shop", "b"}));
  CHECK(it.decide() == WaitOutcome::met);
  CHECK(it.judge.report().size() == 1);
  Case plain(goal({"condition=Ready"}));
  CHECK_FALSE(plain.judge.may_only_have_left(plain.judge.add(pods())));
}

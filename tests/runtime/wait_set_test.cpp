// A wait on a scripted server: which requests it makes, and what ends it.
#include "runtime/wait_set.hpp"

#include <algorithm>

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::pod_list;
using test::status_text;
using test::watch_line;

namespace {

const core::ResourceType kPods = test::resource("", "v1", "Pod", "pods");

std::string pod(const std::string& name, const std::string& phase, int version,
                const std::string& uid = "u1") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("},"status":{"phase":")" +
         phase + R"("}})";
}

const char* const kNoKinds =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[]})";
std::string kinds(const std::string& plural, const std::string& kind) {
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
         R"({"metadata":{},"versions":[{"version":"v1","resources":[{"resource":")" +
         plural + R"(","responseKind":{"group":"","version":"v1","kind":")" + kind +
         R"("},"scope":"Namespaced","singularResource":"x","verbs":["get","list","watch"]}]}]}]})";
}

struct Wait : test::ApiRig {
  explicit Wait(const std::vector<std::string>& conditions, Duration hold = Duration{0},
                const std::vector<std::string>& fail_if = {}) {
    WaitGoal goal;
    for (const auto& text : conditions) goal.wanted.push_back(*WaitCondition::parse(text));
    for (const auto& text : fail_if) goal.fail_if.push_back(*WaitCondition::parse(text));
    goal.hold = hold;
    WatcherOptions options;
    options.backoff = {Duration{2}, Duration{10}, 2.0, 0.0};
    options.short_watch = Duration{1};
    options.strategy = ListStrategy::unpaged;
    WaitSet::Callbacks callbacks;
    callbacks.on_change = [this] { outcome = set->outcome(); };
    callbacks.on_state = [this] {
      if (on_state) on_state();
    };
    callbacks.on_failure = [this](const std::string&, const ReflectorStats&, WatcherFailure,
                                  const Error&, Duration) { ++failures; };
    callbacks.on_version = [this](const std::string& what, const core::Gvk& before,
                                  const core::Gvk& now) {
      versions.push_back(what + ": " + before.version + " to " + now.version);
    };
    callbacks.on_moved = [this](const std::string& what, const core::ResourceType& now) {
      moves.push_back(what + " to " + now.plural);
    };
    set = std::make_unique<WaitSet>(client, std::move(goal), options, random, std::move(callbacks));
  }
  std::size_t add(const std::string& name) { return set->add({kPods, "shop", name, "", "", ""}); }
  void add_selected() { set->add({kPods, "shop", "", "app=web", "", ""}); }
  bool becomes(WaitOutcome wanted) {
    return until([&] {
      transport.run();
      return outcome == wanted;
    });
  }
  // The open request that begins so, and has that, once it is there; what is routed is answered on
  // the way.
  test::ScriptedCall& request(const std::string& line, const std::string& has = "") {
    test::ScriptedCall* found = nullptr;
    const bool came = until([&] {
      transport.run();
      for (std::size_t i = 0; i < transport.size() && found == nullptr; ++i) {
        auto& one = transport.call(i);
        const std::string text = one.line();
        const bool fits = text.starts_with(line) && text.find(has) != std::string::npos;
        if (one.open() && fits) found = &one;
      }
      return found != nullptr;
    });
    INFO(line);
    REQUIRE(came);
    return *found;
  }
  static void answer_to(test::ScriptedCall& call, int code, const std::string& body) {
    call.head(code);
    call.data(body);
    call.end();
  }
  // Until the loop's clock, which counts milliseconds, says so.
  void pass(Duration time) {
    bool over = false;
    const auto timer = loop.after(time, [&] { over = true; });
    REQUIRE(until([&] { return over; }));
  }
  void settle() {
    for (int i = 0; i < 5; ++i) {
      transport.run();
      turn();
    }
  }

  WaitOutcome outcome = WaitOutcome::pending;
  int failures = 0;
  std::function<void()> on_state;
  std::vector<std::string> versions;
  std::vector<std::string> moves;
  std::unique_ptr<WaitSet> set;
};

}  // namespace

TEST_CASE("one object that is as asked already costs one request before the verdict") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  CHECK(wait.call(0).line() ==
        "GET /api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb");
  CHECK_FALSE(wait.set->synced());
  wait.answer(0, 200, pod_list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK(wait.set->synced());
}

TEST_CASE("the watch goes on from the list, so nothing in between is missed") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list("", 5));
  auto& watch = wait.call(1);
  CHECK(watch.line().find("resourceVersion=5") != std::string::npos);
  CHECK(watch.line().find("watch=true") != std::string::npos);
  watch.head(200);
  watch.data(watch_line("ADDED", pod("web", "Pending", 6)));
  wait.turn();
  CHECK(wait.outcome == WaitOutcome::pending);
  watch.data(watch_line("MODIFIED", pod("web", "Running", 7)));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("few names are watched each, many as one collection") {
  Wait few({"create"});
  few.add("a");
  few.add("b");
  few.add("a");  // said twice
  few.set->start();
  few.turn();
  CHECK(few.transport.size() == 2);
  Wait many({"create"});
  for (const char* name : {"a", "b", "c", "d", "e"}) many.add(name);
  many.set->start();
  // Whatever is asked first (the server's version may decide how to list), no name is in it.
  many.answer(0, 200,
              many.call(0).line().find("/version") != std::string::npos
                  ? R"({"major":"1","minor":"33"})"
                  : pod_list(pod("a", "Running", 3), 9));
  many.turn();
  for (std::size_t i = 0; i < many.transport.size(); ++i) {
    CHECK(many.call(i).line().find("metadata.name") == std::string::npos);
  }
}

TEST_CASE("who may not read the collection reads each object by its name") {
  Wait wait({"create"});
  for (const char* name : {"a", "b", "c", "d", "e"}) wait.add(name);
  wait.set->start();
  wait.answer(0, 403, status_text(403, "Forbidden", "no"));
  REQUIRE(wait.until([&] { return wait.transport.size() >= 6; }));
  CHECK(wait.call(1).line().find("metadata.name%3Da") != std::string::npos);
  CHECK(wait.set->hopeless() == nullptr);
}

TEST_CASE("what another try cannot mend ends a wait") {
  Wait wait({"create"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 403, status_text(403, "Forbidden", "no"));
  REQUIRE(wait.until([&] { return wait.set->hopeless() != nullptr; }));
  CHECK(wait.set->hopeless()->is_forbidden());
}

TEST_CASE("what may be mended does not end a wait that has seen its object") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Pending", 5), 5));
  wait.answer(1, 403, status_text(403, "Forbidden", "no"));
  wait.call(2).head(200);
  wait.call(2).data(watch_line("ERROR", status_text(403, "Forbidden", "no")));
  wait.call(3).head(200);
  wait.call(3).data(watch_line("MODIFIED", pod("web", "Running", 7)));
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK_FALSE(wait.set->hopeless());
}

TEST_CASE("what stays refused ends a wait even after it has seen its object") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Pending", 5), 5));
  for (std::size_t i = 1; i <= 5; ++i) wait.answer(i, 403, status_text(403, "Forbidden", "no"));
  REQUIRE(wait.until([&] { return wait.set->hopeless() != nullptr; }));
  CHECK(wait.set->hopeless()->is_forbidden());
}

TEST_CASE("a kind that is gone has no objects left to be deleted") {
  Wait wait({"delete"});
  wait.add("web");
  wait.set->start();
  const auto refused = [&] {
    wait.answer(0, 404, status_text(404, "NotFound", "the server could not find it"));
    for (int i = 0; i < 5; ++i) {
      wait.transport.run();
      wait.turn();
    }
  };
  // Whatever is in between may answer 404: the server's own list of kinds decides.
  SECTION("the server does not have it any more") {
    wait.transport.route("GET", "/api", 200, kinds("nodes", "Node"));
    wait.transport.route("GET", "/apis", 200, kNoKinds);
    refused();
    CHECK(wait.becomes(WaitOutcome::met));
  }
  const auto goes_on = [&] {
    refused();
    CHECK(wait.failures >= 1);
    CHECK(wait.outcome == WaitOutcome::pending);
  };
  SECTION("it does") {
    wait.transport.route("GET", "/api", 200, kinds("pods", "Pod"));
    wait.transport.route("GET", "/apis", 200, kNoKinds);
    goes_on();
  }
  SECTION("nobody can say") {
    wait.transport.route("GET", "/api", 404, "default backend - 404");
    wait.transport.route("GET", "/apis", 404, "default backend - 404");
    goes_on();
  }
  SECTION("half of it is answered by something else") {
    wait.transport.route("GET", "/api", 404, "default backend - 404");
    wait.transport.route("GET", "/apis", 200, kNoKinds);
    goes_on();
  }
}

TEST_CASE("a broken watch is taken up again while it is waited") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Pending", 5), 5));
  wait.call(1).head(200);
  wait.call(1).fail(Error(ErrorKind::unreachable, "connection lost"));
  wait.answer(2, 200, pod_list("", 5));  // of which version the server is
  auto& again = wait.call(3);
  again.head(200);
  again.data(watch_line("MODIFIED", pod("web", "Running", 6)));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("a hold does not end while the watch fails: nobody knows how the object is") {
  constexpr Duration kHold{400};
  Wait wait({"create"}, kHold);
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Running", 5), 5));
  wait.call(1).head(200);
  wait.call(1).fail(Error(ErrorKind::unreachable, "connection lost"));
  auto& look = wait.call(2);
  wait.pass(kHold + Duration{100});
  CHECK(wait.outcome == WaitOutcome::pending);
  Wait::answer_to(look, 200, pod_list("", 6));  // of which version the server is
  auto& again = wait.call(3);
  again.head(200);
  SECTION("it is as it was") {
    again.data(watch_line("MODIFIED", pod("web", "Running", 6)));
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("it is gone") {
    again.data(watch_line("DELETED", pod("web", "Running", 6)));
    CHECK(wait.becomes(WaitOutcome::deleted));
  }
}

TEST_CASE("of two objects one that was seen before an outage counts when its watch works again") {
  Wait wait({"create"});
  wait.add("a");
  wait.add("b");
  wait.set->start();
  Wait::answer_to(wait.request("GET", "metadata.name%3Da"), 200,
                  pod_list(pod("a", "Running", 5), 5));
  Wait::answer_to(wait.request("GET", "metadata.name%3Db"), 200, pod_list("", 5));
  auto& of_a = wait.request("GET", "metadata.name%3Da");
  auto& of_b = wait.request("GET", "metadata.name%3Db");
  of_a.head(200);
  of_b.head(200);
  of_a.fail(Error(ErrorKind::unreachable, "connection lost"));
  wait.pass(Duration{5});
  of_b.data(watch_line("ADDED", pod("b", "Running", 7, "u2")));
  wait.settle();
  CHECK(wait.outcome == WaitOutcome::pending);
  // Which version the server is of is asked for first.
  Wait::answer_to(wait.request("GET", "limit=1"), 200, pod_list("", 7));
  auto& again = wait.request("GET", "metadata.name%3Da");
  again.head(200);
  again.data(watch_line("DELETED", pod("a", "Running", 6)));
  CHECK(wait.becomes(WaitOutcome::deleted));
}

TEST_CASE("what a list finds changed is judged as a whole, not object by object") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  std::size_t states = 0, met = 0;
  wait.on_state = [&] {
    ++states;
    met += wait.set->outcome() == WaitOutcome::met ? 1 : 0;
  };
  wait.add_selected();
  wait.set->start();
  Wait::answer_to(wait.request("GET", "app%3Dweb"), 200,
                  pod_list(pod("a", "Running", 5) + "," + pod("c", "Pending", 5, "u3"), 5));
  auto& watch = wait.request("GET", "watch=");
  watch.head(200);
  watch.data(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
             "\n");
  const std::size_t before = states;
  // c has gone, d has come: at no moment was a alone.
  Wait::answer_to(wait.request("GET", "app%3Dweb"), 200,
                  pod_list(pod("a", "Running", 5) + "," + pod("d", "Pending", 9, "u4"), 9));
  wait.request("GET", "watch=");
  CHECK(states == before + 1);
  CHECK(met == 0);
  CHECK(wait.outcome == WaitOutcome::pending);
}

TEST_CASE("a hold ends by time alone") {
  Wait wait({"create"}, Duration{20});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("after a write the watch that was open before it tells the verdict") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  const auto web = wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
  wait.set->expect(web, *base::parse_json(pod("web", "Running", 8)));
  CHECK(wait.set->outcome() == WaitOutcome::pending);
  wait.call(1).head(200);
  wait.call(1).data(watch_line("MODIFIED", pod("web", "Running", 8)));
  wait.outcome = WaitOutcome::pending;
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("what was written and is gone before a watch has told of it ends the wait") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  const auto web = wait.add("web");
  wait.set->start();
  wait.answer(0, 200, pod_list("", 5));
  wait.settle();
  const auto relist = [&](int version) {
    auto& watch = wait.request("GET", "watch=");
    watch.head(200);
    watch.data(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
               "\n");
    Wait::answer_to(wait.request("GET", "metadata.name%3Dweb"), 200, pod_list("", version));
    wait.settle();
  };
  const auto written = *base::parse_json(pod("web", "Running", 8));
  SECTION("a list after the write does not have it") {
    wait.set->expect(web, written);
    relist(7);  // of a cache that does not have the write yet
    CHECK(wait.set->outcome() == WaitOutcome::pending);
    relist(9);
    CHECK(wait.becomes(WaitOutcome::deleted));
  }
  SECTION("the list came before the answer of the write") {
    relist(9);
    CHECK(wait.set->outcome() == WaitOutcome::pending);
    wait.set->expect(web, written);
    CHECK(wait.set->outcome() == WaitOutcome::deleted);
  }
}

namespace {

const char* const kList = "GET /api/v1/namespaces/shop/pods?labelSelector=app%3Dweb";
const char* const kGet = "GET /api/v1/namespaces/shop/pods/a";
const char* const kByName = "GET /api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Da";

const char* const kPodWatch = "GET /api/v1/namespaces/shop/pods?allowWatch";

const std::string& no_such_pod() {
  static const std::string out = status_text(404, "NotFound", "pods \"a\" not found");
  return out;
}

// Pod a was chosen, and is no longer.
void a_leaves(Wait& wait) {
  wait.add_selected();
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("a", "Running", 5), 5));
  wait.call(1).head(200);
  wait.settle();
  REQUIRE(wait.outcome == WaitOutcome::pending);
  wait.call(1).data(watch_line("DELETED", pod("a", "Running", 6)));
  wait.turn();
  CHECK(wait.outcome == WaitOutcome::pending);
}

}  // namespace

TEST_CASE("what leaves a selection is asked for by its name before it counts as deleted") {
  Wait wait({"delete"});
  a_leaves(wait);
  CHECK(wait.set->report().at(0).state == WaitState::unknown);
  auto& question = wait.request(kGet);
  SECTION("it does not exist") {
    wait.answer_to(question, 404, no_such_pod());
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("another object has its name") {
    wait.answer_to(question, 200, pod("a", "Running", 9, "u2"));
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("it exists, and is followed until it does not") {
    wait.answer_to(question, 200, pod("a", "Running", 6));
    wait.answer_to(wait.request(kByName), 200, pod_list(pod("a", "Running", 6), 6));
    auto& watch = wait.request(kPodWatch, "metadata.name%3Da");
    watch.head(200);
    wait.settle();
    CHECK(wait.outcome == WaitOutcome::pending);
    CHECK(wait.set->report().at(0).judgement.current.find("the selection has it no more") !=
          std::string::npos);
    CHECK(wait.set->object(wait.set->report().at(0)).has_value());
    SECTION("") {
      watch.data(watch_line("DELETED", pod("a", "Running", 8)));
      CHECK(wait.becomes(WaitOutcome::met));
    }
    SECTION("or it is chosen again") {
      wait.call(1).data(watch_line("ADDED", pod("a", "Running", 7)));
      wait.settle();
      CHECK(watch.canceled());
      CHECK(wait.outcome == WaitOutcome::pending);
      wait.call(1).data(watch_line("DELETED", pod("a", "Running", 8)));
      wait.answer_to(wait.request(kGet), 404, no_such_pod());
      CHECK(wait.becomes(WaitOutcome::met));
    }
  }
  SECTION("who may not get it may list it") {
    wait.answer_to(question, 403, status_text(403, "Forbidden", "no"));
    wait.answer_to(wait.request(kByName), 200, pod_list("", 7));
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("a 404 of something else proves nothing") {
    wait.answer_to(question, 404, "default backend - 404");
    wait.answer_to(wait.request(kByName), 200, pod_list(pod("a", "Running", 6), 6));
    wait.settle();
    CHECK(wait.outcome == WaitOutcome::pending);
  }
}

TEST_CASE("what a new list of a selection lacks may still exist") {
  Wait wait({"delete"});
  wait.add_selected();
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("a", "Running", 5), 5));
  wait.call(1).head(200);
  wait.call(1).data(watch_line("ERROR", status_text(410, "Expired", "too old")));
  wait.answer_to(wait.request(kList), 200, pod_list("", 9));
  auto& question = wait.request(kGet);
  CHECK(wait.outcome == WaitOutcome::pending);
  wait.answer_to(question, 404, no_such_pod());
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("without a selector there is nothing to ask") {
  Wait wait({"delete"});
  wait.set->add({kPods, "shop", "", "", "", ""});
  wait.set->start();
  wait.answer(0, 200, pod_list(pod("a", "Running", 5), 5));
  wait.call(1).head(200);
  wait.call(1).data(watch_line("DELETED", pod("a", "Running", 6)));
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK(wait.transport.size() == 2);
}

TEST_CASE("a deletion that fails a wait is asked for as well") {
  Wait wait({"jsonpath={.status.phase}=Done"}, Duration{0}, {"delete"});
  a_leaves(wait);
  auto& question = wait.request(kGet);
  SECTION("it exists, and is none of the wait's business any more") {
    wait.answer_to(question, 200, pod("a", "Running", 6));
    wait.settle();
    CHECK(wait.outcome == WaitOutcome::pending);
    CHECK(wait.set->report().at(0).state == WaitState::not_found);  // nothing matches
    CHECK(wait.transport.size() == 3);
  }
  SECTION("it does not") {
    wait.answer_to(question, 404, no_such_pod());
    CHECK(wait.becomes(WaitOutcome::failed));
  }
}

TEST_CASE("objects of a selection that goes are asked for a few at a time") {
  Wait wait({"delete"});
  wait.add_selected();
  wait.set->start();
  std::string items;
  for (char name = 'a'; name <= 't'; ++name) {
    items += (items.empty() ? "" : ",") + pod(std::string(1, name), "Running", 5);
  }
  wait.answer(0, 200, pod_list(items, 5));
  wait.call(1).head(200);
  for (char name = 'a'; name <= 't'; ++name) {
    wait.call(1).data(watch_line("DELETED", pod(std::string(1, name), "Running", 6)));
  }
  wait.turn();
  CHECK(wait.transport.size() == 2 + 8);
  for (char name = 'a'; name <= 't'; ++name) {
    CHECK(wait.outcome == WaitOutcome::pending);
    const std::string one(1, name);
    wait.answer_to(wait.request("GET /api/v1/namespaces/shop/pods/" + one), 404,
                   status_text(404, "NotFound", "pods \"" + one + "\" not found"));
  }
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK(wait.transport.size() == 2 + 20);
}

namespace {

std::string bar(int version, const std::string& uid = "u1") {
  return R"({"metadata":{"name":"b1","namespace":"shop","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}
std::string bar_list(const std::string& api, const std::string& items) {
  return R"({"kind":"BarList","apiVersion":"y.dev/)" + api +
         R"(","metadata":{"resourceVersion":"20"},"items":[)" + items + "]}";
}
// Discovery has bars in this version; "" = in none.
void serve_bars(Wait& wait, const std::string& version, const std::string& plural = "bars",
                const std::string& scope = "Namespaced") {
  const auto type = [&](const std::string& group, const std::string& api, const std::string& kind) {
    return R"({"metadata":{"name":")" + group + R"("},"versions":[{"version":")" + api +
           R"(","resources":[{"resource":")" + plural + R"(","responseKind":{"group":")" + group +
           R"(","version":")" + api + R"(","kind":")" + kind + R"("},"scope":")" + scope +
           R"(","singularResource":"x","verbs":["get","list","watch"]}]}]})";
  };
  std::string items = type("z.dev", "v1", "Other");
  if (!version.empty()) items += "," + type("y.dev", version, "Bar");
  wait.transport.route("GET", "/api", 200, kinds("pods", "Pod"));
  wait.transport.route(
      "GET", "/apis", 200,
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)" + items +
          "]}");
}
// b1 is there in v1 (or not), and then v1 is served no more.
void v1_goes(Wait& wait, bool there, bool pinned = false, const std::string& word = "") {
  WaitTarget target;
  target.type = test::resource("y.dev", "v1", "Bar", "bars");
  target.namespace_ = "shop";
  target.name = "b1";
  target.pinned = pinned;
  target.word = word;
  wait.set->add(target);
  wait.set->start();
  wait.answer(0, 200, bar_list("v1", there ? bar(5) : ""));
  wait.call(1).head(200);
  wait.settle();
  REQUIRE(wait.outcome == WaitOutcome::pending);
  wait.transport.route("GET", "/apis/y.dev/v1/namespaces/shop/bars", 404, "404 page not found");
  wait.call(1).end();
}
const char* const kBeta = "GET /apis/y.dev/v1beta1/namespaces/shop/bars?fieldSelector";
const char* const kBetaWatch = "GET /apis/y.dev/v1beta1/namespaces/shop/bars?";

}  // namespace

TEST_CASE("a version that is served no more takes no object with it") {
  Wait wait({"delete"});
  serve_bars(wait, "v1beta1");
  v1_goes(wait, true, true);
  auto& again = wait.request(kBeta);
  CHECK(wait.outcome == WaitOutcome::pending);
  SECTION("it is there in another one") {
    wait.answer_to(again, 200, bar_list("v1beta1", bar(5)));
    auto& watch = wait.request(kBetaWatch, "watch=true");
    watch.head(200);
    wait.settle();
    CHECK(wait.outcome == WaitOutcome::pending);
    CHECK(wait.versions == std::vector<std::string>{"bars.y.dev/b1: v1 to v1beta1"});
    watch.data(watch_line("DELETED", bar(21)));
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("it was deleted in between") {
    wait.answer_to(again, 200, bar_list("v1beta1", ""));
    CHECK(wait.becomes(WaitOutcome::met));
  }
  SECTION("another object has its name there") {
    wait.answer_to(again, 200, bar_list("v1beta1", bar(19, "u2")));
    CHECK(wait.becomes(WaitOutcome::met));
  }
}

TEST_CASE("what was held before a version goes counts no more when it changed until the next one") {
  constexpr Duration kHold{300};
  Wait wait({"create"}, kHold);
  serve_bars(wait, "v1beta1");
  v1_goes(wait, true);
  auto& again = wait.request(kBeta);
  wait.pass(kHold + Duration{100});
  CHECK(wait.outcome == WaitOutcome::pending);
  SECTION("it is gone") {
    wait.answer_to(again, 200, bar_list("v1beta1", ""));
    CHECK(wait.becomes(WaitOutcome::deleted));
  }
  SECTION("it is there, and nobody knows what was between: the hold begins again") {
    wait.answer_to(again, 200, bar_list("v1beta1", bar(19)));
    wait.request(kBetaWatch, "watch=true").head(200);
    wait.settle();
    CHECK(wait.outcome == WaitOutcome::pending);
    CHECK(wait.becomes(WaitOutcome::met));
  }
}

TEST_CASE("a wait that ends with its lists does not ask how the watches behind them are") {
  Wait wait({"create"});
  wait.add("a");
  wait.add("b");
  wait.set->start();
  Wait::answer_to(wait.request("GET", "metadata.name%3Da"), 200,
                  pod_list(pod("a", "Running", 5), 5));
  auto& of_b = wait.request("GET", "metadata.name%3Db");
  wait.request("GET", "watch=true").fail(Error(ErrorKind::unreachable, "connection lost"));
  wait.pass(Duration{5});
  Wait::answer_to(of_b, 200, pod_list(pod("b", "Running", 5, "u2"), 5));
  wait.settle();
  CHECK(wait.outcome == WaitOutcome::pending);
  CHECK(wait.set->outcome(true) == WaitOutcome::met);
}

TEST_CASE("a kind in no version is gone once two looks say so") {
  Wait wait({"delete"});
  serve_bars(wait, "");
  v1_goes(wait, true);
  CHECK(wait.becomes(WaitOutcome::met));
  const auto lines = wait.transport.lines();
  CHECK(std::count(lines.begin(), lines.end(), "GET /apis") >= 2);
}

TEST_CASE("of a type that a word named nothing is deleted where the server never had it") {
  const bool deletion = GENERATE(true, false);
  Wait wait({deletion ? "delete" : "create"});
  serve_bars(wait, "");
  WaitTarget target;
  target.type = test::resource("y.dev", "v1", "Bar", "bars");
  target.namespace_ = "shop";
  target.name = "b1";
  target.word = "bars";
  wait.set->add(target);
  wait.transport.route("GET", "/apis/y.dev/v1/namespaces/shop/bars", 404, "404 page not found");
  wait.set->start();
  const std::string why = "the server doesn't have a resource type \"bars\"";
  const auto said = [&] {
    wait.transport.run();
    const Error* error = deletion ? wait.set->hopeless() : wait.set->failure();
    return error != nullptr && error->render() == why;
  };
  CHECK(wait.until(said));
  CHECK(wait.outcome == WaitOutcome::pending);
  if (deletion) return;
  // Each further 404 says less. The type may come.
  const int before = wait.failures;
  REQUIRE(wait.until([&] {
    wait.transport.run();
    return wait.failures > before + 1;
  }));
  CHECK(wait.set->failure()->render() == why);
  serve_bars(wait, "v1beta1");
  Wait::answer_to(wait.request(kBeta), 200, bar_list("v1beta1", bar(5)));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("what was seen of a type is deleted with it, whatever named it") {
  Wait wait({"delete"});
  serve_bars(wait, "");
  v1_goes(wait, true, false, "bars");
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("an object that is made after an upgrade is found in the new version") {
  Wait wait({"create"});
  serve_bars(wait, "v1beta1");
  v1_goes(wait, false);
  wait.answer_to(wait.request(kBeta), 200, bar_list("v1beta1", bar(19)));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("the content of a version that was asked for is not read in another one") {
  Wait wait({"jsonpath={.status.phase}=Done"});
  serve_bars(wait, "v1beta1");
  v1_goes(wait, true, true);
  REQUIRE(wait.until([&] {
    wait.transport.run();
    return wait.failures >= 3;
  }));
  const auto lines = wait.transport.lines();
  CHECK(std::count(lines.begin(), lines.end(), "GET /apis") >= 1);
  CHECK(std::none_of(lines.begin(), lines.end(),
                     [](const auto& line) { return line.starts_with(kBeta); }));
  CHECK(wait.outcome == WaitOutcome::pending);
}

TEST_CASE("a kind whose definition is made anew is waited for where it is now") {
  Wait wait({"jsonpath={.status.phase}=Done"});
  SECTION("under another plural") {
    serve_bars(wait, "v1", "barren");
    v1_goes(wait, true, true);
    Wait::answer_to(wait.request("GET /apis/y.dev/v1/namespaces/shop/barren?fieldSelector"), 200,
                    bar_list("v1", R"({"metadata":{"name":"b1","namespace":"shop","uid":"u2",)"
                                   R"("resourceVersion":"19"},"status":{"phase":"Done"}})"));
    CHECK(wait.becomes(WaitOutcome::met));
    CHECK(wait.moves == std::vector<std::string>{"bars.y.dev/b1 to barren"});
  }
  SECTION("without namespaces") {
    serve_bars(wait, "v1", "bars", "Cluster");
    v1_goes(wait, true, true);
    Wait::answer_to(wait.request("GET /apis/y.dev/v1/bars?fieldSelector"), 200,
                    bar_list("v1", R"({"metadata":{"name":"b1","uid":"u2",)"
                                   R"("resourceVersion":"19"},"status":{"phase":"Done"}})"));
    CHECK(wait.becomes(WaitOutcome::met));
    CHECK(wait.moves == std::vector<std::string>{"bars.y.dev/b1 to bars"});
  }
  CHECK(wait.versions.empty());
}

TEST_CASE("an object that went with its definition is gone from where that is now") {
  Wait wait({"delete"});
  serve_bars(wait, "v1", "bars", "Cluster");
  v1_goes(wait, true);
  Wait::answer_to(wait.request("GET /apis/y.dev/v1/bars?fieldSelector"), 200, bar_list("v1", ""));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("in which namespace a kind is that had none before nobody guesses") {
  Wait wait({"delete"});
  serve_bars(wait, "v1");
  WaitTarget target;
  target.type = test::resource("y.dev", "v1", "Bar", "bars");
  target.type.namespaced = false;
  target.name = "b1";
  wait.set->add(target);
  wait.set->start();
  wait.answer(0, 404, "404 page not found");
  REQUIRE(wait.until([&] {
    wait.transport.run();
    return wait.set->hopeless() != nullptr;
  }));
  CHECK(wait.set->hopeless()->message() ==
        "bars.y.dev are in namespaces now, and none was asked for");
  CHECK(wait.outcome == WaitOutcome::pending);
}

// A wait on a scripted server: which requests it makes, and what ends it.
#include "runtime/wait_set.hpp"

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::status_text;

namespace {

const core::ResourceType kPods = test::resource("", "v1", "Pod", "pods");

std::string pod(const std::string& name, const std::string& phase, int version,
                const std::string& uid = "u1") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("},"status":{"phase":")" +
         phase + R"("}})";
}
std::string list(const std::string& items, int version) {
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
         std::to_string(version) + R"("},"items":[)" + items + "]}";
}
std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
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
  explicit Wait(const std::vector<std::string>& conditions, Duration hold = Duration{0}) {
    WaitGoal goal;
    for (const auto& text : conditions) goal.wanted.push_back(*WaitCondition::parse(text));
    goal.hold = hold;
    WatcherOptions options;
    options.backoff = {Duration{2}, Duration{10}, 2.0, 0.0};
    options.short_watch = Duration{1};
    WaitSet::Callbacks callbacks;
    callbacks.on_change = [this] { outcome = set->outcome(); };
    callbacks.on_failure = [this](const std::string&, const ReflectorStats&, WatcherFailure,
                                  const Error&, Duration) { ++failures; };
    set = std::make_unique<WaitSet>(client, std::move(goal), options, random, std::move(callbacks));
  }
  std::size_t add(const std::string& name) { return set->add({kPods, "shop", name, "", "", ""}); }
  bool becomes(WaitOutcome wanted) {
    return until([&] { return outcome == wanted; });
  }

  WaitOutcome outcome = WaitOutcome::pending;
  int failures = 0;
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
  wait.answer(0, 200, list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK(wait.set->synced());
}

TEST_CASE("the watch goes on from the list, so nothing in between is missed") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, list("", 5));
  auto& watch = wait.call(1);
  CHECK(watch.line().find("resourceVersion=5") != std::string::npos);
  CHECK(watch.line().find("watch=true") != std::string::npos);
  watch.head(200);
  watch.data(event("ADDED", pod("web", "Pending", 6)));
  wait.turn();
  CHECK(wait.outcome == WaitOutcome::pending);
  watch.data(event("MODIFIED", pod("web", "Running", 7)));
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
                  : list(pod("a", "Running", 3), 9));
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
  wait.answer(0, 200, list(pod("web", "Pending", 5), 5));
  wait.answer(1, 403, status_text(403, "Forbidden", "no"));
  wait.call(2).head(200);
  wait.call(2).data(event("ERROR", status_text(403, "Forbidden", "no")));
  wait.call(3).head(200);
  wait.call(3).data(event("MODIFIED", pod("web", "Running", 7)));
  CHECK(wait.becomes(WaitOutcome::met));
  CHECK_FALSE(wait.set->hopeless());
}

TEST_CASE("what stays refused ends a wait even after it has seen its object") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, list(pod("web", "Pending", 5), 5));
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
  wait.answer(0, 200, list(pod("web", "Pending", 5), 5));
  wait.call(1).head(200);
  wait.call(1).fail(Error(ErrorKind::unreachable, "connection lost"));
  auto& again = wait.call(2);
  again.head(200);
  again.data(event("MODIFIED", pod("web", "Running", 6)));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("a hold ends by time alone") {
  Wait wait({"create"}, Duration{20});
  wait.add("web");
  wait.set->start();
  wait.answer(0, 200, list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
}

TEST_CASE("after a write the watch that was open before it tells the verdict") {
  Wait wait({"jsonpath={.status.phase}=Running"});
  const auto web = wait.add("web");
  wait.set->start();
  wait.answer(0, 200, list(pod("web", "Running", 5), 5));
  CHECK(wait.becomes(WaitOutcome::met));
  wait.set->expect(web, *base::parse_json(pod("web", "Running", 8)));
  CHECK(wait.set->outcome() == WaitOutcome::pending);
  wait.call(1).head(200);
  wait.call(1).data(event("MODIFIED", pod("web", "Running", 8)));
  wait.outcome = WaitOutcome::pending;
  CHECK(wait.becomes(WaitOutcome::met));
}

// Waiting for one object through a scripted server: what ends a wait, and what does not.
#include "runtime/await.hpp"

#include "api_rig.hpp"
#include "runtime/stock_conditions.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::pod_list;
using test::status_text;
using test::watch_line;

namespace {

const core::ResourceType kPods = test::resource("", "v1", "Pod", "pods");

std::string pod(const std::string& phase, int version, const std::string& uid = "u1") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":")" +
         uid + R"(","resourceVersion":")" + std::to_string(version) + R"("},"status":{"phase":")" +
         phase + R"("}})";
}

struct Wait : test::ApiRig {
  AwaitOptions options;
  std::optional<Result<Awaited>> result;
  client::PendingPtr pending;

  Wait() {
    options.watcher.strategy = ListStrategy::unpaged;
    options.watcher.backoff = {Duration{2}, Duration{10}, 2.0, 0.0};
    options.watcher.short_watch = Duration{1};
  }
  AwaitDone done() {
    return [this](Result<Awaited> end) {
      REQUIRE_FALSE(result.has_value());
      result.emplace(std::move(end));
    };
  }
  void start(Condition condition) {
    pending = await_condition(client, kPods, {"shop", "web"}, std::move(condition), options, random,
                              done());
  }
  bool ended() {
    return until([this] { return result.has_value(); });
  }
};

}  // namespace

TEST_CASE("a wait is met by the first list, and asks for one name only") {
  Wait wait;
  wait.start(conditions::pod_running());
  CHECK(wait.call(0).line() ==
        "GET /api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb");
  wait.answer(0, 200, pod_list(pod("Running", 5), 5));
  REQUIRE(wait.ended());
  REQUIRE(wait.result->ok());
  CHECK((**wait.result).met);
  CHECK(base::string_at(*(**wait.result).object, {"status", "phase"}) == "Running");
  CHECK(wait.transport.size() <= 2);
  CHECK(wait.transport.last().canceled() == (wait.transport.size() == 2));
}

TEST_CASE("a wait survives failures, an absent object and a stream that ends") {
  Wait wait;
  wait.start(conditions::pod_running());
  wait.answer(0, 503, "overloaded");
  wait.answer(1, 200, pod_list("", 5));
  wait.call(2).head(200);
  wait.transport.call(2).data(watch_line("ADDED", pod("Pending", 6)));
  wait.transport.call(2).fail(Error(ErrorKind::unreachable, "connection lost"));
  wait.answer(3, 200, pod_list("", 6));  // of which version the server is
  wait.call(4).head(200);
  CHECK(wait.transport.call(4).target().find("resourceVersion=6") != std::string::npos);
  CHECK_FALSE(wait.result.has_value());
  wait.transport.call(4).data(watch_line("MODIFIED", pod("Running", 7)));
  REQUIRE(wait.ended());
  CHECK((**wait.result).met);
  CHECK(wait.transport.call(4).canceled());
}

TEST_CASE("a wait ends when the condition has failed, with the reason") {
  Wait wait;
  wait.start(conditions::pod_running());
  wait.answer(0, 200, pod_list(pod("Failed", 5), 5));
  REQUIRE(wait.ended());
  REQUIRE(wait.result->ok());
  CHECK_FALSE((**wait.result).met);
  CHECK((**wait.result).reason == "the Pod has ended: phase is Failed");
}

TEST_CASE("a wait times out and says what it sees instead") {
  Wait wait;
  wait.options.deadline = Duration{500};
  wait.start(conditions::pod_running());
  wait.answer(0, 200, pod_list(pod("Pending", 5), 5));
  REQUIRE(wait.ended());
  REQUIRE_FALSE(wait.result->ok());
  CHECK(wait.result->error().kind() == ErrorKind::timeout);
  CHECK(
      wait.result->error().render() ==
      "waiting until the Pod is running (pods shop/web): timed out after 500ms: phase is Pending");
}

TEST_CASE("an object that is kept as metadata only meets no condition that reads more") {
  const auto deep_at = [](int version) {
    std::string out = pod("Running", version);
    return out.insert(out.size() - 1,
                      R"(,"spec":)" + std::string(300, '[') + std::string(300, ']'));
  };
  const std::string deep = deep_at(5);
  const auto refused = [](Wait& wait) {
    REQUIRE(wait.ended());
    REQUIRE_FALSE(wait.result->ok());
    CHECK(wait.result->error().kind() == ErrorKind::too_large);
    CHECK(wait.result->error().render().find("of pods shop/web only the metadata is kept") !=
          std::string::npos);
  };
  // Neither met, nor waited for until the deadline.
  using namespace conditions;
  for (const Condition& condition : {pod_ready(), not_(pod_ready()), and_(created(), pod_running()),
                                     or_(pod_running(), deleted())}) {
    CAPTURE(condition.text());
    Wait wait;
    wait.start(condition);
    wait.answer(0, 200, pod_list(deep, 5));
    refused(wait);
  }
  for (const Condition& condition :
       {created(), not_(deleted()), and_(created(), not_(deleted()))}) {
    CAPTURE(condition.text());
    Wait wait;
    wait.start(condition);
    wait.answer(0, 200, pod_list(deep, 5));
    REQUIRE(wait.ended());
    REQUIRE(wait.result->ok());
    CHECK((**wait.result).met);
  }
  {
    Wait wait;
    wait.start(deleted("u1"));
    wait.answer(0, 200, pod_list(deep, 5));
    wait.call(1).head(200);
    CHECK_FALSE(wait.result.has_value());
    wait.transport.call(1).data(watch_line("DELETED", deep));
    REQUIRE(wait.ended());
    CHECK((**wait.result).met);
  }
  // It grows while it is waited for.
  Wait wait;
  wait.start(pod_ready());
  wait.answer(0, 200, pod_list(pod("Pending", 5), 5));
  wait.call(1).head(200);
  CHECK_FALSE(wait.result.has_value());
  wait.transport.call(1).data(watch_line("MODIFIED", deep_at(6)));
  refused(wait);
}

TEST_CASE("a wait that times out while the server is away says so, and what was there before") {
  Wait wait;
  wait.options.deadline = Duration{500};
  wait.start(conditions::pod_running());
  wait.answer(0, 200, pod_list("", 5));
  wait.call(1).fail(Error(ErrorKind::unreachable, "connection refused"));
  REQUIRE(wait.until([&] {
    for (std::size_t i = 2; i < wait.transport.size(); ++i) {
      if (wait.transport.call(i).open()) {
        wait.transport.call(i).fail(Error(ErrorKind::unreachable, "connection refused"));
      }
    }
    return wait.result.has_value();
  }));
  CHECK(wait.result->error().kind() == ErrorKind::timeout);
  const std::string& told = wait.result->error().message();
  INFO(told);
  CHECK(told.find("timed out after 500ms: ") == 0);
  CHECK(told.find("connection refused; last seen: it does not exist") != std::string::npos);
}

TEST_CASE("a wait that never got an answer says why") {
  Wait wait;
  wait.options.deadline = Duration{500};
  wait.start(conditions::pod_running());
  wait.answer(0, 500, "broken");
  REQUIRE(wait.ended());
  CHECK(wait.result->error().message().find("500 Internal Server Error: broken") !=
        std::string::npos);
}

TEST_CASE("a forbidden watch ends a wait, the policy may say otherwise") {
  Wait wait;
  wait.start(conditions::created());
  wait.answer(0, 403, status_text(403, "Forbidden", "no"));
  REQUIRE(wait.ended());
  CHECK(wait.result->error().is_forbidden());

  Wait patient;
  patient.options.gives_up = [](const Error&) { return false; };
  patient.start(conditions::created());
  patient.answer(0, 403, status_text(403, "Forbidden", "no"));
  patient.answer(1, 200, pod_list(pod("Pending", 5), 5));
  REQUIRE(patient.ended());
  CHECK((**patient.result).met);
}

TEST_CASE("a streaming list that is refused is followed by a list, not by the end of the wait") {
  Wait wait;
  wait.options.watcher.strategy = ListStrategy::streaming;
  wait.start(conditions::created());
  wait.answer(0, 422, status_text(422, "Invalid", "sendInitialEvents is forbidden"));
  wait.answer(1, 200, pod_list(pod("Pending", 5), 5));
  REQUIRE(wait.ended());
  REQUIRE(wait.result->ok());
  CHECK((**wait.result).met);
}

TEST_CASE("a watch that is forbidden for a moment does not end a wait") {
  Wait wait;
  wait.start(conditions::pod_running());
  wait.answer(0, 200, pod_list(pod("Pending", 5), 5));
  wait.answer(1, 403, status_text(403, "Forbidden", "no"));
  wait.answer(2, 401, status_text(401, "Unauthorized", "no"));
  wait.turn();
  CHECK_FALSE(wait.result.has_value());
}

TEST_CASE("a wait that is destroyed tells nothing, even when its end is on the way") {
  Wait wait;
  wait.start(conditions::created());
  wait.answer(0, 200, pod_list(pod("Pending", 5), 5));
  wait.pending.reset();
  wait.turn();
  CHECK_FALSE(wait.result.has_value());
  CHECK(wait.transport.last().open() == false);
}

TEST_CASE("delete_and_finalize waits until that object is gone, not for the name to be free") {
  Wait wait;
  wait.pending = delete_and_finalize(wait.client, kPods, {"shop", "web"}, {}, wait.options,
                                     wait.random, wait.done());
  CHECK(wait.call(0).line() == "DELETE /api/v1/namespaces/shop/pods/web");
  wait.answer(0, 200, pod("Running", 5));
  wait.answer(1, 200, pod_list(pod("Running", 6), 6));
  wait.call(2).head(200);
  CHECK_FALSE(wait.result.has_value());
  wait.transport.call(2).data(watch_line("DELETED", pod("Running", 7)) +
                              watch_line("ADDED", pod("Pending", 8, "u2")));
  REQUIRE(wait.ended());
  CHECK((**wait.result).met);
}

TEST_CASE("delete_and_finalize of an absent object is done, a refused delete is an error") {
  Wait wait;
  wait.pending = delete_and_finalize(wait.client, kPods, {"shop", "web"}, {}, wait.options,
                                     wait.random, wait.done());
  wait.answer(0, 404, status_text(404, "NotFound", "pods web not found"));
  REQUIRE(wait.result.has_value());
  CHECK((**wait.result).met);

  // Nobody has looked for the object.
  Wait unserved;
  unserved.pending = delete_and_finalize(unserved.client, kPods, {"shop", "web"}, {},
                                         unserved.options, unserved.random, unserved.done());
  unserved.answer(0, 404, "404 page not found\n");
  REQUIRE(unserved.result.has_value());
  CHECK(unserved.result->error().is_not_found());

  Wait refused;
  refused.pending = delete_and_finalize(refused.client, kPods, {"shop", "web"}, {}, refused.options,
                                        refused.random, refused.done());
  refused.answer(0, 403, status_text(403, "Forbidden", "no"));
  REQUIRE(refused.result.has_value());
  CHECK(refused.result->error().is_forbidden());
}

TEST_CASE("a wait for no name, or no namespace, is refused: it would be one for any object") {
  for (const core::ObjectKey& key : {core::ObjectKey{"shop", ""}, core::ObjectKey{"", "web"}}) {
    Wait wait;
    wait.pending = await_condition(wait.client, kPods, key, conditions::deleted(), wait.options,
                                   wait.random, wait.done());
    CHECK_FALSE(wait.result.has_value());
    REQUIRE(wait.ended());
    CHECK(wait.result->error().kind() == ErrorKind::invalid);
    CHECK(wait.result->error().render().find("is missing") != std::string::npos);
  }
}

TEST_CASE("delete_and_finalize of a dry run is refused: nothing would ever be gone") {
  Wait wait;
  core::DeleteParams params;
  params.dry_run = true;
  wait.pending = delete_and_finalize(wait.client, kPods, {"shop", "web"}, params, wait.options,
                                     wait.random, wait.done());
  REQUIRE(wait.ended());
  CHECK(wait.result->error().kind() == ErrorKind::invalid);
}

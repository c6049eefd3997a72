// The verbs: what goes out, what comes back, and what errors say.
#include "client/client.hpp"

#include <optional>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "client/discovery.hpp"
#include "kept.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

Json pod() {
  return Json::parse(R"({"kind":"Pod","metadata":{"name":"web","namespace":"shop"}})");
}

}  // namespace

TEST_CASE("get asks for one object and gives it") {
  Rig rig;
  rig.transport.answer(200, pod().dump());
  Kept<Json> got;
  const auto pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  CHECK(got.calls == 0);
  rig.run();
  CHECK(got.value() == pod());
  CHECK(got.calls == 1);
  CHECK(rig.transport.lines() == std::vector<std::string>{"GET /api/v1/namespaces/shop/pods/web"});
  const http::Request& request = rig.transport.request(0);
  CHECK(request.url == "https://cluster:6443/api/v1/namespaces/shop/pods/web");
  CHECK(request.headers.get("authorization") == "Bearer secret-token");
  CHECK(request.headers.get("accept") == "application/json");
  CHECK(request.response_timeout == Duration(30000));
  CHECK_FALSE(request.streaming);
}

TEST_CASE("the request timeout of the configuration limits every answer") {
  ClientConfig config = scripted_config();
  config.request_timeout = Duration(2000);
  Rig rig(config);
  Kept<Json> got;
  const auto pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  CHECK(rig.transport.request(0).response_timeout == Duration(2000));
  CHECK(rig.transport.request(0).connect_timeout == Duration(2000));
}

TEST_CASE("list gives the raw items and the page") {
  Rig rig;
  rig.transport.answer(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{
    "resourceVersion":"7","continue":"next"},"items":[{"a":1},{"b":2}]})");
  core::ListParams params;
  params.limit = 2;
  params.label_selector = "app=web";
  Kept<ListResult> got;
  const auto pending = rig.client.list(kPods, "", params, got.callback());
  rig.run();
  CHECK(got.value().items == std::vector<std::string>{R"({"a":1})", R"({"b":2})"});
  CHECK(got.value().page.resource_version == "7");
  CHECK(got.value().page.continue_token == "next");
  CHECK(rig.transport.call(0).line() == "GET /api/v1/pods?labelSelector=app%3Dweb&limit=2");
}

TEST_CASE("a list gives its items while it comes, and its page or its error at the end") {
  Rig rig;
  std::string items;
  Kept<core::ListPage> page;
  const auto take = [&](std::string_view item) { items += item; };
  auto pending = rig.client.list_items(kPods, "shop", {}, take, page.callback());
  CHECK(rig.transport.request(0).streaming);
  CHECK(rig.transport.request(0).idle_timeout == Duration(30000));
  CHECK(rig.transport.request(0).idle_bytes > 1000);  // one byte now and then is none
  CHECK(rig.transport.request(0).headers.get("accept") == "application/json");
  auto& call = rig.transport.call(0);
  call.head(200);
  call.data(R"({"kind":"PodList","items":[{"a":1},{"b")");
  CHECK(items == R"({"a":1})");
  call.data(R"(:2}],"metadata":{"resourceVersion":"7"}})");
  CHECK(page.calls == 0);
  call.end();
  CHECK(items == R"({"a":1}{"b":2})");
  CHECK(page.value().resource_version == "7");
  // Errors: by the server, by a broken connection, by bytes that are no list, by being cut short.
  const auto fails = [&](int status, const std::string& body, bool broken) {
    Kept<core::ListPage> failed;
    pending = rig.client.list_items(kPods, "shop", {}, take, failed.callback());
    auto& one = rig.transport.call(rig.transport.size() - 1);
    one.head(status);
    one.data(body);
    if (broken) one.fail(Error(ErrorKind::unreachable, "reset"));
    if (!broken && one.open()) one.end();
    CHECK(failed.calls == 1);
    return failed.error();
  };
  CHECK(fails(410, R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})", false)
            .is_gone());
  CHECK(fails(200, R"({"kind":"Status","code":500})", false).render() ==
        "list pods in namespace \"shop\": the server answered with a Status where a list is "
        "expected");
  CHECK(fails(200, R"({"items":[{"a":1},)", true).kind() == ErrorKind::unreachable);
  CHECK(fails(200, R"({"items":[{"a":1},)", false).kind() == ErrorKind::unavailable);
  CHECK(fails(200, "<html>", false).kind() == ErrorKind::unavailable);
}

TEST_CASE("a list of which nothing comes ends, though a request may take all the time there is") {
  ClientConfig config = test::scripted_config();
  config.request_timeout = Duration{0};
  Rig rig(config);
  Kept<core::ListPage> page;
  const auto pending = rig.client.list_items(
      kPods, "shop", {}, [](std::string_view) {}, page.callback());
  CHECK(rig.transport.request(0).streaming);
  CHECK(rig.transport.request(0).idle_timeout == Duration{60000});
  CHECK(rig.transport.request(0).idle_bytes > 1000);
  CHECK(rig.transport.request(0).response_timeout == Duration{0});
}

TEST_CASE("the version and discovery of which nothing comes end as a list does") {
  ClientConfig config = test::scripted_config();
  config.request_timeout = Duration{0};
  Rig rig(config);
  const auto version = rig.client.server_version([](const auto&) {});
  const auto discovery = discover(rig.client, [](const auto&) {});
  REQUIRE(rig.transport.size() == 2);
  for (const std::size_t i : {0U, 1U}) {
    INFO(rig.transport.call(i).line());
    CHECK_FALSE(rig.transport.request(i).streaming);
    CHECK(rig.transport.request(i).idle_timeout == Duration{60000});
    CHECK(rig.transport.request(i).idle_bytes > 1000);
    CHECK(rig.transport.request(i).response_timeout == Duration{0});
  }
  // Where the whole answer has its time, that is all.
  Rig limited;
  const auto limits = limited.client.server_version([](const auto&) {});
  CHECK(limited.transport.request(0).idle_timeout == Duration{0});
  CHECK(limited.transport.request(0).response_timeout == Duration{30000});
}

TEST_CASE("a refusal that does not end is not waited for") {
  ClientConfig config;
  config.server = "http://127.0.0.1:1";
  config.request_timeout = Duration{20};
  loop::EventLoop loop;
  test::ScriptedTransport transport;
  Client client(loop, transport, config);
  Kept<core::ListPage> failed;
  const auto pending = client.list_items(
      kPods, "shop", {}, [](std::string_view) {}, failed.callback());
  auto& call = transport.call(0);
  call.head(503);
  call.data("o");
  SECTION("byte by byte") {
    loop.run_until([&] { return failed.calls > 0; }, kLimit);
  }
  SECTION("megabytes of it") {
    for (int i = 0; i < 100 && failed.calls == 0; ++i) call.data(std::string(1024, 'o'));
  }
  REQUIRE(failed.calls == 1);
  CHECK(failed.error().kind() == ErrorKind::unavailable);
  CHECK(call.canceled());
}

TEST_CASE("a list may be given up from inside an item") {
  Rig rig;
  PendingPtr pending;
  int items = 0;
  Kept<core::ListPage> page;
  const auto stop = [&](std::string_view) {
    ++items;
    pending.reset();
  };
  pending = rig.client.list_items(kPods, "", {}, stop, page.callback());
  auto& call = rig.transport.call(0);
  call.head(200);
  call.data(R"({"items":[{"a":1},{"b":2}]})");
  CHECK(items == 1);
  CHECK(call.canceled());
  CHECK(page.calls == 0);
}

TEST_CASE("metadata alone is asked for in lists and watches") {
  Rig rig;
  core::ListParams list;
  list.content = core::Content::metadata;
  core::WatchParams watch;
  watch.content = core::Content::metadata;
  Kept<ListResult> got;
  const auto first = rig.client.list(kPods, "", list, got.callback());
  const auto second = rig.client.watch(kPods, "", watch, {});
  CHECK(rig.transport.request(0).headers.get("accept") ==
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
  CHECK(rig.transport.request(1).headers.get("accept") ==
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST_CASE("writes carry their bodies, content types and parameters") {
  Rig rig;
  for (int i = 0; i < 9; ++i) rig.transport.answer(i == 2 ? 201 : 200, pod().dump());
  Kept<Json> object;
  Kept<ApplyResult> applied;
  core::WriteParams write;
  write.field_manager = "m";
  std::vector<PendingPtr> pending;
  pending.push_back(rig.client.create(kPods, "shop", pod(), write, object.callback()));
  pending.push_back(rig.client.update(kPods, pod(), {}, object.callback(), "status"));
  core::PatchParams apply;
  apply.type = core::PatchType::apply;
  apply.field_manager = "m";
  apply.force = true;
  pending.push_back(rig.client.patch(kPods, {"shop", "web"}, pod(), apply, applied.callback()));
  rig.run();
  CHECK(applied.value().created);
  CHECK(applied.value().object == pod());
  core::PatchParams json;
  json.type = core::PatchType::json;
  const Json ops = Json::parse(R"([{"op":"remove","path":"/a"}])");
  pending.push_back(
      rig.client.patch(kPods, {"shop", "web"}, ops, json, applied.callback(), "status"));
  core::DeleteParams remove;
  remove.uid = "u";
  pending.push_back(rig.client.remove(kNodes, {"", "n1"}, remove, object.callback()));
  rig.run();
  CHECK_FALSE(applied.value().created);
  CHECK(object.calls == 3);
  const std::vector<std::string> lines = {
      "POST /api/v1/namespaces/shop/pods?fieldManager=m",
      "PUT /api/v1/namespaces/shop/pods/web/status",
      "PATCH /api/v1/namespaces/shop/pods/web?fieldManager=m&fieldValidation=Ignore&force=true",
      "PATCH /api/v1/namespaces/shop/pods/web/status",
      "DELETE /api/v1/nodes/n1",
  };
  CHECK(rig.transport.lines() == lines);
  const std::vector<std::string> types = {"application/json", "application/json",
                                          "application/apply-patch+yaml",
                                          "application/json-patch+json", "application/json"};
  for (std::size_t i = 0; i < types.size(); ++i) {
    CHECK(rig.transport.request(i).headers.get("Content-Type") == types[i]);
  }
  CHECK(Json::parse(rig.transport.request(0).body) == pod());
  CHECK(Json::parse(rig.transport.request(3).body) == ops);
  CHECK(Json::parse(rig.transport.request(4).body)["preconditions"]["uid"] == "u");
}

TEST_CASE("a 200 that is no answer, or another object's, is no success, and the server's doing") {
  Rig rig;
  const auto get = [&](const std::string& body, int status = 200) {
    rig.transport.answer(status, body);
    Kept<Json> got;
    const auto pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
    rig.run();
    CHECK(got.error().kind() == ErrorKind::unavailable);
    return got.error().render();
  };
  CHECK(get("<html>").find("the server's answer cannot be read") != std::string::npos);
  CHECK(get("{}").find("it has no name") != std::string::npos);
  CHECK(get("", 302).find("302") != std::string::npos);
  CHECK(get(R"({"kind":"Status","status":"Failure","message":"boo"})")
            .ends_with("a Status where an object is expected: boo"));
  CHECK(get(R"({"kind":"Pod","metadata":{"name":"db"}})").ends_with(R"(another object, "db")"));
  rig.transport.answer(200, R"({"kind":"Status","status":"Success"})");
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = "test";
  Kept<ApplyResult> applied;
  auto pending = rig.client.patch(kPods, {"shop", "web"}, pod(), params, applied.callback());
  rig.run();
  CHECK(applied.error().kind() == ErrorKind::unavailable);
  // Which is what a deletion is answered with.
  rig.transport.answer(200, R"({"kind":"Status","status":"Success"})");
  Kept<Json> removed;
  pending = rig.client.remove(kPods, {"shop", "web"}, {}, removed.callback());
  rig.run();
  CHECK(removed.value()["status"] == "Success");
}

TEST_CASE("errors of the server name verb and object") {
  Rig rig;
  rig.transport.answer(
      404,
      R"({"kind":"Status","reason":"NotFound","code":404,"message":"pods \"web\" not found"})");
  Kept<Json> got;
  auto pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  rig.run();
  CHECK(got.error().is_not_found());
  CHECK(got.error().render() == "get pods \"web\" in namespace \"shop\": pods \"web\" not found");

  http::Headers headers;
  headers.add("Retry-After", "4");
  rig.transport.answer(429, "slow down", headers);
  Kept<ListResult> listed;
  pending = rig.client.list(kDeployments, "", {}, listed.callback());
  rig.run();
  CHECK(listed.error().kind() == ErrorKind::rate_limited);
  CHECK(listed.error().status()->retry_after_seconds == 4);
  CHECK(listed.error().render() ==
        "list deployments.apps in all namespaces: the server answered 429 Too Many Requests: slow "
        "down");

  // A page under 404 does not say that the object is not there.
  rig.transport.answer(404, "<html><head><title>404 Not Found</title></head></html>");
  pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  rig.run();
  CHECK(got.error().kind() == ErrorKind::unavailable);
  CHECK(got.error().render() ==
        "get pods \"web\" in namespace \"shop\": the server answered 404 Not Found: 404 Not Found; "
        "is https://cluster:6443 an API server? check its address and path");

  rig.transport.fail(Error(ErrorKind::unreachable, "cluster:6443: connection refused"));
  pending = rig.client.remove(kNodes, {"", "n1"}, {}, got.callback());
  rig.run();
  CHECK(got.error().is_unreachable());
  CHECK(got.error().render() == "delete nodes \"n1\": cluster:6443: connection refused");

  rig.transport.answer(200, "<html>");
  pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  rig.run();
  CHECK(got.error().kind() == ErrorKind::unavailable);
  CHECK(got.error().render().rfind("get pods \"web\" in namespace \"shop\": ", 0) == 0);

  rig.transport.answer(200, "[]");
  pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  rig.run();
  CHECK(got.error().message() == "the answer is not an object");

  headers.set("Location", "https://evil/");
  rig.transport.answer(302, "", headers);
  pending = rig.client.get(kPods, {"shop", "web"}, got.callback());
  rig.run();
  CHECK(got.error().kind() == ErrorKind::unavailable);
  CHECK(got.error().message().find("https://evil/") != std::string::npos);

  rig.transport.answer(200, R"({"kind":"Table","rows":[]})");
  pending = rig.client.list(kPods, "shop", {}, listed.callback());
  rig.run();
  CHECK(listed.error().render() ==
        "list pods in namespace \"shop\": the server answered with a Table where a list is "
        "expected");
}

TEST_CASE("what cannot be sent fails later, without a request") {
  Rig rig;
  Kept<Json> got;
  Kept<ApplyResult> applied;
  Kept<ListResult> listed;
  struct Case {
    std::function<PendingPtr()> call;
    const char* error;
  };
  const Case cases[] = {
      {[&] {
         return rig.client.get(kPods, {"shop", ""}, got.callback());
       },
       "get pods \"\" in namespace \"shop\": the name is missing"},
      {[&] {
         return rig.client.get(kPods, {"", "web"}, got.callback());
       },
       "get pods \"web\": the namespace is missing"},
      {[&] {
         return rig.client.remove(kNodes, {"", ".."}, {}, got.callback());
       },
       "delete nodes \"..\": the name \"..\" may not be . or .. or hold / or %"},
      {[&] {
         return rig.client.remove(kNodes, {"", ""}, {}, got.callback());
       },
       "delete nodes \"\": the name is missing"},
      {[&] {
         return rig.client.get(kPods, {"a/b", "x"}, got.callback());
       },
       "get pods \"x\" in namespace \"a/b\": the namespace \"a/b\" may not be . or .. or hold / or "
       "%"},
      {[&] { return rig.client.create(kPods, "", pod(), {}, got.callback()); },
       "create pods \"web\": the namespace is missing"},
      {[&] { return rig.client.update(kPods, Json::object(), {}, got.callback()); },
       "update pods \"\": the namespace is missing"},
  };
  for (const Case& c : cases) {
    const int before = got.calls;
    const auto pending = c.call();
    CHECK(got.calls == before);
    rig.run();
    CHECK(got.calls == before + 1);
    CHECK(got.error().render() == c.error);
    CHECK(got.error().kind() == ErrorKind::invalid);
  }
  core::PatchParams params;
  params.type = core::PatchType::apply;
  const auto patch = rig.client.patch(kPods, {"shop", "web"}, pod(), params, applied.callback());
  core::ListParams bad;
  bad.match = core::VersionMatch::exact;
  const auto list = rig.client.list(kPods, "shop", bad, listed.callback());
  rig.run();
  CHECK(applied.error().render() ==
        "apply pods \"web\" in namespace \"shop\": server-side apply needs a field manager");
  CHECK(listed.error().kind() == ErrorKind::invalid);
  CHECK(rig.transport.size() == 0);
}

TEST_CASE("a destroyed request is canceled and its callback is not called") {
  Rig rig;
  Kept<Json> got;
  auto open = rig.client.get(kPods, {"shop", "web"}, got.callback());
  auto refused = rig.client.get(kPods, {"shop", ""}, got.callback());
  open.reset();
  refused.reset();
  CHECK(rig.transport.call(0).canceled());
  rig.run();
  CHECK(got.calls == 0);
}

TEST_CASE("a request may be destroyed inside its callback") {
  Rig rig;
  rig.transport.answer(200, "{}");
  PendingPtr pending;
  int calls = 0;
  pending = rig.client.get(kPods, {"shop", "web"}, [&](Result<Json>) {
    pending.reset();
    ++calls;
  });
  rig.run();
  pending = rig.client.get(kPods, {"shop", ""}, [&](Result<Json>) {
    pending.reset();
    ++calls;
  });
  rig.run();
  CHECK(calls == 2);
}

TEST_CASE("raw gives any answer as it is") {
  Rig rig;
  rig.transport.answer(503, "not ready");
  Kept<http::Response> got;
  const auto pending = rig.client.raw("GET", "/readyz?verbose", got.callback(), "text/plain");
  rig.run();
  CHECK(got.value().status == 503);
  CHECK(got.value().body == "not ready");
  CHECK(rig.transport.call(0).line() == "GET /readyz?verbose");
  CHECK(rig.transport.request(0).headers.get("Accept") == "text/plain");
}

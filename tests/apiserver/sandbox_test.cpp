#include "apiserver/sandbox.hpp"

#include "apiserver/own_pages.hpp"
#include "base/json.hpp"
#include "http/transport.hpp"
#include "loop/skipping_time.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::apiserver {

namespace {

// A sandbox and a client of it on one loop.
struct Fixture {
  explicit Fixture(bool insecure = false, const std::string& address = "127.0.0.1") {
    SandboxOptions options;
    options.address = address;
    options.insecure_http = insecure;
    options.random_seed = 7;
    auto started = Sandbox::start(loop, options);
    REQUIRE(started.ok());
    sandbox = std::move(started).value();
    http::TransportOptions client;
    client.tls.ca_pem = sandbox->ca_pem();
    client.user_agent = "sandbox-test/1";
    auto made = http::make_curl_transport(loop, client);
    REQUIRE(made.ok());
    transport = std::move(made).value();
  }

  http::Request request(const std::string& method, const std::string& path,
                        const std::string& body = "") const {
    http::Request out;
    out.method = method;
    out.url = sandbox->url() + path;
    out.body = body;
    out.headers.add("Content-Type", "application/json");
    out.headers.add("Authorization", "Bearer " + sandbox->token());
    return out;
  }

  http::Response send(http::Request what) {
    std::optional<http::Response> answer;
    const auto call = http::fetch(*transport, std::move(what), [&](Result<http::Response> done) {
      REQUIRE(done.ok());
      answer = std::move(done).value();
    });
    REQUIRE(loop.run_until([&] { return answer.has_value(); }, kLimit));
    return *answer;
  }

  loop::EventLoop loop;
  std::unique_ptr<Sandbox> sandbox;
  std::unique_ptr<http::Transport> transport;
};

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

}  // namespace

TEST_CASE("the sandbox serves TLS under its own CA and wants its token") {
  Fixture fixture;
  CHECK(fixture.sandbox->url().rfind("https://127.0.0.1:", 0) == 0);
  CHECK(fixture.send(fixture.request("GET", kMaps)).status == 200);
  http::Request stranger = fixture.request("GET", kMaps);
  stranger.headers.set("Authorization", "Bearer wrong");
  const auto refused = fixture.send(stranger);
  CHECK(refused.status == 401);
  CHECK(base::parse_json(refused.body).value()["reason"] == "Unauthorized");
  stranger.url = fixture.sandbox->url() + "/readyz";
  CHECK(fixture.send(stranger).body == "ok");
  CHECK(fixture.sandbox->counters().requests == 3);
}

TEST_CASE("each answer has an id for audits, the client's own where it has one") {
  Fixture fixture;
  const auto id = [&](const std::string& given, const std::string& token = "") {
    http::Request request = fixture.request("GET", kMaps);
    if (!given.empty()) request.headers.set("Audit-ID", given);
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    return std::string(fixture.send(request).headers.get("Audit-Id"));
  };
  const std::string first = id("");
  CHECK(first.size() == 36);
  CHECK(id("") != first);
  CHECK(id("mine-1") == "mine-1");
  CHECK(id(std::string(100, 'x')) == std::string(64, 'x'));
  CHECK(id("", "wrong").size() == 36);
}

TEST_CASE("the sandbox has what a cluster has from the start, its own Service's address as well") {
  Fixture fixture;
  const auto code = [&](const std::string& path) {
    return fixture.send(fixture.request("GET", path)).status;
  };
  CHECK(code("/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin") == 200);
  CHECK(code("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps") == 200);
  CHECK(code("/apis/networking.k8s.io/v1/ipaddresses/10.96.0.1") == 200);
}

TEST_CASE("the sandbox serves TLS by the name localhost") {
  Fixture fixture(false, "localhost");
  CHECK(fixture.sandbox->url().rfind("https://localhost:", 0) == 0);
  CHECK(fixture.send(fixture.request("GET", kMaps)).status == 200);
}

TEST_CASE("what comes to no handler is answered with a Status") {
  Fixture fixture;
  const auto large =
      fixture.send(fixture.request("POST", kMaps, std::string((3U << 20U) + 1, ' ')));
  CHECK(large.status == 413);
  const Json status = base::parse_json(large.body).value();
  CHECK(status["kind"] == "Status");
  CHECK(status["reason"] == "RequestEntityTooLarge");
  CHECK(status["message"] == "Request entity too large: limit is 3145728");
  CHECK(large.headers.get("Content-Type") == "application/json");
  const auto unknown = fixture.send(fixture.request("BREW", kMaps));
  CHECK(unknown.status == 405);
  CHECK(base::parse_json(unknown.body).value()["reason"] == "MethodNotAllowed");
  const http::OwnPage unmet = own_pages(1)(417);
  CHECK(unmet.status == 417);
  CHECK(base::parse_json(unmet.body).value()["code"] == 417);
}

TEST_CASE("a watch over HTTP gets events as they happen, and ends when watches are dropped") {
  Fixture fixture;
  std::string received;
  bool head = false;
  bool ended = false;
  http::Request request = fixture.request("GET", kMaps + "?watch=1");
  request.streaming = true;
  http::CallHandlers handlers;
  handlers.on_head = [&](const http::ResponseHead& h) { head = h.status == 200; };
  handlers.on_data = [&](std::string_view bytes) { received += bytes; };
  handlers.on_done = [&](Result<void>) { ended = true; };
  const auto call = fixture.transport->start(std::move(request), std::move(handlers));
  REQUIRE(fixture.loop.run_until([&] { return head; }, kLimit));
  CHECK(fixture.sandbox->counters().watches_open == 1);
  REQUIRE(fixture.sandbox
              ->load({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}},
                     "test")
              .ok());
  REQUIRE(
      fixture.loop.run_until([&] { return received.find("ADDED") != std::string::npos; }, kLimit));
  fixture.sandbox->drop_watches();
  REQUIRE(fixture.loop.run_until([&] { return ended; }, kLimit));
  CHECK(fixture.sandbox->counters().watches_open == 0);
}

TEST_CASE("a client that leaves its watch is forgotten") {
  Fixture fixture;
  bool head = false;
  http::Request request = fixture.request("GET", kMaps + "?watch=1");
  request.streaming = true;
  http::CallHandlers handlers;
  handlers.on_head = [&](const http::ResponseHead&) { head = true; };
  auto call = fixture.transport->start(std::move(request), std::move(handlers));
  REQUIRE(fixture.loop.run_until([&] { return head; }, kLimit));
  call.reset();
  fixture.transport.reset();
  CHECK(fixture.loop.run_until([&] { return fixture.sandbox->counters().watches_open == 0; },
                               kLimit));
}

TEST_CASE("the controllers work by themselves on the loop") {
  Fixture fixture(true);
  CHECK(fixture.sandbox->url().rfind("http://", 0) == 0);
  const auto made =
      fixture.send(fixture.request("POST", kMaps, R"({"metadata":{"name":"owner"}})"));
  const std::string uid = base::string_at(base::parse_json(made.body).value(), {"metadata", "uid"});
  const Json child = {
      {"metadata",
       {{"name", "child"},
        {"ownerReferences",
         {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", uid}}}}}}};
  CHECK(fixture.send(fixture.request("POST", kMaps, base::dump_json(child))).status == 201);
  CHECK(fixture.send(fixture.request("DELETE", kMaps + "/owner")).status == 200);
  const auto left = fixture.send(fixture.request("GET", kMaps));
  CHECK(base::parse_json(left.body).value()["items"].empty());
}

TEST_CASE("after a compaction an older resourceVersion is too old") {
  Fixture fixture(true);
  fixture.send(fixture.request("POST", kMaps, R"({"metadata":{"name":"a"}})"));
  fixture.sandbox->compact();
  const auto old =
      fixture.send(fixture.request("GET", kMaps + "?resourceVersion=1&resourceVersionMatch=Exact"));
  CHECK(old.status == 410);
}

TEST_CASE("to a sandbox that was just started all that one before it said is too old") {
  std::string version;
  {
    Fixture before(true);
    const auto made = before.send(before.request("POST", kMaps, R"({"metadata":{"name":"a"}})"));
    version = base::string_at(base::parse_json(made.body).value(), {"metadata", "resourceVersion"});
  }
  REQUIRE(std::stoull(version) < (1ULL << 53U) / 2);
  Fixture fixture(true);
  const auto get = [&](const std::string& query) {
    auto answer = fixture.send(fixture.request("GET", kMaps + query));
    return base::parse_json(answer.body).value();
  };
  const Json watched = get("?watch=1&timeoutSeconds=1&resourceVersion=" + version);
  CHECK(watched["type"] == "ERROR");
  CHECK(watched["object"]["code"] == 410);
  CHECK(base::string_at(watched, {"object", "message"})
            .starts_with("too old resource version: " + version + " ("));
  CHECK(get("?resourceVersionMatch=Exact&resourceVersion=" + version)["code"] == 410);
  CHECK(get("?resourceVersion=" + version)["kind"] == "ConfigMapList");
}

TEST_CASE("a sandbox whose owner lets go of it in the middle of everything leaves nothing behind") {
  Fixture fixture(true);
  bool ended = false;
  http::Request request = fixture.request("GET", kMaps + "?watch=1");
  request.streaming = true;
  http::CallHandlers handlers;
  bool head = false;
  handlers.on_head = [&](const http::ResponseHead&) { head = true; };
  handlers.on_done = [&](Result<void>) { ended = true; };
  const auto call = fixture.transport->start(std::move(request), std::move(handlers));
  REQUIRE(fixture.loop.run_until([&] { return head; }, kLimit));
  fixture.send(fixture.request("POST", kMaps, R"({"metadata":{"name":"a"}})"));
  fixture.sandbox.reset();
  CHECK(fixture.loop.run_until([&] { return ended; }, kLimit));
}

TEST_CASE("plain HTTP is refused on an address that others can reach") {
  loop::EventLoop loop;
  SandboxOptions options;
  options.insecure_http = true;
  options.address = "0.0.0.0";
  const auto refused = Sandbox::start(loop, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::invalid);
  CHECK(refused.error().message().find("0.0.0.0") != std::string::npos);
}

TEST_CASE("the sandbox keeps an Event for an hour, also where nothing else happens") {
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  SandboxOptions options;
  options.insecure_http = true;
  auto sandbox = Sandbox::start(loop, options);
  REQUIRE(sandbox.ok());
  REQUIRE((*sandbox)
              ->load({{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", "a"}}},
                      {"involvedObject", {{"namespace", "default"}}}},
                     "test")
              .ok());
  const std::uint64_t written = (*sandbox)->counters().writes;
  const auto writes = [&] { return (*sandbox)->counters().writes - written; };
  time.skip(Duration{59 * 60000});
  for (int turns = 0; turns < 3; ++turns) {
    bool turned = false;
    loop.post([&] { turned = true; });
    REQUIRE(loop.run_until([&] { return turned; }, kLimit));
  }
  CHECK(writes() == 0);
  time.skip(Duration{2 * 60000});
  CHECK(loop.run_until([&] { return writes() == 1; }, kLimit));
}

TEST_CASE("what is there from the start may be loaded, and gets the metadata that it says") {
  Fixture f;
  const auto load = [&](const std::string& name) {
    return f.sandbox->load({{"apiVersion", "v1"},
                            {"kind", "Namespace"},
                            {"metadata",
                             {{"name", name},
                              {"labels", {{"team", "a"}}},
                              {"annotations", {{"note", "b"}}},
                              {"uid", "of-elsewhere"}}},
                            {"spec", {{"finalizers", {"kubernetes"}}}},
                            {"status", {{"phase", "Active"}}}},
                           "test");
  };
  for (const std::string name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    CAPTURE(name);
    REQUIRE(load(name).ok());
    const auto answer = f.send(f.request("GET", "/api/v1/namespaces/" + name));
    const Json metadata = base::parse_json(answer.body).value()["metadata"];
    CHECK(metadata["labels"] == Json{{"kubernetes.io/metadata.name", name}, {"team", "a"}});
    CHECK(metadata["annotations"] == Json{{"note", "b"}});
    CHECK(metadata["uid"] != "of-elsewhere");
  }
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses/";
  REQUIRE(f.sandbox
              ->load({{"apiVersion", "scheduling.k8s.io/v1"},
                      {"kind", "PriorityClass"},
                      {"metadata",
                       {{"name", "system-node-critical"}, {"annotations", {{"note", "b"}}}}},
                      {"value", 2000001000}},
                     "test")
              .ok());
  const auto known = f.send(f.request("GET", classes + "system-node-critical"));
  const Json priority = base::parse_json(known.body).value();
  CHECK(priority["metadata"]["annotations"] == Json{{"note", "b"}});
  CHECK(priority.contains("description"));
  REQUIRE(load("shop").ok());
  const auto twice = load("shop");
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().is_already_exists());
}

}  // namespace kubewatch::apiserver

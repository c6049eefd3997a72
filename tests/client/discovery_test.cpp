// What the server has: both forms of discovery, and kubectl's ways to name a resource.
#include "client/discovery.hpp"

#include <optional>

#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

core::ResourceType type(const std::string& group, const std::string& version,
                        const std::string& kind, const std::string& plural,
                        const std::string& singular, std::vector<std::string> short_names = {},
                        std::vector<std::string> categories = {}) {
  return {{group, version, kind}, plural,          singular, true, std::move(short_names),
          std::move(categories),  {"get", "list"}, {}};
}

ResourceMap sample() {
  ResourceMap map;
  map.add(type("", "v1", "Pod", "pods", "pod", {"po"}, {"all"}));
  map.add(type("", "v1", "Event", "events", "event", {"ev"}));
  map.add(type("", "v1", "Service", "services", "service", {"svc"}, {"all"}));
  map.add(type("apps", "v1", "Deployment", "deployments", "deployment", {"deploy"}, {"all"}));
  map.add(type("apps", "v1beta1", "Deployment", "deployments", "deployment", {"deploy"}, {"all"}));
  map.add(type("events.k8s.io", "v1", "Event", "events", "event", {"ev"}));
  map.add(type("demo.example", "v2", "Website", "websites", "website", {"po", "ws"}));
  map.add(type("demo.example", "v1", "Website", "websites", "website", {"po", "ws"}));
  map.add(type("odd.example", "v1", "Po", "po", "po"));
  map.add(type("serving.knative.dev", "v1", "Service", "services", "service", {"ksvc"}));
  return map;
}

std::string names(const std::vector<core::ResourceType>& types) {
  std::string out;
  for (const auto& t : types) {
    out += (out.empty() ? "" : " ") + t.plural + "." + t.gvk.version + "." + t.gvk.group;
  }
  return out;
}

struct Found {
  std::optional<Result<std::shared_ptr<const ResourceMap>>> result;
  const ResourceMap& map() const {
    REQUIRE(result.has_value());
    if (!result->ok()) FAIL(result->error().render());
    return **result.value();
  }
};

Found discover_on(Rig& rig) {
  Found out;
  const auto pending =
      discover(rig.client, [&](Result<std::shared_ptr<const ResourceMap>> r) { out.result = r; });
  rig.run();
  return out;
}

constexpr const char* kAggregatedCore = R"({"kind":"APIGroupDiscoveryList",
  "apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1",
  "resources":[{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},
    "scope":"Namespaced","singularResource":"pod","verbs":["get","list","watch"],
    "shortNames":["po"],"categories":["all"],"subresources":[
      {"subresource":"status","responseKind":{"group":"","version":"v1","kind":"Pod"},
       "verbs":["get","patch"]},
      {"subresource":"eviction","responseKind":{"group":"policy","version":"v1","kind":"Eviction"},
       "verbs":["create"]}]},
   {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["get"]},
   {"resource":"odd","scope":"Cluster","verbs":[]}, 7]}]}]})";
constexpr const char* kAggregatedGroups = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},
     "scope":"Namespaced","singularResource":"deployment","verbs":["get"]}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]})";

}  // namespace

TEST_CASE("resource arguments are understood as kubectl understands them") {
  const ResourceMap map = sample();
  struct Case {
    const char* argument;
    const char* found;
  };
  const Case cases[] = {
      {"pods", "pods.v1."},
      {"pod", "pods.v1."},
      {"Pod", "pods.v1."},
      {"PODS", "pods.v1."},
      {"po", "po.v1.odd.example"},
      {"svc", "services.v1."},
      {"events", "events.v1."},
      {"ev", "events.v1."},
      {"ev.events.k8s.io", "events.v1.events.k8s.io"},
      {"events.v1.", "events.v1."},
      {"deploy", "deployments.v1.apps"},
      {"deployments.apps", "deployments.v1.apps"},
      {"deploy.apps", "deployments.v1.apps"},
      {"Deployment.apps", "deployments.v1.apps"},
      {"deployments.v1beta1.apps", "deployments.v1beta1.apps"},
      {"deployments.v9.apps", ""},
      {"deployments.app", "deployments.v1.apps"},
      {"websites", "websites.v2.demo.example"},
      {"websites.v1.demo.example", "websites.v1.demo.example"},
      {"websites.demo.example", "websites.v2.demo.example"},
      {"ws.demo", "websites.v2.demo.example"},
      {"service.serving.knative.dev", "services.v1.serving.knative.dev"},
      {"services", "services.v1."},
      {"all", "pods.v1. services.v1. deployments.v1.apps"},
      {"nothing", ""},
      {"", ""},
      {".", ""},
      {"pods.apps", ""},
  };
  for (const Case& c : cases) {
    INFO(c.argument);
    CHECK(names(map.resolve(c.argument)) == c.found);
  }
}

TEST_CASE("kinds are found exactly or in their best version") {
  const ResourceMap map = sample();
  REQUIRE(map.find({"demo.example", "v1", "Website"}) != nullptr);
  CHECK(map.find({"demo.example", "v1", "Website"})->gvk.version == "v1");
  CHECK(map.find({"demo.example", "v3", "Website"}) == nullptr);
  CHECK(map.find({"", "v1", "pod"}) == nullptr);
  REQUIRE(map.find_kind("demo.example", "Website") != nullptr);
  CHECK(map.find_kind("demo.example", "Website")->gvk.version == "v2");
  CHECK(map.find_kind("", "Website") == nullptr);
  CHECK(map.all().size() == 10);
}

TEST_CASE("aggregated discovery takes two requests") {
  Rig rig;
  rig.transport.answer(200, kAggregatedCore);
  rig.transport.answer(200, kAggregatedGroups);
  const Found found = discover_on(rig);
  CHECK(rig.transport.lines() == std::vector<std::string>{"GET /api", "GET /apis"});
  CHECK(rig.transport.request(0).headers.get("Accept") ==
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
        "application/json");
  const ResourceMap& map = found.map();
  CHECK(names(map.all()) == "pods.v1. nodes.v1. deployments.v1.apps");
  const core::ResourceType& pods = map.all()[0];
  CHECK(pods.namespaced);
  CHECK(pods.gvk.str() == "v1 Pod");
  CHECK(pods.short_names == std::vector<std::string>{"po"});
  CHECK(pods.categories == std::vector<std::string>{"all"});
  CHECK(pods.has_verb("watch"));
  REQUIRE(pods.subresources.size() == 2);
  CHECK(pods.subresources[1].name == "eviction");
  CHECK(pods.subresources[1].kind.str() == "policy/v1 Eviction");
  CHECK_FALSE(map.all()[1].namespaced);
  CHECK(map.all()[1].singular == "node");
  REQUIRE(map.failed_groups.size() == 1);
  CHECK(map.failed_groups[0].rfind("metrics.k8s.io/v1beta1: ", 0) == 0);
}

TEST_CASE("servers without aggregated discovery are asked group by group") {
  Rig rig;
  rig.transport.route("GET", "/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
  rig.transport.route("GET", "/apis", 200, R"({"kind":"APIGroupList","groups":[
    {"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},
      {"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"version":"v1"}},
    {"name":"broken.example","versions":[{"version":"v1"}]}]})");
  rig.transport.route("GET", "/api/v1", 200, R"({"kind":"APIResourceList","resources":[
    {"name":"pods/status","kind":"Pod","namespaced":true,"verbs":["get"]},
    {"name":"pods/eviction","kind":"Eviction","group":"policy","version":"v1","verbs":["create"]},
    {"name":"pods","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","list"],
     "shortNames":["po"],"categories":["all"]}, {"name":"x"}]})");
  const char* apps = R"({"resources":[{"name":"deployments","singularName":"deployment",
    "namespaced":true,"kind":"Deployment","verbs":["get"]}]})";
  rig.transport.route("GET", "/apis/apps/v1", 200, apps);
  rig.transport.route("GET", "/apis/apps/v1beta1", 200, apps);
  rig.transport.route("GET", "/apis/broken.example/v1", 503, "down");
  const Found found = discover_on(rig);
  const ResourceMap& map = found.map();
  CHECK(names(map.all()) == "pods.v1. deployments.v1.apps deployments.v1beta1.apps");
  CHECK(map.all()[0].singular == "pod");
  REQUIRE(map.all()[0].subresources.size() == 2);
  CHECK(map.all()[0].subresources[0].name == "status");
  CHECK(map.all()[0].subresources[1].kind.str() == "policy/v1 Eviction");
  CHECK(map.failed_groups ==
        std::vector<std::string>{"broken.example/v1: discovery at /apis/broken.example/v1: the "
                                 "server answered 503 Service Unavailable: down"});
}

TEST_CASE("the order of the answers does not matter and few requests are open at once") {
  Rig rig;
  rig.transport.route("GET", "/api", 404, "");
  std::string groups;
  for (int i = 0; i < 20; ++i) {
    groups += (i > 0 ? "," : "") + std::string(R"({"name":"g)") + std::to_string(i) +
              R"(","versions":[{"version":"v1"}]})";
  }
  rig.transport.route("GET", "/apis", 200, R"({"groups":[)" + groups + "]}");
  Found found;
  const auto pending =
      discover(rig.client, [&](Result<std::shared_ptr<const ResourceMap>> r) { found.result = r; });
  rig.run();
  while (!found.result) {
    std::vector<ScriptedCall*> open;
    for (std::size_t i = 0; i < rig.transport.size(); ++i) {
      if (rig.transport.call(i).open()) open.push_back(&rig.transport.call(i));
    }
    REQUIRE_FALSE(open.empty());
    REQUIRE(open.size() <= 8);
    open.back()->head(200);
    open.back()->data(R"({"resources":[{"name":"things","kind":"Thing"}]})");
    open.back()->end();
  }
  REQUIRE(found.map().all().size() == 20);
  for (int i = 0; i < 20; ++i) {
    CHECK(found.map().all()[static_cast<std::size_t>(i)].gvk.group == "g" + std::to_string(i));
  }
}

TEST_CASE("discovery fails as its first requests fail") {
  struct Case {
    int api;
    int apis;
    ErrorKind kind;
  };
  const Case cases[] = {{401, 200, ErrorKind::unauthorized},
                        {403, 200, ErrorKind::forbidden},
                        {503, 200, ErrorKind::unavailable},
                        {200, 500, ErrorKind::unavailable},
                        {404, 404, ErrorKind::unavailable}};
  for (const Case& c : cases) {
    Rig rig;
    rig.transport.route("GET", "/api", c.api, "{}");
    rig.transport.route("GET", "/apis", c.apis, "{}");
    const Found found = discover_on(rig);
    REQUIRE(found.result.has_value());
    REQUIRE_FALSE(found.result->ok());
    CHECK(found.result->error().kind() == c.kind);
  }
  Rig rig;
  rig.transport.fail(Error(ErrorKind::unreachable, "refused"));
  CHECK(discover_on(rig).result->error().is_unreachable());
  Rig garbage;
  garbage.transport.answer(200, "<html>");
  CHECK(discover_on(garbage).result->error().kind() == ErrorKind::unavailable);
}

TEST_CASE("where nothing of discovery is found there is no API server, and it is named") {
  const std::string asked = "; is https://cluster:6443 an API server? check its address and path";
  // The path of the server's URL is wrong: so an API server says it.
  Rig elsewhere;
  elsewhere.transport.route("GET", "/api", 404, "404 page not found\n");
  elsewhere.transport.route("GET", "/apis", 404, "404 page not found\n");
  const Error error = discover_on(elsewhere).result->error();
  CHECK(error.kind() == ErrorKind::unavailable);
  CHECK(error.status()->code == 404);
  CHECK(error.render() ==
        "discovery at /apis: the server answered 404 Not Found: 404 page not found" + asked);
  // A page is no word of an API server, not even that it has one of the two alone.
  Rig page;
  page.transport.route("GET", "/api", 404, "\n<html><title>Nothing here</title></html>");
  page.transport.route("GET", "/apis", 200, R"({"kind":"APIGroupList","groups":[]})");
  const Error told = discover_on(page).result->error();
  CHECK(told.kind() == ErrorKind::unavailable);
  CHECK(told.render() ==
        "discovery at /api: the server answered 404 Not Found: Nothing here" + asked);
}

TEST_CASE("what is no discovery document, or names no version, is no server without kinds") {
  const std::string core = R"({"kind":"APIVersions","versions":["v1"]})";
  const std::string groups = R"({"kind":"APIGroupList","groups":null})";
  const std::string none = R"({"kind":"APIGroupDiscoveryList","items":[]})";
  struct Case {
    std::string api, apis;
    bool ok;
  };
  const Case cases[] = {
      {"{}", "{}", false},
      {"[]", "[]", false},
      {"null", "null", false},
      {R"("x")", R"("x")", false},
      {R"({"error":"please log in"})", R"({"error":"please log in"})", false},
      {R"({"versions":5})", groups, false},
      {R"({"kind":"Status","status":"Failure","code":401})", groups, false},
      {R"({"kind":"Status","versions":["v1"]})", groups, false},
      {R"({"kind":"APIVersions","versions":[]})", groups, false},
      {R"({"kind":"APIVersions"})", R"({"kind":"APIGroupList"})", false},
      {R"({"versions":[7]})", R"({"groups":[7,{"name":"x","versions":[{}]}]})", false},
      {none, none, false},
      {none, R"({"kind":"APIGroupDiscoveryList","items":5})", false},
      {core, R"({"error":"please log in"})", false},
      {core, R"({"kind":"Status"})", false},
      {core, groups, true},
      {R"({"versions":["v1"]})", R"({"kind":"APIGroupList"})", true},
      {R"({"kind":"APIVersions","versions":[]})",
       R"({"groups":[{"name":"x","versions":[)"
       R"({"version":"v1"}]}]})",
       true},
      {core, none, true},
  };
  for (const Case& c : cases) {
    INFO(c.api << " " << c.apis);
    Rig rig;
    rig.transport.route("GET", "/api", 200, c.api);
    rig.transport.route("GET", "/apis", 200, c.apis);
    rig.transport.route("GET", "/api/v1", 200, R"({"resources":[]})");
    rig.transport.route("GET", "/apis/x/v1", 200, R"({"kind":"APIResourceList"})");
    const Found found = discover_on(rig);
    REQUIRE(found.result.has_value());
    CHECK(found.result->ok() == c.ok);
    if (found.result->ok()) {
      CHECK(found.map().failed_groups.empty());
    } else {
      CHECK(found.result->error().kind() == ErrorKind::unavailable);
    }
  }
}

TEST_CASE("a version that is answered with something else has failed") {
  Rig rig;
  rig.transport.route("GET", "/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
  rig.transport.route("GET", "/apis", 200, R"({"kind":"APIGroupList","groups":[]})");
  rig.transport.route("GET", "/api/v1", 200, R"({"error":"please log in"})");
  const Found found = discover_on(rig);
  REQUIRE(found.map().failed_groups.size() == 1);
  CHECK(found.map().failed_groups[0] ==
        "v1: discovery at /api/v1: the server's answer cannot be read: what was answered is no "
        "APIResourceList: it does not say what there is");
  CHECK(found.map().did_not_answer({"", "v1", "Pod"}));
}

TEST_CASE("a server of the core alone, without /apis, is one") {
  Rig rig;
  rig.transport.route("GET", "/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
  rig.transport.route("GET", "/apis", 404, "{}");
  rig.transport.route("GET", "/api/v1", 200,
                      R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod",)"
                      R"("namespaced":true,"verbs":["list"]}]})");
  CHECK(names(discover_on(rig).map().all()) == "pods.v1.");
}

TEST_CASE("discovery can be canceled and destroyed inside its callback") {
  Rig rig;
  int calls = 0;
  auto pending = discover(rig.client, [&](auto) { ++calls; });
  pending.reset();
  CHECK(rig.transport.call(0).canceled());
  rig.transport.route("GET", "/api", 200, "{}");
  rig.transport.route("GET", "/apis", 200, "{}");
  pending = discover(rig.client, [&](auto) {
    pending.reset();
    ++calls;
  });
  rig.run();
  CHECK(calls == 1);
}

TEST_CASE("groups and versions stand in the server's order, and a version can be pinned") {
  const ResourceMap map = sample();
  CHECK(map.groups() == std::vector<std::string>{"", "apps", "events.k8s.io", "demo.example",
                                                 "odd.example", "serving.knative.dev"});
  CHECK(map.versions("apps") == std::vector<std::string>{"v1", "v1beta1"});
  CHECK(map.versions("none").empty());
  CHECK(map.pinned({"demo.example", "v1", "Website"})->gvk.version == "v1");
  const auto missing = map.pinned({"demo.example", "v3", "Website"});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().is_not_found());
  CHECK(missing.error().message() == "the server has no demo.example/v3 Website; there is v2, v1");
}

TEST_CASE("a pinned kind of a group that did not answer is not said to be missing") {
  ResourceMap map = sample();
  map.failed_groups = {"metrics.k8s.io/v1beta1: 503"};
  const auto unknown = map.pinned({"metrics.k8s.io", "v1beta1", "PodMetrics"});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().kind() == ErrorKind::unavailable);
  CHECK(map.pinned({"", "v1", "Pod"}).ok());  // and hides nothing else
}

TEST_CASE("all kinds are listed once, in their best version, by verb, scope and group") {
  ResourceMap map = sample();
  core::ResourceType nodes = type("", "v1", "Node", "nodes", "node");
  nodes.namespaced = false;
  nodes.verbs = {"list"};
  map.add(nodes);
  map.add(type("demo.example", "v1", "Old", "olds", "old"));
  CHECK(names(map.kinds({})) ==
        "pods.v1. events.v1. services.v1. deployments.v1.apps events.v1.events.k8s.io "
        "websites.v2.demo.example po.v1.odd.example services.v1.serving.knative.dev nodes.v1. "
        "olds.v1.demo.example");
  ResourceMap::Filter filter;
  filter.namespaced = false;
  CHECK(names(map.kinds(filter)) == "nodes.v1.");
  filter = {};
  filter.verbs = {"list", "get"};
  filter.group = "";
  CHECK(names(map.kinds(filter)) == "pods.v1. events.v1. services.v1.");
  CHECK(names(map.recommended("demo.example")) == "websites.v2.demo.example");
  CHECK(map.recommended("none").empty());
}

TEST_CASE("discovery is asked again when it is too old, and those who wait share one request") {
  Rig rig;
  rig.transport.route("GET", "/api", 200, kAggregatedCore);
  rig.transport.route("GET", "/apis", 200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
  int told = 0;
  const auto count = [&](Result<DiscoveryCache::Map> map) { told += map.ok() ? 1 : 0; };
  DiscoveryCache fresh(rig.client);
  fresh.get(count);
  fresh.get(count);
  rig.run();
  CHECK(told == 2);
  CHECK(rig.transport.size() == 2);
  fresh.get(count);
  rig.run();
  CHECK(told == 3);
  CHECK(rig.transport.size() == 2);
  fresh.refresh(count);
  rig.run();
  CHECK(rig.transport.size() == 4);
  DiscoveryCache impatient(rig.client, Duration{0});
  impatient.get(count);
  rig.run();
  impatient.get(count);
  rig.run();
  CHECK(rig.transport.size() == 8);
}

TEST_CASE("a discovery that fails keeps what is known, and a destroyed cache tells nobody") {
  Rig rig;
  rig.transport.answer(200, kAggregatedCore);
  rig.transport.answer(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
  rig.transport.answer(503, "down");
  auto cache = std::make_unique<DiscoveryCache>(rig.client);
  std::vector<bool> told;
  const auto keep = [&](Result<DiscoveryCache::Map> map) { told.push_back(map.ok()); };
  cache->get(keep);
  rig.run();
  cache->refresh(keep);
  rig.run();
  CHECK(told == std::vector<bool>{true, false});
  REQUIRE(cache->latest() != nullptr);
  CHECK(cache->latest()->find({"", "v1", "Pod"}) != nullptr);
  cache->get(keep);
  cache.reset();
  rig.run();
  CHECK(told.size() == 2);
}

// Api<T>: what a kind as a C++ type may do, the requests that follow, and what comes back.
#include "client/api.hpp"

#include <optional>

#include "kept.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

struct WebsiteSpec {
  std::string title;
  int replicas = 1;
};
void to_json(Json& out, const WebsiteSpec& spec) {
  out = {{"title", spec.title}, {"replicas", spec.replicas}};
}
void from_json(const Json& in, WebsiteSpec& spec) {
  in.at("title").get_to(spec.title);
  spec.replicas = in.value("replicas", 1);
}
struct WebsiteStatus {
  bool ready = false;
};
void to_json(Json& out, const WebsiteStatus& status) {
  out = {{"ready", status.ready}};
}
void from_json(const Json& in, WebsiteStatus& status) {
  in.at("ready").get_to(status.ready);
}

struct Website : Object<WebsiteSpec, WebsiteStatus> {
  static constexpr const char* kGroup = "demo.example.com";
  static constexpr const char* kVersion = "v1";
  static constexpr const char* kKind = "Website";
  static constexpr const char* kPlural = "websites";
  static constexpr Scope kScope = Scope::namespaced;
};
struct Fleet : Object<Json> {
  static constexpr const char* kGroup = "demo.example.com";
  static constexpr const char* kVersion = "v1";
  static constexpr const char* kKind = "Fleet";
  static constexpr const char* kPlural = "fleets";
  static constexpr Scope kScope = Scope::cluster;
};

// What compiles: a scope that a kind does not have, and types that are no kinds, do not.
template <class T>
concept CanBeNamespaced = requires(Client& client) {
  Api<T>::namespaced(client, "shop");
};
template <class T>
concept CanBeCluster = requires(Client& client) {
  Api<T>::cluster(client);
};
template <class T>
concept CanBeAll = requires(Client& client) {
  Api<T>::all(client);
};
static_assert(CanBeNamespaced<Website> && !CanBeCluster<Website> && CanBeAll<Website>);
static_assert(!CanBeNamespaced<Fleet> && CanBeCluster<Fleet> && CanBeAll<Fleet>);
// A dynamic kind needs its type.
static_assert(!CanBeNamespaced<DynamicObject> && !CanBeCluster<DynamicObject> &&
              !CanBeAll<DynamicObject>);
static_assert(!Resource<int> && !StaticKind<DynamicObject> && DynamicKind<DynamicObject>);
static_assert(DynamicKind<Object<WebsiteSpec, WebsiteStatus>>);

constexpr const char* kWeb =
    R"({"apiVersion":"demo.example.com/v1","kind":"Website","metadata":{"name":"web",
    "namespace":"shop","uid":"u1","labels":{"a":"b"}},"spec":{"title":"Hi","replicas":2},
    "status":{"ready":true}})";
constexpr const char* kNotFound = R"({"kind":"Status","reason":"NotFound","message":"no"})";

}  // namespace

TEST_CASE("an object of a known kind is read with its spec, status and metadata") {
  Rig rig;
  rig.transport.answer(200, kWeb);
  Kept<Website> got;
  const auto pending = Api<Website>::namespaced(rig.client, "shop").get("web", got.callback());
  rig.run();
  CHECK(rig.transport.lines() ==
        std::vector<std::string>{"GET /apis/demo.example.com/v1/namespaces/shop/websites/web"});
  CHECK(got.value().spec.title == "Hi");
  CHECK(got.value().spec.replicas == 2);
  CHECK(got.value().status->ready);
  CHECK(*got.value().meta().label("a") == "b");
  CHECK(got.value().key().str() == "shop/web");
  CHECK(got.value().to_json() == Json::parse(kWeb));
}

TEST_CASE("the default namespace is that of the configuration") {
  client::ClientConfig config = scripted_config();
  config.namespace_ = "front";
  Rig rig(std::move(config));
  rig.transport.answer(200, kWeb);
  Kept<Website> got;
  const auto pending = Api<Website>::default_namespaced(rig.client).get("web", got.callback());
  rig.run();
  CHECK(rig.transport.lines() ==
        std::vector<std::string>{"GET /apis/demo.example.com/v1/namespaces/front/websites/web"});
}

TEST_CASE("get_opt tells an absent object from a failure") {
  Rig rig;
  const auto api = Api<Website>::namespaced(rig.client, "shop");
  Kept<std::optional<Website>> got;
  rig.transport.answer(404, kNotFound);
  auto pending = api.get_opt("web", got.callback());
  rig.run();
  CHECK_FALSE(got.value().has_value());
  rig.transport.answer(200, kWeb);
  pending = api.get_opt("web", got.callback());
  rig.run();
  CHECK(got.value()->spec.title == "Hi");
  rig.transport.answer(403, R"({"kind":"Status","reason":"Forbidden","message":"no"})");
  pending = api.get_opt("web", got.callback());
  rig.run();
  CHECK(got.error().is_forbidden());
  // The kind is not served: nobody has looked for the object.
  rig.transport.answer(404, "404 page not found\n");
  pending = api.get_opt("web", got.callback());
  rig.run();
  CHECK(got.error().is_not_found());
  CHECK(got.error().render().find("get websites.demo.example.com \"web\"") == 0);
}

TEST_CASE("an object that is not of the type is an error that names it, and hides no other") {
  Rig rig;
  rig.transport.answer(200, R"({"kind":"WebsiteList","metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"name":"a","namespace":"shop"},"spec":{"title":3}},
    {"metadata":{"name":"b","namespace":"shop"},"spec":{"title":"B"}}]})");
  Kept<ObjectList<Website>> got;
  core::ListParams params;
  params.limit = 5;
  const auto pending = Api<Website>::all(rig.client).list(params, got.callback());
  rig.run();
  CHECK(rig.transport.call(0).line() == "GET /apis/demo.example.com/v1/websites?limit=5");
  REQUIRE(got.value().items.size() == 1);
  CHECK(got.value().items[0].spec.title == "B");
  CHECK(got.value().items[0].kind == "Website");  // list items do not say it
  CHECK(got.value().page.resource_version == "7");
  REQUIRE(got.value().broken.size() == 1);
  CHECK(got.value().broken[0].kind() == ErrorKind::invalid);
  CHECK(got.value().broken[0].render().find(
            "websites.demo.example.com \"shop/a\": Website: spec: ") == 0);
}

TEST_CASE("an object whose type does not name it is named all the same") {
  // As crd-gen writes them.
  struct Terse {
    Result<void> from_json(const Json&) {
      return Error(ErrorKind::invalid, "Terse: spec: title: is no text");
    }
    Json to_json() const { return {}; }
  };
  const auto told = [](const char* text, const core::ResourceType& type) {
    return Api<Terse>::decode_text(text, type).error().render();
  };
  CHECK(told(R"({"metadata":{"name":"a","namespace":"shop"}})", kDeployments) ==
        "deployments.apps \"shop/a\": Terse: spec: title: is no text");
  CHECK(told(R"({"metadata":{"name":"a"}})", kNodes) ==
        "nodes \"a\": Terse: spec: title: is no text");
  CHECK(told("[]", kNodes) == "nodes: Terse: spec: title: is no text");
  CHECK(told("{", kNodes).find("nodes: ") == 0);
}

TEST_CASE("writes carry kind, namespace, dryRun and fieldValidation") {
  Rig rig;
  for (int i = 0; i < 8; ++i) rig.transport.answer(200, kWeb);
  const auto api = Api<Website>::namespaced(rig.client, "shop");
  Website web;
  web.metadata["name"] = "web";
  web.spec.title = "Hi";
  core::WriteParams write;
  write.dry_run = true;
  write.field_validation = "Strict";
  core::PatchParams patch;
  patch.field_manager = "m";
  Kept<Website> got;
  std::vector<PendingPtr> pending;
  pending.push_back(api.create(web, write, got.callback()));
  pending.push_back(api.replace(web, write, got.callback()));
  pending.push_back(api.replace_status(web, {}, got.callback()));
  pending.push_back(api.patch("web", Json{{"spec", {{"replicas", 3}}}}, {}, got.callback()));
  pending.push_back(
      api.patch_status("web", Json{{"status", {{"ready", true}}}}, {}, got.callback()));
  pending.push_back(api.apply(web, patch, got.callback()));
  rig.run();
  CHECK(got.value().spec.replicas == 2);
  const std::string root = "/apis/demo.example.com/v1/namespaces/shop/websites";
  CHECK(rig.transport.lines() ==
        std::vector<std::string>{"POST " + root + "?dryRun=All&fieldValidation=Strict",
                                 "PUT " + root + "/web?dryRun=All&fieldValidation=Strict",
                                 "PUT " + root + "/web/status", "PATCH " + root + "/web",
                                 "PATCH " + root + "/web/status",
                                 "PATCH " + root + "/web?fieldManager=m&fieldValidation=Ignore"});
  const Json sent = Json::parse(rig.transport.request(0).body);
  CHECK(sent == Json::parse(R"({"apiVersion":"demo.example.com/v1","kind":"Website",
    "metadata":{"name":"web","namespace":"shop"},"spec":{"title":"Hi","replicas":1}})"));
  CHECK(rig.transport.request(5).headers.get("Content-Type") == "application/apply-patch+yaml");
}

TEST_CASE("an Api of all namespaces writes whole objects where they say") {
  Rig rig;
  for (int i = 0; i < 3; ++i) rig.transport.answer(200, kWeb);
  const auto api = Api<Website>::all(rig.client);
  Website web;
  REQUIRE(web.from_json(*base::parse_json(kWeb)).ok());
  Kept<Website> got;
  core::PatchParams patch;
  patch.field_manager = "m";
  auto pending = api.create(web, {}, got.callback());
  rig.run();
  pending = api.replace(web, {}, got.callback());
  rig.run();
  pending = api.apply(web, patch, got.callback());
  rig.run();
  const std::string root = "/apis/demo.example.com/v1/namespaces/shop/websites";
  CHECK(rig.transport.lines() ==
        std::vector<std::string>{"POST " + root, "PUT " + root + "/web",
                                 "PATCH " + root + "/web?fieldManager=m&fieldValidation=Ignore"});
}

TEST_CASE("a delete tells whether the object is gone or dying") {
  Rig rig;
  const auto api = Api<Website>::namespaced(rig.client, "shop");
  Kept<std::optional<Website>> got;
  core::DeleteParams params;
  params.propagation = core::Propagation::foreground;
  params.uid = "u1";
  Json dying = Json::parse(kWeb);
  dying["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  dying["metadata"]["finalizers"] = {"foregroundDeletion"};
  rig.transport.answer(200, dying.dump());
  auto pending = api.remove("web", params, got.callback());
  rig.run();
  CHECK(got.value()->key().name == "web");
  const Json body = Json::parse(rig.transport.request(0).body);
  CHECK(body["propagationPolicy"] == "Foreground");
  CHECK(body["preconditions"]["uid"] == "u1");
  rig.transport.answer(200, R"({"kind":"Status","status":"Success"})");
  pending = api.remove("web", params, got.callback());
  rig.run();
  CHECK_FALSE(got.value().has_value());
}

TEST_CASE("what a DELETE was answered with tells whether anything is left of the object") {
  const auto gone = [](const std::string& metadata, const std::string& more = "") {
    return is_gone(
        *base::parse_json(R"({"kind":"X","metadata":{"name":"a")" + metadata + "}" + more + "}"));
  };
  const std::string at = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  CHECK(gone(""));  // ServiceAccounts, Services and others, as they were
  CHECK(gone(R"(,"finalizers":["a/b"])"));
  CHECK(gone(at + R"(,"deletionGracePeriodSeconds":0)"));
  CHECK_FALSE(gone(at + R"(,"deletionGracePeriodSeconds":30)"));
  CHECK_FALSE(gone(at + R"(,"deletionGracePeriodSeconds":0,"finalizers":["a/b"])"));
  CHECK_FALSE(gone(at, R"(,"spec":{"finalizers":["kubernetes"]})"));
  CHECK_FALSE(gone(at));
}

TEST_CASE("an object of another namespace is not written through the Api of this one") {
  Rig rig;
  const auto api = Api<Website>::namespaced(rig.client, "other");
  Website web;
  REQUIRE(web.from_json(*base::parse_json(kWeb)).ok());
  core::PatchParams patch;
  patch.field_manager = "m";
  for (int verb = 0; verb < 4; ++verb) {
    Kept<Website> got;
    const auto pending = verb == 0   ? api.replace_status(web, {}, got.callback())
                         : verb == 1 ? api.replace(web, {}, got.callback())
                         : verb == 2 ? api.create(web, {}, got.callback())
                                     : api.apply(web, patch, got.callback());
    rig.run();
    CHECK(rig.transport.size() == 0);
    CHECK(got.error().render().find("is in namespace \"shop\", not in \"other\"") !=
          std::string::npos);
  }
}

TEST_CASE("a spec or status of null is one that is not there") {
  Object<std::map<std::string, int>, std::map<std::string, int>> object;
  REQUIRE(object
              .from_json(*base::parse_json(
                  R"({"kind":"X","metadata":{"name":"a"},"spec":null,"status":null})"))
              .ok());
  CHECK(object.spec.empty());
  CHECK_FALSE(object.status.has_value());
}

TEST_CASE("deletecollection sends the selection in the query and the options in the body") {
  Rig rig;
  rig.transport.answer(
      200, std::string(R"({"kind":"WebsiteList","metadata":{},"items":[)") + kWeb + "]}");
  const auto api = Api<Website>::namespaced(rig.client, "shop");
  core::ListParams selection;
  selection.label_selector = "a=b";
  core::DeleteParams params;
  params.dry_run = true;
  Kept<ObjectList<Website>> got;
  auto pending = api.remove_collection(selection, params, got.callback());
  rig.run();
  CHECK(rig.transport.call(0).line() ==
        "DELETE /apis/demo.example.com/v1/namespaces/shop/websites?labelSelector=a%3Db");
  CHECK(Json::parse(rig.transport.request(0).body)["dryRun"] == Json::array({"All"}));
  CHECK(got.value().items.size() == 1);
  rig.transport.answer(200, R"({"kind":"Status","status":"Success"})");
  pending = api.remove_collection({}, {}, got.callback());
  rig.run();
  CHECK(got.value().items.empty());
}

TEST_CASE("a whole cluster's namespaced objects are not deleted by a forgotten namespace") {
  Rig rig;
  Kept<ObjectList<Website>> got;
  const auto pending = Api<Website>::all(rig.client).remove_collection({}, {}, got.callback());
  rig.run();
  CHECK(rig.transport.size() == 0);
  CHECK(got.error().render().find("the namespace is missing") != std::string::npos);
}

TEST_CASE("single objects of a namespaced kind need a namespace, cluster-scoped ones do not") {
  Rig rig;
  Kept<Website> web;
  auto pending = Api<Website>::all(rig.client).get("web", web.callback());
  rig.run();
  CHECK(web.error().render().find("the namespace is missing") != std::string::npos);
  Kept<Fleet> fleet;
  rig.transport.answer(200, R"({"kind":"Fleet","metadata":{"name":"f"},"spec":{"a":1}})");
  pending = Api<Fleet>::cluster(rig.client).get("f", fleet.callback());
  rig.run();
  CHECK(rig.transport.last().line() == "GET /apis/demo.example.com/v1/fleets/f");
  CHECK(fleet.value().spec["a"] == 1);
}

TEST_CASE("a kind of run time is carried whole, and its scope is checked") {
  Rig rig;
  const auto pods = Api<DynamicObject>::namespaced(rig.client, kPods, "shop");
  REQUIRE(pods.ok());
  rig.transport.answer(200, R"({"kind":"Pod","metadata":{"name":"p","namespace":"shop"},"x":[1]})");
  Kept<DynamicObject> got;
  const auto pending = pods->get("p", got.callback());
  rig.run();
  CHECK(got.value().json["x"][0] == 1);
  CHECK(got.value().ref().str() == "Pod shop/p");
  CHECK(Api<DynamicObject>::namespaced(rig.client, kNodes, "shop").error().message() ==
        "nodes are cluster-scoped: they are in no namespace");
  CHECK(Api<DynamicObject>::cluster(rig.client, kPods).error().message() ==
        "pods are namespaced: name a namespace, or ask for all");
  CHECK(Api<DynamicObject>::cluster(rig.client, kNodes).ok());
  CHECK(Api<DynamicObject>::all(rig.client, kPods).namespace_name().empty());
}

TEST_CASE("a typed watch gives objects, bookmarks and problems apart") {
  Rig rig;
  std::vector<std::string> told;
  TypedWatchHandlers<Website> handlers;
  handlers.on_object = [&](core::WatchEventType type, const Website& web) {
    told.push_back((type == core::WatchEventType::deleted ? "-" : "+") + web.spec.title);
  };
  handlers.on_bookmark = [&](const std::string& version) { told.push_back("@" + version); };
  handlers.on_problem = [&](const Error& error) {
    told.push_back("!" + std::string(to_string(error.kind())));
  };
  handlers.on_end = [&](Result<void> end) { told.push_back(end.ok() ? "end" : "broken"); };
  const auto pending = Api<Website>::namespaced(rig.client, "shop").watch({}, handlers);
  auto& call = rig.transport.call(0);
  call.head(200);
  const auto send = [&](const std::string& type, const std::string& object) {
    call.data(R"({"type":")" + type + R"(","object":)" + object + "}\n");
  };
  send("ADDED", kWeb);
  send("DELETED", kWeb);
  send("MODIFIED", R"({"metadata":{"name":"x"},"spec":{}})");
  send("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})");
  send("NEW", "{}");
  send("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})");
  call.end();
  CHECK(told == std::vector<std::string>{"+Hi", "-Hi", "!invalid", "@9", "!gone", "end"});
}

TEST_CASE("a typed watch tells when all that there was has been given, and what it is that ended") {
  Rig rig;
  std::vector<std::string> told;
  TypedWatchHandlers<Website> handlers;
  handlers.on_object = [&](core::WatchEventType, const Website& web) {
    told.push_back(web.spec.title);
  };
  handlers.on_bookmark = [&](const std::string& version) { told.push_back("@" + version); };
  handlers.on_initial_events_end = [&] { told.emplace_back("all"); };
  handlers.on_problem = [&](const Error& error) { told.push_back(error.render()); };
  core::WatchParams params;
  params.send_initial_events = true;
  const auto pending = Api<Website>::all(rig.client).watch(params, handlers);
  auto& call = rig.transport.call(0);
  call.head(200);
  const auto send = [&](const std::string& type, const std::string& object) {
    call.data(R"({"type":")" + type + R"(","object":)" + object + "}\n");
  };
  send("ADDED", kWeb);
  send("BOOKMARK", R"({"metadata":{"resourceVersion":"8"}})");
  send("BOOKMARK", R"({"metadata":{"resourceVersion":"9",
    "annotations":{"k8s.io/initial-events-end":"true"}}})");
  send("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})");
  CHECK(told ==
        std::vector<std::string>{"Hi", "@8", "all", "@9", "watch websites.demo.example.com: old"});
}

TEST_CASE("owner references name the owner, and the one that manages") {
  const core::ObjectRef owner{"demo.example.com/v1", "Website", "shop", "web", "u1"};
  CHECK(core::owner_reference(owner, true) ==
        Json::parse(R"({"apiVersion":"demo.example.com/v1","kind":"Website","name":"web",
          "uid":"u1","blockOwnerDeletion":false,"controller":true})"));
  CHECK_FALSE(core::owner_reference(owner, false).contains("controller"));
  DynamicObject child;
  CHECK(core::controller_of(child.meta()) == nullptr);
  child.json = {{"metadata", {{"ownerReferences", {core::owner_reference(owner, true)}}}}};
  const core::ObjectMeta meta = child.meta();
  REQUIRE(core::controller_of(meta) != nullptr);
  CHECK(core::controller_of(meta)->uid == "u1");
}

#include "apiserver/deleter.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::kCrdPath;
using test::kWebsites;
using test::Server;
using test::website;

namespace {

// A ConfigMap owned by another.
Json owned(const std::string& name, const test::Answer& owner, bool block = true) {
  return config_map(name, {{"metadata",
                            {{"ownerReferences",
                              {{{"apiVersion", owner.at({"apiVersion"})},
                                {"kind", owner.at({"kind"})},
                                {"name", owner.at({"metadata", "name"})},
                                {"uid", owner.at({"metadata", "uid"})},
                                {"blockOwnerDeletion", block}}}}}}});
}

Json reference(const test::Answer& owner, bool block = true) {
  return owned("x", owner, block)["metadata"]["ownerReferences"][0];
}

bool exists(Server& server, const std::string& name) {
  return server.get(kConfigMaps + "/" + name).code == 200;
}

const std::string kNamespaces = "/api/v1/namespaces";
const std::string kClusterRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

test::Answer post_namespace(Server& server, const std::string& name,
                            const Json& more = Json::object()) {
  Json object = {{"metadata", {{"name", name}}}};
  object.merge_patch(more);
  return server.post(kNamespaces, object);
}

void post_role_of(Server& server, const std::string& name, const test::Answer& owner) {
  const Json role = {{"metadata", {{"name", name}, {"ownerReferences", {reference(owner)}}}}};
  REQUIRE(server.post(kClusterRoles, role).code == 201);
}

}  // namespace

TEST_CASE("a delete without finalizers is answered with success and the uid") {
  Server server;
  const auto made = server.post(kConfigMaps, config_map("a"));
  const auto gone = server.remove(kConfigMaps + "/a");
  CHECK(gone.code == 200);
  CHECK(gone.json["status"] == "Success");
  CHECK(gone.at({"details", "uid"}) == made.at({"metadata", "uid"}));
  CHECK(gone.at({"details", "kind"}) == "configmaps");
  CHECK(server.remove(kConfigMaps + "/a").message() == "configmaps \"a\" not found");
}

TEST_CASE("a delete with finalizers marks the object, which goes with its last finalizer") {
  Server server;
  server.post(kCrdPath, test::website_crd());
  Json object = website("a");
  object["metadata"]["finalizers"] = {"x.io/y"};
  server.post(kWebsites, object);
  const auto record = server.watch(kWebsites + "?watch=1");
  const auto dying = server.remove(kWebsites + "/a");
  CHECK(dying.code == 200);
  CHECK(dying.json["kind"] == "Website");
  CHECK(dying.json["metadata"]["deletionTimestamp"] == base::format_rfc3339(server.now()));
  CHECK(dying.json["metadata"]["deletionGracePeriodSeconds"] == 0);
  CHECK(dying.json["metadata"]["generation"] == 2);
  CHECK(server.remove(kWebsites + "/a").json == dying.json);
  const auto added =
      server.merge(kWebsites + "/a", {{"metadata", {{"finalizers", {"x.io/y", "x.io/z"}}}}});
  CHECK(added.code == 422);
  CHECK(added.json["details"]["causes"].size() == 2);  // as there: told twice
  CHECK(added.message() ==
        "Website.demo.kubewatch.dev \"a\" is invalid: metadata.finalizers: Forbidden: no new "
        "finalizers can be added if the object is being deleted, found new finalizers "
        "[]string{\"x.io/z\"}");
  CHECK(server.merge(kWebsites + "/a", {{"metadata", {{"deletionTimestamp", nullptr}}}})
            .json["metadata"]
            .contains("deletionTimestamp"));
  const auto last = server.merge(kWebsites + "/a", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(last.code == 200);
  CHECK(last.json["kind"] == "Website");
  CHECK(server.get(kWebsites + "/a").code == 404);
  CHECK(record->story() == "ADDED a,MODIFIED a,DELETED a");
}

TEST_CASE("preconditions and options of a delete are checked") {
  Server server;
  server.post(kConfigMaps, config_map("a"));
  const std::string a = kConfigMaps + "/a";
  const auto uid = server.remove(a, {{"preconditions", {{"uid", "x"}}}});
  CHECK(uid.code == 409);
  CHECK(uid.message().rfind("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                            "precondition (x) does not match the UID in record (",
                            0) == 0);
  CHECK(server.remove(a, {{"preconditions", {{"resourceVersion", "1"}}}}).code == 409);
  CHECK(server.remove(a, {{"propagationPolicy", "Bogus"}}).code == 422);
  CHECK(server.remove(a, {{"propagationPolicy", "Orphan"}, {"orphanDependents", true}}).code ==
        422);
  CHECK(server.remove(a, {{"kind", "ConfigMap"}, {"apiVersion", "v1"}}).code == 400);
  CHECK(exists(server, "a"));
}

TEST_CASE("deletecollection deletes what the selectors choose and answers with it") {
  Server server;
  for (const char* name : {"a", "b", "c"}) {
    server.post(kConfigMaps, config_map(name, {{"metadata", {{"labels", {{"n", name}}}}}}));
  }
  const auto gone = server.call("DELETE", kConfigMaps + "?labelSelector=n%20in%20(a,b)");
  CHECK(gone.code == 200);
  CHECK(gone.json["items"].size() == 2);
  CHECK_FALSE(exists(server, "a"));
  CHECK(exists(server, "c"));
}

TEST_CASE("dependents of a deleted owner are collected in the background, over generations") {
  Server server;
  const auto owner = server.post(kConfigMaps, config_map("owner"));
  const auto child = server.post(kConfigMaps, owned("child", owner));
  server.post(kConfigMaps, owned("grandchild", child));
  server.post(kConfigMaps, config_map("other"));
  server.settle();
  CHECK(exists(server, "grandchild"));
  server.remove(kConfigMaps + "/owner");
  CHECK(exists(server, "child"));
  server.settle();
  CHECK_FALSE(exists(server, "child"));
  CHECK_FALSE(exists(server, "grandchild"));
  CHECK(exists(server, "other"));
}

TEST_CASE("an owner that never was, was made again, or is elsewhere counts as absent") {
  Server server;
  server.post("/api/v1/namespaces", {{"metadata", {{"name", "shop"}}}});
  const auto elsewhere = server.post("/api/v1/namespaces/shop/configmaps", config_map("owner"));
  server.post(kConfigMaps, owned("child", elsewhere));
  const auto first = server.post(kConfigMaps, config_map("again"));
  server.remove(kConfigMaps + "/again");
  server.post(kConfigMaps, config_map("again"));
  server.post(kConfigMaps, owned("late", first));
  server.settle();
  CHECK_FALSE(exists(server, "child"));
  CHECK_FALSE(exists(server, "late"));
}

TEST_CASE("an owner of an unknown kind is nobody's business until the kind is known") {
  Server server;
  Json child = config_map("child");
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "demo.kubewatch.dev/v1"}, {"kind", "Website"}, {"name", "w"}, {"uid", "1"}}};
  server.post(kConfigMaps, child);
  server.settle();
  CHECK(exists(server, "child"));
  server.post(kCrdPath, test::website_crd());
  server.settle();
  CHECK_FALSE(exists(server, "child"));
}

TEST_CASE("what a custom object owned goes with it, though its kind is gone before anybody looks") {
  Server server;
  server.post(kCrdPath, test::website_crd());
  const auto owner = server.post(kWebsites, website("w"));
  server.post(kConfigMaps, owned("child", owner));
  Json two = owned("two", owner);
  two["metadata"]["ownerReferences"].push_back(
      reference(server.post(kConfigMaps, config_map("solid"))));
  server.post(kConfigMaps, two);
  server.settle();
  Json other = owned("other", owner);
  other["metadata"]["ownerReferences"][0]["name"] = "another";
  server.post(kConfigMaps, other);
  server.remove(kCrdPath + "/websites.demo.kubewatch.dev");
  CHECK(server.get(kWebsites).code == 404);
  server.settle();
  CHECK_FALSE(exists(server, "child"));
  CHECK(server.get(kConfigMaps + "/two").json["metadata"]["ownerReferences"].size() == 1);
  // Nobody knows of an owner of that name.
  CHECK(exists(server, "other"));
}

TEST_CASE("an owner that a restore brings back is not gone") {
  Server server;
  server.post(kCrdPath, test::website_crd());
  const auto owner = server.post(kWebsites, website("w"));
  Json child = owned("child", owner);
  child["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kConfigMaps, child);
  server.settle();
  const auto backup = server.api.storage().back_up();
  server.remove(kWebsites + "/w");
  server.settle();
  CHECK(server.get(kConfigMaps + "/child").json["metadata"].contains("deletionTimestamp"));
  server.api.storage().restore(*backup);
  server.settle();
  const auto back = server.get(kConfigMaps + "/child");
  REQUIRE(back.code == 200);
  CHECK_FALSE(back.json["metadata"].contains("deletionTimestamp"));
}

TEST_CASE("one living owner keeps an object, references to absent ones are removed") {
  Server server;
  const auto one = server.post(kConfigMaps, config_map("one"));
  const auto two = server.post(kConfigMaps, config_map("two"));
  Json child = owned("child", one);
  child["metadata"]["ownerReferences"].push_back(owned("x", two)["metadata"]["ownerReferences"][0]);
  server.post(kConfigMaps, child);
  server.remove(kConfigMaps + "/one");
  server.settle();
  const auto left = server.get(kConfigMaps + "/child");
  REQUIRE(left.code == 200);
  CHECK(left.json["metadata"]["ownerReferences"].size() == 1);
  CHECK(left.json["metadata"]["ownerReferences"][0]["name"] == "two");
}

TEST_CASE("foreground deletion waits for the dependents that block it") {
  Server server;
  const auto owner = server.post(kConfigMaps, config_map("owner"));
  Json child = owned("child", owner);
  child["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kConfigMaps, child);
  const auto dying = server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Foreground"}});
  CHECK(dying.json["metadata"]["finalizers"] == Json::array({"foregroundDeletion"}));
  server.settle();
  CHECK(exists(server, "owner"));
  CHECK(server.get(kConfigMaps + "/child").json["metadata"].contains("deletionTimestamp"));
  server.merge(kConfigMaps + "/child", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK_FALSE(exists(server, "child"));
  CHECK_FALSE(exists(server, "owner"));
}

TEST_CASE("foreground deletion goes on when a dependent that blocks it stays with another owner") {
  Server server;
  const auto one = server.post(kConfigMaps, config_map("one"));
  const auto two = server.post(kConfigMaps, config_map("two"));
  Json child = owned("child", one);
  child["metadata"]["ownerReferences"].push_back(reference(two));
  server.post(kConfigMaps, child);
  server.settle();
  server.remove(kConfigMaps + "/one", {{"propagationPolicy", "Foreground"}});
  server.settle();
  CHECK_FALSE(exists(server, "one"));
  const auto left = server.get(kConfigMaps + "/child");
  REQUIRE(left.code == 200);
  CHECK(left.json["metadata"]["ownerReferences"].size() == 1);
}

TEST_CASE("foreground deletion goes on when somebody takes the block or the reference away") {
  Server server;
  const auto owner = server.post(kConfigMaps, config_map("owner"));
  for (const char* name : {"unblocked", "let-go"}) {
    Json child = owned(name, owner);
    child["metadata"]["finalizers"] = {"x.io/hold"};
    server.post(kConfigMaps, child);
  }
  server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Foreground"}});
  server.settle();
  server.merge(kConfigMaps + "/unblocked",
               {{"metadata", {{"ownerReferences", {reference(owner, false)}}}}});
  server.settle();
  CHECK(exists(server, "owner"));
  server.merge(kConfigMaps + "/let-go", {{"metadata", {{"ownerReferences", nullptr}}}});
  server.settle();
  CHECK_FALSE(exists(server, "owner"));
  CHECK(exists(server, "unblocked"));
}

TEST_CASE("foreground deletion ends for objects that own each other") {
  Server server;
  const auto one = server.post(kConfigMaps, config_map("one"));
  const auto two = server.post(kConfigMaps, owned("two", one));
  const auto three = server.post(kConfigMaps, owned("three", two));
  server.merge(kConfigMaps + "/one", {{"metadata", {{"ownerReferences", {reference(three)}}}}});
  server.settle();
  CHECK(exists(server, "one"));
  server.remove(kConfigMaps + "/one", {{"propagationPolicy", "Foreground"}});
  server.settle();
  for (const char* name : {"one", "two", "three"}) {
    CAPTURE(name);
    CHECK_FALSE(exists(server, name));
  }
}

TEST_CASE("orphan deletion leaves the dependents without the owner") {
  Server server;
  const auto owner = server.post(kConfigMaps, config_map("owner"));
  server.post(kConfigMaps, owned("child", owner));
  server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Orphan"}});
  server.settle();
  CHECK_FALSE(exists(server, "owner"));
  const auto child = server.get(kConfigMaps + "/child");
  CHECK(child.code == 200);
  CHECK_FALSE(child.json["metadata"].contains("ownerReferences"));
}

TEST_CASE("the initial namespaces are there, default may not be deleted") {
  Server server;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const auto ns = server.get(std::string("/api/v1/namespaces/") + name);
    CHECK(ns.json["status"]["phase"] == "Active");
    CHECK(ns.json["metadata"]["labels"]["kubernetes.io/metadata.name"] == name);
  }
  const auto refused = server.remove("/api/v1/namespaces/default");
  CHECK(refused.code == 403);
  CHECK(refused.message() ==
        "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST_CASE(
    "a deleted namespace takes its content with it, waits for finalizers and takes nothing new") {
  Server server;
  server.post("/api/v1/namespaces", {{"metadata", {{"name", "shop"}}}});
  const std::string maps = "/api/v1/namespaces/shop/configmaps";
  Json held = config_map("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(maps, held);
  server.post(maps, config_map("free"));
  const auto dying = server.remove("/api/v1/namespaces/shop");
  CHECK(dying.json["status"]["phase"] == "Terminating");
  const auto refused = server.post(maps, config_map("new"));
  CHECK(refused.code == 403);
  CHECK(refused.message() ==
        "configmaps \"new\" is forbidden: unable to create new content in namespace shop because "
        "it is being terminated");
  CHECK(refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating");
  server.settle();
  CHECK(server.get(maps + "/free").code == 404);
  CHECK(server.get("/api/v1/namespaces/shop").code == 200);
  server.merge(maps + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get("/api/v1/namespaces/shop").code == 404);
}

TEST_CASE("a Namespace waits for whoever else has a finalizer in its spec") {
  Server server;
  post_namespace(server, "shop", {{"spec", {{"finalizers", {"x.io/z", "x.io/a"}}}}});
  const std::string maps = kNamespaces + "/shop/configmaps";
  server.post(maps, config_map("a"));
  server.remove(kNamespaces + "/shop");
  server.settle();
  CHECK(server.get(maps + "/a").code == 404);
  const auto found = server.get(kNamespaces + "/shop");
  REQUIRE(found.code == 200);
  Json shop = found.json;
  CHECK(shop["spec"]["finalizers"] == Json::array({"x.io/a", "x.io/z"}));
  CHECK(shop["status"]["phase"] == "Terminating");
  shop["spec"]["finalizers"] = Json::array();
  CHECK(server.put(kNamespaces + "/shop/finalize", shop).code == 200);
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

TEST_CASE("a finalize of a Namespace writes all but its status") {
  Server server;
  post_namespace(server, "shop", {{"metadata", {{"finalizers", {"x.io/hold"}}}}});
  Json shop = server.get(kNamespaces + "/shop").json;
  shop["metadata"]["annotations"] = {{"a", "1"}};
  shop["status"]["phase"] = "Terminating";
  const auto changed = server.put(kNamespaces + "/shop/finalize", shop);
  CHECK(changed.code == 200);
  CHECK(changed.json["metadata"]["annotations"]["a"] == "1");
  CHECK(changed.json["status"]["phase"] == "Active");
  server.remove(kNamespaces + "/shop");
  server.settle();
  // The usual rescue.
  Json held = server.get(kNamespaces + "/shop").json;
  CHECK(held["metadata"]["finalizers"] == Json::array({"x.io/hold"}));
  held["metadata"]["finalizers"] = Json::array();
  held["spec"]["finalizers"] = Json::array();
  CHECK(server.put(kNamespaces + "/shop/finalize", held).code == 200);
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

TEST_CASE("a deletion of a Namespace has its policy for what it owns") {
  Server server;
  const auto policy = [](const char* name) { return Json{{"propagationPolicy", name}}; };
  post_role_of(server, "left", post_namespace(server, "orphaning"));
  const auto orphaning = server.remove(kNamespaces + "/orphaning", policy("Orphan"));
  CHECK(orphaning.json["metadata"]["finalizers"] == Json::array({"orphan"}));
  CHECK(orphaning.json["status"]["phase"] == "Terminating");
  server.settle();
  CHECK(server.get(kNamespaces + "/orphaning").code == 404);
  const auto left = server.get(kClusterRoles + "/left");
  REQUIRE(left.code == 200);
  CHECK_FALSE(left.json["metadata"].contains("ownerReferences"));

  const auto waiting = post_namespace(server, "waiting");
  post_role_of(server, "held", waiting);
  server.merge(kClusterRoles + "/held", {{"metadata", {{"finalizers", {"x.io/hold"}}}}});
  server.remove(kNamespaces + "/waiting", policy("Foreground"));
  server.settle();
  CHECK(server.get(kNamespaces + "/waiting").code == 200);
  server.merge(kClusterRoles + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get(kNamespaces + "/waiting").code == 404);

  post_role_of(server, "taken", post_namespace(server, "background"));
  server.remove(kNamespaces + "/background");
  server.settle();
  CHECK(server.get(kClusterRoles + "/taken").code == 404);
}

TEST_CASE("a Namespace that was finalized alive goes with the second delete") {
  Server server;
  post_namespace(server, "shop");
  server.put(kNamespaces + "/shop/finalize", {{"metadata", {{"name", "shop"}}}});
  server.remove(kNamespaces + "/shop");
  server.settle();
  CHECK(server.get(kNamespaces + "/shop").code == 200);
  const auto gone = server.remove(kNamespaces + "/shop");
  CHECK(gone.json["kind"] == "Namespace");
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

TEST_CASE("a second delete of a Namespace has its way when only its metadata holds it") {
  Server server;
  post_namespace(server, "shop", {{"metadata", {{"finalizers", {"x.io/hold"}}}}});
  const std::string shop = kNamespaces + "/shop";
  const auto first = server.remove(shop, {{"orphanDependents", false}});
  CHECK(first.json["metadata"]["finalizers"] == Json::array({"x.io/hold", "foregroundDeletion"}));
  const auto early = server.remove(shop, {{"propagationPolicy", "Background"}});
  CHECK(early.json == first.json);
  server.settle();
  const auto late = server.remove(shop, {{"propagationPolicy", "Orphan"}});
  CHECK(late.json["metadata"]["finalizers"] == Json::array({"x.io/hold", "orphan"}));
  CHECK(late.json["metadata"]["deletionGracePeriodSeconds"] == 0);
  server.merge(shop, {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(shop).code == 404);
}

}  // namespace kubewatch::apiserver

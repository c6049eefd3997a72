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

// A rule of whole Websites, which refuses each write of one that was stored before without a mode.
void ask_for_mode(Server& server, bool wanted) {
  const std::string definition = kCrdPath + "/websites.demo.kubewatch.dev";
  Json crd = server.get(definition).json;
  Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  root["x-kubernetes-validations"] =
      wanted ? Json::array({{{"rule", "has(self.spec.mode)"}}}) : Json::array();
  REQUIRE(server.put(definition, crd).code == 200);
}
const Json kMode = {{"spec", {{"mode", "a"}}}};

// With owners of its own.
void post_site(Server& server, const std::string& name, const Json& owners) {
  Json site = website(name, {{"host", "abc"}});
  site["metadata"]["ownerReferences"] = owners;
  REQUIRE(server.post(kWebsites, site).code == 201);
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

TEST_CASE(
    "a dependent that cannot be orphaned holds its owner, until its kind or itself allows it") {
  for (const bool by_kind : {true, false}) {
    CAPTURE(by_kind);
    Server server;
    REQUIRE(server.post(kCrdPath, test::website_crd()).code == 201);
    const auto owner = server.post(kConfigMaps, config_map("owner"));
    server.post(kConfigMaps, owned("child", owner));
    post_site(server, "site", Json::array({reference(owner)}));
    ask_for_mode(server, true);
    server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Orphan"}});
    server.settle();
    CHECK(exists(server, "owner"));
    CHECK(server.get(kWebsites + "/site").json["metadata"].contains("ownerReferences"));
    CHECK_FALSE(server.get(kConfigMaps + "/child").json["metadata"].contains("ownerReferences"));
    if (by_kind) {
      ask_for_mode(server, false);
    } else {
      REQUIRE(server.merge(kWebsites + "/site", kMode).code == 200);
    }
    server.settle();
    CHECK_FALSE(exists(server, "owner"));
    const auto kept = server.get(kWebsites + "/site");
    CHECK(kept.code == 200);
    CHECK_FALSE(kept.json["metadata"].contains("ownerReferences"));
  }
}

TEST_CASE(
    "a dependent that cannot be orphaned frees its owner when it goes, or speaks of another") {
  for (const bool goes : {true, false}) {
    CAPTURE(goes);
    Server server;
    REQUIRE(server.post(kCrdPath, test::website_crd()).code == 201);
    const auto owner = server.post(kConfigMaps, config_map("owner"));
    // By its uid it is the owner's, whatever else it says.
    Json to_owner = reference(owner);
    to_owner["apiVersion"] = "unknown.kubewatch.dev/v1";
    post_site(server, "site", Json::array({to_owner}));
    ask_for_mode(server, true);
    server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Orphan"}});
    server.settle();
    CHECK(exists(server, "owner"));
    if (goes) {
      server.remove(kWebsites + "/site");
    } else {
      REQUIRE(server.merge(kWebsites + "/site", kMode).code == 200);
    }
    server.settle();
    CHECK_FALSE(exists(server, "owner"));
  }
}

TEST_CASE("an owner that cannot be written itself waits until it can") {
  for (const char* policy : {"Orphan", "Foreground"}) {
    CAPTURE(policy);
    Server server;
    REQUIRE(server.post(kCrdPath, test::website_crd()).code == 201);
    const auto owner = server.post(kWebsites, website("site", {{"host", "abc"}}));
    server.post(kConfigMaps, owned("child", owner));
    ask_for_mode(server, true);
    server.remove(kWebsites + "/site", {{"propagationPolicy", policy}});
    server.settle();
    CHECK(server.get(kWebsites + "/site").json["metadata"]["finalizers"].size() == 1);
    CHECK(exists(server, "child") == (policy == std::string("Orphan")));
    REQUIRE(server.merge(kWebsites + "/site", kMode).code == 200);
    server.settle();
    CHECK(server.get(kWebsites + "/site").code == 404);
  }
}

TEST_CASE("a reference that cannot be dropped is dropped when the kind allows it") {
  Server server;
  REQUIRE(server.post(kCrdPath, test::website_crd()).code == 201);
  const auto one = server.post(kConfigMaps, config_map("one"));
  const auto two = server.post(kConfigMaps, config_map("two"));
  post_site(server, "site", Json::array({reference(one), reference(two)}));
  const auto owners = [&] {
    return server.get(kWebsites + "/site").json["metadata"]["ownerReferences"].size();
  };
  ask_for_mode(server, true);
  server.remove(kConfigMaps + "/one");
  server.settle();
  CHECK(owners() == 2);
  ask_for_mode(server, false);
  server.settle();
  CHECK(owners() == 1);
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

TEST_CASE("the system's PriorityClasses are there, and go with all others at most") {
  Server server;
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  const auto node = server.get(classes + "/system-node-critical");
  REQUIRE(node.code == 200);
  CHECK(node.json["value"] == 2000001000);
  CHECK(node.json["metadata"]["managedFields"][0]["manager"] == "kube-apiserver");
  CHECK(server.get(classes + "/system-cluster-critical").json["value"] == 2000000000);
  const auto refused = server.remove(classes + "/system-node-critical");
  CHECK(refused.code == 403);
  CHECK(refused.message() ==
        "priorityclasses.scheduling.k8s.io \"system-node-critical\" is forbidden: this is a system "
        "priority class and cannot be deleted");
  CHECK(server.remove(classes).code == 200);
  CHECK(server.get(classes).json["items"].empty());
  const auto pod = server.post("/api/v1/namespaces/default/pods",
                               {{"metadata", {{"name", "p"}}},
                                {"spec",
                                 {{"priorityClassName", "system-node-critical"},
                                  {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  CHECK(pod.message() ==
        "pods \"p\" is forbidden: no PriorityClass with name system-node-critical was found");
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
  Json generated = config_map("");
  generated["metadata"] = {{"generateName", "new-"}};
  CHECK(server.post(maps, generated).message().starts_with("configmaps \"new-\" is forbidden"));
  server.settle();
  CHECK(server.get(maps + "/free").code == 404);
  CHECK(server.get("/api/v1/namespaces/shop").code == 200);
  server.merge(maps + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get("/api/v1/namespaces/shop").code == 404);
}

TEST_CASE("a delete by the old flag is 202 while it waits for something") {
  Server server;
  const Json flag = {{"orphanDependents", false}};
  Json held = config_map("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kConfigMaps, held);
  const std::string one = kConfigMaps + "/held";
  CHECK(server.remove(one + "?dryRun=All&orphanDependents=false").code == 202);
  const auto dying = server.remove(one, flag);
  CHECK(dying.code == 202);
  CHECK(dying.json["kind"] == "ConfigMap");
  CHECK(server.remove(one + "?orphanDependents=false").code == 202);
  CHECK(server.remove(one, {{"propagationPolicy", "Background"}}).code == 200);
  CHECK(server.remove(one, {{"orphanDependents", true}}).code == 200);
  CHECK(server.remove(one).code == 200);
  server.post(kConfigMaps, config_map("free"));
  CHECK(server.remove(kConfigMaps + "/free?dryRun=All&orphanDependents=false").code == 200);
  CHECK(server.remove(kConfigMaps + "/free", flag).code == 200);
  post_namespace(server, "shop");
  CHECK(server.remove(kNamespaces + "/shop", flag).code == 202);
  server.post(kCrdPath, test::website_crd());
  CHECK(server.remove(kCrdPath + "/websites.demo.kubewatch.dev", flag).code == 202);
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

namespace {

// They stay with a finalizer. `more`: further metadata.
void post_held(Server& server, const std::string& path, const std::string& name,
               const Json& more = Json::object()) {
  Json held = config_map(name, {{"metadata", more}});
  held["metadata"]["finalizers"] = {"x.io/hold"};
  REQUIRE(server.post(path, held).code == 201);
}

// Lets go of `first` while nobody looks at `others`, ConfigMaps of that namespace.
void let_go(Server& server, const std::string& ns, const std::string& first,
            std::initializer_list<const char*> others) {
  std::vector<ObjectPtr> left;
  for (const char* name : others) {
    left.push_back(server.api.storage().get("configmaps", ns + "/" + name));
    REQUIRE(left.back());
    left.back()->shrink();
  }
  const std::string path = kNamespaces + "/" + ns + "/configmaps/" + first;
  server.merge(path, {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get(path).code == 404);
  for (const auto& object : left) CHECK(object->is_shrunk());
}

// TYPE STATUS REASON MESSAGE of each condition.
std::vector<std::string> conditions_of(Server& server, const std::string& ns) {
  std::vector<std::string> out;
  const Json conditions = server.get(kNamespaces + "/" + ns).json["status"]["conditions"];
  for (const Json& one : conditions) {
    std::vector<std::string> words;
    for (const char* key : {"type", "status", "reason", "message"}) {
      words.push_back(base::string_at(one, {key}));
    }
    out.push_back(base::join(words, " "));
  }
  return out;
}

}  // namespace

TEST_CASE("what is left in a dying namespace is not gone over for each that goes") {
  Server server;
  post_namespace(server, "shop");
  for (const char* name : {"a", "b", "c"}) {
    post_held(server, kNamespaces + "/shop/configmaps", name);
  }
  server.remove(kNamespaces + "/shop");
  server.settle();
  let_go(server, "shop", "a", {"b", "c"});
  let_go(server, "shop", "b", {"c"});
  let_go(server, "shop", "c", {});
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

TEST_CASE("what is left of an owner in the foreground is not gone over for each that goes") {
  Server server;
  const auto owner = server.post(kConfigMaps, config_map("owner"));
  for (const char* name : {"a", "b", "c"}) {
    post_held(server, kConfigMaps, name, {{"ownerReferences", {reference(owner)}}});
  }
  server.remove(kConfigMaps + "/owner", {{"propagationPolicy", "Foreground"}});
  server.settle();
  let_go(server, "default", "a", {"b", "c"});
  let_go(server, "default", "b", {"c"});
  CHECK(exists(server, "owner"));
  let_go(server, "default", "c", {});
  CHECK_FALSE(exists(server, "owner"));
}

TEST_CASE("a Namespace that cannot end says why") {
  Server server;
  post_namespace(server, "shop");
  const std::string maps = kNamespaces + "/shop/configmaps";
  post_held(server, maps, "a");
  post_held(server, maps, "b");
  Json account = {{"metadata", {{"name", "s"}, {"finalizers", {"x.io/other"}}}}};
  server.post(kNamespaces + "/shop/serviceaccounts", account);
  server.remove(kNamespaces + "/shop");
  server.settle();
  const std::vector<std::string> fine = {
      "NamespaceDeletionDiscoveryFailure False ResourcesDiscovered All resources successfully "
      "discovered",
      "NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions All legacy kube types "
      "successfully parsed",
      "NamespaceDeletionContentFailure False ContentDeleted All content successfully deleted, may "
      "be waiting on finalization"};
  const auto told = [&](const std::string& content, const std::string& finalizers) {
    std::vector<std::string> out = fine;
    out.push_back(
        "NamespaceContentRemaining True SomeResourcesRemain Some resources are "
        "remaining: " +
        content);
    out.push_back(
        "NamespaceFinalizersRemaining True SomeFinalizersRemain Some content in the "
        "namespace has finalizers remaining: " +
        finalizers);
    return out;
  };
  CHECK(conditions_of(server, "shop") ==
        told("configmaps. has 2 resource instances, serviceaccounts. has 1 resource instances",
             "x.io/hold in 2 resource instances, x.io/other in 1 resource instances"));
  const Json then = server.get(kNamespaces + "/shop").json["status"]["conditions"];
  server.advance(5000);
  const Json free = {{"metadata", {{"finalizers", nullptr}}}};
  server.merge(maps + "/a", free);
  server.merge(kNamespaces + "/shop/serviceaccounts/s", free);
  server.settle();
  CHECK(conditions_of(server, "shop") ==
        told("configmaps. has 1 resource instances", "x.io/hold in 1 resource instances"));
  const Json now = server.get(kNamespaces + "/shop").json["status"]["conditions"];
  CHECK(now[3]["lastTransitionTime"] == then[3]["lastTransitionTime"]);
  const auto record = server.watch("/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dshop");
  server.merge(maps + "/b", free);
  server.settle();
  CHECK(record->story() == "ADDED shop,MODIFIED shop,DELETED shop");
  CHECK(record->events()[1]["object"]["status"]["conditions"][4]["reason"] ==
        "ContentHasNoFinalizers");
}

TEST_CASE("a Namespace does not wait for a kind that is served no more") {
  Server server;
  server.post(kCrdPath, test::website_crd());
  post_namespace(server, "shop");
  const std::string sites = "/apis/demo.kubewatch.dev/v1/namespaces/shop/websites";
  Json held = website("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  REQUIRE(server.post(sites, held).code == 201);
  server.remove(kNamespaces + "/shop");
  server.settle();
  CHECK(server.get(kNamespaces + "/shop").code == 200);
  const std::string definition = kCrdPath + "/websites.demo.kubewatch.dev";
  Json crd = server.get(definition).json;
  for (Json& version : crd["spec"]["versions"]) version["served"] = false;
  REQUIRE(server.put(definition, crd).code == 200);
  server.settle();
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

TEST_CASE("what a restore brings back into a dying namespace goes again") {
  Server server;
  post_namespace(server, "shop");
  const std::string maps = kNamespaces + "/shop/configmaps";
  server.post(maps, config_map("free"));
  post_held(server, maps, "held");
  server.remove(kNamespaces + "/shop");
  const auto backup = server.api.storage().back_up();
  server.settle();
  REQUIRE(server.get(maps + "/free").code == 404);
  server.api.storage().restore(*backup);
  server.settle();
  CHECK(server.get(maps + "/free").code == 404);
  server.merge(maps + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get(kNamespaces + "/shop").code == 404);
}

}  // namespace kubewatch::apiserver

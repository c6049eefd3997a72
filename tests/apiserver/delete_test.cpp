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

bool exists(Server& server, const std::string& name) {
  return server.get(kConfigMaps + "/" + name).code == 200;
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

}  // namespace kubewatch::apiserver

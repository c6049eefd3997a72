#include "apiserver/crd.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kCrdPath;
using test::kWebsites;
using test::Server;
using test::website;
using test::website_crd;

namespace {

std::string condition(const Json& object, const std::string& type) {
  for (const auto& one : object["status"]["conditions"]) {
    if (base::string_at(one, {"type"}) == type) {
      return base::string_at(one, {"status"}) + " " + base::string_at(one, {"reason"});
    }
  }
  return "absent";
}

const std::string kOne = kCrdPath + "/websites.demo.kubewatch.dev";

// The definition, and an object that waits for its finalizer when it is deleted.
void post_held(Server& server) {
  server.post(kCrdPath, website_crd());
  Json held = website("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kWebsites, held);
}

}  // namespace

TEST_CASE("a CRD is established at once and its served versions answer") {
  Server server;
  CHECK(server.get(kWebsites).code == 404);
  CHECK(server.post(kCrdPath, website_crd()).code == 201);
  const auto crd = server.get(kOne);
  CHECK(condition(crd.json, "NamesAccepted") == "True NoConflicts");
  CHECK(condition(crd.json, "Established") == "True InitialNamesAccepted");
  CHECK(crd.json["status"]["acceptedNames"]["listKind"] == "WebsiteList");
  CHECK(crd.json["status"]["storedVersions"] == Json::array({"v1"}));
  CHECK(crd.json["spec"]["names"]["singular"] == "website");
  server.post(kWebsites, website("a"));
  const auto beta = server.get("/apis/demo.kubewatch.dev/v1beta1/namespaces/default/websites/a");
  CHECK(beta.json["apiVersion"] == "demo.kubewatch.dev/v1beta1");
  CHECK(beta.json["spec"]["host"] == "abc");
  CHECK(server.get("/apis/demo.kubewatch.dev/v1alpha1/websites").code == 404);
}

TEST_CASE("flags of a version that are null are false, and do not end the server") {
  Server server;
  Json crd = website_crd();
  for (auto& version : crd["spec"]["versions"]) {
    if (version["storage"] == false) version["storage"] = nullptr;
    if (version["served"] == false) version["served"] = nullptr;
  }
  CHECK(server.post(kCrdPath, crd).code == 201);
  CHECK(server.get(kOne).json["status"]["storedVersions"] == Json::array({"v1"}));
  CHECK(server.get("/apis/demo.kubewatch.dev/v1alpha1/websites").code == 404);
  Json none = website_crd();
  for (auto& version : none["spec"]["versions"]) version["storage"] = nullptr;
  none["metadata"]["name"] = "sites.demo.kubewatch.dev";
  none["spec"]["names"] = {{"plural", "sites"}, {"kind", "Site"}};
  CHECK(server.post(kCrdPath, none).code == 422);
}

TEST_CASE(
    "a status that says nothing of stored versions does not change them, and nobody owns them") {
  Server server;
  server.post(kCrdPath, website_crd());
  Json crd = server.get(kOne).json;
  crd["status"] = Json::object();
  const auto put = server.put(kOne + "/status?fieldManager=me", crd);
  REQUIRE(put.code == 200);
  CHECK(put.json["status"]["storedVersions"] == Json::array({"v1"}));
  for (const auto& entry : put.json["metadata"]["managedFields"]) {
    const bool mine = entry["manager"] == "me" && entry.value("subresource", "") == "status";
    if (!mine) continue;
    CHECK(entry["fieldsV1"].dump().find("f:storedVersions") == std::string::npos);
  }
}

TEST_CASE("each stored version counts for one version of its name") {
  Server server;
  Json crd = website_crd();
  const Json twice = crd["spec"]["versions"][0];
  crd["spec"]["versions"] = Json::array({twice, twice});
  const auto refused = server.post(kCrdPath, crd);
  CHECK(refused.code == 422);
  CHECK(refused.message().find("status.storedVersions: Invalid value: [\"v1\"]: must have the "
                               "storage version v1") != std::string::npos);
}

TEST_CASE("a conversion webhook with nothing in it is none, and no change") {
  Server server;
  server.post(kCrdPath, website_crd());
  const auto changed = server.merge(kOne, Json::parse(R"({"spec":{"conversion":{"webhook":{}}}})"));
  REQUIRE(changed.code == 200);
  CHECK(changed.json["metadata"]["generation"] == 1);
  CHECK(changed.json["spec"]["conversion"] == Json::parse(R"({"strategy":"None"})"));
}

TEST_CASE("only a definition that is taken is warned of, and of formats that it did not have") {
  Server server;
  Json crd = website_crd();
  const auto property = Json::json_pointer(
      "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/host/format");
  crd[property] = "fd00::1";
  const auto made = server.post(kCrdPath, crd);
  REQUIRE(made.code == 201);
  CHECK(std::string(made.headers.get("Warning")).find("fd00::1") != std::string::npos);
  const auto again = server.merge(kOne, Json::parse(R"({"metadata":{"labels":{"a":"b"}}})"));
  REQUIRE(again.code == 200);
  CHECK(std::string(again.headers.get("Warning")).empty());
  const auto refused = server.merge(kOne, Json::parse(R"({"spec":{"versions":[
      {"schema":{"openAPIV3Schema":{"format":"x"}}}]}})"));
  CHECK(refused.code == 422);
  CHECK(std::string(refused.headers.get("Warning")).empty());
}

TEST_CASE("a watch of one version sees what is written through another") {
  Server server;
  server.post(kCrdPath, website_crd());
  const auto beta = server.watch("/apis/demo.kubewatch.dev/v1beta1/websites?watch=1");
  const auto stable = server.watch("/apis/demo.kubewatch.dev/v1/websites?watch=1");
  server.post(kWebsites, website("a"));
  CHECK(beta->events()[0]["object"]["apiVersion"] == "demo.kubewatch.dev/v1beta1");
  CHECK(stable->events()[0]["object"]["apiVersion"] == "demo.kubewatch.dev/v1");
}

TEST_CASE("watches of a custom kind end a second after its definition changed, and with it") {
  Server server;
  server.post(kCrdPath, website_crd());
  const auto watch = [&] { return server.watch(kWebsites + "?watch=1&allowWatchBookmarks=true"); };
  const auto pass = [&](std::int64_t milliseconds) {
    server.advance(milliseconds);
    server.tick();
  };
  const auto before = watch();
  const std::string told = before->text;
  const auto other = server.watch("/api/v1/configmaps?watch=1");
  SECTION("another schema, or a version that is served no more") {
    server.json_patch(
        kOne,
        Json::array({{{"op", "replace"}, {"path", "/spec/versions/1/served"}, {"value", false}}}));
    pass(250);
    const auto after = watch();
    CHECK_FALSE(before->ended);
    pass(1000);
    CHECK(before->ended);
    CHECK(before->text == told);  // no last bookmark
    CHECK_FALSE(after->ended);
  }
  SECTION("no definition any more") {
    server.remove(kOne);
    server.post(kCrdPath, website_crd());
    const auto after = watch();
    pass(250);
    pass(1000);
    CHECK(before->ended);
    CHECK_FALSE(after->ended);
  }
  SECTION("what is not served otherwise goes on") {
    server.merge(kOne, {{"metadata", {{"labels", {{"a", "b"}}}}}});
    pass(250);
    pass(1000);
    CHECK_FALSE(before->ended);
  }
  CHECK_FALSE(other->ended);
}

TEST_CASE("names in use by another CRD of the group are not accepted until they are free") {
  Server server;
  server.post(kCrdPath, website_crd());
  Json second = website_crd();
  second["metadata"]["name"] = "sites.demo.kubewatch.dev";
  second["spec"]["names"] = {{"plural", "sites"}, {"singular", "site"}, {"kind", "Website"}};
  server.post(kCrdPath, second);
  const std::string path = kCrdPath + "/sites.demo.kubewatch.dev";
  CHECK(condition(server.get(path).json, "NamesAccepted") == "False ListKindConflict");
  CHECK(condition(server.get(path).json, "Established") == "False NotAccepted");
  CHECK(server.get("/apis/demo.kubewatch.dev/v1/sites").code == 404);
  server.remove(kOne);
  CHECK(condition(server.get(path).json, "Established") == "True InitialNamesAccepted");
  CHECK(server.get("/apis/demo.kubewatch.dev/v1/sites").code == 200);
}

TEST_CASE("a deleted CRD takes its objects with it and waits for their finalizers") {
  Server server;
  post_held(server);
  server.post(kWebsites, website("free"));
  const auto record = server.watch(kWebsites + "?watch=1");
  const auto dying = server.remove(kOne);
  CHECK(condition(dying.json, "Terminating") == "True InstanceDeletionPending");
  CHECK(server.get(kWebsites + "/free").code == 404);
  CHECK(condition(server.get(kOne).json, "Terminating") == "True InstanceDeletionInProgress");
  CHECK(server.post(kWebsites, website("new")).code == 403);
  CHECK(server.merge(kOne, {{"metadata", {{"annotations", {{"a", "b"}}}}}}).code == 200);
  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
  CHECK(server.get(kWebsites).code == 404);
  CHECK(record->story().find("DELETED free") != std::string::npos);
  CHECK(record->story().find("DELETED held") != std::string::npos);
}

TEST_CASE("a dying CRD forbids creates, names what was to be created, and tells of fewer verbs") {
  Server server;
  post_held(server);
  const auto verbs = [&](const std::string& resource) {
    const Json list = server.get("/apis/demo.kubewatch.dev/v1").json;
    for (const Json& one : list["resources"]) {
      if (one["name"] == resource) return one["verbs"];
    }
    return Json();
  };
  CHECK(verbs("websites").size() == 8);
  server.remove(kOne);
  const std::string why =
      " is forbidden: create not allowed while custom resource definition is terminating";
  const auto refused = server.post(kWebsites, website("new"));
  CHECK(refused.code == 403);
  CHECK(refused.reason() == "Forbidden");
  CHECK(refused.message() == "websites.demo.kubewatch.dev \"new\"" + why);
  CHECK(refused.json["details"] ==
        Json{{"name", "new"}, {"group", "demo.kubewatch.dev"}, {"kind", "websites"}});
  CHECK(server.apply(kWebsites + "/new?fieldManager=a", website("new")).message() ==
        refused.message());
  Json generated = website("");
  generated["metadata"] = {{"generateName", "new-"}};
  CHECK(server.post(kWebsites, generated).message() == "websites.demo.kubewatch.dev" + why);
  CHECK(server.put(kWebsites + "/new", website("new")).code == 404);

  const Json fewer = {"delete", "deletecollection", "get", "list", "watch"};
  CHECK(verbs("websites") == fewer);
  CHECK(verbs("websites/status") == Json{"get", "patch", "update"});
  const char* const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const Json groups = server.call("GET", "/apis", "", "", v2).json;
  for (const Json& group : groups["items"]) {
    if (group["metadata"]["name"] != "demo.kubewatch.dev") continue;
    for (const Json& version : group["versions"]) {
      CHECK(version["resources"][0]["verbs"] == fewer);
    }
  }
  // Which does not keep it from being changed.
  CHECK(server.merge(kWebsites + "/held", {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
}

TEST_CASE("a second delete of a dying CRD has its way with the collector's finalizers") {
  Server server;
  post_held(server);
  const auto first = server.remove(kOne, {{"propagationPolicy", "Foreground"}});
  CHECK(first.json["metadata"]["finalizers"] == Json::array({kCrdFinalizer}));
  CHECK_FALSE(first.json["metadata"].contains("deletionGracePeriodSeconds"));
  const auto second = server.remove(kOne);
  CHECK(second.code == 200);
  CHECK(second.json["metadata"]["deletionGracePeriodSeconds"] == 0);
  CHECK(server.remove(kOne).json == second.json);
  const auto foreground = server.remove(kOne, {{"propagationPolicy", "Foreground"}});
  CHECK(foreground.json["metadata"]["finalizers"] ==
        Json::array({kCrdFinalizer, "foregroundDeletion"}));
  const auto orphan = server.remove(kOne, {{"propagationPolicy", "Orphan"}});
  CHECK(orphan.json["metadata"]["finalizers"] == Json::array({kCrdFinalizer, "orphan"}));
  CHECK(orphan.json["metadata"]["generation"] == first.json["metadata"]["generation"]);
  CHECK(orphan.json["metadata"]["deletionTimestamp"] ==
        first.json["metadata"]["deletionTimestamp"]);
  const auto dry = server.remove(kOne + "?dryRun=All&propagationPolicy=Background");
  CHECK(dry.json["metadata"]["finalizers"] == Json::array({kCrdFinalizer}));
  CHECK(server.get(kOne).json["metadata"]["finalizers"].size() == 2);
  // Nothing is its dependent.
  server.settle();
  CHECK(server.get(kOne).json["metadata"]["finalizers"] == Json::array({kCrdFinalizer}));
  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
}

TEST_CASE("a dying CRD without objects that another finalizer holds is served as before") {
  Server server;
  Json crd = website_crd();
  crd["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kCrdPath, crd);
  const auto verbs = [&] {
    return server.get("/apis/demo.kubewatch.dev/v1").json["resources"][0]["verbs"].size();
  };
  const auto finalizers = [&] { return server.get(kOne).json["metadata"]["finalizers"]; };
  server.post(kWebsites, website("free"));
  Json held = website("held");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  server.post(kWebsites, held);
  server.remove(kOne);
  CHECK(condition(server.get(kOne).json, "Terminating") == "True InstanceDeletionInProgress");
  CHECK(finalizers() == Json{"x.io/hold", kCrdFinalizer});
  CHECK(verbs() == 5);

  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(condition(server.get(kOne).json, "Terminating") == "False InstanceDeletionCompleted");
  CHECK(finalizers() == Json::array({"x.io/hold"}));
  CHECK(verbs() == 8);
  CHECK(server.post(kWebsites, website("new")).code == 201);
  // What is new stays, whatever is written and deleted beside it.
  server.post(kWebsites, website("other"));
  server.remove(kWebsites + "/other");
  server.merge(kOne, {{"metadata", {{"labels", {{"a", "b"}}}}}});
  server.remove(kOne);
  CHECK(server.get(kWebsites + "/new").code == 200);
  CHECK(condition(server.get(kOne).json, "Terminating") == "False InstanceDeletionCompleted");
  server.merge(kOne, {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
  CHECK(server.get(kWebsites).code == 404);
}

TEST_CASE("a dying CRD that was never established says so while another finalizer holds it") {
  Server server;
  server.post(kCrdPath, website_crd());
  Json second = website_crd();
  second["metadata"] = {{"name", "sites.demo.kubewatch.dev"}, {"finalizers", {"x.io/hold"}}};
  second["spec"]["names"] = {{"plural", "sites"}, {"kind", "Website"}};
  server.post(kCrdPath, second);
  const std::string path = kCrdPath + "/sites.demo.kubewatch.dev";
  server.remove(path);
  CHECK(condition(server.get(path).json, "Terminating") == "False NeverEstablished");
  server.post(kWebsites, website("kept"));
  CHECK(server.get(kWebsites + "/kept").code == 200);
}

TEST_CASE("a dying CRD that a restore brings back goes with its objects") {
  Server server;
  post_held(server);
  server.remove(kOne);
  const auto backup = server.api.storage().back_up();
  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
  server.api.storage().restore(*backup);
  server.settle();
  CHECK(condition(server.get(kOne).json, "Terminating") == "True InstanceDeletionInProgress");
  CHECK(server.post(kWebsites, website("new")).code == 403);
  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
  CHECK(server.api.storage().size("websites.demo.kubewatch.dev") == 0);
}

TEST_CASE("a CRD whose deletion a restore undid takes objects, until it is deleted again") {
  Server server;
  post_held(server);
  const auto backup = server.api.storage().back_up();
  server.remove(kOne);
  CHECK(server.post(kWebsites, website("new")).code == 403);
  server.api.storage().restore(*backup);
  server.settle();
  CHECK(server.post(kWebsites, website("new")).code == 201);
  server.remove(kOne);
  CHECK(server.post(kWebsites, website("newer")).code == 403);
}

TEST_CASE("CRDs that cannot work are refused with every reason") {
  Server server;
  Json bad = website_crd();
  bad["metadata"]["name"] = "x.y.z";
  bad["spec"]["versions"][0].erase("schema");
  const auto refused = server.post(kCrdPath, bad);
  CHECK(refused.code == 422);
  CHECK(
      refused.message() ==
      "CustomResourceDefinition.apiextensions.k8s.io \"x.y.z\" is invalid: [metadata.name: "
      "Invalid value: \"x.y.z\": must be spec.names.plural+\".\"+spec.group, "
      "spec.versions[0].schema.openAPIV3Schema: Required value, spec.versions[0].selectableFields: "
      "Invalid value: \"\": may only be set when `version.schema.openAPIV3Schema` is not "
      "included]");
  const std::vector<std::pair<std::string, Json>> cases = {
      {"/spec/scope", "Galaxy"},       {"/spec/versions/1/storage", true},
      {"/spec/versions/1/name", "v1"}, {"/spec/group", "nodots"},
      {"/spec/names/kind", ""},        {"/spec/conversion", {{"strategy", "Webhook"}}},
  };
  for (const auto& [pointer, value] : cases) {
    CAPTURE(pointer);
    Json crd = website_crd();
    crd[Json::json_pointer(pointer)] = value;
    CHECK(server.post(kCrdPath, crd).code == 422);
  }
  Json nameless = website_crd();
  nameless["metadata"].erase("name");
  CHECK(server.post(kCrdPath, nameless)
            .message()
            .ends_with(
                "is invalid: metadata.name: Required value: name or generateName is required"));
  Json shape = website_crd();
  shape["spec"]["versions"] = "x";
  CHECK(server.post(kCrdPath, shape).code == 400);
  shape = website_crd();
  shape["spec"]["versions"][0]["served"] = "yes";
  CHECK(server.post(kCrdPath, shape).code == 400);
}

TEST_CASE(
    "flags of a definition that are false are not kept, and nobody owns what stays as it is") {
  Server server;
  Json crd = website_crd();
  Json& version = crd["spec"]["versions"][0];
  version["subresources"] = {{"status", Json::object()}};
  version["deprecated"] = false;
  version["schema"]["openAPIV3Schema"]["properties"]["flags"] =
      Json::parse(R"({"type":"array","uniqueItems":false,"items":{"type":"string","x":1,
                      "nullable":false}})");
  REQUIRE(server.apply(kOne + "?fieldManager=a", crd).code == 201);
  const auto same = server.merge(kOne + "?fieldManager=a", {{"spec", {{"conversion", nullptr}}}});
  REQUIRE(same.code == 200);
  const Json& kept = same.json["spec"]["versions"][0];
  CHECK_FALSE(kept.contains("deprecated"));
  CHECK(kept["subresources"] == Json::parse(R"({"status":{}})"));
  CHECK(kept["schema"]["openAPIV3Schema"]["properties"]["flags"] ==
        Json::parse(R"({"type":"array","items":{"type":"string"}})"));
  for (const Json& entry : same.json["metadata"]["managedFields"]) {
    if (entry["manager"] == "a") CHECK(entry["operation"] == "Apply");
  }
  const auto empty = server.merge(kOne + "/status", {{"status", {{"conditions", Json::array()}}}});
  CHECK(empty.json["status"]["conditions"] == Json::array());
}

TEST_CASE("a changed schema counts for the next write") {
  Server server;
  server.post(kCrdPath, website_crd());
  const std::string pattern =
      "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/host/pattern";
  const Json patch = Json::array({{{"op", "replace"}, {"path", pattern}, {"value", "^[A-Z]+$"}}});
  CHECK(server.json_patch(kOne, patch).code == 200);
  CHECK(server.post(kWebsites, website("a", {{"host", "abc"}})).code == 422);
  CHECK(server.post(kWebsites, website("a", {{"host", "ABC"}})).code == 201);
  CHECK(server
            .json_patch(
                kOne,
                Json::array({{{"op", "replace"}, {"path", "/spec/scope"}, {"value", "Cluster"}}}))
            .code == 422);
}

TEST_CASE("a default of the status shows from the first answer on") {
  Server server;
  Json crd = website_crd();
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] =
      Json::parse(R"({"type": "object", "default": {}, "properties": {
          "phase": {"type": "string", "default": "New"}, "note": {"type": "string"}}})");
  REQUIRE(server.post(kCrdPath, crd).code == 201);
  const auto watch = server.watch(kWebsites + "?watch=1");
  const Json fresh = {{"phase", "New"}};
  Json sent = website("a");
  sent["status"] = {{"phase", "Done"}};
  const auto made = server.post(kWebsites, sent);
  CHECK(made.json["status"] == fresh);
  CHECK(base::dump_json(made.json["metadata"]["managedFields"]).find("f:status") ==
        std::string::npos);
  CHECK(watch->events()[0]["object"]["status"] == fresh);
  CHECK(server.get(kWebsites).json["items"][0]["status"] == fresh);
  CHECK(
      server.get("/apis/demo.kubewatch.dev/v1beta1/namespaces/default/websites/a").json["status"] ==
      fresh);
  const std::string other = kWebsites + "/b?fieldManager=m";
  const auto applied = server.apply(other, website("b"));
  CHECK(applied.json["status"] == fresh);

  const std::string one = kWebsites + "/a";
  const auto version = [](const auto& answer) {
    return answer.at({"metadata", "resourceVersion"});
  };
  // It was only shown: the first write that changes nothing puts it.
  const auto put = server.put(one, made.json);
  CHECK(version(put) != version(made));
  CHECK(put.json["metadata"]["generation"] == 1);
  CHECK(version(server.put(one, put.json)) == version(put));
  server.advance(90000);
  const auto again = server.apply(other, website("b"));
  CHECK(version(again) != version(applied));
  CHECK(again.json["metadata"]["managedFields"] == applied.json["metadata"]["managedFields"]);
  CHECK(version(server.apply(other, website("b"))) == version(again));
  const auto labelled = server.merge(one, {{"metadata", {{"labels", {{"x", "y"}}}}}});
  CHECK(labelled.json["status"] == fresh);
  CHECK(labelled.json["metadata"]["generation"] == 1);
  CHECK(version(server.put(one, labelled.json)) == version(labelled));
  CHECK(version(server.put(one + "/status", labelled.json)) == version(labelled));
  server.merge(one + "/status", {{"status", {{"phase", "Done"}, {"note", "n"}}}});
  CHECK(server.get(one).json["status"] == Json{{"phase", "Done"}, {"note", "n"}});
  CHECK(server.merge(one + "/status", {{"status", nullptr}}).json["status"] == fresh);
}

TEST_CASE("a default of the status follows its definition until a write puts it") {
  Server server;
  Json crd = website_crd();
  REQUIRE(server.post(kCrdPath, crd).code == 201);
  const auto with_default = [&](const char* phase) {
    Json now = server.get(kOne).json;
    now["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {
        {"type", "object"},
        {"default", Json::object()},
        {"properties", {{"phase", {{"type", "string"}, {"default", phase}}}}}};
    REQUIRE(server.put(kOne, now).code == 200);
  };
  const auto phase = [&] { return server.get(kWebsites + "/a").at({"status", "phase"}); };
  with_default("New");
  REQUIRE(server.post(kWebsites, website("a")).code == 201);
  CHECK(phase() == "New");
  with_default("Fresh");
  CHECK(phase() == "Fresh");
  REQUIRE(server.put(kWebsites + "/a", server.get(kWebsites + "/a").json).code == 200);
  with_default("Old");
  CHECK(phase() == "Fresh");
}

TEST_CASE("a write that changes nothing puts what a new default only shows") {
  Server server;
  Json crd = website_crd();
  REQUIRE(server.post(kCrdPath, crd).code == 201);
  const std::string one = kWebsites + "/a";
  const auto made = server.post(kWebsites, website("a"));
  CHECK(server.put(one, made.json).at({"metadata", "resourceVersion"}) ==
        made.at({"metadata", "resourceVersion"}));
  crd = server.get(kOne).json;
  Json& spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  spec["properties"]["mode"]["default"] = "a";
  REQUIRE(server.put(kOne, crd).code == 200);
  const auto shown = server.get(one);
  CHECK(shown.json["spec"]["mode"] == "a");
  const auto put = server.put(one, shown.json);
  CHECK(put.at({"metadata", "resourceVersion"}) != shown.at({"metadata", "resourceVersion"}));
  CHECK(server.put(one, put.json).at({"metadata", "resourceVersion"}) ==
        put.at({"metadata", "resourceVersion"}));
}

TEST_CASE("objects of before another version was stored have the fields of the version asked for") {
  Server server;
  server.post(kCrdPath, website_crd());
  const Json spec = {{"host", "abc"}, {"mode", "a"}, {"replicas", 1}};
  server.post(kWebsites, website("a", spec));
  Json crd = server.get(kOne).json;
  crd["spec"]["versions"][0]["storage"] = false;
  crd["spec"]["versions"][1]["storage"] = true;
  crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"] = Json::parse(R"({"type": "object",
      "properties": {"spec": {"type": "object", "properties": {"host": {"type": "string"}}}}})");
  REQUIRE(server.put(kOne, crd).code == 200);
  const std::string beta = "/apis/demo.kubewatch.dev/v1beta1/namespaces/default/websites";
  const Json left = {{"host", "abc"}};
  CHECK(server.get(beta + "/a").json["spec"] == left);
  CHECK(server.get(beta).json["items"][0]["spec"] == left);
  CHECK(server.watch(beta + "?watch=1")->events()[0]["object"]["spec"] == left);
  CHECK(server.get(kWebsites + "/a").json["spec"] == spec);
  CHECK(server.get(kWebsites).json["items"][0]["spec"] == spec);

  const auto labelled =
      server.merge(beta + "/a?fieldValidation=Strict", {{"metadata", {{"labels", {{"x", "y"}}}}}});
  CHECK(labelled.code == 200);
  CHECK(labelled.json["metadata"]["generation"] == 1);
  // It was stored anew.
  CHECK(server.get(kWebsites + "/a").json["spec"] == left);
}

TEST_CASE("a deprecated version says so with each answer, and what to use instead") {
  Server server;
  Json crd = website_crd();
  for (auto& version : crd["spec"]["versions"]) {
    if (version["name"] == "v1beta1") version["deprecated"] = true;
  }
  server.post(kCrdPath, crd);
  const std::string beta = "/apis/demo.kubewatch.dev/v1beta1/namespaces/default/websites";
  const std::string told =
      "299 - \"demo.kubewatch.dev/v1beta1 Website is deprecated; use demo.kubewatch.dev/v1 "
      "Website\"";
  CHECK(server.get(beta).headers.get("Warning") == told);
  CHECK(server.get(beta + "/none").headers.get("Warning") == told);
  CHECK(server.post(beta, website("a")).headers.get("Warning") == told);
  CHECK_FALSE(server.get(kWebsites).headers.has("Warning"));

  crd = server.get(kOne).json;
  for (auto& version : crd["spec"]["versions"]) {
    version["deprecated"] = true;
    if (version["name"] == "v1") version["deprecationWarning"] = "it is \"old\"";
  }
  REQUIRE(server.put(kOne, crd).code == 200);
  CHECK(server.get(kWebsites).headers.get("Warning") == "299 - \"it is \\\"old\\\"\"");
  CHECK(server.get(beta).headers.get("Warning") ==
        "299 - \"demo.kubewatch.dev/v1beta1 Website is deprecated\"");
  CHECK(server.get("/api/v1/endpoints").headers.get("Warning").find("EndpointSlice") !=
        std::string::npos);
}

namespace {

// Of all versions.
void serve(Server& server, bool served) {
  Json crd = server.get(kOne).json;
  for (Json& version : crd["spec"]["versions"]) version["served"] = served;
  REQUIRE(server.put(kOne, crd).code == 200);
}

}  // namespace

TEST_CASE("a CRD that serves nothing takes its objects with it as well") {
  Server server;
  server.post(kCrdPath, website_crd());
  server.post(kWebsites, website("a"));
  serve(server, false);
  REQUIRE(server.get(kWebsites + "/a").code == 404);
  server.remove(kOne);
  CHECK(server.get(kOne).code == 404);
  server.post(kCrdPath, website_crd());
  CHECK(server.get(kWebsites + "/a").code == 404);
}

TEST_CASE("who holds an object of a dying CRD reaches it when it is served again") {
  Server server;
  post_held(server);
  serve(server, false);
  server.remove(kOne);
  CHECK(condition(server.get(kOne).json, "Terminating") == "True InstanceDeletionInProgress");
  REQUIRE(server.get(kWebsites + "/held").code == 404);
  serve(server, true);
  CHECK(server.get(kWebsites + "/held").at({"metadata", "deletionTimestamp"}) != "");
  CHECK(server.post(kWebsites, website("new")).code == 403);
  server.merge(kWebsites + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  CHECK(server.get(kOne).code == 404);
}

TEST_CASE("objects that are not served are collected when they are served again") {
  Server server;
  server.post(kCrdPath, website_crd());
  const std::string maps = test::kConfigMaps;
  for (const std::string name : {"taken", "left"}) {
    const auto owner = server.post(maps, test::config_map(name));
    Json owned = website(name);
    owned["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                             {"kind", "ConfigMap"},
                                             {"name", name},
                                             {"uid", owner.at({"metadata", "uid"})}}};
    REQUIRE(server.post(kWebsites, owned).code == 201);
  }
  server.settle();
  serve(server, false);
  server.remove(maps + "/taken");
  server.remove(maps + "/left", {{"propagationPolicy", "Orphan"}});
  server.settle();
  // Nobody can let go of what nobody can write.
  CHECK(server.get(maps + "/left").code == 200);
  serve(server, true);
  server.settle();
  CHECK(server.get(kWebsites + "/taken").code == 404);
  CHECK(server.get(maps + "/left").code == 404);
  const auto left = server.get(kWebsites + "/left");
  REQUIRE(left.code == 200);
  CHECK_FALSE(left.json["metadata"].contains("ownerReferences"));
}

TEST_CASE("a default that came while nothing was served shows when it is served again") {
  Server server;
  server.post(kCrdPath, website_crd());
  server.post(kWebsites, website("a"));
  serve(server, false);
  Json crd = server.get(kOne).json;
  Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  root["properties"]["spec"]["properties"]["mode"]["default"] = "b";
  REQUIRE(server.put(kOne, crd).code == 200);
  serve(server, true);
  CHECK(server.get(kWebsites + "/a").json["spec"]["mode"] == "b");
}

TEST_CASE("the objects of a dying CRD are told to go once, however many wait") {
  Server server;
  server.post(kCrdPath, website_crd());
  for (const std::string name : {"a", "b", "c"}) {
    Json held = website(name);
    held["metadata"]["finalizers"] = {"x.io/hold"};
    server.post(kWebsites, held);
  }
  server.remove(kOne);
  server.settle();
  std::vector<ObjectPtr> left;
  for (const char* name : {"b", "c"}) {
    left.push_back(
        server.api.storage().get("websites.demo.kubewatch.dev", std::string("default/") + name));
    REQUIRE(left.back());
    left.back()->shrink();
  }
  server.merge(kWebsites + "/a", {{"metadata", {{"finalizers", nullptr}}}});
  server.settle();
  CHECK(server.get(kWebsites + "/a").code == 404);
  // Nobody has looked at them.
  for (const auto& object : left) CHECK(object->is_shrunk());
  for (const char* name : {"/b", "/c"}) {
    server.merge(kWebsites + name, {{"metadata", {{"finalizers", nullptr}}}});
  }
  CHECK(server.get(kOne).code == 404);
}

}  // namespace kubewatch::apiserver

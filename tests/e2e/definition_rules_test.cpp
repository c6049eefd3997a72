// Definitions as a server sees them beyond their schema: the names that they get, what may be
// written to their status, how OpenAPI and discovery show them, and what names objects may have.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// Every case has a group of its own: names are taken within a group.
std::string group_of(World& w) {
  return w.ns() + ".example.com";
}

Json definition(World& w, const std::string& plural, const std::string& kind,
                const Json& names = Json::object()) {
  Json all = {{"plural", plural}, {"kind", kind}};
  all.update(names);
  const Json replicas = {{"type", "object"}, {"properties", {{"replicas", {{"type", "integer"}}}}}};
  const Json schema = {{"type", "object"},
                       {"properties", {{"spec", replicas}, {"status", replicas}}}};
  const Json scale = {{"specReplicasPath", ".spec.replicas"},
                      {"statusReplicasPath", ".status.replicas"}};
  const Json version = {{"name", "v1"},
                        {"served", true},
                        {"storage", true},
                        {"schema", {{"openAPIV3Schema", schema}}},
                        {"subresources", {{"status", Json::object()}, {"scale", scale}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group_of(w)}}},
          {"spec",
           {{"group", group_of(w)},
            {"scope", "Namespaced"},
            {"names", all},
            {"versions", Json::array({version})}}}};
}

std::string path_of(World& w, const std::string& plural) {
  return std::string(kCrds) + "/" + plural + "." + group_of(w);
}

// "False KindConflict"; "" while nothing is said.
std::string condition(World& w, const std::string& plural, const std::string& type) {
  const Json crd = send(w, "GET", path_of(w, plural)).body;
  const Json* all = base::find(crd, {"status", "conditions"});
  if (all == nullptr || !all->is_array()) return "";
  for (const Json& one : *all) {
    if (base::string_at(one, {"type"}) != type) continue;
    return base::string_at(one, {"status"}) + " " + base::string_at(one, {"reason"});
  }
  return "";
}

void post(World& w, const Json& crd) {
  REQUIRE(send(w, "POST", kCrds, crd).code == 201);
}

void wait_for(World& w, const std::string& plural, const std::string& type,
              const std::string& what) {
  CAPTURE(plural, type, what);
  CHECK(w.eventually([&] { return condition(w, plural, type) == what; }));
}

void remove(World& w, const std::string& plural) {
  w.remove_definition(plural + "." + group_of(w));
}

// Of a watch of the one object in there. A busy server may say nothing within a second.
Json first_event(World& w, const std::string& all) {
  for (const char* seconds : {"1", "10"}) {
    Json event = send(w, "GET", all + "?watch=1&timeoutSeconds=" + seconds).body;
    if (event.is_object()) return event;
  }
  FAIL("no event of " << all);
  return nullptr;
}

Json versions_told(World& w, bool aggregated) {
  if (!aggregated) {
    const Json group = send(w, "GET", "/apis/" + group_of(w)).body;
    return group.is_object() ? group.value("versions", Json::array()) : Json::array();
  }
  http::Request request;
  request.method = "GET";
  request.url = "/apis";
  request.headers.set("Accept",
                      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const auto all = base::parse_json(fetch(w, w.server().config(), std::move(request)).body);
  REQUIRE(all.ok());
  for (const Json& group : all->at("items")) {
    if (base::string_at(group, {"metadata", "name"}) == group_of(w)) return group.at("versions");
  }
  return Json::array();
}

// Of the group, best first: as its own document tells them, and as the one of all groups does.
std::vector<std::string> versions_of(World& w, bool aggregated) {
  std::vector<std::string> out;
  for (const Json& one : versions_told(w, aggregated)) {
    out.push_back(base::string_at(one, {"version"}));
  }
  return out;
}

Json accepted(World& w, const std::string& plural) {
  return send(w, "GET", path_of(w, plural)).body["status"]["acceptedNames"];
}

Answer create(World& w, const std::string& api, const std::string& plural, const std::string& kind,
              const std::string& name) {
  const std::string version = api.starts_with("/apis/") ? api.substr(6) : api.substr(5);
  return send(w, "POST", api + "/namespaces/" + w.ns() + "/" + plural + "?dryRun=All",
              {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}});
}

}  // namespace

E2E_CASE("each name of a definition is accepted on its own, and told of is the last conflict") {
  World w;
  post(w, definition(w, "firsts", "First", {{"shortNames", {"fi"}}}));
  wait_for(w, "firsts", "Established", "True InitialNamesAccepted");
  post(w, definition(w, "seconds", "First",
                     {{"singular", "second"},
                      {"listKind", "SecondList"},
                      {"shortNames", {"fi", "se"}},
                      {"categories", {"mine"}}}));
  wait_for(w, "seconds", "NamesAccepted", "False KindConflict");
  wait_for(w, "seconds", "Established", "False NotAccepted");
  CHECK(accepted(w, "seconds") == Json{{"plural", "seconds"},
                                       {"singular", "second"},
                                       {"kind", ""},
                                       {"listKind", "SecondList"},
                                       {"categories", {"mine"}}});
  // What was accepted is taken, although the definition is not served.
  post(w, definition(w, "thirds", "Third", {{"shortNames", {"second", "fi"}}}));
  wait_for(w, "thirds", "NamesAccepted", "False ShortNamesConflict");
  const Json third = send(w, "GET", path_of(w, "thirds")).body;
  CHECK(base::dump_json(third).find(
            R"([\"second\" is already in use, \"fi\" is already in use])") != std::string::npos);
  remove(w, "firsts");
  wait_for(w, "seconds", "Established", "True InitialNamesAccepted");
  CHECK(accepted(w, "seconds")["shortNames"] == Json::array({"fi", "se"}));
  remove(w, "seconds");
  remove(w, "thirds");
}

E2E_CASE("a definition that is served keeps its names when it wants those of others") {
  World w;
  post(w, definition(w, "firsts", "First", {{"shortNames", {"fi"}}}));
  post(w, definition(w, "seconds", "Second", {{"shortNames", {"se"}}}));
  wait_for(w, "firsts", "Established", "True InitialNamesAccepted");
  wait_for(w, "seconds", "Established", "True InitialNamesAccepted");
  const auto want = [&](const Json& names) {
    REQUIRE(patch(w, path_of(w, "seconds"), {{"spec", {{"names", names}}}}).code == 200);
  };
  want({{"shortNames", {"se2", "fi"}}});
  wait_for(w, "seconds", "NamesAccepted", "False ShortNamesConflict");
  CHECK(condition(w, "seconds", "Established") == "True InitialNamesAccepted");
  CHECK(accepted(w, "seconds")["shortNames"] == Json::array({"se"}));
  want({{"shortNames", {"se2"}}});
  wait_for(w, "seconds", "NamesAccepted", "True NoConflicts");
  CHECK(accepted(w, "seconds")["shortNames"] == Json::array({"se2"}));
  remove(w, "firsts");
  remove(w, "seconds");
}

E2E_CASE("the status of a definition takes any stored versions, and is never without one") {
  World w;
  const Json dry =
      send(w, "POST", std::string(kCrds) + "?dryRun=All", definition(w, "as", "A")).body;
  CHECK(dry["status"] == Json{{"conditions", nullptr},
                              {"acceptedNames", {{"plural", ""}, {"kind", ""}}},
                              {"storedVersions", {"v1"}}});
  post(w, definition(w, "as", "A"));
  wait_for(w, "as", "Established", "True InitialNamesAccepted");
  const auto stored = [&](const Json& versions) {
    const Answer answer =
        patch(w, path_of(w, "as") + "/status", {{"status", {{"storedVersions", versions}}}});
    CHECK(answer.code == 200);
    return answer.body["status"]["storedVersions"];
  };
  CHECK(stored({"v1", "v2"}) == Json::array({"v1", "v2"}));
  CHECK(stored({"v3"}) == Json::array({"v3"}));
  CHECK(stored(Json::array()) == Json::array({"v1"}));
  CHECK(stored(nullptr) == Json::array({"v1"}));
  const Answer bad = patch(w, path_of(w, "as") + "/status",
                           {{"status", {{"acceptedNames", {{"plural", "Bad_P"}}}}}});
  CHECK(bad.code == 422);
  CHECK(tells(told_by_server(bad.body), "status.acceptedNames.plural",
              "Invalid value: \"Bad_P\": a DNS-1035 label"));
  const Answer none = patch(w, path_of(w, "as"), {{"spec", {{"versions", nullptr}}}});
  CHECK(none.code == 422);
  const Told told = told_by_server(none.body);
  CHECK(told.size() == 2);
  CHECK(tells(told, "spec.versions",
              "Invalid value: null: must have exactly one version marked as storage version"));
  CHECK(tells(told, "status.storedVersions[0]", "missing from spec.versions"));
  remove(w, "as");
}

E2E_CASE("a default of the status of a custom object shows in every answer") {
  World w;
  Json crd = definition(w, "news", "News");
  Json& status = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"];
  status["default"] = Json::object();
  status["properties"]["phase"] = {{"type", "string"}, {"default", "New"}};
  post(w, crd);
  wait_for(w, "news", "Established", "True InitialNamesAccepted");
  const std::string all = "/apis/" + group_of(w) + "/v1/namespaces/" + w.ns() + "/news";
  const Json object = {{"apiVersion", group_of(w) + "/v1"},
                       {"kind", "News"},
                       {"metadata", {{"name", "a"}}},
                       {"status", {{"phase", "Done"}}}};
  Answer made;
  REQUIRE(w.eventually([&] {  // a definition is served a little after it was made
    made = send(w, "POST", all, object);
    return made.code != 404;
  }));
  REQUIRE(made.code == 201);
  const Json fresh = {{"phase", "New"}};
  CHECK(made.body["status"] == fresh);
  CHECK(base::dump_json(made.body["metadata"]["managedFields"]).find("f:status") ==
        std::string::npos);
  CHECK(send(w, "GET", all + "/a").body["status"] == fresh);
  CHECK(send(w, "GET", all).body["items"][0]["status"] == fresh);
  const Json event = first_event(w, all);
  CHECK(event["object"]["status"] == fresh);

  const auto version = [](const Answer& answer) {
    return base::string_at(answer.body, {"metadata", "resourceVersion"});
  };
  // It was only shown: the first write that changes nothing puts it.
  const Answer put = send(w, "PUT", all + "/a", made.body);
  CHECK(version(put) != version(made));
  CHECK(version(send(w, "PUT", all + "/a", put.body)) == version(put));
  const Answer labelled = patch(w, all + "/a", {{"metadata", {{"labels", {{"x", "y"}}}}}});
  CHECK(labelled.body["status"] == fresh);
  CHECK(labelled.body["metadata"]["generation"] == 1);
  CHECK(version(send(w, "PUT", all + "/a", labelled.body)) == version(labelled));
  CHECK(version(send(w, "PUT", all + "/a/status", labelled.body)) == version(labelled));
  const auto set = [&](const Json& to) {
    return patch(w, all + "/a/status", {{"status", to}}).body["status"];
  };
  CHECK(set({{"phase", "Done"}}) == Json{{"phase", "Done"}});
  CHECK(set(nullptr) == fresh);
  remove(w, "news");
}

E2E_CASE("objects that were stored in another version show no field that the asked one lacks") {
  World w;
  Json crd = definition(w, "moves", "Move");
  Json& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);
  versions[1]["name"] = "v2";
  versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["old"] = {
      {"type", "string"}};
  const Json both = versions;
  versions.erase(1);
  post(w, crd);
  wait_for(w, "moves", "Established", "True InitialNamesAccepted");
  const auto all = [&](const std::string& version) {
    return "/apis/" + group_of(w) + "/" + version + "/namespaces/" + w.ns() + "/moves";
  };
  const Json spec = {{"old", "o"}, {"replicas", 2}};
  const Json object = {{"apiVersion", group_of(w) + "/v1"},
                       {"kind", "Move"},
                       {"metadata", {{"name", "a"}}},
                       {"spec", spec}};
  Answer made;
  REQUIRE(w.eventually([&] {
    made = send(w, "POST", all("v1"), object);
    return made.code != 404;
  }));
  REQUIRE(made.code == 201);
  Json moved = both;
  moved[0]["storage"] = false;
  REQUIRE(patch(w, path_of(w, "moves"), {{"spec", {{"versions", moved}}}}).code == 200);
  REQUIRE(w.eventually([&] { return send(w, "GET", all("v2") + "/a").code == 200; }));
  const Json left = {{"replicas", 2}};
  CHECK(send(w, "GET", all("v2") + "/a").body["spec"] == left);
  CHECK(send(w, "GET", all("v2")).body["items"][0]["spec"] == left);
  const Json event = first_event(w, all("v2"));
  CHECK(event["object"]["spec"] == left);
  CHECK(send(w, "GET", all("v1") + "/a").body["spec"] == spec);

  const Answer labelled =
      patch(w, all("v2") + "/a?fieldValidation=Strict", {{"metadata", {{"labels", {{"x", "y"}}}}}});
  CHECK(labelled.code == 200);
  CHECK(labelled.body["metadata"]["generation"] == 1);
  // It was stored anew.
  CHECK(send(w, "GET", all("v1") + "/a").body["spec"] == left);
  remove(w, "moves");
}

E2E_CASE("what is written has to fit the version of every owner of a custom object") {
  World w;
  Json crd = definition(w, "fits", "Fit");
  Json& versions = crd["spec"]["versions"];
  versions.push_back({{"name", "v1beta1"},
                      {"served", true},
                      {"storage", false},
                      {"schema",
                       {{"openAPIV3Schema",
                         {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}});
  post(w, crd);
  wait_for(w, "fits", "Established", "True InitialNamesAccepted");
  const auto path = [&](const std::string& version) {
    return "/apis/" + group_of(w) + "/" + version + "/namespaces/" + w.ns() + "/fits/a";
  };
  const auto apply = [&](const std::string& version, const std::string& manager, const Json& spec) {
    return patch(w, path(version) + "?fieldManager=" + manager,
                 {{"apiVersion", group_of(w) + "/" + version},
                  {"kind", "Fit"},
                  {"metadata", {{"name", "a"}}},
                  {"spec", spec}},
                 kApply);
  };
  Answer made;
  REQUIRE(w.eventually([&] {
    made = apply("v1", "m1", {{"replicas", 1}});
    return made.code != 404;
  }));
  REQUIRE(made.code == 201);
  const Json free = {{"free", {{"a", 1}}}};
  const std::string why = ".spec.free: field not declared in schema";
  const Answer other = apply("v1beta1", "m2", free);
  CHECK(other.code == 500);
  CHECK(message(other) == "failed to convert new object: " + why);
  const Answer same = apply("v1beta1", "m1", free);
  CHECK(same.code == 500);
  CHECK(message(same) ==
        "failed to prune fields: failed to convert merged object to last applied version: " + why);
  CHECK(
      message(apply("v1beta1", "m2", {{"replicas", "x"}})) ==
      "failed to convert new object: .spec.replicas: expected numeric (int or float), got string");
  CHECK(apply("v1beta1", "m2", {{"replicas", 2}}).code == 409);
  CHECK(apply("v1beta1", "m2", {{"replicas", 1}}).code == 200);
  CHECK(send(w, "GET", path("v1")).body["metadata"]["managedFields"].size() == 2);
  // An update is written all the same, and all owners go.
  CHECK(patch(w, path("v1beta1"), {{"spec", free}}).code == 200);
  const Json left = send(w, "GET", path("v1")).body;
  CHECK(left["spec"] == Json{{"replicas", 1}});
  CHECK_FALSE(left["metadata"].contains("managedFields"));
  remove(w, "fits");
}

E2E_CASE("who replaces a custom kind's Scale without saying that it is one owns nothing of it") {
  World w;
  post(w, definition(w, "scales", "Scaled"));
  wait_for(w, "scales", "Established", "True InitialNamesAccepted");
  const std::string all = "/apis/" + group_of(w) + "/v1/namespaces/" + w.ns() + "/scales";
  Answer made;
  REQUIRE(w.eventually([&] {
    made = send(w, "POST", all + "?fieldManager=m",
                {{"apiVersion", group_of(w) + "/v1"},
                 {"kind", "Scaled"},
                 {"metadata", {{"name", "a"}}},
                 {"spec", {{"replicas", 1}}}});
    return made.code != 404;
  }));
  REQUIRE(made.code == 201);
  const auto owner = [&] {
    const Json object = send(w, "GET", all + "/a").body;
    for (const Json& one : object["metadata"].value("managedFields", Json::array())) {
      if (base::find(one, {"fieldsV1", "f:spec", "f:replicas"}) == nullptr) continue;
      return base::string_at(one, {"manager"});
    }
    return std::string();
  };
  CHECK(owner() == "m");
  int replicas = 1;
  const auto scale = [&](Json body) {
    // A Scale whose replicas nobody owns is not tracked.
    const Json spec = {{"replicas", ++replicas}};
    CHECK(patch(w, all + "/a?fieldManager=m", {{"spec", spec}}).code == 200);
    CHECK(owner() == "m");
    body["metadata"] = {{"name", "a"}};
    body["spec"] = {{"replicas", ++replicas}};
    CHECK(send(w, "PUT", all + "/a/scale?fieldManager=s", body).code == 200);
    return owner();
  };
  CHECK(scale(Json::object()) == "");
  CHECK(scale({{"apiVersion", "autoscaling/v1"}}) == "s");
  CHECK(scale({{"kind", "Scale"}}) == "");
  CHECK(scale({{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}}) == "s");
  CHECK(send(w, "GET", all + "/a").body["spec"]["replicas"] == replicas);
  remove(w, "scales");
}

E2E_CASE("the versions of a custom group are in one order over all its definitions") {
  World w;
  const auto post_versions = [&](const std::string& plural, const std::string& kind,
                                 const std::vector<std::string>& names) {
    Json crd = definition(w, plural, kind);
    Json version = crd["spec"]["versions"][0];
    crd["spec"]["versions"] = Json::array();
    for (const std::string& name : names) {
      version["name"] = name;
      version["storage"] = name == names[0];
      crd["spec"]["versions"].push_back(version);
    }
    post(w, crd);
    wait_for(w, plural, "Established", "True InitialNamesAccepted");
  };
  post_versions("as", "A", {"v1beta1", "foo10", "v1alpha3"});
  post_versions("bs", "B", {"foo1", "v2", "v1beta1", "v20240101"});
  const std::vector<std::string> order = {"v20240101", "v2",   "v1beta1",
                                          "v1alpha3",  "foo1", "foo10"};
  for (const bool aggregated : {false, true}) {
    CAPTURE(aggregated);
    w.eventually([&] { return versions_of(w, aggregated) == order; }, kDiscovery);
    CHECK(versions_of(w, aggregated) == order);
  }
  const Json group = send(w, "GET", "/apis/" + group_of(w)).body;
  CHECK(group["preferredVersion"]["version"] == "v20240101");
  remove(w, "as");
  remove(w, "bs");
}

E2E_CASE("a definition that goes takes no objects any more, and discovery tells of fewer verbs") {
  World w;
  post(w, definition(w, "goers", "Goer"));
  wait_for(w, "goers", "Established", "True InitialNamesAccepted");
  const std::string root = "/apis/" + group_of(w) + "/v1";
  const std::string all = root + "/namespaces/" + w.ns() + "/goers";
  const Json object = {{"apiVersion", group_of(w) + "/v1"},
                       {"kind", "Goer"},
                       {"metadata", {{"name", "held"}, {"finalizers", {"e2e.kubewatch.dev/a"}}}}};
  REQUIRE(w.eventually([&] { return send(w, "POST", all, object).code == 201; }));
  CHECK(send(w, "DELETE", path_of(w, "goers") + "?orphanDependents=false").code == 202);

  Json other = object;
  other["metadata"] = {{"name", "other"}};
  Answer refused;
  w.eventually([&] {
    refused = send(w, "POST", all + "?dryRun=All", other);
    return refused.code != 201;
  });
  const std::string why =
      " is forbidden: create not allowed while custom resource definition is terminating";
  const std::string resource = "goers." + group_of(w);
  CHECK(refused.code == 403);
  CHECK(base::string_at(refused.body, {"reason"}) == "Forbidden");
  CHECK(base::string_at(refused.body, {"message"}) == resource + " \"other\"" + why);
  CHECK(refused.body["details"] ==
        Json{{"name", "other"}, {"group", group_of(w)}, {"kind", "goers"}});
  const Answer applied = send_text(w, "PATCH", all + "/other?fieldManager=e2e",
                                   base::dump_json(other), "application/apply-patch+yaml");
  CHECK(applied.code == 403);
  CHECK(applied.body["message"] == refused.body["message"]);
  other["metadata"] = {{"generateName", "other-"}};
  CHECK(base::string_at(send(w, "POST", all + "?dryRun=All", other).body, {"message"}) ==
        resource + why);

  const Json fewer = {"delete", "deletecollection", "get", "list", "watch"};
  const auto told = [&] {
    const Json list = send(w, "GET", root).body;
    const Json* resources = base::find(list, {"resources"});
    for (const Json& one : resources == nullptr ? Json::array() : *resources) {
      if (base::string_at(one, {"name"}) == "goers") return one["verbs"];
    }
    return Json();
  };
  const auto told_of_all = [&] {
    const Json versions = versions_told(w, true);
    return versions.empty() ? Json() : versions[0]["resources"][0]["verbs"];
  };
  CHECK(w.eventually([&] { return told() == fewer; }, kDiscovery));
  CHECK(w.eventually([&] { return told_of_all() == fewer; }, kDiscovery));
  // Which does not keep it from being changed.
  CHECK(patch(w, all + "/held", {{"metadata", {{"finalizers", nullptr}}}}).code == 200);
  CHECK(w.eventually([&] { return send(w, "GET", path_of(w, "goers")).code == 404; }, kCrdGone));
}

E2E_CASE(
    "a definition whose objects are gone is served as before while another finalizer holds it") {
  World w;
  Json crd = definition(w, "stayers", "Stayer");
  crd["metadata"]["finalizers"] = {"e2e.kubewatch.dev/a"};
  post(w, crd);
  wait_for(w, "stayers", "Established", "True InitialNamesAccepted");
  const std::string root = "/apis/" + group_of(w) + "/v1";
  const std::string all = root + "/namespaces/" + w.ns() + "/stayers";
  const auto stayer = [&](const std::string& name) -> Json {
    return {
        {"apiVersion", group_of(w) + "/v1"}, {"kind", "Stayer"}, {"metadata", {{"name", name}}}};
  };
  REQUIRE(w.eventually([&] { return send(w, "POST", all, stayer("old")).code == 201; }));
  CHECK(send(w, "DELETE", path_of(w, "stayers")).code == 200);
  wait_for(w, "stayers", "Terminating", "False InstanceDeletionCompleted");
  CHECK(send(w, "GET", path_of(w, "stayers")).body["metadata"]["finalizers"] ==
        Json::array({"e2e.kubewatch.dev/a"}));
  CHECK(send(w, "GET", all + "/old").code == 404);
  CHECK(w.eventually([&] { return send(w, "POST", all, stayer("new")).code == 201; }));
  CHECK(w.eventually(
      [&] {
        const Json versions = versions_told(w, true);
        return !versions.empty() && versions[0]["resources"][0]["verbs"].size() == 8;
      },
      kDiscovery));
  CHECK(patch(w, path_of(w, "stayers"), {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
  CHECK(send(w, "DELETE", path_of(w, "stayers")).code == 200);
  CHECK(condition(w, "stayers", "Terminating") == "False InstanceDeletionCompleted");
  CHECK(send(w, "DELETE", all + "/new").code == 200);
  CHECK(patch(w, path_of(w, "stayers"), {{"metadata", {{"finalizers", nullptr}}}}).code == 200);
  CHECK(send(w, "GET", path_of(w, "stayers")).code == 404);
}

E2E_CASE("OpenAPI of a custom kind has metadata, lists, scales and every path") {
  World w;
  post(w, definition(w, "things", "Thing"));
  const std::string root = "/apis/" + group_of(w) + "/v1/";
  const std::string object = root + "namespaces/{namespace}/things/{name}";
  Json document;
  REQUIRE(w.eventually(
      [&] {
        const Answer answer = send(w, "GET", "/openapi/v3/apis/" + group_of(w) + "/v1");
        document = answer.body;
        return answer.code == 200 && document["paths"].contains(object);
      },
      kDiscovery));
  const Json& paths = document["paths"];
  CHECK(paths[root + "things"].contains("get"));
  CHECK(paths[object + "/status"].contains("patch"));
  CHECK(paths[object + "/scale"].contains("put"));
  CHECK(paths[object]["patch"]["x-kubernetes-group-version-kind"]["kind"] == "Thing");
  const Json& schemas = document["components"]["schemas"];
  const std::string prefix = "com.example." + w.ns() + ".v1.";
  REQUIRE(schemas.contains(prefix + "Thing"));
  CHECK(schemas.contains(prefix + "ThingList"));
  CHECK(schemas.contains("io.k8s.api.autoscaling.v1.Scale"));
  const std::string meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
  CHECK(schemas.contains(meta + "ListMeta"));
  CHECK(schemas[prefix + "Thing"]["properties"]["metadata"]["allOf"][0]["$ref"] ==
        "#/components/schemas/" + meta + "ObjectMeta");
  const Json& fields = schemas[meta + "ObjectMeta"]["properties"];
  std::set<std::string> names;
  for (const auto& [name, field] : fields.items()) names.insert(name);
  CHECK(names == std::set<std::string>{"annotations", "creationTimestamp",
                                       "deletionGracePeriodSeconds", "deletionTimestamp",
                                       "finalizers", "generateName", "generation", "labels",
                                       "managedFields", "name", "namespace", "ownerReferences",
                                       "resourceVersion", "selfLink", "uid"});
  CHECK(fields["generation"]["format"] == "int64");
  remove(w, "things");
}

E2E_CASE("discovery repeats no group version of built-in kinds and tells how objects are stored") {
  World w;
  const Json core = send(w, "GET", "/api/v1").body;
  CHECK_FALSE(core.contains("apiVersion"));
  const auto hash = [](const Json& list, const std::string& name) {
    for (const Json& one : list["resources"]) {
      if (base::string_at(one, {"name"}) == name)
        return base::string_at(one, {"storageVersionHash"});
    }
    return std::string("no such resource");
  };
  CHECK(hash(core, "configmaps") == "qFsyl6wFWjQ=");
  CHECK(hash(core, "bindings").empty());
  CHECK(hash(send(w, "GET", "/apis/events.k8s.io/v1").body, "events") == hash(core, "events"));
  CHECK(send(w, "GET", "/api/v2").body["reason"] == "NotFound");
  CHECK(send(w, "GET", "/apis/apps/v9").body["reason"] == "NotFound");
  http::Request request;
  request.method = "GET";
  request.url = "/apis/apps/v1";
  request.headers.set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
  CHECK(fetch(w, w.server().config(), request).status == 406);
  request.url = "/apis";
  request.headers.set("Accept",
                      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const auto groups = base::parse_json(fetch(w, w.server().config(), request).body);
  REQUIRE(groups.ok());
  for (const Json& group : (*groups)["items"]) {
    if (base::string_at(group, {"metadata", "name"}) != "apps") continue;
    CHECK(group["versions"][0]["resources"][0]["responseKind"] ==
          Json{{"group", ""}, {"version", ""}, {"kind", "ControllerRevision"}});
  }
}

E2E_CASE("what names objects may have depends on their kind") {
  World w;
  const auto named = [&](const Answer& answer) {
    Told out;
    for (const std::string& one : told_by_server(answer.body)) {
      if (one.starts_with("metadata.name: ")) out.insert(one);
    }
    return out;
  };
  const Told dots = named(create(w, "/apis/apps/v1", "statefulsets", "StatefulSet", "1x.y"));
  CHECK(dots == Told{"metadata.name: Invalid value: \"1x.y\": must not contain dots"});
  CHECK(named(create(w, "/api/v1", "services", "Service", "a.b")) ==
        Told{"metadata.name: Invalid value: \"a.b\": must not contain dots"});
  const std::string a53(53, 'a');
  CHECK(named(create(w, "/apis/batch/v1", "cronjobs", "CronJob", a53)) ==
        Told{"metadata.name: Invalid value: \"" + a53 + "\": must be no more than 52 characters"});
  const std::string a254(254, 'a');
  CHECK(
      named(create(w, "/api/v1", "configmaps", "ConfigMap", a254)) ==
      Told{"metadata.name: Invalid value: \"" + a254 + "\": must be no more than 253 characters"});
  CHECK(named(create(w, "/api/v1", "configmaps", "ConfigMap", std::string(254, 'A'))).size() == 2);
  CHECK(named(create(w, "/apis/rbac.authorization.k8s.io/v1", "roles", "Role", "a/b")) ==
        Told{"metadata.name: Invalid value: \"a/b\": may not contain '/'"});
  CHECK(
      named(create(w, "/apis/policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", "Bad_Name"))
          .empty());
  const Answer event = create(w, "/apis/events.k8s.io/v1", "events", "Event", "Bad_Name");
  CHECK(event.code == 422);
  CHECK(base::string_at(event.body, {"message"}).starts_with("Event \"Bad_Name\" is invalid"));
}

E2E_CASE("a definition goes through the server's types, and so do the schemas within it") {
  World w;
  Json crd = definition(w, "flags", "Flag", {{"singular", ""}, {"shortNames", Json::array()}});
  Json& version = crd["spec"]["versions"][0];
  version["deprecated"] = false;
  version["schema"]["openAPIV3Schema"]["properties"]["spec"] = Json::parse(R"({"type":"object",
      "nullable":false,"exclusiveMaximum":false,"x-kubernetes-int-or-string":false,
      "x-kubernetes-embedded-resource":false,"format":"","minProperties":0,
      "properties":{
        "list":{"type":"array","uniqueItems":false,
                "items":{"type":"string","exclusiveMinimum":false,"noSuchField":1,"required":[]}},
        "map":{"type":"object","additionalProperties":{"type":"string","nullable":false}},
        "number":{"type":"number","maximum":1.0}}})");
  const std::string all = std::string(kCrds) + "?fieldValidation=Strict&fieldManager=m";
  const Json object = made(w, all, crd);
  const Json& names = object["spec"]["names"];
  CHECK(names["singular"] == "flag");
  CHECK_FALSE(names.contains("shortNames"));
  const Json& kept = object["spec"]["versions"][0];
  CHECK_FALSE(kept.contains("deprecated"));
  CHECK(kept["schema"]["openAPIV3Schema"]["properties"]["spec"] == Json::parse(R"({"type":"object",
      "minProperties":0,
      "properties":{"list":{"type":"array","items":{"type":"string"}},
                    "map":{"type":"object","additionalProperties":{"type":"string"}},
                    "number":{"type":"number","maximum":1}}})"));
  const auto why = [&](const char* place, const Json& value) {
    Json other = definition(w, "others", "Other");
    other["spec"]["versions"][0][Json::json_pointer(place)] = value;
    const std::string text = message(send(w, "POST", kCrds, other));
    return text.substr(text.rfind("CustomResourceDefinition: ") + 26);
  };
  const std::string start = "json: cannot unmarshal string into Go struct field ";
  const std::string schema = "/schema/openAPIV3Schema/properties/status";
  const std::string path = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.";
  CHECK(why("/served", "yes") ==
        start + "CustomResourceDefinitionVersion.spec.versions.served of type bool");
  CHECK(why((schema + "/maxLength").c_str(), "x") == start + path + "maxLength of type int64");
  CHECK(why((schema + "/items").c_str(), {{"maxLength", "x"}}) ==
        start + path + "items.maxLength of type int64");
  CHECK(why((schema + "/additionalProperties").c_str(), "x") == "boolean or JSON schema expected");
  remove(w, "flags");
}

E2E_CASE("of a definition nobody owns what no write has changed, and no conditions are not none") {
  World w;
  const Json crd = definition(w, "owned", "Owned");
  const std::string path = path_of(w, "owned");
  REQUIRE(patch(w, path + "?fieldManager=a", crd, kApply).code == 201);
  wait_for(w, "owned", "Established", "True InitialNamesAccepted");
  const auto owned_by = [](const Answer& answer, const std::string& manager,
                           const std::string& operation) {
    for (const Json& entry : answer.body["metadata"]["managedFields"]) {
      if (entry["manager"] == manager && entry["operation"] == operation) return entry["fieldsV1"];
    }
    return Json();
  };
  const Answer same = patch(w, path + "?fieldManager=a", {{"spec", {{"conversion", nullptr}}}});
  REQUIRE(same.code == 200);
  CHECK(owned_by(same, "a", "Update").is_null());
  CHECK(owned_by(same, "a", "Apply")["f:spec"].contains("f:versions"));
  const auto with_conditions = [&](const char* manager, const Json& conditions) {
    return patch(w, path + "/status?fieldManager=" + manager,
                 {{"status", {{"conditions", conditions}}}});
  };
  const Answer empty = with_conditions("u", Json::array());
  REQUIRE(empty.code == 200);
  CHECK(empty.body["status"]["conditions"] == Json::array());
  CHECK(owned_by(empty, "u", "Update").is_null());
  const Answer none = with_conditions("v", nullptr);
  REQUIRE(none.code == 200);
  CHECK(none.body["status"]["conditions"].is_null());
  CHECK(owned_by(none, "v", "Update") == Json::parse(R"({"f:status":{"f:conditions":{}}})"));
  remove(w, "owned");
}

E2E_CASE("the server itself is a Service of the default namespace") {
  World w;
  const Json service = send(w, "GET", "/api/v1/namespaces/default/services/kubernetes").body;
  CHECK(service["metadata"]["labels"] ==
        Json{{"component", "apiserver"}, {"provider", "kubernetes"}});
  CHECK(service["spec"]["type"] == "ClusterIP");
  CHECK(service["spec"]["ports"][0]["name"] == "https");
  CHECK(service["spec"]["ports"][0]["port"] == 443);
  CHECK(service["spec"]["sessionAffinity"] == "None");
}

E2E_CASE("a definition with the name of a built-in kind is served nowhere, and harms nothing") {
  World w;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/" + w.ns() + "/leases";
  REQUIRE(send(w, "POST", leases,
               {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", "l"}}},
                {"spec", {{"holderIdentity", "h"}}}})
              .code == 201);
  const std::string name = "leases.coordination.k8s.io";
  Json crd = definition(w, "leases", "Foo");
  crd["metadata"] = {{"name", name},
                     {"annotations", {{"api-approved.kubernetes.io", "unapproved, a test"}}}};
  crd["spec"]["group"] = "coordination.k8s.io";
  post(w, crd);
  const auto told = [&] { return base::dump_json(send(w, "GET", kCrds + ("/" + name)).body); };
  CHECK(w.eventually([&] {
    const std::string text = told();
    return text.find("InitialNamesAccepted") != std::string::npos &&
           text.find("UnapprovedAnnotation") != std::string::npos;
  }));
  CHECK(send(w, "GET", leases + "/l").body["kind"] == "Lease");
  w.remove_definition(name);
  CHECK(send(w, "GET", leases + "/l").body["spec"]["holderIdentity"] == "h");
}

}  // namespace kubewatch::e2e

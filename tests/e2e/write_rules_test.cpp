// What a write may leave out, what the server takes away from it or adds to it, and what it
// refuses: names, namespaces, resourceVersions, generations, owners, and empty maps in an apply.
#include <algorithm>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

const std::string kRbac = "rbac.authorization.k8s.io";

// `metadata` with a name, unless that is empty.
Json config_map(const std::string& name, Json metadata = Json::object()) {
  if (!name.empty()) metadata["name"] = name;
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", std::move(metadata)}};
}

Json rbac_object(const std::string& kind, const std::string& name) {
  return {{"apiVersion", kRbac + "/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"rules", Json::array()}};
}

Answer apply(World& w, const std::string& collection, const std::string& name,
             const std::string& manager, const Json& body) {
  return patch(w, collection + "/" + name + "?fieldManager=" + manager, body, kApply);
}

bool says(const Answer& answer, const std::string& text) {
  return message(answer).find(text) != std::string::npos;
}

// What a manager owns.
Json owned(const Answer& answer, const std::string& manager) {
  const Json* entries = base::find(answer.body, {"metadata", "managedFields"});
  if (entries == nullptr) return nullptr;
  for (const Json& entry : *entries) {
    if (base::string_at(entry, {"manager"}) == manager) return entry["fieldsV1"];
  }
  return nullptr;
}

Json owner(const std::string& kind, const std::string& uid) {
  return {{"apiVersion", "v1"}, {"kind", kind}, {"name", "o"}, {"uid", uid}};
}

std::string undeterminable(const std::string& name) {
  return "the name of the object (" + name +
         " based on URL) was undeterminable: name must be provided";
}

}  // namespace

E2E_CASE("the namespace of a cluster-scoped object is dropped without a word") {
  World w;
  const std::string roles = "/apis/" + kRbac + "/v1/clusterroles";
  const std::string name = w.ns() + "-role";
  Json role = rbac_object("ClusterRole", name);
  role["metadata"]["namespace"] = "elsewhere";
  const Answer made = send(w, "POST", roles, role);
  CHECK(made.code == 201);
  CHECK_FALSE(made.body["metadata"].contains("namespace"));
  const Answer replaced = send(w, "PUT", roles + "/" + name, role);
  CHECK(replaced.code == 200);
  CHECK_FALSE(replaced.body["metadata"].contains("namespace"));
  role["metadata"]["labels"] = {{"a", "b"}};
  const Answer applied = apply(w, roles, name, "m&force=true", role);
  CHECK(applied.code == 200);
  CHECK_FALSE(applied.body["metadata"].contains("namespace"));
  CHECK(owned(applied, "m") ==
        Json::parse(R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:rules":{}})"));
  CHECK(patch(w, roles + "/" + name, {{"metadata", {{"namespace", "other"}}}}).code == 200);
  CHECK(send(w, "DELETE", roles + "/" + name).code == 200);
}

E2E_CASE("a write through the URL of an object says its name") {
  World w;
  const std::string here = maps(w) + "/here";
  const std::string gone = maps(w) + "/gone";
  REQUIRE(send(w, "POST", maps(w), config_map("here")).code == 201);
  for (const Json& body : {config_map(""), config_map("", {{"generateName", "a-"}}),
                           config_map("", {{"resourceVersion", "1"}})}) {
    const Answer put = send(w, "PUT", here, body);
    CHECK(put.code == 400);
    CHECK(message(put) == undeterminable("here"));
    CHECK(message(send(w, "PUT", gone, body)) == undeterminable("gone"));
  }
  const Answer created = apply(w, maps(w), "gone", "m", config_map(""));
  CHECK(created.code == 400);
  CHECK(message(created) == undeterminable("gone"));
  CHECK(apply(w, maps(w), "here", "m", config_map("")).code == 200);
  const Json removal = {{{"op", "remove"}, {"path", "/metadata"}}};
  CHECK(message(patch(w, here, removal, kJsonPatch)) == undeterminable("here"));
  CHECK(message(patch(w, here, {{"metadata", nullptr}})) == undeterminable("here"));
  CHECK(patch(w, gone, {{"metadata", nullptr}}).code == 404);
}

E2E_CASE("some kinds are created by a PUT") {
  World w;
  const std::string core = "/api/v1/namespaces/" + w.ns();
  const std::string roles = "/apis/" + kRbac + "/v1/namespaces/" + w.ns() + "/roles";
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/" + w.ns() + "/leases";
  const Json role = rbac_object("Role", "a");
  CHECK(send(w, "PUT", roles + "/a?dryRun=All", role).code == 201);
  CHECK(send(w, "GET", roles + "/a").code == 404);
  CHECK(send(w, "PUT", roles + "/a", role).code == 201);
  CHECK(send(w, "PUT", roles + "/a", role).code == 200);
  Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", "a"}, {"resourceVersion", "1"}}}};
  CHECK(send(w, "PUT", leases + "/a", lease).code == 201);
  CHECK(send(w, "PUT", leases + "/a", lease).code == 409);
  lease["metadata"] = {{"name", "b"}, {"resourceVersion", "x"}};
  CHECK(send(w, "PUT", leases + "/b", lease).code == 500);
  lease["metadata"] = {{"name", "b"}, {"uid", "abc"}};
  CHECK(send(w, "PUT", leases + "/b", lease).code == 409);
  const Json endpoints = {
      {"apiVersion", "v1"}, {"kind", "Endpoints"}, {"metadata", {{"name", "a"}}}};
  CHECK(send(w, "PUT", core + "/endpoints/a", endpoints).code == 201);
  CHECK(send(w, "PUT", maps(w) + "/a", config_map("a")).code == 404);
  CHECK(patch(w, roles + "/b", {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 404);
  const Answer nowhere =
      send(w, "PUT", "/apis/" + kRbac + "/v1/namespaces/no-such-namespace/roles/a", role);
  CHECK(nowhere.code == 404);
  CHECK(message(nowhere) == "namespaces \"no-such-namespace\" not found");
}

E2E_CASE("a namespace has its label and its finalizer, however it is made") {
  World w;
  const std::string all = "/api/v1/namespaces?dryRun=All";
  const auto make = [&](const Json& metadata, const Json& finalizers) {
    return send(w, "POST", all,
                {{"apiVersion", "v1"},
                 {"kind", "Namespace"},
                 {"metadata", metadata},
                 {"spec", {{"finalizers", finalizers}}}});
  };
  const Answer named = make({{"generateName", "e2e-"}}, Json::array());
  REQUIRE(named.code == 201);
  const Json& metadata = named.body["metadata"];
  CHECK(metadata["labels"]["kubernetes.io/metadata.name"] == metadata["name"]);
  CHECK(named.body["spec"]["finalizers"] == Json::array({"kubernetes"}));
  const std::string name = w.ns() + "-more";
  const Answer more = make({{"name", name}}, {"x/y"});
  CHECK(more.body["spec"]["finalizers"] == Json::array({"x/y", "kubernetes"}));
  const Answer bad = make({{"name", name}}, {"x"});
  CHECK(bad.code == 422);
  CHECK(told_by_server(bad.body) ==
        Told{"spec.finalizers: Invalid value: \"x\": name is neither a standard finalizer name nor "
             "is it fully qualified"});
}

E2E_CASE("resourceVersion 0 says nothing, and what is no number is refused") {
  World w;
  const std::string one = maps(w) + "/a";
  REQUIRE(send(w, "POST", maps(w), config_map("a", {{"resourceVersion", "0"}})).code == 201);
  const Json zero = {{"resourceVersion", "0"}};
  const Json word = {{"resourceVersion", "x"}};
  CHECK(send(w, "PUT", one, config_map("a", zero)).code == 200);
  CHECK(patch(w, one, {{"metadata", zero}}).code == 200);
  CHECK(apply(w, maps(w), "a", "m", config_map("a", zero)).code == 200);
  for (const Answer& answer :
       {send(w, "PUT", one, config_map("a", word)), patch(w, one, {{"metadata", word}}),
        apply(w, maps(w), "a", "m", config_map("a", word)),
        apply(w, maps(w), "new", "m", config_map("new", word))}) {
    CHECK(answer.code == 500);
    CHECK(message(answer) == "strconv.ParseUint: parsing \"x\": invalid syntax");
  }
  // Only a create passes over it.
  CHECK(send(w, "POST", maps(w), config_map("b", word)).code == 201);
  CHECK(send(w, "PUT", one, config_map("a", {{"resourceVersion", "1"}})).code == 409);
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/" + w.ns() + "/leases";
  const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", "a"}, {"resourceVersion", "0"}}}};
  REQUIRE(send(w, "POST", leases, lease).code == 201);
  const Answer put = send(w, "PUT", leases + "/a", lease);
  CHECK(put.code == 422);
  CHECK(tells(told_by_server(put.body), "metadata.resourceVersion",
              "must be specified for an update"));
}

E2E_CASE("kinds whose updates name the resourceVersion") {
  World w;
  const std::string classes = "/apis/node.k8s.io/v1/runtimeclasses";
  const std::string name = w.ns();
  const Json object = {{"apiVersion", "node.k8s.io/v1"},
                       {"kind", "RuntimeClass"},
                       {"metadata", {{"name", name}}},
                       {"handler", "h"}};
  REQUIRE(send(w, "PUT", classes + "/" + name, object).code == 201);
  CHECK(send(w, "PUT", classes + "/" + name, object).code == 422);
  CHECK(patch(w, classes + "/" + name, {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
  CHECK(send(w, "DELETE", classes + "/" + name).code == 200);
}

E2E_CASE("an apply owns the empty maps of metadata, and conflicts over them") {
  World w;
  const Json empty = {{"labels", Json::object()}, {"annotations", nullptr}};
  const Answer made = apply(w, maps(w), "a", "m1", config_map("a", empty));
  REQUIRE(made.code == 201);
  CHECK_FALSE(made.body["metadata"].contains("labels"));
  CHECK(owned(made, "m1") == Json::parse(R"({"f:metadata":{"f:annotations":{},"f:labels":{}}})"));
  CHECK_FALSE(base::string_at(made.body["metadata"]["managedFields"][0], {"time"}).empty());
  const Json label = {{"labels", {{"r", "y"}}}};
  const Answer refused = apply(w, maps(w), "a", "m2", config_map("a", label));
  CHECK(refused.code == 409);
  CHECK(says(refused, "conflict with \"m1\": .metadata.labels"));
  const Answer released = apply(w, maps(w), "a", "m1", config_map("a"));
  CHECK(owned(released, "m1") == nullptr);
  CHECK(apply(w, maps(w), "a", "m2", config_map("a", label)).code == 200);
  const Answer unknown = apply(w, maps(w), "a", "m2", config_map("a", {{"zork", 1}}));
  CHECK(unknown.code == 500);
  CHECK(says(unknown, ".metadata.zork: field not declared in schema"));
  const Answer typed = apply(w, maps(w), "a", "m2", config_map("a", {{"labels", {{"a", 1}}}}));
  CHECK(typed.code == 500);
  CHECK(says(typed, ".metadata.labels.a: expected string, got "));
  // Conflicts come before the resourceVersion is looked at.
  Json stale = config_map("a", {{"labels", {{"r", "z"}}}, {"resourceVersion", "1"}});
  CHECK(says(apply(w, maps(w), "a", "m3", stale), "conflict with \"m2\": .metadata.labels.r"));
}

E2E_CASE("owners are kept once, and an Event owns nothing") {
  World w;
  const std::string one = maps(w) + "/a?dryRun=All";
  REQUIRE(send(w, "POST", maps(w), config_map("a")).code == 201);
  const auto put = [&](const Json& owners) {
    return send(w, "PUT", one, config_map("a", {{"ownerReferences", owners}}));
  };
  const Json twice = {owner("ConfigMap", "u"), owner("ConfigMap", "u")};
  CHECK(put(twice).body["metadata"]["ownerReferences"].size() == 1);
  http::Request request;
  request.method = "PUT";
  request.url = one;
  request.headers.set("Content-Type", "application/json");
  request.body = base::dump_json(config_map("a", {{"ownerReferences", twice}}));
  const http::Response warned = fetch(w, w.server().config(), std::move(request));
  CHECK(warned.headers.get("Warning").find("duplicate UID(s) observed: u") != std::string::npos);
  Json other = twice;
  other[1]["name"] = "p";
  CHECK(put(other).body["metadata"]["ownerReferences"].size() == 2);
  const Answer event = put(Json::array({owner("Event", "u")}));
  CHECK(event.code == 422);
  CHECK(says(event,
             "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":"
             "\"Event\",\"name\":\"o\",\"uid\":\"u\"}: /v1, Kind=Event is disallowed from "
             "being an owner"));
  for (const char* version : {"a/b/c", "a/", "/"}) {
    Json one_owner = owner("ConfigMap", "u");
    one_owner["apiVersion"] = version;
    CHECK(tells(told_by_server(put(Json::array({one_owner})).body),
                "metadata.ownerReferences.apiVersion", "version must not be empty"));
  }
}

E2E_CASE("annotations count for the generation of a Deployment, labels do not") {
  World w;
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json pod = {{"metadata", {{"labels", {{"a", "b"}}}}},
                    {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}};
  REQUIRE(
      send(w, "POST", all,
           {{"apiVersion", "apps/v1"},
            {"kind", "Deployment"},
            {"metadata", {{"name", "d"}, {"generation", 8}}},
            {"spec",
             {{"replicas", 0}, {"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", pod}}}})
          .body["metadata"]["generation"] == 1);
  // A controller annotates it as well: not how much it grows is told here, but whether.
  const auto generation = [](const Answer& answer) {
    return base::int_at(answer.body, {"metadata", "generation"}).value_or(0);
  };
  const auto before = generation(send(w, "GET", all + "/d"));
  CHECK(generation(patch(w, all + "/d", {{"metadata", {{"annotations", {{"x", "y"}}}}}})) > before);
}

E2E_CASE("kinds without a generation keep the one that they are made with") {
  World w;
  const Answer made = send(w, "POST", maps(w), config_map("a", {{"generation", 8}}));
  CHECK(made.body["metadata"]["generation"] == 8);
  CHECK(patch(w, maps(w) + "/a", {{"metadata", {{"generation", 20}}}})
            .body["metadata"]["generation"] == 8);
}

E2E_CASE("nulls among labels are empty values, and a generateName is checked as a name") {
  World w;
  const Answer made = send(w, "POST", maps(w),
                           config_map("a", {{"labels", {{"a", nullptr}, {"c", "d"}}},
                                            {"annotations", {{"b", nullptr}}}}));
  REQUIRE(made.code == 201);
  CHECK(made.body["metadata"]["labels"] == Json{{"a", ""}, {"c", "d"}});
  CHECK(made.body["metadata"]["annotations"] == Json{{"b", ""}});
  const auto named = [&](const std::string& text) {
    return send(w, "POST", maps(w) + "?dryRun=All", config_map("n", {{"generateName", text}}));
  };
  for (const char* good : {"a-", "a--", "a.-"}) CHECK(named(good).code == 201);
  for (const char* bad : {"Bad_", "a.", "-", "sh.helm.release."}) {
    const Answer refused = named(bad);
    CHECK(refused.code == 422);
    CHECK(tells(told_by_server(refused.body), "metadata.generateName", "RFC 1123 subdomain"));
  }
}

E2E_CASE("who creates over a dying object is told that it dies") {
  World w;
  REQUIRE(send(w, "POST", maps(w), config_map("a", {{"finalizers", {"e2e.kubewatch.dev/held"}}}))
              .code == 201);
  REQUIRE(send(w, "DELETE", maps(w) + "/a").code == 200);
  const Answer again = send(w, "POST", maps(w), config_map("a"));
  CHECK(again.code == 409);
  CHECK(again.body["reason"] == "AlreadyExists");
  CHECK(message(again) == "object is being deleted: configmaps \"a\" already exists");
  patch(w, maps(w) + "/a", {{"metadata", {{"finalizers", nullptr}}}});
}

E2E_CASE("finalizers that are no names are told without their place, unknown ones with it") {
  World w;
  const Answer refused =
      send(w, "POST", maps(w), config_map("a", {{"finalizers", {"ok/x", "a/b c", "bad"}}}));
  CHECK(refused.code == 422);
  const Told told = told_by_server(refused.body);
  CHECK(tells(told, "metadata.finalizers", "\"a/b c\": name part must consist of"));
  CHECK(tells(told, "metadata.finalizers[2]", "\"bad\": name is neither a standard finalizer"));
  const Answer both =
      send(w, "POST", maps(w), config_map("a", {{"finalizers", {"orphan", "foregroundDeletion"}}}));
  CHECK(says(both, "finalizer orphan and foregroundDeletion cannot be both set"));
  const Answer key = send(w, "POST", maps(w), config_map("a", {{"labels", {{"a/b/c", "x"}}}}));
  CHECK(says(key, "metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist of"));
}

}  // namespace kubewatch::e2e

// What writes do around an object: how often faults of metadata are told, owners of what is empty
// or has no key, links, numbers of patches, what reviews say back.
#include <algorithm>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

std::string core_path(const World& w, const std::string& plural) {
  return "/api/v1/namespaces/" + w.ns() + "/" + plural;
}

// The fields that causes of a refusal name, in their order.
std::vector<std::string> caused(const Answer& answer) {
  std::vector<std::string> out;
  const Json* causes = base::find(answer.body, {"details", "causes"});
  if (causes == nullptr) return out;
  for (const Json& one : *causes) out.push_back(base::string_at(one, {"field"}));
  return out;
}

const Json* entry_of(const Json& object, const std::string& manager) {
  const Json* entries = base::find(object, {"metadata", "managedFields"});
  if (entries == nullptr) return nullptr;
  const auto it = std::find_if(entries->begin(), entries->end(), [&](const Json& one) {
    return base::string_at(one, {"manager"}) == manager;
  });
  return it == entries->end() ? nullptr : &*it;
}

}  // namespace

E2E_CASE("what is wrong with metadata of an update is told by each rule that looks at it") {
  World w;
  made(w, maps(w), {{"metadata", {{"name", "m"}}}});
  const Json wrong = {
      {"metadata",
       {{"generateName", "a/b"}, {"labels", {{"a", "!"}}}, {"finalizers", {"a"}}, {"uid", "x"}}}};
  using Fields = std::vector<std::string>;
  const std::string label = "metadata.labels";
  const std::string uid = "metadata.uid";
  const std::string finalizer = "metadata.finalizers[0]";
  const std::string prefix = "metadata.generateName";
  CHECK(caused(patch(w, maps(w) + "/m?dryRun=All", wrong)) ==
        Fields{prefix, label, uid, label, uid, label, finalizer, prefix, label, finalizer});
  const std::string services = core_path(w, "services");
  made(w, services, {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}});
  CHECK(caused(patch(w, services + "/s?dryRun=All", wrong)) ==
        Fields{prefix, label, uid, label, uid, label, finalizer});
  const std::string budgets = "/apis/policy/v1/namespaces/" + w.ns() + "/poddisruptionbudgets";
  made(w, budgets, {{"metadata", {{"name", "b"}}}, {"spec", Json::object()}});
  CHECK(caused(patch(w, budgets + "/b?dryRun=All", wrong)) == Fields{prefix, label, uid, label});
}

E2E_CASE("an apply of what is empty is a write of its time") {
  World w;
  const Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "m"}}}};
  made(w, maps(w), map);
  for (const Json& nothing : {Json(), Json::object()}) {
    Json applied = map;
    applied["binaryData"] = nothing;
    const Answer done = patch(w, maps(w) + "/m?dryRun=All&fieldManager=other", applied, kApply);
    REQUIRE(done.code == 200);
    const Json* entry = entry_of(done.body, "other");
    REQUIRE(entry != nullptr);
    CHECK(entry->contains("time"));
    CHECK(base::find(*entry, {"fieldsV1", "f:binaryData"}) != nullptr);
  }
  const Answer same = patch(w, maps(w) + "/m?dryRun=All&fieldManager=other", map, kApply);
  CHECK(entry_of(same.body, "other") == nullptr);
}

E2E_CASE("items of a keyed list may lack their key, and then nobody owns anything") {
  World w;
  const std::string accounts = core_path(w, "serviceaccounts");
  const Answer account =
      send(w, "POST", accounts, {{"metadata", {{"name", "a"}}}, {"secrets", {{{"kind", "k"}}}}});
  REQUIRE(account.code == 201);
  CHECK_FALSE(account.body["metadata"].contains("managedFields"));
  const Answer patched = patch(w, accounts + "/a", {{"secrets", {nullptr, {{"name", "b"}}}}});
  CHECK(patched.code == 200);
  CHECK(patched.body["secrets"] == Json({Json::object(), {{"name", "b"}}}));
  const Json config = {
      {"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "a"}}}};
  const Answer applied = patch(w, accounts + "/a?fieldManager=x", config, kApply);
  CHECK(applied.code == 500);
  CHECK(message(applied) ==
        "failed to create manager for existing fields: failed to convert new object (" + w.ns() +
            "/a; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list "
            "with keys has an element that omits all key fields [\"name\"] (and doesn't have "
            "default values for any key fields)");
}

E2E_CASE("a link is not stored, and a dry run of an update shows it") {
  World w;
  const Json map = made(w, maps(w), {{"metadata", {{"name", "m"}, {"selfLink", "x"}}}});
  CHECK_FALSE(map["metadata"].contains("selfLink"));
  const Json linked = {{"metadata", {{"selfLink", "x"}}}};
  const Answer tried = patch(w, maps(w) + "/m?dryRun=All", linked);
  CHECK(base::string_at(tried.body, {"metadata", "selfLink"}) == "x");
  CHECK_FALSE(patch(w, maps(w) + "/m", linked).body["metadata"].contains("selfLink"));
}

E2E_CASE("numbers that are no counts are told as they are, and strategic patches convert them") {
  World w;
  const std::string refused =
      "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
      "number ";
  const std::string type = " into Go struct field ObjectMeta.metadata.generation of type int64";
  for (const std::string number : {"1.5", "1.0", "9223372036854775808"}) {
    const Answer answer =
        send_text(w, "POST", maps(w), R"({"metadata":{"name":"n","generation":)" + number + "}}",
                  "application/json");
    CHECK(message(answer) == refused + number + type);
  }
  const std::string services = core_path(w, "services");
  made(w, services, {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}});
  const auto strategic = [&](const std::string& body) {
    return send_text(w, "PATCH", services + "/s?dryRun=All", body, kStrategicPatch);
  };
  CHECK(message(strategic(R"({"metadata":{"deletionGracePeriodSeconds":9223372036854775808}})"))
            .ends_with("metadata.deletionGracePeriodSeconds: Invalid value: -9223372036854775808: "
                       "field is immutable"));
  CHECK(message(strategic(R"({"spec":{"ports":[{"nodePort":9223372036854775808}]}})")) ==
        "map: map[nodePort:9.223372036854776e+18] does not contain declared merge key: port");
  const std::string unlike =
      "list element types are not identical: [[map[port:80 protocol:TCP "
      "targetPort:80]] [";
  CHECK(message(strategic(R"({"spec":{"ports":[null]}})")) == unlike + "<nil>]]");
  CHECK(message(strategic(R"({"spec":{"ports":[[1]]}})")) == unlike + "[1]]]");
}

E2E_CASE("reviews say which selectors they do not read, and keep a status that was sent") {
  World w;
  const auto evaluated = [&](const std::string& attributes) {
    const Json review = {{"spec", {{"resourceAttributes", Json::parse(attributes)}}}};
    const Answer answer =
        send(w, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
    CHECK(answer.code == 201);
    return base::string_at(answer.body, {"status", "evaluationError"});
  };
  const std::string fields = "spec.resourceAttributes.fieldSelector ";
  const std::string labels = "spec.resourceAttributes.labelSelector ";
  const std::string why = "ignored due to parse error";
  CHECK(evaluated(R"({"fieldSelector":{"rawSelector":"a=b"}})").empty());
  CHECK(evaluated(R"({"labelSelector":{"rawSelector":"a,!b"}})").empty());
  const char* unread =
      R"({"fieldSelector":{"rawSelector":"1"},"labelSelector":{"rawSelector":"A !"}})";
  CHECK(evaluated(unread) == fields + why + "; " + labels + why);
  const std::string one = R"({"key":"a","operator":"In","values":["a"]})";
  const std::string other = R"({"key":"b","operator":"Exists"})";
  const std::string some = R"({"fieldSelector":{"requirements":[)" + one + "," + other + "]}}";
  CHECK(evaluated(some) == fields + "partially " + why);
  CHECK(evaluated(R"({"labelSelector":{"requirements":[{"key":"a","operator":"New"}]}})") ==
        labels + why);

  const Json review = {{"spec", {{"token", "no such token"}}},
                       {"status",
                        {{"authenticated", true},
                         {"user", {{"username", "a"}}},
                         {"audiences", {"z"}},
                         {"error", "e"}}}};
  const Answer token = send(w, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", review);
  CHECK(token.body["status"] == Json({{"user", {{"username", "a"}}},
                                      {"audiences", {"z"}},
                                      {"error", "invalid bearer token"}}));
}

E2E_CASE("a condition of a definition that says no time has none") {
  World w;
  const std::string all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string group = "m" + w.ns() + ".example.com";
  const Json version = {{"name", "v1"},
                        {"served", true},
                        {"storage", true},
                        {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}};
  made(w, all,
       {{"metadata", {{"name", "things." + group}}},
        {"spec",
         {{"group", group},
          {"scope", "Namespaced"},
          {"names", {{"plural", "things"}, {"kind", "Thing"}}},
          {"versions", {version}}}}});
  const std::string one = all + "/things." + group;
  const Answer done =
      patch(w, one + "/status?dryRun=All",
            {{"status", {{"conditions", {{{"type", "A"}, {"reason", ""}}, nullptr}}}}});
  CHECK(done.code == 200);
  CHECK(done.body["status"]["conditions"] ==
        Json({{{"type", "A"}, {"status", ""}, {"lastTransitionTime", nullptr}},
              {{"type", ""}, {"status", ""}, {"lastTransitionTime", nullptr}}}));
  send(w, "DELETE", one);
}

}  // namespace kubewatch::e2e

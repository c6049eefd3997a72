// What the API server does with requests that are wrong, odd or about itself: the same of the
// sandbox and of the real one.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "e2e/requests.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

bool says(const Answer& answer, const std::string& text) {
  return message(answer).find(text) != std::string::npos;
}

// A group of its own for each case; v1 is stored, and knows `bar`, which v2 does not.
struct Gadgets {
  explicit Gadgets(World& world) : w(world), group(world.ns() + ".example.com") {}
  ~Gadgets() { (void)w.try_remove("CustomResourceDefinition", "gadgets." + group, ""); }

  static Json version(const std::string& name, const Json& spec, bool storage) {
    return {{"name", name},
            {"served", true},
            {"storage", storage},
            {"schema",
             {{"openAPIV3Schema",
               {{"type", "object"},
                {"properties",
                 {{"spec", {{"type", "object"}, {"properties", spec}}},
                  {"status",
                   {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}},
            {"subresources",
             {{"scale",
               {{"specReplicasPath", ".spec.size"}, {"statusReplicasPath", ".status.size"}}}}}};
  }
  void define(const Json& first, const Json& second) {
    const Json definition = {
        {"apiVersion", "apiextensions.k8s.io/v1"},
        {"kind", "CustomResourceDefinition"},
        {"metadata", {{"name", "gadgets." + group}}},
        {"spec",
         {{"group", group},
          {"scope", "Namespaced"},
          {"names",
           {{"plural", "gadgets"},
            {"singular", "gadget"},
            {"kind", "Gadget"},
            {"listKind", "GadgetList"}}},
          {"versions", Json::array({version("v1", first, true), version("v2", second, false)})}}}};
    w.apply(base::dump_json(definition));
    // Served by the new schema: the answer to a question that only it answers.
    REQUIRE(w.eventually([&] { return send(w, "GET", collection("v2")).code == 200; }));
  }
  std::string collection(const std::string& version) const {
    return "/apis/" + group + "/" + version + "/namespaces/" + w.ns() + "/gadgets";
  }
  Json object(const std::string& version, const Json& spec) const {
    return {{"apiVersion", group + "/" + version},
            {"kind", "Gadget"},
            {"metadata", {{"name", "a"}}},
            {"spec", spec}};
  }
  Json spec(const std::string& version) {
    return send(w, "GET", collection(version) + "/a").body.value("spec", Json());
  }

  World& w;
  std::string group;
};

const Json kText = {{"type", "string"}};
const Json kNumber = {{"type", "integer"}};

}  // namespace

E2E_CASE("a field that is said twice is refused where fields are strict") {
  World w;
  const std::string body =
      R"({"metadata":{"name":"a","name":"a"},"data":{"a":"1","a":"2"},"foo":1,"data":{"x":"y"}})";
  const Answer strict =
      send_text(w, "POST", maps(w) + "?fieldValidation=Strict", body, "application/json");
  CHECK(strict.code == 400);
  for (const char* field : {"duplicate field \"metadata.name\"", "duplicate field \"data.a\"",
                            "duplicate field \"data\"", "unknown field \"foo\""}) {
    INFO(message(strict));
    CHECK(says(strict, field));
  }
  const Answer last = send_text(w, "POST", maps(w), body, "application/json");
  CHECK(last.code == 201);
  CHECK(last.body["data"]["x"] == "y");
}

E2E_CASE("what a patch makes must be an object of its kind, or the patch is invalid") {
  World w;
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, data: {k: v}}");
  const std::string path = maps(w) + "/a";
  for (const char* patch : {R"({"data":5})", R"({"metadata":{"labels":{"a":5}}})"}) {
    INFO(patch);
    const Answer answer = send_text(w, "PATCH", path, patch, kMerge);
    CHECK(answer.code == 422);
    CHECK(answer.body["details"]["causes"][0]["field"] == "patch");
    CHECK(says(answer, " \"\" is invalid: patch: Invalid value: "));
  }
  const Answer strict =
      send_text(w, "PATCH", path + "?fieldValidation=Strict", R"({"foo":5})", kMerge);
  CHECK(strict.code == 422);
  CHECK(says(strict, "strict decoding error: unknown field \"foo\""));
  const Answer renamed = send_text(w, "PATCH", path, R"({"metadata":{"name":"b"}})", kMerge);
  CHECK(renamed.code == 400);
  CHECK(says(renamed, "the name of the object (b) does not match the name on the URL (a)"));
}

E2E_CASE("objects of all namespaces are not deleted at once, nor by two policies") {
  World w;
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}}");
  CHECK(send(w, "DELETE", "/api/v1/configmaps?labelSelector=none%3Dsuch").code == 405);
  const std::string path = maps(w) + "/a";
  for (const auto& answer :
       {send(w, "DELETE", path + "?propagationPolicy=Orphan&orphanDependents=true"),
        send(w, "DELETE", path, {{"propagationPolicy", "Orphan"}, {"orphanDependents", true}})}) {
    CHECK(answer.code == 422);
    CHECK(says(answer, "orphanDependents and deletionPropagation cannot be both set"));
  }
  CHECK(w.get("ConfigMap", "a"));
}

E2E_CASE("quantities, and numbers or texts, of built-in kinds are looked at") {
  World w;
  const auto pod = [&](const Json& cpu) {
    return send(w, "POST", "/api/v1/namespaces/" + w.ns() + "/pods?dryRun=All",
                {{"metadata", {{"name", "a"}}},
                 {"spec",
                  {{"containers", Json::array({{{"name", "c"},
                                                {"image", "i"},
                                                {"resources", {{"limits", {{"cpu", cpu}}}}}}})}}}});
  };
  for (const Json& wrong : {Json("abc"), Json("1.2.3"), Json("1Q"), Json("")}) {
    INFO(wrong);
    const Answer answer = pod(wrong);
    CHECK(answer.code == 400);
    CHECK(says(answer, "quantities must match the regular expression"));
  }
  for (const Json& right :
       {Json("100m"), Json(2), Json("1e3"), Json("2E2"), Json("+.5"), Json("1Ki")}) {
    INFO(right);
    CHECK(pod(right).code == 201);
  }
  const std::vector<std::pair<Json, std::string>> written = {
      {2, "2"},          {1.5, "1500m"},      {"1000m", "1"},   {"0.5", "500m"},
      {"+.5", "500m"},   {"100000", "100k"},  {" 7 ", "7"},     {"0Gi", "0"},
      {"1024Mi", "1Gi"}, {"1.5Gi", "1536Mi"}, {"0.5Ki", "512"}, {"0.3Gi", "322122547200m"},
      {"1e3", "1e3"},    {"12E4", "120e3"},   {"2E2", "200"},   {"1000G", "1T"},
      {"m", "0"},        {".", "0"},          {"+", "0"},       {"+k", "0"},
      {"-", "0"},        {"e3", "0"},         {".e2", "0"}};
  for (const auto& [given, shown] : written) {
    INFO(given);
    const Answer made = pod(given);
    REQUIRE(made.code == 201);
    CHECK(made.body["spec"]["containers"][0]["resources"]["limits"]["cpu"] == shown);
  }
  const auto budget = [&](const Json& least) {
    return send(w, "POST",
                "/apis/policy/v1/namespaces/" + w.ns() + "/poddisruptionbudgets?dryRun=All",
                {{"metadata", {{"name", "a"}}}, {"spec", {{"minAvailable", least}}}})
        .code;
  };
  CHECK(budget(true) == 400);
  CHECK(budget(Json::object()) == 400);
  CHECK(budget(1) == 201);
  CHECK(budget(1.5) == 400);
  CHECK(budget("50%") == 201);
}

E2E_CASE("a quantity written in another way is no change") {
  World w;
  const std::string path = "/api/v1/namespaces/" + w.ns() + "/limitranges/a";
  const auto apply = [&](const char* cpu) {
    const std::string body =
        R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},"spec":{"limits":[)"
        R"({"type":"Container","max":{"cpu":")" +
        std::string(cpu) + R"("}}]}})";
    return send_text(w, "PATCH", path + "?fieldManager=one", body, kApply).body;
  };
  const Json first = apply("0.5");
  CHECK(first["spec"]["limits"][0]["max"]["cpu"] == "500m");
  const Json again = apply("500m");
  CHECK(again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]);
  CHECK(apply("0.50")["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]);
}

E2E_CASE("fields that the stored version does not have are not kept, its defaults are") {
  World w;
  Gadgets gadgets(w);
  gadgets.define(
      {{"color", kText}, {"bar", kText}, {"mode", {{"type", "string"}, {"default", "on"}}}},
      {{"color", kText}, {"extra", kText}, {"mode", kText}});
  REQUIRE(send(w, "POST", gadgets.collection("v2"),
               gadgets.object("v2", {{"color", "red"}, {"extra", "gone"}}))
              .code == 201);
  CHECK(gadgets.spec("v1") == Json{{"color", "red"}, {"mode", "on"}});
  CHECK(gadgets.spec("v2") == Json{{"color", "red"}, {"mode", "on"}});
  REQUIRE(send_text(w, "PATCH", gadgets.collection("v1") + "/a", R"({"spec":{"bar":"x"}})", kMerge)
              .code == 200);
  CHECK(gadgets.spec("v1") == Json{{"color", "red"}, {"mode", "on"}, {"bar", "x"}});
  CHECK(gadgets.spec("v2") == Json{{"color", "red"}, {"mode", "on"}});
}

E2E_CASE("a changed schema holds for what is there as well, without a new generation") {
  World w;
  Gadgets gadgets(w);
  gadgets.define({{"a", kText}, {"b", kText}}, {{"a", kText}});
  REQUIRE(send(w, "POST", gadgets.collection("v1"), gadgets.object("v1", {{"a", "x"}, {"b", "y"}}))
              .code == 201);
  const Json before = send(w, "GET", gadgets.collection("v1") + "/a").body;
  gadgets.define({{"a", kText}, {"c", {{"type", "string"}, {"default", "new"}}}}, {{"a", kText}});
  REQUIRE(w.eventually([&] { return gadgets.spec("v1") == Json{{"a", "x"}, {"c", "new"}}; }));
  const Json shown = send(w, "GET", gadgets.collection("v1") + "/a").body;
  CHECK(shown["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]);
  CHECK(send_text(w, "PATCH", gadgets.collection("v1") + "/a",
                  R"({"metadata":{"labels":{"l":"m"}}})", kMerge)
            .body["metadata"]["generation"] == 1);
  CHECK(gadgets.spec("v1") == Json{{"a", "x"}, {"c", "new"}});
}

E2E_CASE("a scale has a table, and its name must be said") {
  World w;
  Gadgets gadgets(w);
  gadgets.define({{"size", kNumber}}, {{"size", kNumber}});
  REQUIRE(send(w, "POST", gadgets.collection("v1"), gadgets.object("v1", {{"size", 2}})).code ==
          201);
  const std::string path = gadgets.collection("v1") + "/a/scale";
  const auto put = [&](const Json& metadata) {
    return send(w, "PUT", path,
                {{"apiVersion", "autoscaling/v1"},
                 {"kind", "Scale"},
                 {"metadata", metadata},
                 {"spec", {{"replicas", 3}}}});
  };
  CHECK(says(put({{"name", "b"}}), "does not match the name on the URL (a)"));
  CHECK(put(Json::object()).code == 400);
  CHECK(put({{"name", "a"}, {"namespace", w.ns()}}).code == 200);
  CHECK(gadgets.spec("v1")["size"] == 3);
}

E2E_CASE("who asks is told who it is, and what it may") {
  World w;
  w.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: bot, namespace: '@NS@'}}");
  const Answer self =
      send(w, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", Json::object());
  CHECK(self.code == 201);
  CHECK(self.body["kind"] == "SelfSubjectReview");
  CHECK_FALSE(base::string_at(self.body, {"status", "userInfo", "username"}).empty());
  const Answer rules = send(w, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                            {{"spec", {{"namespace", w.ns()}}}});
  CHECK(rules.code == 201);
  // Among what others grant to everybody.
  const Json may_all = rules.body["status"]["resourceRules"];
  CHECK(std::any_of(may_all.begin(), may_all.end(),
                    [](const Json& rule) { return rule["verbs"] == Json::array({"*"}); }));
  const Answer may =
      send(w, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           {{"spec", {{"resourceAttributes", {{"verb", "get"}, {"resource", "pods"}}}}}});
  CHECK(may.body["status"]["allowed"] == true);
  const std::string reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
  const Answer stranger = send(w, "POST", reviews, {{"spec", {{"token", "none"}}}});
  CHECK(stranger.code == 201);
  CHECK_FALSE(stranger.body["status"].contains("authenticated"));
  const Answer issued = send(
      w, "POST", "/api/v1/namespaces/" + w.ns() + "/serviceaccounts/bot/token", {{"spec", {}}});
  const Answer known =
      send(w, "POST", reviews, {{"spec", {{"token", issued.body["status"]["token"]}}}});
  CHECK(known.body["status"]["authenticated"] == true);
  CHECK(known.body["status"]["user"]["username"] == "system:serviceaccount:" + w.ns() + ":bot");
  // Only for whom a token is meant.
  const Answer for_vault =
      send(w, "POST", reviews,
           {{"spec",
             {{"token", issued.body["status"]["token"]}, {"audiences", Json::array({"vault"})}}}});
  CHECK_FALSE(for_vault.body["status"].contains("authenticated"));
}

E2E_CASE("health is told in one word, check by check, and for one check") {
  World w;
  for (const std::string path : {"/livez", "/readyz", "/healthz"}) {
    const auto get = [&](const std::string& rest) {
      http::Request request;
      request.method = "GET";
      request.url = path + rest;
      return fetch(w, w.server().config(), std::move(request));
    };
    // One of its checks may fail for a moment.
    CHECK(w.eventually([&] { return get("").body == "ok"; }));
    std::string all;
    CHECK(w.eventually([&] {
      all = get("?verbose").body;
      return all.find("\n" + path.substr(1) + " check passed\n") != std::string::npos;
    }));
    CHECK(all.find("[+]ping ok\n") != std::string::npos);
    CHECK(get("/ping").body == "ok");
    CHECK(get("/frob").status == 404);
  }
}

E2E_CASE("events are selected by the fields of the group that they are asked for in") {
  World w;
  const std::string core = "/api/v1/namespaces/" + w.ns() + "/events";
  const std::string events = "/apis/events.k8s.io/v1/namespaces/" + w.ns() + "/events";
  for (const std::string name : {"a", "b"}) {
    const Answer made =
        send(w, "POST", core,
             {{"metadata", {{"name", name}}},
              {"involvedObject", {{"kind", "Pod"}, {"name", name}, {"namespace", w.ns()}}},
              {"reason", "Made"},
              {"source", {{"component", "c-" + name}}},
              {"type", "Normal"}});
    REQUIRE(made.code == 201);
  }
  const auto of = [&](const std::string& path, const std::string& selector) {
    std::string out;
    const Answer answer = send(w, "GET", path + "?fieldSelector=" + selector, Json());
    for (const Json& item : answer.body["items"]) {
      out += base::string_at(item, {"metadata", "name"}) + " ";
    }
    return out;
  };
  CHECK(of(core, "involvedObject.name%3Db") == "b ");
  CHECK(of(core, "source%3Dc-a") == "a ");
  CHECK(of(events, "regarding.name%3Db,type%3DNormal") == "b ");
  CHECK(of(events, "regarding.name!%3Db,reason%3DMade") == "a ");
  for (const auto& [path, label] : {std::pair(events, std::string("involvedObject.name")),
                                    std::pair(core, std::string("regarding.name"))}) {
    const Answer refused = send(w, "GET", path + "?fieldSelector=" + label + "%3Db", Json());
    CHECK(refused.code == 400);
    CHECK(says(refused, "field label not supported: " + label));
  }
}

// Pods without a kubelet: their status is what the case says it is.
struct Pods {
  explicit Pods(World& world) : w(world), path("/api/v1/namespaces/" + w.ns() + "/pods") {}

  void make(const std::string& name, const std::string& phase, const Json& more = Json::object()) {
    Json metadata = {{"name", name}, {"labels", {{"app", "web"}}}};
    metadata.update(more);
    const Answer made = send(w, "POST", path,
                             {{"metadata", metadata},
                              {"spec",
                               {{"automountServiceAccountToken", false},
                                {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
    INFO(made.body.dump());
    REQUIRE(made.code == 201);
    const Json ready = {{{"type", "Ready"}, {"status", phase == "Running" ? "True" : "False"}}};
    merge("/" + name + "/status", {{"status", {{"phase", phase}, {"conditions", ready}}}});
  }
  void merge(const std::string& rest, const Json& change) {
    REQUIRE(send_text(w, "PATCH", path + rest, base::dump_json(change), kMerge).code == 200);
  }
  Answer evict(const std::string& name, const Json& more = Json::object()) {
    Json eviction = {
        {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}};
    eviction.update(more);
    return send(w, "POST", path + "/" + name + "/eviction", eviction);
  }
  Answer bind(const std::string& name, const Json& target) {
    return send(w, "POST", path + "/" + name + "/binding",
                {{"metadata", {{"name", name}}}, {"target", target}});
  }
  Json get(const std::string& name) { return send(w, "GET", path + "/" + name).body; }
  // By type, without its times.
  Json condition(const std::string& name, const std::string& type) {
    const Json pod = get(name);
    for (Json one : pod["status"]["conditions"]) {
      if (one["type"] != type) continue;
      one.erase("lastTransitionTime");
      one.erase("observedGeneration");
      return one;
    }
    return nullptr;
  }

  World& w;
  std::string path;
};

E2E_CASE("an eviction asks the disruption budget of the Pod") {
  World w;
  Pods pods(w);
  const std::string budgets = "/apis/policy/v1/namespaces/" + w.ns() + "/poddisruptionbudgets";
  const auto make_budget = [&](const std::string& name) {
    const Json selector = {{"matchLabels", {{"app", "web"}}}};
    REQUIRE(send(w, "POST", budgets,
                 {{"metadata", {{"name", name}}},
                  {"spec", {{"minAvailable", 1}, {"selector", selector}}}})
                .code == 201);
  };
  // On the real server a controller says this; where there is none the case does.
  const auto healthy = [&](int current) {
    const Json status = {{"disruptionsAllowed", current - 1},
                         {"observedGeneration", 1},
                         {"currentHealthy", current},
                         {"desiredHealthy", 1},
                         {"expectedPods", 3}};
    return send_text(w, "PATCH", budgets + "/web/status", base::dump_json({{"status", status}}),
                     kMerge)
               .code == 200;
  };
  const auto cause = [](const Answer& answer) -> std::string {
    const Json* causes = base::find(answer.body, {"details", "causes"});
    const bool none = causes == nullptr || causes->empty();
    return none ? "" : base::string_at((*causes)[0], {"message"});
  };
  const Json kept = {{"finalizers", {"e2e.kubewatch.dev/kept"}}};
  for (const char* name : {"a", "b"}) pods.make(name, "Running", kept);
  pods.make("waits", "Pending", kept);
  make_budget("web");
  REQUIRE(w.eventually([&] {
    if (!healthy(2)) return false;
    return pods.evict("a", {{"deleteOptions", {{"dryRun", {"All"}}}}}).code == 201;
  }));
  CHECK_FALSE(pods.get("a")["metadata"].contains("deletionTimestamp"));

  const Answer done = pods.evict("a");
  CHECK(done.code == 201);
  CHECK(base::string_at(done.body, {"status"}) == "Success");
  Json status = send(w, "GET", budgets + "/web").body["status"];
  CHECK(status["disruptionsAllowed"] == 0);
  CHECK(pods.get("a")["metadata"].contains("deletionTimestamp"));
  CHECK(pods.condition("a", "DisruptionTarget") == Json{{"type", "DisruptionTarget"},
                                                        {"status", "True"},
                                                        {"lastProbeTime", nullptr},
                                                        {"reason", "EvictionByEvictionAPI"},
                                                        {"message", "Eviction API: evicting"}});
  Json condition = status["conditions"][0];
  CHECK(condition["type"] == "DisruptionAllowed");
  CHECK(condition["reason"] == "InsufficientPods");
  CHECK(condition["message"] == "");
  CHECK(condition["observedGeneration"] == 1);

  const Answer refused = pods.evict("b");
  CHECK(refused.code == 429);
  CHECK(message(refused) == "Cannot evict pod as it would violate the pod's disruption budget.");
  CHECK(w.eventually([&] {
    return healthy(1) && cause(pods.evict("b")) ==
                             "The disruption budget web needs 1 healthy pods and has 1 currently";
  }));
  CHECK_FALSE(pods.get("b")["metadata"].contains("deletionTimestamp"));
  // Who has not begun, or is over, is not counted on.
  CHECK(pods.evict("waits").code == 201);
  CHECK(pods.get("waits")["metadata"].contains("deletionTimestamp"));
  CHECK(base::string_at(pods.condition("waits", "DisruptionTarget"), {"status"}) == "True");

  make_budget("more");
  const Answer two = pods.evict("b");
  CHECK(two.code == 500);
  CHECK(says(two,
             "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
             "not support."));
  CHECK(says(pods.evict("b", {{"metadata", {{"name", "c"}}}}),
             "name in URL does not match name in Eviction object"));
  CHECK(pods.evict("none").code == 404);
  for (const char* name : {"a", "b", "waits"}) {
    pods.merge(std::string("/") + name, {{"metadata", {{"finalizers", nullptr}}}});
  }
}

E2E_CASE("a binding gives a Pod its Node, once") {
  World w;
  Pods pods(w);
  pods.make("a", "Pending");
  const Answer other = pods.bind("a", {{"kind", "Pod"}, {"name", "n"}});
  CHECK(other.code == 500);
  CHECK(says(other, "target.kind: Unsupported value: \"Pod\""));
  CHECK(send(w, "POST", pods.path + "/a/binding",
             {{"metadata", {{"name", "a"}, {"uid", "x"}}}, {"target", {{"name", "n"}}}})
            .code == 409);
  CHECK(send(w, "POST", pods.path + "/a/binding", {{"target", {{"name", "n"}}}}).code == 400);
  const Answer done = pods.bind("a", {{"kind", "Node"}, {"name", "n1"}});
  CHECK(done.code == 201);
  CHECK(done.body["status"] == "Success");
  CHECK(done.body["code"] == 201);
  CHECK(pods.get("a")["spec"]["nodeName"] == "n1");
  CHECK(pods.condition("a", "PodScheduled") ==
        Json{{"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}});
  const Answer again = pods.bind("a", {{"kind", "Node"}, {"name", "n2"}});
  CHECK(again.code == 409);
  CHECK(message(again) ==
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node "
        "\"n1\"");
}

E2E_CASE("kinds of every group that charts use are there") {
  World w;
  const std::string name = w.ns();
  for (const auto& [collection, object] : std::vector<std::pair<std::string, Json>>{
           {"/apis/scheduling.k8s.io/v1/priorityclasses", {{"value", 10}}},
           {"/apis/node.k8s.io/v1/runtimeclasses", {{"handler", "runc"}}}}) {
    INFO(collection);
    Json body = object;
    body["metadata"]["name"] = name;
    CHECK(send(w, "POST", collection, body).code == 201);
    CHECK(send(w, "GET", collection + "/" + name).body["metadata"]["name"] == name);
    CHECK(send(w, "DELETE", collection + "/" + name).code == 200);
  }
}

}  // namespace kubewatch::e2e

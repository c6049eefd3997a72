// What admission makes of a Pod by what is no field of it: its ServiceAccount, its PriorityClass,
// its RuntimeClass. The real server of these cases runs without the plugin ServiceAccount, and the
// sandbox has none. A default among PriorityClasses would be that of all cases on the server: it is
// in tests/apiserver/pod_admission_test.cpp.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

std::string pods(World& w) {
  return "/api/v1/namespaces/" + w.ns() + "/pods";
}

Answer make(World& w, const std::string& name, const Json& more) {
  Json spec = {{"containers", {{{"name", "c"}, {"image", "i"}}}}};
  spec.update(more);
  return send(w, "POST", pods(w),
              {{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", {{"name", name}}},
               {"spec", std::move(spec)}});
}

std::string refused(const std::string& name, const std::string& why) {
  return "pods \"" + name + "\" is forbidden: " + why;
}

// An object of the whole cluster that goes with the case.
class Lent {
 public:
  Lent(World& w, const std::string& collection, Json object) : w_(w) {
    const Json there = made(w, collection, object);
    path_ = collection + "/" + base::string_at(there, {"metadata", "name"});
  }
  ~Lent() {
    try {
      send(w_, "DELETE", path_);
    } catch (...) {  // the case has failed already
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  World& w_;
  std::string path_;
};

}  // namespace

E2E_CASE("a Pod gets no ServiceAccount and no token where nobody admits it, and keeps its own") {
  World w;
  const Answer plain = make(w, "plain", Json::object());
  REQUIRE(plain.code == 201);
  const Json spec = plain.body["spec"];
  CHECK_FALSE(spec.contains("serviceAccountName"));
  CHECK_FALSE(spec.contains("volumes"));
  CHECK_FALSE(spec["containers"][0].contains("volumeMounts"));
  // Nobody asks whether there is such a one.
  const Answer named = make(w, "named", {{"serviceAccountName", "nobody"}});
  REQUIRE(named.code == 201);
  CHECK(base::string_at(named.body, {"spec", "serviceAccountName"}) == "nobody");
  CHECK(base::string_at(named.body, {"spec", "serviceAccount"}) == "nobody");
  CHECK_FALSE(named.body["spec"].contains("volumes"));
}

E2E_CASE("a Pod has the priority of its class, and keeps it") {
  World w;
  struct Case {
    std::string name;
    std::int64_t priority;
  };
  for (const Case& c : {Case{"system-cluster-critical", 2000000000},
                        Case{"system-node-critical", 2000001000}, Case{"", 0}}) {
    CAPTURE(c.name);
    const std::string pod = c.name.empty() ? "plain" : c.name;
    const Json wanted = c.name.empty() ? Json::object() : Json{{"priorityClassName", c.name}};
    const Answer made = make(w, pod, wanted);
    REQUIRE(made.code == 201);
    CHECK(base::int_at(made.body, {"spec", "priority"}) == c.priority);
    CHECK(base::string_at(made.body, {"spec", "preemptionPolicy"}) == "PreemptLowerPriority");
    CHECK(base::string_at(made.body, {"spec", "priorityClassName"}) == c.name);
    // Who writes it again need not say what the server has made of it.
    Json again = made.body;
    again["spec"].erase("priority");
    again["spec"].erase("preemptionPolicy");
    again["metadata"]["labels"] = {{"written", "again"}};
    const Answer updated = send(w, "PUT", pods(w) + "/" + pod, again);
    REQUIRE(updated.code == 200);
    CHECK(base::int_at(updated.body, {"spec", "priority"}) == c.priority);
    CHECK(base::string_at(updated.body, {"spec", "preemptionPolicy"}) == "PreemptLowerPriority");
  }
  // Who says the same is not refused for it.
  const Answer said =
      make(w, "said", {{"priorityClassName", "system-node-critical"}, {"priority", 2000001000}});
  CHECK(said.code == 201);
}

E2E_CASE("the system's PriorityClasses are there from the start, and stay") {
  World w;
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  struct Case {
    const char* name;
    std::int64_t value;
    const char* description;
  };
  for (const Case& c :
       {Case{"system-node-critical", 2000001000,
             "Used for system critical pods that must not be moved from their current node."},
        Case{"system-cluster-critical", 2000000000,
             "Used for system critical pods that must run in the cluster, but can be moved to "
             "another node if necessary."}}) {
    CAPTURE(c.name);
    const std::string path = classes + "/" + c.name;
    const std::string named = std::string("priorityclasses.scheduling.k8s.io \"") + c.name + "\"";
    const Answer found = send(w, "GET", path);
    REQUIRE(found.code == 200);
    CHECK(found.body["value"] == c.value);
    CHECK(found.body["description"] == c.description);
    CHECK(found.body["preemptionPolicy"] == "PreemptLowerPriority");
    CHECK_FALSE(found.body.contains("globalDefault"));
    CHECK(found.body["metadata"]["managedFields"][0]["manager"] == "kube-apiserver");
    const Answer refused = send(w, "DELETE", path);
    CHECK(refused.code == 403);
    CHECK(base::string_at(refused.body, {"message"}) ==
          named + " is forbidden: this is a system priority class and cannot be deleted");
    const auto post = [&](std::int64_t value) {
      return send(w, "POST", classes,
                  {{"apiVersion", "scheduling.k8s.io/v1"},
                   {"kind", "PriorityClass"},
                   {"metadata", {{"name", c.name}}},
                   {"value", value}});
    };
    CHECK(base::string_at(post(c.value).body, {"message"}) == named + " already exists");
    CHECK(base::string_at(post(1).body, {"message"}) ==
          std::string("PriorityClass.scheduling.k8s.io \"") + c.name +
              "\" is invalid: metadata.name: Forbidden: priority class names with 'system-' prefix "
              "are reserved for system use only. error: value of " +
              c.name + " PriorityClass must be " + std::to_string(c.value));
  }
}

E2E_CASE("a Pod says no other priority than that of its class, which is there") {
  World w;
  const std::string name = w.ns() + "-five";
  const Lent five(w, "/apis/scheduling.k8s.io/v1/priorityclasses",
                  {{"apiVersion", "scheduling.k8s.io/v1"},
                   {"kind", "PriorityClass"},
                   {"metadata", {{"name", name}}},
                   {"value", 5},
                   {"preemptionPolicy", "Never"}});
  w.eventually([&] { return make(w, "five", {{"priorityClassName", name}}).code == 201; });
  const Answer made = send(w, "GET", pods(w) + "/five");
  CHECK(base::int_at(made.body, {"spec", "priority"}) == 5);
  CHECK(base::string_at(made.body, {"spec", "preemptionPolicy"}) == "Never");
  struct Case {
    Json spec;
    std::string why;
  };
  const std::string rest = "; priority admission controller computed ";
  const std::string end = " from the given PriorityClass name";
  const std::string value = " must not be provided in pod spec" + rest;
  const std::vector<Case> cases = {
      {{{"priority", 5}}, "the integer value of priority (5)" + value + "0" + end},
      {{{"priority", 6}, {"priorityClassName", name}},
       "the integer value of priority (6)" + value + "5" + end},
      {{{"preemptionPolicy", "Never"}},
       "the string value of PreemptionPolicy (Never)" + value + "PreemptLowerPriority" + end},
      {{{"preemptionPolicy", "PreemptLowerPriority"}, {"priorityClassName", name}},
       "the string value of PreemptionPolicy (PreemptLowerPriority)" + value + "Never" + end},
      {{{"priorityClassName", "none"}}, "no PriorityClass with name none was found"},
      {{{"priorityClassName", "bad!"}}, "no PriorityClass with name bad! was found"},
  };
  for (const Case& c : cases) {
    const Answer answer = make(w, "p", c.spec);
    CHECK(answer.code == 403);
    CHECK(message(answer) == refused("p", c.why));
  }
  // Nobody has made a name yet.
  const Answer unnamed =
      send(w, "POST", pods(w),
           {{"metadata", {{"generateName", "gen-"}}},
            {"spec",
             {{"priorityClassName", "none"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  CHECK(message(unnamed) == refused("gen-", "no PriorityClass with name none was found"));
}

E2E_CASE("a Pod has the overhead and the nodes of its RuntimeClass") {
  World w;
  const std::string classes = "/apis/node.k8s.io/v1/runtimeclasses";
  const std::string name = w.ns() + "-vm";
  const std::string bare = w.ns() + "-bare";
  const auto runtime = [](const std::string& of, const Json& more) {
    Json out = {{"apiVersion", "node.k8s.io/v1"},
                {"kind", "RuntimeClass"},
                {"metadata", {{"name", of}}},
                {"handler", "h"}};
    out.update(more);
    return out;
  };
  const Json not_ready = {
      {"key", "node.kubernetes.io/not-ready"}, {"operator", "Exists"}, {"effect", "NoExecute"}};
  const Json any = {{"key", "k"}, {"operator", "Exists"}};
  const Lent vm(
      w, classes,
      runtime(name, {{"overhead", {{"podFixed", {{"cpu", "100m"}}}}},
                     {"scheduling",
                      {{"nodeSelector", {{"a", "b"}}}, {"tolerations", {any, not_ready}}}}}));
  const Lent plain(w, classes, runtime(bare, Json::object()));
  const Answer made =
      make(w, "vm",
           {{"runtimeClassName", name},
            {"overhead", {{"cpu", "0.1"}}},
            {"nodeSelector", {{"x", "y"}}},
            {"tolerations", {{{"key", "k"}, {"operator", "Exists"}, {"effect", "NoExecute"}}}}});
  REQUIRE(made.code == 201);
  const Json& spec = made.body["spec"];
  CHECK(spec["overhead"] == Json{{"cpu", "100m"}});
  CHECK(spec["nodeSelector"] == Json{{"a", "b"}, {"x", "y"}});
  const Json unreachable = {{"key", "node.kubernetes.io/unreachable"},
                            {"operator", "Exists"},
                            {"effect", "NoExecute"},
                            {"tolerationSeconds", 300}};
  CHECK(spec["tolerations"] == Json{unreachable, any, not_ready});
  CHECK_FALSE(make(w, "bare", {{"runtimeClassName", bare}}).body["spec"].contains("overhead"));
  struct Case {
    Json spec;
    std::string why;
  };
  const std::string unasked =
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
  const std::vector<Case> cases = {
      {{{"runtimeClassName", "none"}}, "pod rejected: RuntimeClass \"none\" not found"},
      {{{"runtimeClassName", name}, {"overhead", {{"cpu", "1"}}}},
       "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
      {{{"runtimeClassName", name}, {"nodeSelector", {{"a", "c"}}}},
       "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c"},
      {{{"runtimeClassName", bare}, {"overhead", {{"cpu", "1"}}}}, unasked},
      {{{"overhead", {{"cpu", "1"}}}}, unasked},
  };
  for (const Case& c : cases) {
    const Answer answer = make(w, "p", c.spec);
    CHECK(answer.code == 403);
    CHECK(message(answer) == refused("p", c.why));
  }
  // What is wrong with it is told before.
  CHECK(make(w, "p", {{"overhead", {{"k", "1"}}}}).code == 422);
}

}  // namespace kubewatch::e2e

// What admission makes of a Pod by what is no field of it: its ServiceAccount, its PriorityClass.
// The real server of these cases runs without the plugin ServiceAccount, and the sandbox has none;
// of PriorityClasses the sandbox knows those of every cluster alone.
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

}  // namespace kubewatch::e2e

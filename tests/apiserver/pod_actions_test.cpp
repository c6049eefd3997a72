#include <tuple>

#include "apiserver/support.hpp"
#include "base/log.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using test::Server;

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

void make_pod(Server& server, const std::string& name, const std::string& phase, bool ready,
              const Json& finalizers = Json::array()) {
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", name}, {"labels", {{"app", "web"}}}, {"finalizers", finalizers}}},
      {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  REQUIRE(server.post(kPods, pod).code == 201);
  const Json conditions = {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
  REQUIRE(server
              .merge(kPods + "/" + name + "/status",
                     {{"status", {{"phase", phase}, {"conditions", conditions}}}})
              .code == 200);
}

void make_budget(Server& server, const std::string& name, const Json& selector,
                 const Json& status) {
  const Json budget = {{"apiVersion", "policy/v1"},
                       {"kind", "PodDisruptionBudget"},
                       {"metadata", {{"name", name}}},
                       {"spec", {{"minAvailable", 1}, {"selector", selector}}}};
  REQUIRE(server.post(kBudgets, budget).code == 201);
  REQUIRE(server.merge(kBudgets + "/" + name + "/status", {{"status", status}}).code == 200);
}

const Json kWeb = {{"matchLabels", {{"app", "web"}}}};

Json status_with(int allowed, int observed = 1) {
  return {{"observedGeneration", observed},
          {"disruptionsAllowed", allowed},
          {"currentHealthy", 2},
          {"desiredHealthy", 3},
          {"expectedPods", 3}};
}

test::Answer evict(Server& server, const std::string& name, const Json& options = Json()) {
  Json eviction = {
      {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}};
  if (!options.is_null()) eviction["deleteOptions"] = options;
  return server.post(kPods + "/" + name + "/eviction", eviction);
}

bool exists(Server& server, const std::string& name) {
  return server.get(kPods + "/" + name).code == 200;
}

}  // namespace

TEST_CASE("an eviction marks the Pod and deletes it, and uses one disruption of its budget") {
  Server server;
  make_pod(server, "a", "Running", true);
  make_pod(server, "b", "Running", true);
  make_budget(server, "web", kWeb, status_with(1));
  make_budget(server, "other", {{"matchLabels", {{"app", "db"}}}}, status_with(0));
  const auto record = server.watch(kPods + "?watch=1");
  const auto done = evict(server, "a");
  CHECK(done.code == 201);
  CHECK(done.json["status"] == "Success");
  CHECK_FALSE(exists(server, "a"));
  CHECK(record->story() == "ADDED a,ADDED b,MODIFIED a,DELETED a");
  const Json marked = record->events()[2]["object"]["status"]["conditions"][1];
  CHECK(marked["type"] == "DisruptionTarget");
  CHECK(marked["reason"] == "EvictionByEvictionAPI");
  const Json budget = server.get(kBudgets + "/web").json;
  const Json& status = budget["status"];
  CHECK(status["disruptionsAllowed"] == 0);
  // In a cluster its controller writes there as well: nothing for a case of both servers.
  bool owned = false;
  for (const Json& entry : budget["metadata"]["managedFields"]) {
    const bool used = entry["fieldsV1"].contains("f:status") &&
                      entry["fieldsV1"]["f:status"].contains("f:disruptedPods");
    if (!used) continue;
    CHECK(entry["manager"] == "kube-apiserver");
    CHECK(entry["subresource"] == "status");
    owned = true;
  }
  CHECK(owned);
  CHECK(status["disruptedPods"].contains("a"));
  CHECK(status["conditions"][0]["reason"] == "InsufficientPods");

  const auto refused = evict(server, "b");
  CHECK(refused.code == 429);
  CHECK(refused.message() == "Cannot evict pod as it would violate the pod's disruption budget.");
  CHECK(refused.json["details"]["causes"][0]["message"] ==
        "The disruption budget web needs 3 healthy pods and has 2 currently");
  CHECK(exists(server, "b"));
}

TEST_CASE("why a budget allows none is said by its numbers and its condition") {
  Server server;
  make_pod(server, "a", "Running", true);
  Json status = status_with(0);
  status["currentHealthy"] = 5;
  make_budget(server, "web", kWeb, status);
  const auto why = [&] {
    return base::string_at(evict(server, "a").json["details"]["causes"][0], {"message"});
  };
  CHECK(why() == "The disruption budget web does not allow evicting pods currently");
  status["conditions"] = {{{"type", "DisruptionAllowed"},
                           {"status", "False"},
                           {"reason", "SyncFailed"},
                           {"message", "no scale"},
                           {"lastTransitionTime", "2026-01-01T00:00:00Z"}}};
  server.merge(kBudgets + "/web/status", {{"status", status}});
  CHECK(why() ==
        "The disruption budget web does not allow evicting pods currently because it failed sync: "
        "no scale");
}

TEST_CASE("a budget that is behind, and two of one Pod, let no Pod go") {
  Server server;
  make_pod(server, "a", "Running", true);
  make_budget(server, "web", kWeb, status_with(5, 0));
  const auto early = evict(server, "a");
  CHECK(early.code == 429);
  CHECK(early.headers.get("Retry-After") == "10");
  CHECK(early.json["details"]["causes"][0]["message"] ==
        "The disruption budget web is still being processed by the server.");
  make_budget(server, "all", Json::object(), status_with(5));
  const auto two = evict(server, "a");
  CHECK(two.code == 500);
  CHECK(two.message().find("more than one PodDisruptionBudget") != std::string::npos);
  CHECK(exists(server, "a"));
}

TEST_CASE("Pods that nobody counts on need no budget") {
  Server server;
  make_budget(server, "web", kWeb, status_with(0));
  for (const char* phase : {"Pending", "Succeeded", "Failed"}) {
    make_pod(server, "a", phase, true);
    CHECK(evict(server, "a").code == 201);
    CHECK_FALSE(exists(server, "a"));
  }
  // An unhealthy one does, until the others are enough.
  make_pod(server, "b", "Running", false);
  CHECK(evict(server, "b").code == 429);
  Json enough = status_with(0);
  enough["currentHealthy"] = 3;
  server.merge(kBudgets + "/web/status", {{"status", enough}});
  CHECK(evict(server, "b").code == 201);
  make_pod(server, "c", "Running", false);
  server.merge(kBudgets + "/web/status", {{"status", status_with(0)}});
  CHECK(evict(server, "c").code == 429);
  server.merge(kBudgets + "/web", {{"spec", {{"unhealthyPodEvictionPolicy", "AlwaysAllow"}}}});
  CHECK(evict(server, "c").code == 201);
}

TEST_CASE("a Pod whose eviction is refused or only asked about stays as it was") {
  Server server;
  make_pod(server, "a", "Running", true);
  make_budget(server, "web", kWeb, status_with(2));
  const std::string version = server.get(kPods + "/a").at({"metadata", "resourceVersion"});
  CHECK(evict(server, "none").message() == "pods \"none\" not found");
  CHECK(server.post(kPods + "/a/eviction", {{"metadata", {{"name", "b"}}}}).message() ==
        "name in URL does not match name in Eviction object");
  CHECK(server.post(kPods + "/a/eviction", {{"kind", "Binding"}}).code == 400);
  CHECK(evict(server, "a", {{"dryRun", {"All"}}}).code == 201);
  CHECK(server.get(kPods + "/a").at({"metadata", "resourceVersion"}) == version);
  CHECK(server.get(kBudgets + "/web").json["status"]["disruptionsAllowed"] == 2);
  // Like there, the budget was asked before.
  CHECK(evict(server, "a", {{"preconditions", {{"uid", "x"}}}}).code == 409);
  CHECK(server.get(kBudgets + "/web").json["status"]["disruptionsAllowed"] == 1);
  CHECK(server.get(kPods + "/a").at({"metadata", "resourceVersion"}) == version);
  CHECK(evict(server, "a", {{"preconditions", {{"resourceVersion", version}}}}).code == 201);
  CHECK_FALSE(exists(server, "a"));
}

TEST_CASE("an evicted Pod with finalizers stays and dies, marked") {
  Server server;
  make_pod(server, "a", "Running", true, {"x.io/y"});
  CHECK(evict(server, "a").code == 201);
  const Json pod = server.get(kPods + "/a").json;
  CHECK(pod["metadata"].contains("deletionTimestamp"));
  CHECK(pod["status"]["conditions"][1]["type"] == "DisruptionTarget");
  CHECK(evict(server, "a").code == 201);
}

TEST_CASE("a binding gives a Pod its Node, once") {
  Server server;
  make_pod(server, "a", "Pending", false);
  const auto bind = [&](const Json& more) {
    Json binding = {{"apiVersion", "v1"}, {"kind", "Binding"}, {"metadata", {{"name", "a"}}}};
    binding.update(more);
    return server.post(kPods + "/a/binding", binding);
  };
  CHECK(bind({{"target", {{"kind", "Pod"}, {"name", "n"}}}}).code == 500);
  CHECK(bind(Json::object()).message() == "target.name: Required value");
  CHECK(bind({{"metadata", {{"name", ""}}}}).code == 400);
  const auto other =
      bind({{"metadata", {{"name", "a"}, {"uid", "x"}}}, {"target", {{"name", "n"}}}});
  CHECK(other.code == 409);
  CHECK(other.message().find("UID in precondition: x") != std::string::npos);
  CHECK(bind({{"metadata", {{"name", "a"}, {"resourceVersion", "1"}}}, {"target", {{"name", "n"}}}})
            .code == 409);
  const auto done = bind({{"metadata",
                           {{"name", "a"},
                            {"annotations", {{"by", "me"}}},
                            {"labels", {{"app", "x"}, {"zone", "z"}}}}},
                          {"target", {{"kind", "Node"}, {"name", "n1"}}}});
  CHECK(done.code == 201);
  const Json pod = server.get(kPods + "/a").json;
  CHECK(pod["spec"]["nodeName"] == "n1");
  CHECK(pod["metadata"]["annotations"]["by"] == "me");
  CHECK(pod["metadata"]["labels"] == Json{{"app", "x"}, {"zone", "z"}});
  CHECK(pod["status"]["conditions"][1]["type"] == "PodScheduled");
  CHECK_FALSE(pod["status"]["conditions"][1].contains("reason"));
  const auto again = bind({{"target", {{"name", "n2"}}}});
  CHECK(again.code == 409);
  CHECK(again.message() ==
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node "
        "\"n1\"");
}

TEST_CASE("a binding or an eviction whose metadata is none is refused and changes nothing") {
  Server server;
  make_pod(server, "a", "Pending", false);
  const Json before = server.get(kPods + "/a").json;
  const auto send = [&](const std::string& action, const std::string& kind,
                        const std::string& members, const Json& value) {
    return server.post(kPods + "/a/" + action,
                       {{"kind", kind},
                        {"metadata", {{"name", "a"}, {members, {{"a", value}}}}},
                        {"target", {{"name", "n1"}}}});
  };
  for (const char* members : {"annotations", "labels"}) {
    const std::string why = std::string(" cannot be handled as a ") + "KIND" +
                            ": json: cannot unmarshal number into Go struct field "
                            "ObjectMeta.metadata." +
                            members + " of type string";
    for (const auto& [action, kind, version] :
         {std::tuple{"binding", "Binding", "v1"}, std::tuple{"eviction", "Eviction", "v1"}}) {
      const auto refused = send(action, kind, members, 5);
      CHECK(refused.code == 400);
      std::string expected = std::string(kind) + " in version \"" + version + "\"" + why;
      expected.replace(expected.find("KIND"), 4, kind);
      CHECK(refused.message() == expected);
    }
  }
  CHECK(server.get(kPods + "/a").json == before);
  // As of any object, a null is an empty text.
  CHECK(send("binding", "Binding", "annotations", nullptr).code == 201);
  CHECK(server.get(kPods + "/a").json["metadata"]["annotations"] == Json{{"a", ""}});
}

TEST_CASE("an object that is none of its kind is left alone and ends nothing") {
  Server server;
  make_pod(server, "a", "Running", true);
  make_pod(server, "b", "Running", true);
  Json broken = server.api.storage().get("pods", "default/a")->json();
  broken["metadata"]["annotations"] = {{"a", 5}};
  server.api.storage().put("pods", broken);
  for (const char* name : {"/a", "/b"}) {
    CHECK(server.remove(kPods + name, {{"propagationPolicy", "Foreground"}}).code == 200);
  }
  std::vector<std::string> log;
  base::capture_log(&log);
  server.settle();
  base::capture_log(nullptr);
  CHECK(exists(server, "a"));
  CHECK_FALSE(exists(server, "b"));
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("default/a") != std::string::npos);
}

}  // namespace kubewatch::apiserver

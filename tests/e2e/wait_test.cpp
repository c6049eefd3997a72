// `kubewatch wait-condition` as a process against a server: what ends a wait, and what it says.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/json.hpp"
#include "e2e/any_kind.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

class Wait : public Program {
 public:
  Wait(World& w, std::vector<std::string> words, const std::string& in = "")
      : Program(w.loop(), command(w, std::move(words), in)) {}

  // It has read the present state and waits.
  void until_it_says(const std::string& text, Duration deadline = kSoon) {
    REQUIRE(will_say(text, deadline));
    INFO(err);
    REQUIRE(running());
  }
  int code() { return Program::code(kDiscovery); }
  bool ends_with(int wanted, const std::vector<std::string>& texts = {}) {
    const int ended = code();
    UNSCOPED_INFO(ended << "\n" << err);
    return ended == wanted && std::all_of(texts.begin(), texts.end(),
                                          [this](const std::string& text) { return says(text); });
  }

 private:
  static ProgramOptions command(World& w, std::vector<std::string> words, const std::string& in) {
    words.insert(words.begin(), {"wait-condition", "-n", w.ns()});
    for (std::string& word : words) word = w.expand(word);
    ProgramOptions options = kubewatch_command(w, std::move(words));
    options.environment.push_back("HOME=" + w.folder());
    options.input = in;
    return options;
  }
};

// For a --timeout that passes in full: again with much more of it where a busy machine did not come
// so far within it.
bool holds_in_time(const std::function<bool(const std::string&)>& holds) {
  return holds("3s") || holds("20s");
}

std::string map_of(const std::string& name, const std::string& more) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
         ", namespace: '@NS@'}, data: {" + more + "}}";
}

std::string labelled(const std::string& name, const std::string& more) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
         ", namespace: '@NS@', labels: {set: one}}, data: {" + more + "}}";
}

const char* const kDeployment =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: '@NS@'}, spec: "
    "{replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, "
    "spec: {containers: [{name: app, image: none}]}}}}";

std::string owned(const std::string& kind, const std::string& api_version, const std::string& name,
                  const Json& owner, const std::string& spec) {
  return "{apiVersion: " + api_version + ", kind: " + kind + ", metadata: {name: " + name +
         ", namespace: '@NS@', labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: " +
         base::string_at(owner, {"kind"}) +
         ", name: " + base::string_at(owner, {"metadata", "name"}) +
         ", controller: true, uid: " + base::string_at(owner, {"metadata", "uid"}) +
         "}]}, spec: " + spec + "}";
}

}  // namespace

E2E_CASE("wait: a condition that comes true ends it with 0 and kubectl's text") {
  World w;
  w.apply(map_of("a", "color: red"));
  Wait wait(w, {"configmap/a", "--for=jsonpath={.data.color}=green", "--timeout", "60s"});
  wait.until_it_says("configmaps/a: waiting: {.data.color} is red");
  w.merge("ConfigMap", "a", "{data: {color: green}}");
  CHECK(wait.code() == 0);
  CHECK(wait.out == "configmap/a condition met\n");
}

E2E_CASE("wait: conditions are judged together, on one state of the object") {
  World w;
  w.apply(map_of("a", "one: 'yes', two: 'no'"));
  Wait wait(w, {"cm", "a", "--for=jsonpath={.data.one}=yes", "--for=jq=.data.two == \"yes\"",
                "--timeout", "60s"});
  wait.until_it_says("configmaps/a: waiting: false");
  w.merge("ConfigMap", "a", "{data: {one: 'no', two: 'yes'}}");
  wait.until_it_says("{.data.one} is no");
  CHECK(wait.running());
  w.merge("ConfigMap", "a", "{data: {one: 'yes'}}");
  CHECK(wait.code() == 0);
}

E2E_CASE("wait: --fail-if ends it at once with 4, --any takes the first that holds") {
  World w;
  w.apply(map_of("a", "state: running"));
  Wait fails(w, {"cm/a", "--for=jsonpath={.data.state}=done",
                 "--fail-if=jsonpath={.data.state}=broken", "--timeout", "60s"});
  Wait any(w, {"cm/a", "--for=jsonpath={.data.state}=done", "--for=jsonpath={.data.state}=broken",
               "--any", "--timeout", "60s"});
  fails.until_it_says("is running");
  any.until_it_says("is running");
  w.merge("ConfigMap", "a", "{data: {state: broken}}");
  CHECK(fails.code() == 4);
  CHECK(
      fails.says("error: configmaps/a failed while waiting for jsonpath={.data.state}=done: "
                 "{.data.state} is broken"));
  CHECK(any.code() == 0);
}

E2E_CASE("wait: a deletion that nobody waits for ends it with 5, one that is awaited with 0") {
  World w;
  w.apply(map_of("a", "x: one"));
  Wait lost(w, {"cm/a", "--for=jsonpath={.data.ready}", "--timeout", "60s"});
  Wait awaited(w, {"cm/a", "--for=delete", "--timeout", "60s"});
  lost.until_it_says("is absent");
  awaited.until_it_says("still exists");
  w.remove("ConfigMap", "a");
  CHECK(lost.code() == 5);
  CHECK(lost.says("error: configmaps/a was deleted while waiting for jsonpath={.data.ready}"));
  CHECK(awaited.code() == 0);
  CHECK(awaited.out == "configmap/a condition met\n");
}

E2E_CASE("wait: names that do not exist yet, in one deadline with those that do") {
  World w;
  w.apply(map_of("a", "x: one"));
  Wait wait(w, {"cm/a", "cm/later", "--for=create", "--timeout", "60s"});
  wait.until_it_says("configmaps/later: absent");
  w.apply(map_of("later", "x: one"));
  CHECK(wait.code() == 0);
  CHECK(wait.out == "configmap/a condition met\nconfigmap/later condition met\n");
  CHECK(holds_in_time([&](const std::string& time) {
    Wait never(w, {"cm/never", "--for=create", "--timeout", time});
    return never.ends_with(5);
  }));
}

E2E_CASE("wait: a selector is followed live, and counted") {
  World w;
  w.apply(labelled("a", "ready: 'yes'"));
  Wait wait(w, {"cm", "-l", "set=one", "--for=jsonpath={.data.ready}=yes", "--exactly", "2",
                "--timeout", "60s"});
  wait.until_it_says("configmaps/a: met");
  w.apply(labelled("b", "ready: 'no'"));
  wait.until_it_says("configmaps/b: waiting");
  w.apply(labelled("c", "ready: 'yes'"));
  wait.until_it_says("configmaps/c: met");
  w.merge("ConfigMap", "b", "{metadata: {labels: {set: other}}}");  // b leaves
  CHECK(wait.code() == 0);
  CHECK(wait.out == "configmap/a condition met\nconfigmap/c condition met\n");
  Wait gone(w, {"cm", "-l", "set=one", "--for=delete", "--timeout", "60s"});
  gone.until_it_says("configmaps/a: waiting");
  w.remove("ConfigMap", "a");
  w.remove("ConfigMap", "c");
  CHECK(gone.code() == 0);
  CHECK(holds_in_time([&](const std::string& time) {
    Wait nothing(w, {"cm", "-l", "set=none", "--for=create", "--timeout", time});
    return nothing.ends_with(5);
  }));
}

E2E_CASE("wait: what leaves a selection is not taken for deleted") {
  World w;
  w.apply(labelled("a", "x: one"));
  w.apply(labelled("b", "x: one"));
  Wait gone(w, {"cm", "-l", "set=one", "--for=delete", "--timeout", "60s"});
  Wait fails(w, {"cm", "-l", "set=one", "--for=jsonpath={.data.x}=two", "--fail-if=delete",
                 "--timeout", "60s"});
  gone.until_it_says("configmaps/b: waiting");
  fails.until_it_says("configmaps/b: waiting");
  w.merge("ConfigMap", "a", "{metadata: {labels: {set: other}}}");
  gone.until_it_says("though the selection has it no more");
  CHECK(fails.running());
  w.merge("ConfigMap", "b", "{data: {x: two}}");
  CHECK(fails.code() == 0);  // a is not asked for any more
  CHECK(fails.out == "configmap/b condition met\n");
  w.remove("ConfigMap", "b");
  gone.until_it_says("configmaps/b: met");
  CHECK(gone.running());
  w.remove("ConfigMap", "a");
  CHECK(gone.code() == 0);
  CHECK(gone.out == "configmap/a condition met\nconfigmap/b condition met\n");
  w.apply(labelled("c", "x: one"));
  Wait deleted(w, {"cm", "-l", "set=one", "--for=jsonpath={.data.x}=two", "--fail-if=delete",
                   "--timeout", "60s"});
  deleted.until_it_says("configmaps/c: waiting");
  w.remove("ConfigMap", "c");
  CHECK(deleted.code() == 4);
}

E2E_CASE("wait: a version that is served no more takes no object with it") {
  World w;
  const std::string name = "upgrades.e2e.kubewatch.dev";
  const auto crd = [&](const std::string& v1_served) {
    const std::string schema =
        "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
           "{name: " +
           name +
           "}, spec: {group: e2e.kubewatch.dev, scope: Namespaced, names: {plural: upgrades, "
           "singular: upgrade, kind: Upgrade}, versions: [{name: v1, served: " +
           v1_served + ", storage: false, " + schema +
           "}, {name: v1beta1, served: true, storage: true, " + schema + "}]}}";
  };
  w.apply(crd("true"));
  const auto make = [&](const std::string& object) {
    REQUIRE(w.eventually([&] {
      return w
          .try_apply("{apiVersion: e2e.kubewatch.dev/v1, kind: Upgrade, metadata: {name: " +
                         object + ", namespace: '@NS@'}}",
                     "e2e", true)
          .ok();
    }));
  };
  make("a");
  make("b");
  core::ResourceType beta = w.type("Upgrade");
  beta.gvk.version = "v1beta1";
  Wait pinned(w, {"upgrade.v1.e2e.kubewatch.dev/a", "--for=delete", "--timeout", "10m"});
  Wait plain(w, {"upgrade/b", "--for=delete", "--timeout", "10m"});
  Wait later(w, {"upgrade/c", "--for=create", "--timeout", "10m"});
  pinned.until_it_says("still exists");
  plain.until_it_says("still exists");
  later.until_it_says("absent");
  w.apply(crd("false"));
  w.server().restart();  // a kube-apiserver ends the watches of that version, the sandbox does not
  for (Wait* wait : {&pinned, &plain, &later}) {
    wait->until_it_says("does not serve this version any more", kDiscovery);
  }
  bool made = false;
  const Json c = {{"apiVersion", "e2e.kubewatch.dev/v1beta1"},
                  {"kind", "Upgrade"},
                  {"metadata", {{"name", "c"}, {"namespace", w.ns()}}}};
  const auto creating =
      w.client().create(beta, w.ns(), c, {}, [&](const auto& answer) { made = answer.ok(); });
  REQUIRE(w.eventually([&] { return made; }));
  CHECK(later.code() == 0);
  CHECK(pinned.running());
  bool removed = false;
  const auto removing = w.client().remove(beta, {w.ns(), "a"}, {},
                                          [&](const auto& answer) { removed = answer.ok(); });
  REQUIRE(w.eventually([&] { return removed; }));
  CHECK(pinned.code() == 0);
  CHECK(plain.running());
  w.remove("CustomResourceDefinition", name, "");  // the rest goes with its kind
  CHECK(plain.code() == 0);
}

E2E_CASE("wait: --hold wants it to stay so") {
  World w;
  w.apply(map_of("a", "ready: 'yes'"));
  Wait held(w, {"cm/a", "--for=jsonpath={.data.ready}=yes", "--hold", "300ms", "--timeout", "60s"});
  CHECK(held.code() == 0);
  Wait late(w, {"cm/a", "--for=jsonpath={.data.ready}=yes", "--hold", "5m", "--timeout", "6m"});
  late.until_it_says("configmaps/a: met");
  CHECK(late.running());
  w.merge("ConfigMap", "a", "{data: {ready: 'no'}}");
  late.until_it_says("is no");
  w.remove("ConfigMap", "a");
  CHECK(late.code() == 5);
}

E2E_CASE("wait: a timeout of 0 judges once") {
  World w;
  w.apply(map_of("a", "x: one"));
  Wait met(w, {"cm/a", "--for=create", "--timeout=0"});
  CHECK(met.code() == 0);
  Wait unmet(w, {"cm/a", "--for=jsonpath={.data.x}=z", "--timeout=0", "-o", "json"});
  CHECK(unmet.code() == 3);
  const auto report = base::parse_json(unmet.out);
  REQUIRE(report.ok());
  CHECK((*report)["outcome"] == "timedOut");
  CHECK((*report)["objects"][0]["decidedBy"]["current"] == "{.data.x} is one");
  CHECK((*report)["objects"][0]["decidedBy"]["wanted"] == "z");
}

E2E_CASE("wait: a type that the server does not have yet is asked for until it does") {
  World w;
  if (w.get("CustomResourceDefinition", "latecomers.e2e.kubewatch.dev", "")) {
    w.remove_definition("latecomers.e2e.kubewatch.dev");
  }
  Wait wait(w, {"latecomer/a", "--for=create", "--timeout", "10m"});
  wait.until_it_says("asking for it again");
  w.apply(any_kind("e2e.kubewatch.dev", "Latecomer", "latecomers"));
  REQUIRE(w.eventually([&] {
    return w.try_apply(any_object("e2e.kubewatch.dev", "Latecomer", "a"), "e2e", true).ok();
  }));
  CHECK(wait.code() == 0);
  CHECK(wait.out == "latecomer.e2e.kubewatch.dev/a condition met\n");
  w.remove("CustomResourceDefinition", "latecomers.e2e.kubewatch.dev", "");
}

E2E_CASE("wait: an object whose fields go deep is not taken for a deleted one") {
  World w;
  const std::string name = "deeps.e2e.kubewatch.dev";
  w.apply(any_kind("e2e.kubewatch.dev", "Deep", "deeps"));
  Json spec = {{"end", true}};
  for (int i = 0; i < 194; ++i) spec = Json{{"a", std::move(spec)}};
  const Json deep = {{"apiVersion", "e2e.kubewatch.dev/v1"},
                     {"kind", "Deep"},
                     {"metadata", {{"name", "d194"}, {"namespace", w.ns()}}},
                     {"spec", std::move(spec)}};
  // Its managedFields are deeper than an answer to a write may be: whether it is there the waits
  // find out.
  REQUIRE(w.eventually([&] {
    const auto made = w.try_create(deep, false, "Ignore");
    return made.ok() || made.error().render().find("nested deeper") != std::string::npos;
  }));
  Wait there(w, {"deep/d194", "--for=create", "--timeout", "60s"});
  CHECK(there.code() == 0);
  Wait kept(w, {"deep/d194", "--for=delete", "--timeout", "1s"});
  CHECK(kept.code() == 3);
  w.remove("Deep", "d194", w.ns());
  Wait gone(w, {"deep/d194", "--for=delete", "--timeout", "60s"});
  CHECK(gone.code() == 0);
  w.remove("CustomResourceDefinition", name, "");
}

E2E_CASE("wait: a name may hold what separates a selector") {
  World w;
  const std::string name = "kubewatch=" + w.ns();
  w.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: \"" +
          name + "\"}, rules: []}");
  Wait there(w, {"clusterrole/" + name, "--for=create", "--timeout", "60s"});
  CHECK(there.code() == 0);
  w.remove("ClusterRole", name, "");
  Wait gone(w, {"clusterrole/" + name, "--for=delete", "--timeout", "60s"});
  CHECK(gone.code() == 0);
}

E2E_CASE("wait: of a category one object of any of its kinds is enough") {
  World w;
  Wait early(w, {"all", "--all", "--for=create", "--timeout", "0"});
  CHECK(early.code() == 5);
  Wait wait(w, {"all", "--all", "--for=create", "--timeout", "60s"});
  wait.until_it_says("nothing matches");
  w.apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: \"@NS@\"}, "
      "spec: {ports: [{port: 80}]}}");
  CHECK(wait.code() == 0);
  CHECK(wait.out == "service/web condition met\n");
}

E2E_CASE("wait: files name the objects, of stdin too") {
  World w;
  w.apply(map_of("a", "x: one"));
  w.apply(map_of("b", "x: one"));
  std::filesystem::create_directories(w.folder() + "/maps/deeper");
  w.file("maps/a.yaml", map_of("a", "x: one"));
  w.file("maps/deeper/b.yaml", map_of("b", "x: one"));
  Wait folder(w, {"-f", w.folder() + "/maps", "--for=create", "--timeout", "60s"});
  CHECK(folder.code() == 0);
  CHECK(folder.out == "configmap/a condition met\nconfigmap/b condition met\n");
  Wait in(w, {"-f", "-", "--for=jsonpath={.data.x}=one", "--timeout", "60s"},
          w.expand(map_of("a", "x: one")));
  CHECK(in.code() == 0);
}

E2E_CASE("wait: ready and rollout follow a Deployment, and the reason of a failure is told") {
  World w;
  if (w.server().name() != "sandbox") {
    // A status that the case makes up is overwritten there by the controller of Deployments.
    WARN("on the sandbox only: " << w.server().name() << " runs a controller of Deployments");
    return;
  }
  w.apply(kDeployment);
  const auto web = w.get("Deployment", "web");
  REQUIRE(web.has_value());
  const auto status = [&](const std::string& text) {
    w.merge("Deployment", "web", "{status: {" + text + "}}", "@NS@", "status");
  };
  status("observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1");
  const std::string pod_template =
      "{replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: "
      "web}}, spec: {containers: [{name: app, image: none}]}}}";
  w.apply(owned("ReplicaSet", "apps/v1", "web-1", *web, pod_template));
  const auto set = w.get("ReplicaSet", "web-1");
  REQUIRE(set.has_value());
  w.apply(owned("Pod", "v1", "web-1-x", *set, "{containers: [{name: app, image: none}]}"));
  w.merge("Pod", "web-1-x",
          "{status: {phase: Running, containerStatuses: [{name: app, image: none, imageID: '', "
          "ready: false, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: "
          "wait}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}}",
          "@NS@", "status");
  CHECK(holds_in_time([&](const std::string& time) {
    Wait late(w, {"deployment/web", "--for=ready", "--timeout", time});
    return late.ends_with(
        3, {"error: timed out waiting for ready on deployments.apps/web: InProgress: 0 of 1 "
            "replicas are available",
            "wanted: availableReplicas=1 (rule: Deployment: availableReplicas)",
            "cause: pod web-1-x: container app: CrashLoopBackOff, last exit code 137 (OOMKilled), "
            "4 restarts"});
  }));
  Wait pod(w, {"pod/web-1-x", "--for=ready", "--timeout", "60s"});
  CHECK(pod.code() == 4);
  Wait done(w, {"deployment/web", "--for=rollout", "--timeout", "60s"});
  done.until_it_says("deployments.apps/web: waiting");
  status(
      "observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, "
      "readyReplicas: 1, unavailableReplicas: null, conditions: [{type: Available, status: 'True', "
      "reason: Up, message: up}, {type: Progressing, status: 'True', reason: "
      "NewReplicaSetAvailable, message: done}]");
  CHECK(done.code() == 0);
  Wait ready(w, {"deployment/web", "--for=ready", "--timeout", "60s"});
  CHECK(ready.code() == 0);
  status(
      "conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, "
      "message: too slow}]");
  Wait failed(w, {"deployment/web", "--for=ready", "--timeout", "60s"});
  CHECK(failed.code() == 4);
  CHECK(failed.says("ProgressDeadlineExceeded: too slow"));
}

E2E_CASE("wait: a Pod that waits for its claim, and one whose init container failed, say so") {
  World w;
  w.apply(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: "
      "'@NS@'}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
  w.apply(
      "{apiVersion: v1, kind: Pod, metadata: {name: claims, namespace: '@NS@'}, spec: "
      "{containers: [{name: app, image: none}], volumes: [{name: v, persistentVolumeClaim: "
      "{claimName: data}}]}}");
  w.merge("Pod", "claims", "{status: {phase: Pending}}", "@NS@", "status");
  CHECK(holds_in_time([&](const std::string& time) {
    Wait claim(w, {"pod/claims", "--for=condition=Ready", "--timeout", time});
    return claim.ends_with(3, {"cause: PersistentVolumeClaim data is "});
  }));
  w.apply(
      "{apiVersion: v1, kind: Pod, metadata: {name: init, namespace: '@NS@'}, spec: "
      "{initContainers: [{name: migrate, image: none}], containers: [{name: app, image: "
      "none}]}}");
  w.merge("Pod", "init",
          "{status: {phase: Pending, initContainerStatuses: [{name: migrate, image: none, imageID: "
          "'', ready: false, restartCount: 0, state: {terminated: {exitCode: 2, reason: Error, "
          "message: no database}}}]}}",
          "@NS@", "status");
  CHECK(holds_in_time([&](const std::string& time) {
    Wait init(w, {"pod/init", "--for=ready", "--timeout", time});
    return init.ends_with(3, {"cause: init container migrate: exit code 2: no database"});
  }));
}

E2E_CASE("wait: the last warning Event of the object is told") {
  World w;
  w.apply(map_of("a", "x: one"));
  const auto stored = w.get("ConfigMap", "a");
  REQUIRE(stored.has_value());
  w.create(
      "{apiVersion: v1, kind: Event, metadata: {name: a.1, namespace: '@NS@'}, type: Warning, "
      "reason: Refused, message: nobody likes it, count: 3, firstTimestamp: "
      "'2026-01-02T03:04:05Z', lastTimestamp: '2026-01-02T03:04:05Z', involvedObject: "
      "{apiVersion: v1, kind: ConfigMap, name: a, namespace: '@NS@', uid: " +
      base::string_at(*stored, {"metadata", "uid"}) + "}}");
  CHECK(holds_in_time([&](const std::string& time) {
    Wait wait(w, {"cm/a", "--for=jsonpath={.data.x}=z", "--timeout", time});
    return wait.ends_with(3, {"cause: Refused: nobody likes it (3 times)"});
  }));
}

E2E_CASE("wait: a server that ends its connections in between changes nothing") {
  World w;
  w.apply(map_of("a", "color: red"));
  Wait wait(w, {"cm/a", "--for=jsonpath={.data.color}=green", "--timeout", "10m"});
  wait.until_it_says("is red");
  w.server().restart();
  REQUIRE(w.eventually(
      [&] { return w.try_merge("ConfigMap", "a", "{data: {color: green}}", "@NS@"); }));
  const auto code = wait.code();
  INFO(wait.err);
  CHECK(code == 0);
}

}  // namespace kubewatch::e2e

// apply-ssa as a user runs it: the binary against the server, its output and exit code, and what is
// there afterwards.
#include <signal.h>

#include <algorithm>
#include <functional>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

struct Applied : Ran {
  bool says(const std::string& text) const { return out.find(text) != std::string::npos; }
  // The lines of -o json whose object has this name; null when there is none.
  Json line_of(const std::string& name) const {
    for (const auto& line : base::split(out, '\n')) {
      auto parsed = base::parse_json(line);
      if (parsed.ok() && base::string_at(*parsed, {"object", "metadata", "name"}) == name) {
        return *parsed;
      }
    }
    return nullptr;
  }
};

// `kubewatch apply-ssa -f - -n @NS@ WORDS` with this text on stdin; SIGINT once `interrupt` holds.
Applied apply_ssa(World& w, const std::string& yaml, std::vector<std::string> words = {},
                  const std::function<bool()>& interrupt = {}) {
  for (std::string& word : words) word = w.expand(word);
  words.insert(words.begin(), {"apply-ssa", "-f", "-"});
  ProgramOptions options = kubewatch_command(w, std::move(words));
  options.environment.push_back("HOME=" + w.folder());
  options.input = w.expand(yaml);
  Program program(w.loop(), std::move(options));
  if (interrupt) {
    // At once, and not at the next look of World::eventually: it turns the loop by its requests.
    const TimePoint deadline = w.loop().now() + kSoon;
    while (!interrupt()) REQUIRE(w.loop().now() < deadline);
    program.signal(SIGINT);
  }
  return {program.ran(Duration{120000})};
}

std::string config_map(const std::string& name, const std::string& color,
                       const std::string& place = "@NS@") {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: '" + place +
         "'}, data: {color: " + color + "}}\n---\n";
}

// As `kubectl apply` without --server-side creates it.
void create_client_side(World& w, const Json& object) {
  core::WriteParams params;
  params.field_manager = "kubectl-client-side-apply";
  bool made = false;
  const auto request = w.client().create(w.type(base::string_at(object, {"kind"})), w.ns(), object,
                                         params, [&](Result<Json> answer) { made = answer.ok(); });
  REQUIRE(w.eventually([&] { return made; }));
}

Json data_of(World& w, const std::string& name, const std::string& place = "@NS@") {
  const auto found = w.get("ConfigMap", name, place);
  if (!found) return "absent";
  const Json* data = base::find(*found, {"data"});
  return data == nullptr ? Json::object() : *data;
}

}  // namespace

E2E_CASE("apply-ssa tells created, configured with the changed paths, and unchanged") {
  World w;
  auto seen = apply_ssa(w, config_map("a", "red"));
  CHECK(seen.code == 0);
  CHECK(seen.out == "configmap/a created\n");
  seen = apply_ssa(w, config_map("a", "red"));
  CHECK(seen.out == "configmap/a unchanged\n");
  seen = apply_ssa(w, config_map("a", "blue"));
  CHECK(seen.out == "configmap/a configured: .data.color\n");
  seen = apply_ssa(w, config_map("a", "green"), {"-o", "json"});
  const Json line = seen.line_of("a");
  REQUIRE(line.is_object());
  CHECK(line["kind"] == "ApplyResult");
  CHECK(line["result"] == "configured");
  CHECK(line["changed"] == Json::array({".data.color"}));
  CHECK(line["object"]["data"]["color"] == "green");
}

E2E_CASE("apply-ssa -l applies the objects whose labels match, and no others") {
  World w;
  const std::string both =
      config_map("a", "red") +
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: '@NS@', labels: {of: x}}}";
  const auto seen = apply_ssa(w, both, {"-l", "of=x"});
  CHECK(seen.code == 0);
  CHECK(seen.out == "configmap/b created\n");
  CHECK(data_of(w, "a") == "absent");
  const auto none = apply_ssa(w, both, {"-l", "of=y"});
  CHECK(none.code == 5);
  CHECK(none.err == "error: no objects in the given files match -l of=y\n");
}

E2E_CASE("apply-ssa: a conflict is told as data, the other objects are applied, exit 6") {
  World w;
  w.apply(config_map("a", "red"), "someone");
  const auto seen = apply_ssa(w, config_map("a", "blue") + config_map("b", "blue"), {"-o", "json"});
  CHECK(seen.code == 6);
  const Json line = seen.line_of("a");
  REQUIRE(line.is_object());
  CHECK(line["result"] == "conflict");
  REQUIRE(line["conflicts"].size() == 1);
  CHECK(line["conflicts"][0] == Json({{"object", "configmap/a"},
                                      {"path", ".data.color"},
                                      {"owner", "someone"},
                                      {"theirs", "red"},
                                      {"mine", "blue"}}));
  CHECK(seen.err.find("Apply failed with 1 conflict: conflict with \"someone\"") !=
        std::string::npos);
  CHECK(data_of(w, "a")["color"] == "red");
  CHECK(data_of(w, "b")["color"] == "blue");
}

E2E_CASE("apply-ssa: force by path takes that path alone and says from whom") {
  World w;
  const std::string theirs =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, "
      "data: {color: red, size: '1'}}";
  const std::string mine =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, "
      "data: {color: blue, size: '2'}}";
  w.apply(theirs, "someone");
  auto seen = apply_ssa(w, mine, {"--force-conflicts=.data.color"});
  CHECK(seen.code == 6);  // .data.size stays a conflict
  CHECK(data_of(w, "a")["color"] == "red");
  seen = apply_ssa(w, mine, {"--force-conflicts=.data.color", "--force-conflicts=data.size"});
  CHECK(seen.code == 0);
  CHECK(seen.says("took .data.color: \"red\" of manager \"someone\", here \"blue\""));
  CHECK(data_of(w, "a")["color"] == "blue");
}

E2E_CASE("apply-ssa: force by owner takes what that manager has and nothing else") {
  World w;
  w.apply(config_map("a", "red"), "someone");
  CHECK(apply_ssa(w, config_map("a", "blue"), {"--force-owner", "another"}).code == 6);
  const auto seen =
      apply_ssa(w, config_map("a", "blue"), {"--force-owner", "someone", "-o", "json"});
  CHECK(seen.code == 0);
  CHECK(
      seen.line_of("a")["forced"] ==
      Json::array(
          {{{"path", ".data.color"}, {"owner", "someone"}, {"theirs", "red"}, {"mine", "blue"}}}));
  w.apply(config_map("a", "green"), "third");
  CHECK(apply_ssa(w, config_map("a", "pink"), {"--force-conflicts"}).code == 0);
  CHECK(data_of(w, "a")["color"] == "pink");
}

E2E_CASE("apply-ssa prunes what belongs to the ApplySet and is applied no more, nothing else") {
  World w;
  const std::vector<std::string> set = {"-n", "@NS@", "--prune", "--applyset", "site"};
  w.apply(config_map("foreign", "red"));
  auto seen = apply_ssa(w, config_map("a", "red") + config_map("b", "red"), set);
  CHECK(seen.code == 0);
  auto rehearsal = set;
  rehearsal.push_back("--dry-run=server");
  seen = apply_ssa(w, config_map("a", "red"), rehearsal);
  CHECK(seen.says("configmap/b pruned (server dry run)"));
  CHECK(data_of(w, "b")["color"] == "red");
  // A failure: nothing is pruned.
  w.apply(config_map("c", "red"), "someone");
  seen = apply_ssa(w, config_map("a", "red") + config_map("c", "blue"), set);
  CHECK(seen.code == 6);
  CHECK(data_of(w, "b")["color"] == "red");
  seen = apply_ssa(w, config_map("a", "red"), set);
  CHECK(seen.code == 0);
  CHECK(seen.says("configmap/b pruned"));
  CHECK(data_of(w, "b") == "absent");
  CHECK(data_of(w, "a")["color"] == "red");
  CHECK(data_of(w, "foreign")["color"] == "red");
  const auto parent = w.get("Secret", "site");
  REQUIRE(parent);
  CHECK((*parent)["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] ==
        "ConfigMap");
  const std::string id = (*parent)["metadata"]["labels"]["applyset.kubernetes.io/id"];
  CHECK(w.list("ConfigMap", "applyset.kubernetes.io/part-of=" + id).size() == 1);
}

E2E_CASE(
    "apply-ssa: the namespace of an ApplySet is there before it, and nothing is applied if not") {
  World w;
  const std::string place = w.ns() + "-new";
  const auto seen = apply_ssa(w,
                              "{apiVersion: v1, kind: Namespace, metadata: {name: " + place +
                                  "}}\n---\n" + config_map("a", "red", place),
                              {"--prune", "--applyset=set", "-n", place});
  CHECK(seen.code == 5);
  CHECK(seen.err.find("the ApplySet's namespace must be made first") != std::string::npos);
  CHECK_FALSE(w.get("Namespace", place, "").has_value());
}

E2E_CASE("apply-ssa prunes in the other namespaces of its ApplySet, and refuses another tool's") {
  World w;
  const std::vector<std::string> set = {"--prune", "--applyset", "configmaps/@NS@-set"};
  auto seen = apply_ssa(w, config_map("a", "red") + config_map("a", "red", "@NS2@"), set);
  CHECK(seen.code == 0);
  seen = apply_ssa(w, config_map("a", "red"), set);
  CHECK(seen.says("configmap/a pruned"));
  CHECK(data_of(w, "a", "@NS2@") == "absent");
  CHECK(data_of(w, "a")["color"] == "red");
  w.merge("ConfigMap", w.ns() + "-set",
          "{metadata: {annotations: {applyset.kubernetes.io/tooling: kubectl/v1.31}}}", "default");
  seen = apply_ssa(w, config_map("a", "blue"), set);
  CHECK(seen.code == 2);
  CHECK(data_of(w, "a")["color"] == "red");
  w.remove("ConfigMap", w.ns() + "-set", "default");
}

E2E_CASE("apply-ssa: what another ApplySet holds is a conflict that names it, and moves by force") {
  World w;
  const auto apply_in = [&](const std::string& set, const std::string& yaml,
                            std::string more = "") {
    std::vector<std::string> words = {"-n", "@NS@", "--prune", "--applyset", set};
    if (!more.empty()) words.push_back(std::move(more));
    return apply_ssa(w, yaml, words);
  };
  const std::string shared = config_map("shared", "red");
  CHECK(apply_in("k1", shared).code == 0);
  auto seen = apply_in("k2", config_map("shared", "blue") + config_map("own", "blue"));
  CHECK(seen.code == 6);
  CHECK(seen.err.find("ConfigMap \"shared\": it belongs to another ApplySet, secrets \"k1\"") !=
        std::string::npos);
  CHECK(data_of(w, "shared")["color"] == "red");
  CHECK(data_of(w, "own")["color"] == "blue");
  // One of another kind is told by its id.
  CHECK(apply_in("configmaps/k3", shared).err.find("another ApplySet, applyset-") !=
        std::string::npos);
  CHECK(apply_in("k2", shared, "--dry-run=server").code == 6);
  CHECK(apply_in("k2", shared, "--force-conflicts=.data").code == 6);
  CHECK(apply_in("k2", shared, "--force-owner=kubewatch").code == 6);
  // It is still the first one's, which leaves it where it is applied and prunes it where it is not.
  CHECK(apply_in("k1", shared).says("configmap/shared unchanged"));
  const std::string label = "metadata.labels[\"applyset.kubernetes.io/part-of\"]";
  seen = apply_in("k2", shared, "--force-conflicts=" + label);
  CHECK(seen.code == 0);
  CHECK(seen.says("  took .metadata.labels.applyset.kubernetes.io/part-of: \"applyset-"));
  CHECK(apply_in("k1", config_map("other", "red")).code == 0);
  CHECK(data_of(w, "shared")["color"] == "red");
}

E2E_CASE("apply-ssa takes over what client-side apply left: fields left out are removed") {
  World w;
  const Json object = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata",
       {{"name", "old"},
        {"namespace", w.ns()},
        {"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", "{}"}}}}},
      {"data", {{"color", "red"}, {"gone", "1"}}}};
  create_client_side(w, object);
  auto seen = apply_ssa(w, config_map("old", "blue"), {"--dry-run=server"});
  CHECK(seen.code == 0);
  CHECK(seen.says(".data.gone"));
  CHECK(data_of(w, "old") == Json({{"color", "red"}, {"gone", "1"}}));
  seen = apply_ssa(w, config_map("old", "blue"));
  CHECK(seen.code == 0);
  CHECK(seen.says("client-side apply (kubectl-client-side-apply)"));
  CHECK(data_of(w, "old") == Json({{"color", "blue"}}));
  const auto after = w.get("ConfigMap", "old");
  for (const Json& entry : (*after)["metadata"]["managedFields"]) {
    CHECK(entry["manager"] != "kubectl-client-side-apply");
  }
  CHECK(apply_ssa(w, config_map("old", "blue")).says("unchanged"));
}

E2E_CASE("apply-ssa: a dry run shows what the server puts back of client-side apply's fields") {
  World w;
  const auto secret = [](const std::string& value) {
    return "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, stringData: "
           "{a: " +
           value + "}}\n";
  };
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", {{"name", "s"}, {"namespace", w.ns()}}},
                       {"stringData", {{"a", "first-value"}}}};
  create_client_side(w, object);
  auto seen = apply_ssa(w, secret("first-value"), {"--dry-run=server"});
  INFO(seen.out);
  CHECK(seen.code == 0);
  CHECK(seen.says("secret/s configured (server dry run): ownership only"));
  seen = apply_ssa(w, secret("other-value"), {"--diff"});
  CHECK(seen.code == 9);
  CHECK(seen.says(".data.a"));
  CHECK_FALSE(seen.says(".type"));
  const Json untouched = {{"a", "Zmlyc3QtdmFsdWU="}};
  CHECK((*w.get("Secret", "s"))["data"] == untouched);
  CHECK(apply_ssa(w, secret("first-value")).says("secret/s configured: ownership only"));
}

E2E_CASE("apply-ssa: a dry run tells of ownership what the apply would") {
  World w;
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = "alice";
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "a"}, {"namespace", w.ns()}}},
                       {"data", {{"color", "red"}}}};
  bool made = false;
  const auto request =
      w.client().patch(w.type("ConfigMap"), {w.ns(), "a"}, object, params,
                       [&](Result<client::ApplyResult> answer) { made = answer.ok(); });
  REQUIRE(w.eventually([&] { return made; }));
  CHECK(apply_ssa(w, config_map("a", "red"), {"--dry-run=server"}).says("ownership only"));
  CHECK(apply_ssa(w, config_map("a", "red"), {"--diff"}).code == 9);
  CHECK(apply_ssa(w, config_map("a", "red")).says("ownership only"));
  CHECK(apply_ssa(w, config_map("a", "red"), {"--dry-run=server"}).says("unchanged"));
}

E2E_CASE("apply-ssa: an object that is given several times is written in that order") {
  World w;
  std::string text;
  for (int i = 0; i < 9; ++i) text += config_map("same", "c" + std::to_string(i));
  const auto seen = apply_ssa(w, text);
  INFO(seen.out + seen.err);
  CHECK(seen.code == 0);
  CHECK(data_of(w, "same")["color"] == "c8");
  CHECK(apply_ssa(w, text).code == 0);
  CHECK(data_of(w, "same")["color"] == "c8");
}

E2E_CASE("apply-ssa: a namespace, a CRD and their objects in one file, in any order") {
  World w;
  const std::string text = R"(
{apiVersion: apply.@NS@.dev/v1, kind: Gadget, metadata: {name: g, namespace: '@NS@-made'}, spec: {size: 1}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@-made'}, data: {x: '1'}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.apply.@NS@.dev}
spec:
  group: apply.@NS@.dev
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: '@NS@-made'}}
)";
  auto seen = apply_ssa(w, text, {"--diff"});
  CHECK(seen.code == 9);
  CHECK(
      seen.says("/g created (server dry run; cannot be judged before CustomResourceDefinition "
                "gadgets.apply." +
                w.ns() + ".dev is written)"));
  CHECK(seen.says("configmap/a created (server dry run; cannot be judged before Namespace " +
                  w.ns() + "-made is written)"));
  CHECK_FALSE(w.get("Namespace", w.ns() + "-made", ""));
  seen = apply_ssa(w, text);
  CHECK(seen.code == 0);
  // In the order of the file, whatever the order of writes.
  const auto gadget = seen.out.find("/g created");
  const auto crd = seen.out.find("customresourcedefinition.apiextensions.k8s.io/gadgets");
  const auto place = seen.out.find("namespace/" + w.ns() + "-made created");
  REQUIRE(gadget != std::string::npos);
  CHECK(gadget < crd);
  CHECK(crd < place);
  w.remove("CustomResourceDefinition", "gadgets.apply." + w.ns() + ".dev", "");
  w.remove("Namespace", w.ns() + "-made", "");
}

E2E_CASE("apply-ssa: what is looked up as others are written is there before them") {
  World w;
  // One at a time: without an order of its own that of the file would be the order of the writes.
  const auto seen = apply_ssa(w, R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: '@NS@'}
spec:
  runtimeClassName: '@NS@'
  serviceAccountName: runner
  containers: [{name: a, image: a}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: '@NS@'}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: runner, namespace: '@NS@'}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: '@NS@'}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: runner, namespace: '@NS@'}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: '@NS@'}, handler: runc}
)",
                              {"--concurrency=1"});
  INFO(seen.err);
  CHECK(seen.code == 0);
  CHECK(seen.out.find("pod/p created") < seen.out.find("serviceaccount/runner created"));
  const auto written = [&](const char* kind, const std::string& name, const char* ns) {
    const auto object = w.get(kind, name, ns);
    CHECK(object);
    const std::string version =
        object ? base::string_at(*object, {"metadata", "resourceVersion"}) : "";
    return version.empty() ? 0 : std::stoull(version);
  };
  const auto account = written("ServiceAccount", "runner", "@NS@");
  CHECK(written("node.k8s.io/RuntimeClass", "@NS@", "") < written("Pod", "p", "@NS@"));
  CHECK(account < written("Pod", "p", "@NS@"));
  CHECK(written("Role", "r", "@NS@") < written("RoleBinding", "b", "@NS@"));
  w.remove("node.k8s.io/RuntimeClass", "@NS@", "");
}

E2E_CASE("apply-ssa --subresource status writes the status and nothing else") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string site =
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: a, namespace: '@NS@'}, "
      "spec: {title: one}}";
  const std::string status =
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: a, namespace: '@NS@'}, "
      "status: {ready: true}}";
  CHECK(apply_ssa(w, status, {"--subresource", "status"}).code == 5);
  CHECK(apply_ssa(w, site).code == 0);
  const auto seen = apply_ssa(w, status, {"--subresource=status"});
  CHECK(seen.code == 0);
  CHECK(seen.says("/a/status configured: .status"));
  CHECK((*w.get("Website", "a"))["status"]["ready"] == true);
  CHECK((*w.get("Website", "a"))["spec"]["title"] == "one");
}

E2E_CASE("apply-ssa --subresource scale takes the replicas of a manifest and nothing else") {
  World w;
  w.apply(R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: '@NS@'},
    spec: {replicas: 1, selector: {matchLabels: {a: b}},
           template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}})");
  const auto scale = [](const std::string& spec) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: '@NS@'}, "
           "spec: " +
           spec + "}";
  };
  const std::vector<std::string> words = {"--subresource=scale", "--force-conflicts"};
  CHECK(apply_ssa(w, scale("{replicas: 3, paused: true}"), words).code == 2);
  CHECK((*w.get("Deployment", "web"))["spec"]["replicas"] == 1);
  const auto seen = apply_ssa(w, scale("{replicas: 3}"), words);
  CHECK(seen.code == 0);
  CHECK(seen.says("deployment.apps/web/scale configured: .spec.replicas"));
  CHECK((*w.get("Deployment", "web"))["spec"]["replicas"] == 3);
}

E2E_CASE("apply-ssa: a field that the schema lacks is refused, however it is to be validated") {
  World w;
  w.apply(kWebsiteCrd);
  for (const char* text :
       {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, dat: {a: b}}",
        "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: a, namespace: '@NS@'}, "
        "spec: {title: one, titel: two}}"}) {
    for (const char* how : {"--validate=strict", "--validate=warn", "--validate=ignore"}) {
      const auto seen = apply_ssa(w, text, {how});
      CHECK(seen.code == 1);
      CHECK(seen.err.find("field not declared in schema") != std::string::npos);
    }
  }
  CHECK_FALSE(w.get("ConfigMap", "a"));
  const auto twice =
      apply_ssa(w,
                "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, "
                "data: {a: b, a: c}}");
  CHECK(twice.code == 2);
}

E2E_CASE("who scales by server-side apply owns the replicas, and takes them only by force") {
  World w;
  const auto owner = [&](const std::string& kind, const std::string& name) {
    std::string out;
    const auto object = w.get(kind, name);
    for (const Json& entry : (*object)["metadata"]["managedFields"]) {
      if (base::find(entry, {"fieldsV1", "f:spec", "f:replicas"}) == nullptr) continue;
      out += base::string_at(entry, {"manager"}) + " " + base::string_at(entry, {"operation"}) +
             " " + base::string_at(entry, {"subresource"}) + ";";
    }
    return out;
  };
  const auto deployment = [](const std::string& spec) {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: '@NS@'}, "
           "spec: " +
           spec + "}";
  };
  REQUIRE(
      apply_ssa(w,
                deployment("{replicas: 1, selector: {matchLabels: {a: b}, matchExpressions: [{key: "
                           "d, operator: DoesNotExist}, {key: c, operator: In, values: [w, x]}]}, "
                           "template: {metadata: {labels: {a: b, c: x}}, "
                           "spec: {containers: [{name: c, image: x}]}}}"),
                {"--field-manager=a"})
          .code == 0);
  const std::vector<std::string> scaling = {"--subresource=scale", "--field-manager=s"};
  auto seen = apply_ssa(w, deployment("{replicas: 3}"), scaling);
  CHECK(seen.code == 6);
  CHECK(seen.err.find("conflict with \"a\": .spec.replicas") != std::string::npos);
  CHECK(owner("Deployment", "web") == "a Apply ;");
  const std::vector<std::string> forced = {"--subresource=scale", "--field-manager=s",
                                           "--force-conflicts"};
  CHECK(apply_ssa(w, deployment("{replicas: 3}"), forced).code == 0);
  CHECK(owner("Deployment", "web") == "s Apply scale;");
  CHECK(apply_ssa(w, deployment("{replicas: 3}"), scaling).says("/web/scale unchanged"));
  CHECK(apply_ssa(w, deployment("{replicas: 4}"), scaling).says("configured: .spec.replicas"));
  const Json scaled = w.merge("Deployment", "web", "{spec: {replicas: 5}}", "@NS@", "scale");
  CHECK(base::string_at(scaled, {"status", "selector"}) == "a=b,c in (w,x),!d");
  seen = apply_ssa(w, deployment("{replicas: 6}"), scaling);
  CHECK(seen.code == 6);
  CHECK(seen.err.find("\" with subresource \"scale\" using autoscaling/v1: .spec.replicas") !=
        std::string::npos);

  w.apply(R"({apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
    metadata: {name: gangs.@NS@.dev}, spec: {group: '@NS@.dev', scope: Namespaced,
    names: {plural: gangs, singular: gang, kind: Gang}, versions: [{name: v1, served: true,
    storage: true, subresources: {scale: {specReplicasPath: .spec.replicas,
    statusReplicasPath: .status.replicas, labelSelectorPath: .spec.pods}}, schema:
    {openAPIV3Schema: {type: object, properties: {spec: {type: object,
    properties: {replicas: {type: integer}, pods: {type: string}}},
    status: {type: object, properties: {replicas: {type: integer}}}}}}}]}})");
  const auto gang = [](const std::string& replicas) {
    return "{apiVersion: '@NS@.dev/v1', kind: Gang, metadata: {name: g, namespace: '@NS@'}, spec: "
           "{replicas: " +
           replicas + "}}";
  };
  REQUIRE(apply_ssa(w, gang("1"), {"--field-manager=a"}).code == 0);
  CHECK(apply_ssa(w, gang("2"), scaling).code == 6);
  seen = apply_ssa(w, gang("2"), forced);
  CHECK(seen.code == 1);
  CHECK(seen.err.find("invalid group/version: autoscaling/v1") != std::string::npos);
  const std::string kind = w.ns() + ".dev/Gang";
  CHECK(owner(kind, "g") == "a Apply ;");
  w.merge(kind, "g", "{spec: {pods: 'gang=g'}}");
  const Json scale = w.merge(kind, "g", "{spec: {replicas: 1}}", "@NS@", "scale");
  CHECK(base::string_at(scale, {"status", "selector"}) == "gang=g");
  w.remove("CustomResourceDefinition", "gangs." + w.ns() + ".dev", "");
}

E2E_CASE("apply-ssa --diff shows what would change, hides secrets, writes nothing, exits 9") {
  World w;
  const auto secret = [](const std::string& value) {
    return "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, data: {p: " +
           value + "}}\n---\n";
  };
  REQUIRE(apply_ssa(w, secret("aHVudGVyMg==") + config_map("a", "red")).code == 0);
  auto seen = apply_ssa(w, secret("aHVudGVyMg==") + config_map("a", "red"), {"--diff"});
  CHECK(seen.code == 0);
  CHECK(seen.out.empty());
  seen = apply_ssa(w, secret("aHVudGVyMw==") + config_map("a", "blue"), {"--diff"});
  CHECK(seen.code == 9);
  CHECK(seen.says("-  color: red\n+  color: blue\n"));
  CHECK(seen.says("-  p: \"<masked "));
  CHECK_FALSE(seen.says("aHVudGVy"));
  CHECK(data_of(w, "a")["color"] == "red");
  const std::string one_changed = secret("aHVudGVyMg==") + config_map("a", "blue");
  CHECK(apply_ssa(w, one_changed, {"--diff", "-o", "name"}).out == "configmap/a\n");
  CHECK_FALSE(apply_ssa(w, one_changed, {"--diff", "-o", "yaml"}).says("kind: Secret"));
  CHECK(apply_ssa(w, one_changed, {"--diff", "-o", "json"}).line_of("s")["result"] == "unchanged");
}

E2E_CASE("apply-ssa warns of fields that are the server's and drops them where asked") {
  World w;
  const std::string text =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@', "
      "creationTimestamp: null, generation: 7}, data: {color: red}}";
  auto seen = apply_ssa(w, text, {"--dry-run=server"});
  CHECK(seen.err.find(".metadata.generation is the server's") != std::string::npos);
  seen = apply_ssa(w, text, {"--strip-server-fields"});
  CHECK(seen.code == 0);
  CHECK(seen.err.find("generation") == std::string::npos);
}

E2E_CASE("apply-ssa applies many objects of several namespaces, told in the order of the input") {
  World w;
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += config_map("c" + std::to_string(i), "red", i % 2 == 0 ? "@NS@" : "@NS2@");
  }
  const auto seen = apply_ssa(w, text, {"--concurrency", "8"});
  CHECK(seen.code == 0);
  std::size_t at = 0;
  for (int i = 0; i < 60; ++i) {
    at = seen.out.find("configmap/c" + std::to_string(i) + " created in namespace", at);
    REQUIRE(at != std::string::npos);
  }
  CHECK(w.list("ConfigMap", "", "@NS2@").size() >= 30);
  CHECK(apply_ssa(w, text, {"-n", "@NS@"}).code == 2);
}

E2E_CASE("apply-ssa reads many objects by one list, and tells each as it would alone") {
  World w;
  const auto text_of = [](const std::string& color) {
    std::string out;
    for (int i = 0; i < 12; ++i) out += config_map("c" + std::to_string(i), color);
    return out;
  };
  CHECK(apply_ssa(w, text_of("red")).code == 0);
  w.apply(config_map("c3", "green"), "someone");
  w.remove("ConfigMap", "c4");
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c5, namespace: '@NS@', "
      "labels: {of: someone}}}",
      "someone");
  auto seen = apply_ssa(w, text_of("red"), {"-v=6"});
  CHECK(seen.code == 6);
  CHECK(seen.err.find("conflict with \"someone\"") != std::string::npos);
  CHECK(seen.says("configmap/c0 unchanged\n"));
  CHECK(seen.says("configmap/c4 created\n"));
  CHECK(seen.says("configmap/c5 unchanged\n"));
  CHECK(seen.err.find("configmaps?limit=36") != std::string::npos);
  CHECK(seen.err.find("method=GET url=" + w.server().config().server + "/api/v1/namespaces/" +
                      w.expand("@NS@") + "/configmaps/c1 ") == std::string::npos);
  seen = apply_ssa(w, text_of("blue"), {"-o", "json"});
  CHECK(seen.line_of("c3")["conflicts"][0]["theirs"] == "green");
  CHECK(seen.line_of("c5")["result"] == "configured");
  CHECK(seen.line_of("c5")["changed"] == Json::array({".data.color"}));
  CHECK(seen.line_of("c5")["object"]["metadata"]["labels"]["of"] == "someone");
}

E2E_CASE("apply-ssa --wait waits for what was applied, and gives the wait's exit code") {
  World w;
  w.apply(kWebsiteCrd);
  const std::string site =
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: a, namespace: '@NS@'}, "
      "spec: {title: one}}";
  CHECK(apply_ssa(w, site, {"--wait", "--for=jsonpath={.spec.title}=one", "--timeout=60s"}).code ==
        0);
  CHECK(apply_ssa(w, site, {"--wait", "--for=jsonpath={.spec.title}=two", "--timeout=5s"}).code ==
        3);
  CHECK(apply_ssa(w, site,
                  {"--wait", "--for=jsonpath={.spec.title}=two",
                   "--fail-if=jsonpath={.spec.title}=one", "--timeout=60s"})
            .code == 4);
  CHECK(apply_ssa(w, config_map("a", "red"), {"--wait"}).code == 0);
}

E2E_CASE("apply-ssa: nothing is pruned when what was applied is not as awaited") {
  World w;
  const std::vector<std::string> set = {"-n", "@NS@", "--prune", "--applyset", "site"};
  CHECK(apply_ssa(w, config_map("old", "red") + config_map("a", "red"), set).code == 0);
  auto words = set;
  words.insert(words.end(), {"--wait", "--for=jsonpath={.data.color}=blue", "--timeout=5s"});
  // Passes in full: its object is not as awaited.
  auto seen = apply_ssa(w, config_map("a", "red"), words);
  INFO(seen.err);
  CHECK(seen.code == 3);
  CHECK(seen.err.find("nothing was pruned, because what was applied is not as awaited") !=
        std::string::npos);
  CHECK(data_of(w, "old")["color"] == "red");
  words.back() = "--timeout=60s";
  words.insert(words.end(), {"-o", "json"});
  seen = apply_ssa(w, config_map("a", "blue"), words);
  CHECK(seen.code == 0);
  CHECK(data_of(w, "old") == "absent");
  // One object a line: the apply, the wait, the pruned one.
  const auto lines = base::split(base::trim(seen.out), '\n');
  REQUIRE(lines.size() == 3);
  std::vector<std::string> kinds;
  for (const auto& line : lines) {
    const auto parsed = base::parse_json(line);
    REQUIRE(parsed.ok());
    kinds.push_back(base::string_at(*parsed, {"kind"}));
  }
  CHECK(kinds == std::vector<std::string>{"ApplyResult", "WaitReport", "ApplyResult"});
  CHECK(seen.out.find("managedFields") == std::string::npos);
  CHECK(apply_ssa(w, config_map("a", "blue"), {"-o", "json", "--show-managed-fields"})
            .says("managedFields"));
}

// So many that they take longer than this process may be held up.
constexpr int kMany = 2000;
const std::string kLast = "m" + std::to_string(kMany - 1);

E2E_CASE("apply-ssa: a signal ends the writes, and each object that was left is told") {
  World w;
  std::string many;
  for (int i = 0; i < kMany; ++i) many += config_map("m" + std::to_string(i), "red");
  const auto seen =
      apply_ssa(w, many, {"--concurrency=1"}, [&] { return w.get("ConfigMap", "m0").has_value(); });
  INFO(seen.err);
  CHECK(seen.code == 1);
  CHECK(seen.says("configmap/m0 created"));
  CHECK(seen.err.find("\"" + kLast + "\": not applied: interrupted") != std::string::npos);
  CHECK(data_of(w, kLast) == "absent");
}

E2E_CASE("apply-ssa: a signal during --wait ends the writes, and nothing is pruned") {
  World w;
  const std::vector<std::string> set = {"-n", "@NS@", "--prune", "--applyset", "site"};
  CHECK(apply_ssa(w, config_map("old", "red"), set).code == 0);
  std::string many;
  for (int i = 0; i < kMany; ++i) many += config_map("m" + std::to_string(i), "red");
  auto words = set;
  words.insert(words.end(), {"--wait", "--timeout=10m", "--concurrency=1"});
  const auto seen = apply_ssa(w, many, words, [&] { return w.get("ConfigMap", "m0").has_value(); });
  INFO(seen.err);
  CHECK(seen.code == 1);
  CHECK(seen.says("configmap/m0 created"));
  CHECK(seen.err.find("\"" + kLast + "\": not applied: interrupted") != std::string::npos);
  CHECK(seen.err.find("nothing was pruned") != std::string::npos);
  CHECK(seen.err.find("not waited for: interrupted") != std::string::npos);
  CHECK(data_of(w, kLast) == "absent");
  CHECK(data_of(w, "old")["color"] == "red");
}

// What is applied is sent as JSON and read as YAML.
E2E_CASE("apply-ssa: characters that YAML would change or refuse arrive as they are") {
  World w;
  const std::string text =
      "a \x7f b \xc2\x85 c \xc2\x9f d \xe2\x80\xa8 e \xe2\x80\xa9 f \xef\xbb\xbf g \xef\xbf\xbe h "
      "\xef\xbf\xbf i 😀";
  Json object = {{"apiVersion", "v1"},
                 {"kind", "ConfigMap"},
                 {"metadata", {{"name", "odd"}, {"namespace", w.ns()}}},
                 {"data", {{"text", text}}}};
  const auto seen = apply_ssa(w, base::dump_json(object));
  INFO(seen.err);
  CHECK(seen.code == 0);
  CHECK(data_of(w, "odd")["text"] == text);
  CHECK(apply_ssa(w, base::dump_json(object)).says("unchanged"));
  // Sent by others as they stand, the server reads them by the rules of YAML.
  const auto raw = [&](const std::string& value) {
    object["metadata"]["name"] = "raw";
    object["data"]["text"] = value;
    return send_text(w, "PATCH",
                     w.expand("/api/v1/namespaces/@NS@/configmaps/raw?fieldManager=raw&force=true"),
                     base::dump_json(object), "application/apply-patch+yaml");
  };
  CHECK(raw("a \xc2\x85 b").code == 201);
  CHECK(data_of(w, "raw")["text"] == "a b");
  CHECK(raw("a \xe2\x80\xa8 b").code == 200);
  CHECK(data_of(w, "raw")["text"] ==
        "a\xe2\x80\xa8"
        "b");
  const auto refused = raw("a \x7f b");
  CHECK(refused.code == 400);
  CHECK(base::string_at(refused.body, {"message"}).find("control characters are not allowed") !=
        std::string::npos);
}

}  // namespace kubewatch::e2e

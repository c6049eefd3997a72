// Pod Security admission: what the labels of a namespace ask of its Pods. All texts of the checks
// are in tests/builtin/pod_security_test.cpp.
#include "base/strings.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

using Warnings = std::vector<std::string>;

struct Warned {
  Answer answer;
  Warnings warnings;  // as a reader sees them
};

Warned ask(World& w, const std::string& method, const std::string& path, const Json& body) {
  http::Request request;
  request.method = method;
  request.url = path;
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type", method == "PATCH" ? kMerge : "application/json");
  request.body = base::dump_json(body);
  const http::Response answer = fetch(w, w.server().config(), std::move(request));
  Warned out;
  out.answer.code = answer.status;
  auto parsed = base::parse_json(answer.body);
  if (parsed.ok()) out.answer.body = std::move(*parsed);
  const std::string start = "299 - ";
  for (const auto& [name, value] : answer.headers.all()) {
    if (!value.starts_with(start)) continue;
    const auto text = base::parse_json(value.substr(start.size()));
    if (text.ok() && text->is_string()) out.warnings.push_back(text->get<std::string>());
  }
  return out;
}

std::string ns_path(World& w) {
  return "/api/v1/namespaces/" + w.ns();
}

std::string pods(World& w) {
  return ns_path(w) + "/pods";
}

Json security_labels(const Json& labels) {
  Json out = Json::object();
  for (const auto& [name, value] : labels.items()) {
    out["pod-security.kubernetes.io/" + name] = value;
  }
  return {{"metadata", {{"labels", out}}}};
}

// A cluster's admission sees labels a moment later than its storage.
void enforced(World& w, const Json& labels, const std::string& path, const Json& object,
              const std::function<bool(const Warned&)>& is_there) {
  const Answer answer = patch(w, ns_path(w), security_labels(labels));
  INFO(message(answer));
  REQUIRE(answer.code == 200);
  REQUIRE(w.eventually([&] { return is_there(ask(w, "POST", path + "?dryRun=All", object)); }));
}

bool is_refused(const Warned& answer) {
  return answer.answer.code == 403;
}

bool is_warned(const Warned& answer) {
  return !answer.warnings.empty();
}

Json pod(const std::string& name, const Json& spec = Json::object()) {
  Json out = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  out["spec"].update(spec);
  return out;
}

Json safe_pod(const std::string& name) {
  return pod(name, Json::parse(R"({
      "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
      "containers": [{"name": "c", "image": "i", "securityContext": {
          "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]})"));
}

Json deployment(const std::string& name) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", 0},
            {"selector", {{"matchLabels", {{"a", "b"}}}}},
            {"template",
             {{"metadata", {{"labels", {{"a", "b"}}}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
}

// All that the container "c" lacks.
std::string restricted(const std::string& version = "latest") {
  return "PodSecurity \"restricted:" + version +
         "\": allowPrivilegeEscalation != false (container \"c\" must set "
         "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
         "\"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod "
         "or "
         "container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or "
         "container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
         "\"Localhost\")";
}

}  // namespace

E2E_CASE("a Pod that violates what its namespace enforces is refused, and a Deployment warned of") {
  World w;
  enforced(w, {{"enforce", "restricted"}}, pods(w), pod("p"), is_refused);
  const Warned refused = ask(w, "POST", pods(w), pod("p2"));
  CHECK(refused.answer.code == 403);
  CHECK(base::string_at(refused.answer.body, {"reason"}) == "Forbidden");
  CHECK(message(refused.answer) == "pods \"p2\" is forbidden: violates " + restricted());
  CHECK(refused.warnings.empty());
  // What the kind warns of is told all the same.
  const Warned dotted = ask(w, "POST", pods(w), pod("a.b"));
  CHECK(dotted.answer.code == 403);
  CHECK(dotted.warnings.size() == 1);
  const Warned fine = ask(w, "POST", pods(w), safe_pod("fine"));
  CHECK(fine.answer.code == 201);
  CHECK(fine.warnings.empty());
  const Warned made =
      ask(w, "POST", "/apis/apps/v1/namespaces/" + w.ns() + "/deployments", deployment("d"));
  CHECK(made.answer.code == 201);
  CHECK(made.warnings == Warnings{"would violate " + restricted()});
  const std::string one = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments/d";
  // With every write of it, but not of its scale.
  CHECK(ask(w, "PATCH", one, {{"metadata", {{"annotations", {{"a", "b"}}}}}}).warnings ==
        made.warnings);
  CHECK(ask(w, "PATCH", one + "/scale", {{"spec", {{"replicas", 0}}}}).warnings.empty());
}

E2E_CASE("whatever makes Pods is warned of, and taken") {
  World w;
  enforced(w, {{"enforce", "restricted"}, {"enforce-version", "v1.20"}}, pods(w), pod("p"),
           is_refused);
  const Json of_pods = deployment("d")["spec"]["template"];
  Json ends = of_pods;
  ends["spec"]["restartPolicy"] = "Never";
  const Json labels = {{"a", "b"}};
  const Json selector = {{"matchLabels", labels}};
  const Json owned = {{"selector", selector}, {"template", of_pods}};
  Json set = owned;
  set["serviceName"] = "s";
  const Json job = {{"template", ends}};
  struct Case {
    std::string path;
    Json object;
  };
  const std::vector<Case> cases = {
      {"/apis/apps/v1", {{"kind", "ReplicaSet"}, {"spec", owned}}},
      {"/apis/apps/v1", {{"kind", "DaemonSet"}, {"spec", owned}}},
      {"/apis/apps/v1", {{"kind", "StatefulSet"}, {"spec", set}}},
      {"/apis/batch/v1", {{"kind", "Job"}, {"spec", job}}},
      {"/apis/batch/v1",
       {{"kind", "CronJob"},
        {"spec", {{"schedule", "0 0 * * *"}, {"jobTemplate", {{"spec", job}}}}}}},
      {"/api/v1",
       {{"kind", "ReplicationController"},
        {"spec", {{"selector", labels}, {"template", of_pods}}}}},
      {"/api/v1", {{"kind", "PodTemplate"}, {"template", of_pods}}}};
  const std::string lacks =
      "would violate PodSecurity \"restricted:v1.20\": allowPrivilegeEscalation != false "
      "(container "
      "\"c\" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod "
      "or "
      "container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or "
      "container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
      "\"Localhost\")";
  for (const auto& [path, object] : cases) {
    const std::string kind = base::string_at(object, {"kind"});
    CAPTURE(kind);
    Json whole = object;
    whole["apiVersion"] = path == "/api/v1" ? "v1" : path.substr(std::string("/apis/").size());
    whole["metadata"] = {{"name", "x"}};
    const std::string all = path + "/namespaces/" + w.ns() + "/" + base::to_lower(kind) + "s";
    const Warned made = ask(w, "POST", all + "?dryRun=All", whole);
    CHECK(made.answer.code == 201);
    CHECK(made.warnings == Warnings{lacks});
  }
  // Its name is made before it is judged.
  Json unnamed = pod("");
  unnamed["metadata"] = {{"generateName", "made-"}};
  const std::string refused = message(ask(w, "POST", pods(w), unnamed).answer);
  CHECK(refused.starts_with("pods \"made-"));
  CHECK_FALSE(refused.starts_with("pods \"made-\""));
}

E2E_CASE("a Pod is judged again where it gets another image or an ephemeral container") {
  World w;
  REQUIRE(ask(w, "POST", pods(w), pod("old")).answer.code == 201);
  REQUIRE(ask(w, "POST", pods(w), safe_pod("fine")).answer.code == 201);
  enforced(w, {{"enforce", "restricted"}}, pods(w), pod("p"), is_refused);
  const std::string old = pods(w) + "/old";
  CHECK(ask(w, "PATCH", old, {{"metadata", {{"labels", {{"a", "b"}}}}}}).answer.code == 200);
  const Json image = {{"spec", {{"containers", {{{"name", "c"}, {"image", "j"}}}}}}};
  const Warned other = ask(w, "PATCH", old, image);
  CHECK(other.answer.code == 403);
  CHECK(message(other.answer) == "pods \"old\" is forbidden: violates " + restricted());
  const Json debug = {
      {"spec",
       {{"ephemeralContainers",
         {{{"name", "d"}, {"image", "i"}, {"terminationMessagePolicy", "File"}}}}}}};
  const Warned debugged = ask(w, "PATCH", pods(w) + "/fine/ephemeralcontainers", debug);
  CHECK(debugged.answer.code == 403);
  CHECK(message(debugged.answer) ==
        "pods \"fine\" is forbidden: violates PodSecurity \"restricted:latest\": "
        "allowPrivilegeEscalation != false (container \"d\" must set "
        "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
        "\"d\" must set securityContext.capabilities.drop=[\"ALL\"])");
}

E2E_CASE("a namespace that only warns takes the Pod, and one that names a version means it") {
  World w;
  enforced(w, {{"warn", "restricted"}}, pods(w), pod("p"), is_warned);
  const Warned made = ask(w, "POST", pods(w), pod("p"));
  CHECK(made.answer.code == 201);
  CHECK(made.warnings == Warnings{"would violate " + restricted()});
  // The check of host names came with 1.34; what warns by itself does not follow what is enforced.
  Json probed = safe_pod("probed");
  probed["spec"]["containers"][0]["livenessProbe"] = {
      {"httpGet", {{"port", 80}, {"host", "example.com"}}}};
  enforced(w, {{"enforce", "restricted"}, {"enforce-version", "v1.33"}, {"warn", "baseline"}},
           pods(w), pod("q"), is_refused);
  const Warned old = ask(w, "POST", pods(w), probed);
  CHECK(old.answer.code == 201);
  CHECK(
      old.warnings ==
      Warnings{"would violate PodSecurity \"baseline:latest\": probe or lifecycle host (container "
               "\"c\" uses probe or lifecycle host \"example.com\")"});
  CHECK(message(ask(w, "POST", pods(w), pod("q")).answer) ==
        "pods \"q\" is forbidden: violates " + restricted("v1.33"));
}

E2E_CASE("a label of Pod Security that says no level and no version is refused") {
  World w;
  const Warned wrong = ask(w, "PATCH", ns_path(w), security_labels({{"enforce", "foo"}}));
  CHECK(wrong.answer.code == 422);
  CHECK(message(wrong.answer) ==
        "Namespace \"" + w.ns() +
            "\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "
            "\"foo\": must be one of privileged, baseline, restricted");
  const Warned version =
      ask(w, "PATCH", ns_path(w) + "?dryRun=All",
          security_labels({{"warn", "baseline"}, {"warn-version", "1.30"}, {"audit", "x"}}));
  CHECK(version.answer.code == 422);
  CHECK(told_by_server(version.answer.body) ==
        Told{"metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: \"x\": must be one "
             "of privileged, baseline, restricted",
             "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.30\": "
             "must be \"latest\" or \"v1.x\""});
  Json made = security_labels({{"enforce", "Restricted"}});
  made["apiVersion"] = "v1";
  made["kind"] = "Namespace";
  made["metadata"]["name"] = w.ns() + "-other";
  CHECK(ask(w, "POST", "/api/v1/namespaces", made).answer.code == 422);
}

E2E_CASE("a namespace that asks for more says which of its Pods violate it, in a dry run as well") {
  World w;
  for (const char* name : {"b", "a", "c"}) {
    REQUIRE(ask(w, "POST", pods(w), pod(name)).answer.code == 201);
  }
  REQUIRE(ask(w, "POST", pods(w), pod("host", {{"hostPID", true}})).answer.code == 201);
  REQUIRE(ask(w, "POST", pods(w), safe_pod("fine")).answer.code == 201);
  const std::string lacks =
      "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, "
      "seccompProfile";
  const Warnings told = {"existing pods in namespace \"" + w.ns() +
                             "\" violate the new PodSecurity enforce level \"restricted:latest\"",
                         "a (and 2 other pods): " + lacks, "host: host namespaces, " + lacks};
  const Json strict = security_labels({{"enforce", "restricted"}});
  // The Pods reach the admission of a cluster a moment later than its storage.
  Warned dry;
  CHECK(w.eventually([&] {
    dry = ask(w, "PATCH", ns_path(w) + "?dryRun=All", strict);
    return dry.warnings == told;
  }));
  CHECK(dry.answer.code == 200);
  CHECK(ask(w, "PATCH", ns_path(w), strict).warnings == told);
  // Nothing of the level has changed.
  CHECK(ask(w, "PATCH", ns_path(w), {{"metadata", {{"labels", {{"a", "b"}}}}}}).warnings.empty());
  // Less is asked for; and another version is looked at.
  CHECK(ask(w, "PATCH", ns_path(w) + "?dryRun=All", security_labels({{"enforce", "baseline"}}))
            .warnings.empty());
  CHECK(ask(w, "PATCH", ns_path(w) + "?dryRun=All",
            security_labels({{"enforce", "baseline"}, {"enforce-version", "v1.30"}}))
            .warnings ==
        Warnings{"existing pods in namespace \"" + w.ns() +
                     "\" violate the new PodSecurity enforce level \"baseline:v1.30\"",
                 "host: host namespaces"});
}

}  // namespace kubewatch::e2e

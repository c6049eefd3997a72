// Pods against the Pod Security Standards; what is expected was told by a kube-apiserver 1.36.3.
#include "builtin/pod_security.hpp"

#include "builtin/pod_templates.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

using schema::FieldErrors;
using Told = std::vector<std::string>;

// What the level restricted wants of a container, and what else it says.
Json safe(const std::string& name, const std::string& more = "{}") {
  Json container = Json::parse(R"({"image": "i", "securityContext": {
      "allowPrivilegeEscalation": false, "runAsNonRoot": true,
      "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}})");
  container["name"] = name;
  container.merge_patch(Json::parse(more));
  return container;
}

Json pod(const Json& containers, const std::string& more = "{}") {
  Json out = {{"metadata", {{"name", "p"}}}, {"spec", Json::parse(more)}};
  out["spec"]["containers"] = containers;
  return out;
}

// Of one container that is safe but for that.
Json with(const std::string& container, const std::string& spec = "{}") {
  return pod(Json::array({safe("a", container)}), spec);
}

SecurityStandard standard(const std::string& text) {
  const auto colon = text.find(':');
  const Json labels = {{"pod-security.kubernetes.io/enforce", text.substr(0, colon)},
                       {"pod-security.kubernetes.io/enforce-version", text.substr(colon + 1)}};
  FieldErrors errors;
  const auto policy = security_policy({{"metadata", {{"labels", labels}}}}, errors);
  REQUIRE(errors.empty());
  CHECK(policy.enforce.text() == text);
  return policy.enforce;
}

// Without what it violates.
std::string faults(const std::string& of, const Json& subject) {
  const std::string told = security_violation(standard(of), subject);
  const std::string start = "PodSecurity \"" + of + "\": ";
  if (told.empty()) return told;
  REQUIRE(told.starts_with(start));
  return told.substr(start.size());
}

Json labelled(const Json& labels) {
  Json of_standards = Json::object();
  for (const auto& [name, value] : labels.items()) {
    of_standards["pod-security.kubernetes.io/" + name] = value;
  }
  return {{"metadata", {{"name", "n"}, {"labels", of_standards}}}};
}

SecurityPolicy policy_of(const Json& labels, FieldErrors& errors) {
  return security_policy(labelled(labels), errors);
}

}  // namespace

TEST_CASE("a Pod that says nothing of its security passes baseline, and not restricted") {
  const Json plain = pod({{{"name", "a"}, {"image", "i"}}});
  CHECK(faults("privileged:latest", plain).empty());
  CHECK(faults("baseline:latest", plain).empty());
  CHECK(faults("restricted:latest", plain) ==
        "allowPrivilegeEscalation != false (container \"a\" must set "
        "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
        "\"a\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or "
        "container \"a\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or "
        "container \"a\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or "
        "\"Localhost\")");
  // Checks that came later are not asked in earlier versions.
  CHECK(faults("restricted:v1.7", plain) ==
        "runAsNonRoot != true (pod or container \"a\" must set securityContext.runAsNonRoot=true)");
  CHECK(faults("restricted:v1.18", plain).starts_with("allowPrivilegeEscalation != false"));
  CHECK(faults("restricted:v1.18", plain).find("seccomp") == std::string::npos);
  CHECK(faults("restricted:v1.21", plain).find("capabilities") == std::string::npos);
  CHECK(faults("restricted:latest", pod(Json::array({safe("a")}))).empty());
  CHECK(faults("restricted:v1.999", pod(Json::array({safe("a")}))).empty());
}

TEST_CASE("first containers and ephemeral ones are judged like others, in their order") {
  Json all = pod({safe("a"), {{"name", "b"}}});
  all["spec"]["initContainers"] = {{{"name", "first"}}};
  all["spec"]["ephemeralContainers"] = {{{"name", "late"}}};
  CHECK(faults("restricted:v1.0", all) ==
        "runAsNonRoot != true (pod or containers \"first\", \"b\", \"late\" must set "
        "securityContext.runAsNonRoot=true)");
}

TEST_CASE("what the level baseline forbids") {
  struct Case {
    std::string container;
    std::string spec;
    std::string told;
  };
  const std::vector<Case> cases = {
      {R"({"securityContext": {"privileged": true}})", "{}",
       "privileged (container \"a\" must not set securityContext.privileged=true)"},
      {R"({"ports": [{"hostPort": 9090}, {"hostPort": 10000}, {"hostPort": 0}]})", "{}",
       "hostPort (container \"a\" uses hostPorts 10000, 9090)"},
      {R"({"securityContext": {"capabilities": {"add": ["NET_RAW", "CHOWN", "BPF"]}}})", "{}",
       "non-default capabilities (container \"a\" must not include \"BPF\", \"NET_RAW\" in "
       "securityContext.capabilities.add)"},
      {"{}", R"({"hostNetwork": true, "hostPID": true, "hostIPC": true})",
       "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"},
      {"{}", R"({"volumes": [{"name": "v", "hostPath": {"path": "/"}},
                             {"name": "e", "emptyDir": {}}]})",
       "hostPath volumes (volume \"v\")"},
      {R"({"securityContext": {"procMount": "Unmasked"}})", "{}",
       "procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")"},
      {R"({"livenessProbe": {"httpGet": {"host": "h"}},
           "lifecycle": {"preStop": {"tcpSocket": {"host": "g"}}}})",
       "{}",
       "probe or lifecycle host (container \"a\" uses probe or lifecycle hosts \"g\", \"h\")"},
      {R"({"securityContext": {"seLinuxOptions": {"type": "x", "role": "r"}}})",
       R"({"securityContext": {"seLinuxOptions": {"type": "y", "user": "u"}}})",
       "seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: "
       "types \"x\", \"y\"; user may not be set; role may not be set)"},
      {"{}", R"({"securityContext": {"seccompProfile": {"type": "Unconfined"}}})",
       "seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")"},
      {"{}", R"({"securityContext": {"sysctls": [{"name": "b.c"}, {"name": "a.b"},
                                                 {"name": "net.ipv4.tcp_syncookies"}]}})",
       "forbidden sysctls (b.c, a.b)"},
      {R"({"securityContext": {"windowsOptions": {"hostProcess": true}}})",
       R"({"securityContext": {"windowsOptions": {"hostProcess": true}}})",
       "hostProcess (pod and container \"a\" must not set "
       "securityContext.windowsOptions.hostProcess=true)"},
      {R"({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}})", "{}",
       "forbidden AppArmor profile (container \"a\" must not set AppArmor profile type to "
       "\"Unconfined\")"}};
  for (const Case& c : cases) {
    CAPTURE(c.container, c.spec);
    CHECK(faults("baseline:latest", with(c.container, c.spec)) == c.told);
    CHECK(faults("privileged:latest", with(c.container, c.spec)).empty());
    CHECK_FALSE(faults("restricted:latest", with(c.container, c.spec)).empty());
  }
}

TEST_CASE("profiles in annotations are judged as well, those of seccomp before it had fields") {
  Json subject = with(R"({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}})");
  subject["metadata"]["annotations"] = {
      {"container.apparmor.security.beta.kubernetes.io/a", "unconfined"},
      {"container.apparmor.security.beta.kubernetes.io/b", "localhost/b"},
      {"seccomp.security.alpha.kubernetes.io/pod", "unconfined"},
      {"container.seccomp.security.alpha.kubernetes.io/a", "docker/default"},
      {"container.seccomp.security.alpha.kubernetes.io/other", "unconfined"}};
  const std::string armor =
      "forbidden AppArmor profiles (container \"a\" and annotation must not set AppArmor profile "
      "type to \"Unconfined\", "
      "\"container.apparmor.security.beta.kubernetes.io/a=\"unconfined\"\")";
  CHECK(faults("baseline:v1.19", subject) == armor);
  CHECK(faults("baseline:v1.18", subject) ==
        armor +
            ", seccompProfile (forbidden annotation "
            "seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")");
}

TEST_CASE("what the level restricted forbids beyond") {
  CHECK(
      faults("restricted:latest",
             with(R"({"securityContext": {"capabilities": {"drop": null, "add": ["CHOWN"]}}})")) ==
      "unrestricted capabilities (container \"a\" must set "
      "securityContext.capabilities.drop=[\"ALL\"]; container \"a\" must not include \"CHOWN\" in "
      "securityContext.capabilities.add)");
  CHECK(faults("restricted:latest",
               with(R"({"securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"]}}})"))
            .empty());
  CHECK(faults("restricted:latest", with("{}", R"({"volumes": [
            {"name": "a", "hostPath": {}}, {"name": "b", "nfs": {}}, {"name": "c", "secret": {}},
            {"name": "d", "emptyDir": {}}, {"name": "e", "image": {}}]})")) ==
        "restricted volume types (volumes \"a\", \"b\" use restricted volume types \"hostPath\", "
        "\"nfs\")");
  CHECK(faults("restricted:latest", with(R"({"securityContext": {"runAsNonRoot": false}})",
                                         R"({"securityContext": {"runAsNonRoot": false}})")) ==
        "runAsNonRoot != true (pod and container \"a\" must not set "
        "securityContext.runAsNonRoot=false)");
  const Json root = with(R"({"securityContext": {"runAsUser": 0}})");
  CHECK(faults("restricted:v1.23", root) ==
        "runAsUser=0 (container \"a\" must not set runAsUser=0)");
  CHECK(faults("restricted:v1.22", root).empty());
  // The Pod speaks for its containers.
  CHECK(faults("restricted:latest",
               with(R"({"securityContext": {"runAsNonRoot": null, "seccompProfile": null}})",
                    R"({"securityContext": {"runAsNonRoot": true,
                        "seccompProfile": {"type": "Localhost"}}})"))
            .empty());
}

TEST_CASE("versions allow more as time goes by") {
  const auto sysctl = [](const char* name) {
    Json subject = with("{}");
    subject["spec"]["securityContext"]["sysctls"] = {{{"name", name}}};
    return subject;
  };
  const Json engine =
      with(R"({"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}})");
  const Json probe = with(R"({"startupProbe": {"tcpSocket": {"host": "h"}}})");
  struct Case {
    Json subject;
    std::string refused;
    std::string taken;
  };
  for (const Case& c : {Case{sysctl("net.ipv4.ip_local_reserved_ports"), "v1.26", "v1.27"},
                        Case{sysctl("net.ipv4.tcp_fin_timeout"), "v1.28", "v1.29"},
                        Case{sysctl("net.ipv4.tcp_rmem"), "v1.31", "v1.32"},
                        Case{engine, "v1.30", "v1.31"}, Case{probe, "v1.34", "v1.33"}}) {
    CAPTURE(c.subject.dump(), c.refused, c.taken);
    CHECK_FALSE(faults("baseline:" + c.refused, c.subject).empty());
    CHECK(faults("baseline:" + c.taken, c.subject).empty());
    CHECK_FALSE(faults("restricted:" + c.refused, c.subject).empty());
  }
}

TEST_CASE(
    "Windows is not asked for what it does not have, nor is root of other users than those of "
    "the node refused") {
  const Json windows =
      pod({{{"name", "a"}}},
          R"({"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": true}})");
  CHECK(faults("restricted:v1.25", windows).empty());
  CHECK_FALSE(faults("restricted:v1.24", windows).empty());
  const Json own = with(R"({"securityContext": {"runAsNonRoot": false, "runAsUser": 0,
                                                "procMount": "Unmasked"}})",
                        R"({"hostUsers": false})");
  CHECK(faults("baseline:v1.35", own).empty());
  CHECK_FALSE(faults("baseline:v1.34", own).empty());
  const std::string mount =
      "procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")";
  CHECK(faults("restricted:latest", own) == mount);
  CHECK(faults("restricted:v1.34", own) ==
        mount +
            ", runAsNonRoot != true (container \"a\" must not set "
            "securityContext.runAsNonRoot=false), runAsUser=0 (container \"a\" must not set "
            "runAsUser=0)");
}

TEST_CASE("labels of a namespace say its levels, and who enforces one warns by it") {
  FieldErrors errors;
  CHECK(policy_of(Json::object(), errors).enforce.text() == "privileged:latest");
  auto policy = policy_of({{"enforce", "baseline"}, {"enforce-version", "v1.30"}}, errors);
  CHECK(policy.warn.text() == "baseline:v1.30");
  policy = policy_of({{"enforce", "baseline"}, {"warn", "privileged"}}, errors);
  CHECK(policy.warn.text() == "privileged:latest");
  policy = policy_of({{"enforce", "baseline"}, {"warn-version", "v1.2"}}, errors);
  CHECK(policy.warn.text() == "baseline:v1.2");
  CHECK(errors.empty());
}

TEST_CASE("a label that cannot be read is told, and enforces the strictest level") {
  FieldErrors errors;
  const auto policy = policy_of({{"enforce", "Baseline"},
                                 {"enforce-version", "1.30"},
                                 {"audit", ""},
                                 {"audit-version", "v1.01"},
                                 {"warn", "none"},
                                 {"warn-version", "v1.99999999999999999999"}},
                                errors);
  CHECK(policy.enforce.text() == "restricted:latest");
  CHECK(policy.warn.text() == "privileged:latest");
  const std::string field = "metadata.labels[pod-security.kubernetes.io/";
  const std::string level = "must be one of privileged, baseline, restricted";
  const std::string version = "must be \"latest\" or \"v1.x\"";
  Told told;
  for (const auto& error : errors) told.push_back(error.field + ": " + error.message);
  CHECK(told ==
        Told{field + "enforce]: Invalid value: \"Baseline\": " + level,
             field + "enforce-version]: Invalid value: \"1.30\": " + version,
             field + "audit]: Invalid value: \"\": " + level,
             field + "audit-version]: Invalid value: \"v1.01\": " + version,
             field + "warn]: Invalid value: \"none\": " + level,
             field + "warn-version]: Invalid value: \"v1.99999999999999999999\": " + version});
}

TEST_CASE("Pods that are there are looked at when a level is raised or its version is another") {
  CHECK(asks_for_more(standard("privileged:latest"), standard("baseline:latest")));
  CHECK(asks_for_more(standard("restricted:latest"), standard("baseline:v1.20")));
  CHECK_FALSE(asks_for_more(standard("restricted:latest"), standard("baseline:latest")));
  CHECK_FALSE(asks_for_more(standard("baseline:latest"), standard("baseline:latest")));
  CHECK_FALSE(asks_for_more(standard("baseline:latest"), standard("privileged:v1.3")));
}

TEST_CASE("Pods that violate a new level are told by what they have in common") {
  std::vector<Json> pods;
  const auto add = [&](const std::string& name, Json subject) {
    subject["metadata"]["name"] = name;
    pods.push_back(std::move(subject));
  };
  const auto told = [&] {
    std::vector<const Json*> all;
    for (const auto& one : pods) all.push_back(&one);
    return warnings_of_pods("shop", standard("baseline:latest"), all);
  };
  add("fine", with("{}"));
  CHECK(told().empty());
  const Json port = with(R"({"ports": [{"hostPort": 1}]})");
  add("z", with("{}", R"({"hostPID": true})"));
  add("c", port);
  add("b", port);
  const std::string head =
      "existing pods in namespace \"shop\" violate the new PodSecurity enforce level "
      "\"baseline:latest\"";
  CHECK(told() == Told{head, "b (and 1 other pod): hostPort", "z: host namespaces"});
  add("a", port);
  CHECK(told() == Told{head, "a (and 2 other pods): hostPort", "z: host namespaces"});
  // Of many the first are looked at, and of those of one controller one.
  Json alike = with("{}");
  alike["metadata"]["ownerReferences"] = {{{"uid", "u"}, {"controller", true}}};
  pods.insert(pods.begin(), kMostJudgedPods, alike);
  CHECK(told() == Told{"new PodSecurity enforce level only checked against the first 3000 of 3005 "
                       "existing pods",
                       head, "a (and 2 other pods): hostPort", "z: host namespaces"});
}

TEST_CASE("a Pod is judged anew when it gets another image or another container") {
  const Json live = pod({safe("a"), safe("b")});
  Json changed = live;
  changed["metadata"]["labels"] = {{"a", "b"}};
  changed["spec"]["containers"][0]["securityContext"] = {{"privileged", true}};
  CHECK_FALSE(is_security_update(live, changed));
  changed["spec"]["containers"][1]["image"] = "j";
  CHECK(is_security_update(live, changed));
  Json debugged = live;
  debugged["spec"]["ephemeralContainers"] = {{{"name", "d"}, {"image", "i"}}};
  CHECK(is_security_update(live, debugged));
  CHECK_FALSE(is_security_update(debugged, debugged));
  CHECK_FALSE(is_security_update(debugged, live));
  Json twice = debugged;
  twice["spec"]["ephemeralContainers"].push_back({{"name", "d"}, {"image", "other"}});
  CHECK_FALSE(is_security_update(twice, debugged));
  CHECK(is_security_update(twice, twice));
}

TEST_CASE("templates of Pods are found where each kind has them") {
  const Json pods = Json::parse(R"({"spec": {"a": 1}})");
  CHECK(*pod_template("podtemplates", {{"template", pods}}) == pods);
  CHECK(*pod_template("deployments.apps", {{"spec", {{"template", pods}}}}) == pods);
  const Json job = {{"spec", {{"jobTemplate", {{"spec", {{"template", pods}}}}}}}};
  CHECK(*pod_template("cronjobs.batch", job) == pods);
  CHECK(pod_template("replicationcontrollers", {{"spec", {{"template", nullptr}}}}) == nullptr);
  CHECK(pod_template("pods", pods) == nullptr);
}

}  // namespace kubewatch::builtin

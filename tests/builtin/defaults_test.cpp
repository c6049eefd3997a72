#include "builtin/defaults.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "builtin/image_name.hpp"
#include "builtin/typed_form.hpp"
#include "builtin/typed_objects.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

struct Case {
  std::string storage_id;
  std::string object;
  std::string more;
};

std::vector<Case> cases() {
  return {
#include "builtin/default_cases.inc"
  };
}

const std::string kContainer =
    R"("name":"c","image":"i:v","imagePullPolicy":"IfNotPresent","resources":{},)"
    R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File")";
const std::string kTemplateSpec =
    R"("dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler",)"
    R"("securityContext":{},"terminationGracePeriodSeconds":30)";
const std::string kPodSpec = kTemplateSpec + R"(,"enableServiceLinks":true)";

Json parsed(std::string text) {
  for (const auto& [mark, members] :
       {std::pair{"@C@", kContainer}, {"@S@", kPodSpec}, {"@T@", kTemplateSpec}}) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, 3, members);
    }
  }
  return Json::parse(text);
}

Json defaulted(const std::string& storage_id, Json object) {
  object = typed_object(storage_id, std::move(object));
  apply_defaults(storage_id, object);
  return object;
}

Json filled(const std::string& storage_id, const std::string& text) {
  Json object = defaulted(storage_id, parsed(text));
  object["metadata"]["name"] = "n";
  object["metadata"]["uid"] = "u";
  object["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z";
  std::vector<std::string> warnings;
  fill_new(storage_id, object, warnings);
  return object;
}

Json updated(const std::string& storage_id, const Json& live, const std::string& text) {
  Json object = defaulted(storage_id, parsed(text));
  fill_updated(storage_id, live, object);
  return object;
}

Json pod(const std::string& spec) {
  return filled("pods", R"({"metadata":{"labels":{"a":"x","b":"y"}},"spec":{)" + spec + "}}");
}

Json keys_of(const Json& tolerations) {
  Json out = Json::array();
  for (const Json& one : tolerations) out.push_back(one.value("key", ""));
  return out;
}

const std::string kPlain = R"("containers":[{@C@}])";
const char* kNotReady = "node.kubernetes.io/not-ready";
const char* kUnreachable = "node.kubernetes.io/unreachable";
const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

// Each value of the object, one after the other, replaced by something of another type.
void spoil(const Json& object, const std::function<void(Json)>& use) {
  const Json flat = object.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (Json::json_pointer at(path); !at.empty(); at = at.parent_pointer()) {
      for (const char* odd : {"null", "3", "\"x\"", "[1]", "[null]", "{}", "true"}) {
        Json spoilt = object;
        spoilt[at] = Json::parse(odd);
        use(std::move(spoilt));
      }
    }
  }
}

}  // namespace

TEST_CASE("the defaults of built-in kinds are those of kube-apiserver") {
  for (const Case& one : cases()) {
    CAPTURE(one.storage_id, one.object);
    Json want = typed_object(one.storage_id, parsed(one.object));
    const Json more = Json::parse(one.more);
    for (const auto& [path, value] : more.items()) {
      const Json::json_pointer at(path);
      if (value == "@gone@") {
        want[at.parent_pointer()].erase(at.back());
      } else {
        want[at] = value;
      }
    }
    const Json got = defaulted(one.storage_id, parsed(one.object));
    CHECK(got == want);
    CHECK(defaulted(one.storage_id, got) == got);
  }
}

TEST_CASE("defaults leave alone what has another type") {
  std::vector<std::string> warnings;
  for (const Case& one : cases()) {
    const Json object = defaulted(one.storage_id, parsed(one.object));
    if (one.object.size() > 400) continue;
    spoil(object, [&](Json spoilt) {
      apply_defaults(one.storage_id, spoilt);
      fill_updated(one.storage_id, object, spoilt);
      fill_updated(one.storage_id, spoilt, spoilt);
      fill_new(one.storage_id, spoilt, warnings);
    });
  }
  Json text = "no object";
  apply_defaults("pods", text);
  fill_new("pods", text, warnings);
  CHECK(text == "no object");
  CHECK(defaulted("things.example.com", Json::object()) == Json::object());
}

TEST_CASE("an image is pulled always where its tag is latest or missing") {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  for (const std::string& image : std::vector<std::string>{
           "i", "i:latest", "reg:5000/i", "UPPER/x", "localhost/x", "a/b/c", "i:latest" + digest,
           "[::1]:5000/x", "a__b/c.d--e", "A.com/x:latest"}) {
    CAPTURE(image);
    CHECK(is_latest_image(image));
  }
  for (const std::string& image : std::vector<std::string>{"",
                                                           "i:v",
                                                           "reg:5000/i:v1",
                                                           "i" + digest,
                                                           "x:",
                                                           "foo bar",
                                                           "x@sha256:abc",
                                                           "Upper",
                                                           "a..b/x",
                                                           "a___b",
                                                           "x//y",
                                                           "/x",
                                                           "x/",
                                                           "x.",
                                                           "-x",
                                                           "reg:port/x",
                                                           "a.b-/x",
                                                           "[x/y",
                                                           std::string(64, 'e'),
                                                           std::string(256, 'a')}) {
    CAPTURE(image);
    CHECK_FALSE(is_latest_image(image));
  }
}

TEST_CASE("a new Pod has a status and the tolerations of every Pod") {
  const Json plain = pod(kPlain);
  CHECK(plain["status"] == Json::parse(R"({"phase":"Pending","qosClass":"BestEffort"})"));
  CHECK(plain["spec"]["tolerations"][0] ==
        Json::parse(R"({"key":"node.kubernetes.io/not-ready","operator":"Exists",
                        "effect":"NoExecute","tolerationSeconds":300})"));
}

TEST_CASE("tolerations are added where none stands for them") {
  const auto keys = [](const std::string& given) {
    return keys_of(pod(R"("tolerations":[)" + given + "]," + kPlain)["spec"]["tolerations"]);
  };
  CHECK(keys("") == Json::array({kNotReady, kUnreachable}));
  CHECK(keys(R"({"operator":"Exists"})") == Json::array({""}));
  CHECK(keys(R"({"operator":"Exists","effect":"NoExecute"})") == Json::array({""}));
  CHECK(keys(R"({"key":"node.kubernetes.io/not-ready","effect":"NoExecute"})") ==
        Json::array({kNotReady, kUnreachable}));
  CHECK(keys(R"({"key":"node.kubernetes.io/unreachable","operator":"Exists"})") ==
        Json::array({kUnreachable, kNotReady}));
  CHECK(keys(R"({"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"})") ==
        Json::array({kUnreachable, kNotReady, kUnreachable}));
}

TEST_CASE("what becomes of the keys of labels and of scheduling gates in a new Pod") {
  const Json made = pod(
      R"("topologySpreadConstraints":[{"labelSelector":{},"matchLabelKeys":["b","none"]},
                                      {"matchLabelKeys":["b"]}],
         "affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"podAffinityTerm":{"labelSelector":{},"mismatchLabelKeys":["a"]}}]}},
         "schedulingGates":[{"name":"a/b"}],)" +
      kPlain);
  const Json& spread = made["spec"]["topologySpreadConstraints"];
  CHECK(spread[0]["labelSelector"] ==
        Json::parse(R"({"matchExpressions":[{"key":"b","operator":"In","values":["y"]}]})"));
  CHECK_FALSE(spread[1].contains("labelSelector"));
  CHECK(
      made["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
          [0]["podAffinityTerm"]["labelSelector"] ==
      Json::parse(R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["x"]}]})"));
  CHECK(made["status"]["conditions"] ==
        Json::parse(R"([{"type":"PodScheduled","status":"False","reason":"SchedulingGated",
          "message":"Scheduling is blocked due to non-empty scheduling gates",
          "lastProbeTime":null,"lastTransitionTime":"2024-01-01T00:00:00Z"}])"));
}

TEST_CASE("the class of service of a Pod") {
  const auto qos = [](const std::string& spec) { return pod(spec)["status"]["qosClass"]; };
  const auto container = [](const std::string& resources) {
    return R"("containers":[{"name":"c","image":"i","resources":)" + resources + "}]";
  };
  CHECK(qos(container(R"({"limits":{"cpu":"1","memory":"1Gi"}})")) == "Guaranteed");
  CHECK(qos(container(R"({"limits":{"cpu":"1","memory":"1Gi"},
                          "requests":{"cpu":"1000m","memory":"1024Mi"}})")) == "Guaranteed");
  CHECK(qos(container(R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1m"}})")) ==
        "Burstable");
  CHECK(qos(container(R"({"limits":{"cpu":"1"}})")) == "Burstable");
  CHECK(qos(container(R"({"requests":{"cpu":"1"}})")) == "Burstable");
  CHECK(qos(container(R"({"requests":{"cpu":"0"}})")) == "BestEffort");
  CHECK(qos(container(R"({"limits":{"example.com/gpu":"1"}})")) == "BestEffort");
  CHECK(qos(R"("resources":{"limits":{"cpu":"2","memory":"1Gi"}},)" + kPlain) == "Guaranteed");
  CHECK(qos(R"("resources":{"requests":{"cpu":"2"}},)" + kPlain) == "Burstable");
}

TEST_CASE("a new Job selects its Pods by its uid, unless it has a selector of its own") {
  const Json job = filled("jobs.batch", R"({"spec":{"template":{"spec":{}}}})");
  const Json labels = {{"batch.kubernetes.io/controller-uid", "u"},
                       {"batch.kubernetes.io/job-name", "n"},
                       {"controller-uid", "u"},
                       {"job-name", "n"}};
  CHECK(job["spec"]["template"]["metadata"]["labels"] == labels);
  CHECK(job["metadata"]["labels"] == labels);
  CHECK(job["spec"]["selector"] ==
        Json::parse(R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}})"));
  const Json manual =
      filled("jobs.batch", R"({"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},
                               "template":{"metadata":{"labels":{"a":"b"}}}}})");
  CHECK(manual["spec"]["selector"] == Json::parse(R"({"matchLabels":{"a":"b"}})"));
  CHECK(manual["metadata"]["labels"] == Json::parse(R"({"a":"b"})"));
}

TEST_CASE("a DaemonSet counts its templates") {
  const std::string text = R"({"spec":{"template":{"spec":{"nodeName":"a"}}}})";
  const auto counted = [](const Json& object) {
    return object["metadata"]["annotations"][kTemplateGeneration];
  };
  const Json made = filled("daemonsets.apps", text);
  CHECK(counted(made) == "1");
  CHECK(counted(updated("daemonsets.apps", made, text)) == "1");
  CHECK(counted(updated("daemonsets.apps", made, R"({"spec":{}})")) == "2");
}

TEST_CASE("what an update of a status gets beside the status") {
  const std::string now = "2025-01-01T00:00:00Z";
  const Json sets = filled("daemonsets.apps", R"({"spec":{}})");
  Json set = sets;
  set["metadata"]["annotations"][kTemplateGeneration] = "0";
  fill_updated_status("daemonsets.apps", sets, now, set);
  CHECK(set["metadata"]["annotations"][kTemplateGeneration] == "1");

  const Json job =
      filled("jobs.batch", R"({"spec":{"template":{"metadata":{"labels":{"k":"v"}}}}})");
  Json bare = job;
  bare["metadata"].erase("labels");
  fill_updated_status("jobs.batch", job, now, bare);
  CHECK(bare["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]);

  const Json volume = filled("persistentvolumes", R"({"spec":{}})");
  const auto since = [&](const char* status) {
    Json object = volume;
    object["status"] = Json::parse(status);
    fill_updated_status("persistentvolumes", volume, now, object);
    return base::string_at(object, {"status", "lastPhaseTransitionTime"});
  };
  const std::string then = "2024-01-01T00:00:00Z";
  const std::string other = "2024-06-01T00:00:00Z";
  CHECK(since(R"({"phase":"Pending"})") == then);
  CHECK(since(R"({"phase":"Bound"})") == now);
  CHECK(since(R"({"phase":"Bound","lastPhaseTransitionTime":"2024-01-01T00:00:00Z"})") == now);
  CHECK(since(R"({"phase":"Bound","lastPhaseTransitionTime":"2024-06-01T00:00:00Z"})") == other);
  CHECK(since(R"({"phase":"Pending","lastPhaseTransitionTime":"2024-06-01T00:00:00Z"})") == other);
}

TEST_CASE("what new volumes, claims and StatefulSets get") {
  const Json volume = filled("persistentvolumes", R"({"spec":{}})");
  CHECK(volume["status"] ==
        Json::parse(R"({"phase":"Pending","lastPhaseTransitionTime":"2024-01-01T00:00:00Z"})"));
  const auto claim = [](const std::string& source) {
    return filled("persistentvolumeclaims", R"({"spec":{)" + source + "}}")["spec"];
  };
  const std::string snapshot =
      R"({"kind":"VolumeSnapshot","apiGroup":"snapshot.storage.k8s.io","name":"x"})";
  CHECK(claim(R"("dataSource":)" + snapshot)["dataSourceRef"] == Json::parse(snapshot));
  CHECK(claim(R"("dataSourceRef":)" + snapshot)["dataSource"] == Json::parse(snapshot));
  const Json other = claim(R"("dataSource":{"kind":"Other","apiGroup":"x.io","name":"x"})");
  CHECK_FALSE(other.contains("dataSource"));
  CHECK_FALSE(other.contains("dataSourceRef"));
  const Json set = filled("statefulsets.apps", R"({"spec":{"updateStrategy":{"rollingUpdate":
                                                   {"partition":2,"maxUnavailable":2}}}})");
  CHECK(set["spec"]["updateStrategy"]["rollingUpdate"] == Json::parse(R"({"partition":2})"));
  // What a claim template says of its kind is not read.
  const Json claims = filled("statefulsets.apps", R"({"spec":{"volumeClaimTemplates":[
      {"apiVersion":"x/v1","kind":"Other","metadata":{"name":"d"}}]}})");
  const Json& said = claims["spec"]["volumeClaimTemplates"][0];
  CHECK(said["kind"] == "PersistentVolumeClaim");
  CHECK(said["apiVersion"] == "v1");
}

TEST_CASE("a Job without labels shares those of its template") {
  const auto shares = [](const std::string& metadata, const std::string& labels) {
    return shares_labels("jobs.batch", Json::parse(R"({"metadata":)" + metadata +
                                                   R"(,"spec":{"template":{"metadata":{"labels":)" +
                                                   labels + "}}}}"));
  };
  CHECK(shares("{}", R"({"k":null})"));
  CHECK(shares(R"({"labels":{}})", R"({"k":"v"})"));
  CHECK_FALSE(shares(R"({"labels":{"k":"v"}})", R"({"k":"v"})"));
  CHECK_FALSE(shares("{}", "null"));
  CHECK_FALSE(shares_labels("cronjobs.batch", Json::object()));
  Json job = filled("jobs.batch", R"({"spec":{"template":{"metadata":{"labels":{"k":"v"}}}}})");
  CHECK(job["metadata"]["labels"] == Json::parse(R"({"k":"v"})"));
  share_labels(job);
  CHECK(job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]);
}

TEST_CASE("what an object uses of a feature that is off it keeps, and gets no more of it") {
  const std::string leases = "leases.coordination.k8s.io";
  const std::string text = R"({"spec":{"strategy":"s","preferredHolder":"h"}})";
  CHECK(filled(leases, text)["spec"] == Json::object());
  CHECK(updated(leases, parsed(R"({"spec":{"strategy":"x"}})"), text)["spec"] ==
        Json::parse(R"({"strategy":"s"})"));
  const auto lifecycle = [](const Json& before) {
    const Json now = updated("deployments.apps", before,
                             R"({"spec":{"template":{"spec":{"containers":[
                                 {"lifecycle":{"stopSignal":"A"}},{"lifecycle":{}}]}}}})");
    return now["spec"]["template"]["spec"]["containers"];
  };
  const Json off = lifecycle(Json::object());
  CHECK_FALSE(off[0].contains("lifecycle"));
  CHECK(off[1]["lifecycle"] == Json::object());
  const Json on = lifecycle(Json::parse(R"({"spec":{"template":{"spec":{"initContainers":[
      {"lifecycle":{"stopSignal":"B"}}]}}}})"));
  CHECK(on[0]["lifecycle"] == Json::parse(R"({"stopSignal":"A"})"));
  // Whatever comes instead of a structure stays as it is.
  CHECK(filled(leases, R"({"spec":[1]})")["spec"] == Json::parse("[1]"));
  CHECK(filled("pods",
               R"({"spec":{"containers":[1,{"lifecycle":"x"}]}})")["spec"]["containers"][0] == 1);
}

TEST_CASE("an update of a Pod keeps its priority and its tolerations") {
  const Json live = pod(R"("priority":2000001000,)" + kPlain);
  const Json put = updated("pods", live, R"({"spec":{)" + kPlain + "}}");
  CHECK(put["spec"]["priority"] == 2000001000);
  CHECK(put["spec"]["tolerations"] == live["spec"]["tolerations"]);
}

TEST_CASE("empty lists that are stored as null stay until the rules of the kind have seen them") {
  const std::string roles = "roles.rbac.authorization.k8s.io";
  const Json none = Json::parse(R"({"rules":[]})");
  CHECK(filled(roles, R"({"rules":[]})")["rules"] == Json::array());
  CHECK(updated(roles, none, R"({"rules":[]})")["rules"] == Json::array());
}

TEST_CASE("a template in which something empty was said is the same one") {
  const std::string sets = "daemonsets.apps";
  const Json live =
      filled(sets, R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{}}}})");
  const auto generation = [&](const std::string& metadata) {
    return updated(
        sets, live,
        R"({"metadata":{"annotations":{}},"spec":{"template":{"metadata":)" + metadata +
            R"(,"spec":{"volumes":[]}}}})")["metadata"]["annotations"][kTemplateGeneration];
  };
  CHECK(generation(R"({"labels":{"a":"b"},"annotations":{}})") == "1");
  CHECK(generation(R"({"labels":{"a":"b"},"annotations":{"c":"d"}})") == "2");
}

TEST_CASE("a CSIDriver counts its changes from the first one on") {
  const std::string drivers = "csidrivers.storage.k8s.io";
  const Json made = filled(drivers, R"({"spec":{"attachRequired":true}})");
  CHECK_FALSE(made["metadata"].contains("generation"));
  Json same = made;
  fill_updated(drivers, made, same);
  CHECK_FALSE(same["metadata"].contains("generation"));
  Json changed = made;
  changed["spec"]["requiresRepublish"] = true;
  fill_updated(drivers, made, changed);
  CHECK(changed["metadata"]["generation"] == 1);
  Json again = changed;
  again["spec"]["requiresRepublish"] = false;
  fill_updated(drivers, changed, again);
  CHECK(again["metadata"]["generation"] == 2);
}

TEST_CASE("an empty object shows what Go does not leave out") {
  CHECK(empty_object("rbac.authorization.k8s.io/v1", "Role") ==
        Json::parse(R"({"apiVersion":"rbac.authorization.k8s.io/v1","rules":null})"));
  CHECK(empty_object("v1", "ReplicationController") ==
        Json::parse(R"({"apiVersion":"v1","spec":{},"status":{"replicas":0}})"));
  CHECK(empty_object("events.k8s.io/v1", "Event").contains("deprecatedSource"));
  CHECK(empty_object("v1", "ConfigMap") == Json::parse(R"({"apiVersion":"v1"})"));
}

}  // namespace kubewatch::builtin

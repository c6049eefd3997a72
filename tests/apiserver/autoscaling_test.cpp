// Autoscalers in two versions: what is stored once is shown, watched and owned in both.
#include "apiserver/support.hpp"
#include "apiserver/version_owners.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

const std::string kOlder = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
const std::string kNewer = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";

Json scaler(const std::string& version, Json spec = Json::object()) {
  Json all = {
      {"maxReplicas", 3},
      {"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", "d"}}}};
  all.update(spec);
  return {{"apiVersion", "autoscaling/" + version},
          {"kind", "HorizontalPodAutoscaler"},
          {"metadata", {{"name", "a"}}},
          {"spec", std::move(all)}};
}

Json share_of(const char* resource, int share) {
  return {
      {"type", "Resource"},
      {"resource",
       {{"name", resource}, {"target", {{"type", "Utilization"}, {"averageUtilization", share}}}}}};
}

// What an apply says, without all that it does not.
Json only(const std::string& version, Json spec) {
  Json object = scaler(version);
  object["spec"] = std::move(spec);
  return object;
}

Json owned(const Json& object, const std::string& manager) {
  for (const Json& entry : object["metadata"].value("managedFields", Json::array())) {
    if (entry["manager"] == manager) return entry["fieldsV1"];
  }
  return nullptr;
}

const Json kNone = Json::object();

}  // namespace

TEST_CASE("an autoscaler is stored once, for lists and watches of both versions") {
  Server server;
  const auto older = server.watch(kOlder + "?watch=true");
  const auto newer = server.watch(kNewer + "?watch=true");
  CHECK(server.post(kOlder, scaler("v1", {{"targetCPUUtilizationPercentage", 7}})).code == 201);
  REQUIRE(older->events().size() == 1);
  REQUIRE(newer->events().size() == 1);
  CHECK(older->events()[0]["object"]["spec"]["targetCPUUtilizationPercentage"] == 7);
  CHECK(newer->events()[0]["object"]["apiVersion"] == "autoscaling/v2");
  CHECK(newer->events()[0]["object"]["spec"]["metrics"] == Json::array({share_of("cpu", 7)}));
  CHECK(server.get(kOlder).json["items"].size() == 1);
  CHECK(server.get(kNewer).json["items"][0]["spec"]["metrics"].size() == 1);
  CHECK(server.post(kNewer, scaler("v2")).reason() == "AlreadyExists");
  const auto table = server.call("GET", kOlder + "/a", "", "", test::kTableAccept);
  CHECK(table.json["rows"][0]["cells"][2] == "cpu: <unknown>/7%");
}

TEST_CASE("metadata of an autoscaler alone is the same in both versions") {
  Server server;
  server.post(kNewer, scaler("v2", {{"metrics", {share_of("memory", 5)}}}));
  CHECK(server.get(kOlder + "/a").json["metadata"]["annotations"].contains(kMetrics));
  const auto partial = server.call("GET", kOlder + "/a", "", "",
                                   "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  CHECK_FALSE(partial.json["metadata"].contains("annotations"));
}

TEST_CASE("a status of one version keeps the spec of the other as it was") {
  Server server;
  const Json metrics = Json::array({share_of("cpu", 4), share_of("memory", 5)});
  server.post(kNewer, scaler("v2", {{"metrics", metrics}}));
  Json status = scaler("v1", {{"maxReplicas", 9}});
  status["status"] = {{"currentReplicas", 2}, {"currentCPUUtilizationPercentage", 6}};
  CHECK(server.put(kOlder + "/a/status", status).code == 200);
  const Json now = server.get(kNewer + "/a").json;
  CHECK(now["spec"]["metrics"] == metrics);
  CHECK(now["spec"]["maxReplicas"] == 3);
  CHECK(now["status"]["currentMetrics"][0]["resource"]["current"]["averageUtilization"] == 6);
  const Json main = server.put(kOlder + "/a", scaler("v1")).json;
  CHECK(main["status"]["currentCPUUtilizationPercentage"] == 6);
}

TEST_CASE("a status without current metrics shows and owns that there are none") {
  Server server;
  server.post(kNewer, scaler("v2"));
  Json status = scaler("v2");
  status["status"] = {{"currentReplicas", 2}};
  const Json told = server.put(kNewer + "/a/status", status).json;
  CHECK(told["status"]["currentMetrics"] == nullptr);
  CHECK(told["status"].contains("currentMetrics"));
}

TEST_CASE("a change in one version takes what it changes in the other") {
  Server server;
  server.post(kNewer + "?fieldManager=one",
              scaler("v2", {{"metrics", {share_of("cpu", 4), share_of("memory", 5)}}}));
  const Json patched = server
                           .merge(kOlder + "/a?fieldManager=two",
                                  {{"spec", {{"targetCPUUtilizationPercentage", 6}}}})
                           .json;
  CHECK(owned(patched, "two") == Json{{"f:spec", {{"f:targetCPUUtilizationPercentage", kNone}}}});
  CHECK_FALSE(owned(patched, "one")["f:spec"].contains("f:metrics"));
  // Whole in one version, by its fields in the other.
  const Json moved = server
                         .merge(kNewer + "/a?fieldManager=three",
                                {{"spec", {{"scaleTargetRef", {{"name", "e"}}}}}})
                         .json;
  CHECK(owned(moved, "one")["f:spec"]["f:scaleTargetRef"] ==
        Json{{"f:apiVersion", kNone}, {"f:kind", kNone}});
  // Owners that are forgotten are forgotten in all versions.
  const Json forgotten =
      server.merge(kOlder + "/a", {{"metadata", {{"managedFields", {Json::object()}}}}}).json;
  CHECK_FALSE(forgotten["metadata"].contains("managedFields"));
}

TEST_CASE("an apply meets the owners of the other version") {
  Server server;
  const auto apply = [&](const std::string& path, const char* query, const Json& object) {
    return server.apply(path + "/a?fieldManager=" + query, object);
  };
  REQUIRE(apply(kOlder, "one", scaler("v1", {{"targetCPUUtilizationPercentage", 4}})).code == 201);
  const Json wanted = scaler("v2", {{"minReplicas", 2}, {"metrics", {share_of("cpu", 5)}}});
  const auto refused = apply(kNewer, "two", wanted);
  CHECK(refused.code == 409);
  CHECK(refused.message() ==
        "Apply failed with 1 conflict: conflict with \"one\": "
        ".spec.targetCPUUtilizationPercentage");
  // It shares what it does not change, and then what it gave up stays.
  CHECK(apply(kNewer, "two", scaler("v2")).code == 200);
  Json less = scaler("v2");
  less["spec"].erase("maxReplicas");
  const auto left = apply(kNewer, "two", less);
  CHECK(left.code == 200);
  CHECK(left.json["spec"]["maxReplicas"] == 3);
  CHECK(owned(left.json, "one")["f:spec"].contains("f:maxReplicas"));
  const Json forced = apply(kNewer, "two&force=true", wanted).json;
  CHECK_FALSE(owned(forced, "one")["f:spec"].contains("f:targetCPUUtilizationPercentage"));
  // Its former fields are looked for in the version in which it applied them.
  const Json other = apply(kOlder, "two", scaler("v1")).json;
  CHECK(other["spec"]["minReplicas"] == 1);
  CHECK(owned(other, "two") ==
        Json{{"f:spec", {{"f:maxReplicas", kNone}, {"f:scaleTargetRef", kNone}}}});
}

TEST_CASE("what kubectl applied before is no conflict where it applies in the other version") {
  const std::string last = "kubectl.kubernetes.io/last-applied-configuration";
  const std::string from = GENERATE("v1", "v2");
  const bool up = from == "v1";
  Server server;
  Json first = scaler(from);
  first["metadata"]["annotations"][last] = base::dump_json(scaler(from)) + "\n";
  CHECK(
      server.post((up ? kOlder : kNewer) + "?fieldManager=kubectl-client-side-apply", first).code ==
      201);
  const auto moved =
      server.apply((up ? kNewer : kOlder) + "/a?fieldManager=kubectl", scaler(up ? "v2" : "v1"));
  INFO(moved.json.dump());
  CHECK(moved.code == 200);
}

TEST_CASE("conflicts are told in the order of their managers, whatever their versions") {
  Server server;
  server.apply(kNewer + "/a?fieldManager=a", scaler("v2"));
  server.apply(kOlder + "/a?fieldManager=b", scaler("v1"));
  server.apply(kNewer + "/a?fieldManager=c", scaler("v2"));
  const auto refused =
      server.apply(kNewer + "/a?fieldManager=d", scaler("v2", {{"maxReplicas", 9}}));
  CHECK(refused.code == 409);
  const std::string text = refused.json.value("message", "");
  INFO(text);
  CHECK(text.find("\"a\"") < text.find("\"b\""));
  CHECK(text.find("\"b\"") < text.find("\"c\""));
}

TEST_CASE("an apply in the other version keeps what no object of its type can lack") {
  Server server;
  const auto apply = [&](const std::string& path, const char* query, const Json& object) {
    return server.apply(path + "/a?force=true&fieldManager=" + query, object);
  };
  REQUIRE(apply(kOlder, "one", scaler("v1", {{"targetCPUUtilizationPercentage", 77}})).code == 201);
  const auto moved = apply(kNewer, "one", only("v2", {{"minReplicas", 2}}));
  REQUIRE(moved.code == 200);
  CHECK(moved.json["spec"]["maxReplicas"] == 3);
  CHECK(moved.json["spec"]["scaleTargetRef"] == scaler("v2")["spec"]["scaleTargetRef"]);
  CHECK(moved.json["spec"]["metrics"] == Json::array({share_of("cpu", 77)}));
  CHECK(owned(moved.json, "one") == Json{{"f:spec", {{"f:minReplicas", kNone}}}});

  const auto back = apply(kOlder, "one", only("v1", {{"maxReplicas", 8}}));
  CHECK(back.json["spec"]["minReplicas"] == 1);
  CHECK(back.json["spec"]["targetCPUUtilizationPercentage"] == 77);
  CHECK(apply(kNewer, "one", only("v2", {{"minReplicas", 3}})).json["spec"]["maxReplicas"] == 8);
}

TEST_CASE("what another manager owns in the other version is not pruned") {
  Server server;
  const auto apply = [&](const std::string& path, const char* manager, const Json& object) {
    return server.apply(path + "/a?fieldManager=" + manager, object).json;
  };
  const Json wanted = scaler("v2", {{"minReplicas", 2}, {"metrics", {share_of("cpu", 5)}}});
  apply(kNewer, "one", wanted);
  apply(kOlder, "two", scaler("v1", {{"minReplicas", 2}, {"targetCPUUtilizationPercentage", 5}}));
  const Json left = apply(kNewer, "one", scaler("v2"));
  CHECK(left["spec"]["metrics"] == wanted["spec"]["metrics"]);
  CHECK(left["spec"]["minReplicas"] == 2);
  // Whoever owned it last takes it along.
  CHECK(apply(kNewer, "two", scaler("v2"))["spec"]["minReplicas"] == 1);
}

TEST_CASE("an apply of the same in the other version keeps its time") {
  Server server;
  const auto apply = [&](const std::string& path, const std::string& version) {
    return server.apply(path + "/a?fieldManager=one", scaler(version)).json["metadata"];
  };
  const Json first = apply(kNewer, "v2")["managedFields"][0];
  server.advance(5000);
  const Json second = apply(kOlder, "v1");
  REQUIRE(second["managedFields"].size() == 1);
  CHECK(second["managedFields"][0]["apiVersion"] == "autoscaling/v1");
  CHECK(base::string_at(second["managedFields"][0], {"time"}) == first["time"]);
  // Once more is no write.
  CHECK(apply(kOlder, "v1")["resourceVersion"] == second["resourceVersion"]);
}

TEST_CASE("an apply of the same beside owners of the other version is no write") {
  Server server;
  server.post(kNewer + "?fieldManager=one", scaler("v2"));
  const auto apply = [&] {
    return server.apply(kOlder + "/a?fieldManager=two", scaler("v1")).json["metadata"];
  };
  const Json first = apply();
  server.advance(5000);
  CHECK(apply() == first);
}

TEST_CASE("a write in one version is one of the form that is kept") {
  Server server;
  const Json kept = Json::array({share_of("cpu", 4), share_of("memory", 5)});
  const auto metrics = [&] { return server.get(kNewer + "/a").json["spec"]["metrics"]; };
  server.post(kNewer, scaler("v2", {{"metrics", kept}}));
  // Who owns it is all that changes.
  CHECK(server.apply(kOlder + "/a?fieldManager=two", scaler("v1")).code == 200);
  CHECK(metrics() == kept);
  // Its CPU comes last, which v1 does not show.
  CHECK(server.put(kOlder + "/a", server.get(kOlder + "/a").json).code == 200);
  CHECK(metrics() == Json::array({share_of("memory", 5), share_of("cpu", 4)}));
  const Json again = server.get(kOlder + "/a").json;
  CHECK(server.put(kOlder + "/a", again).json["metadata"] == again["metadata"]);
}

TEST_CASE("a write is compared once for all owners of a version") {
  schema::Managed owners;
  for (int i = 0; i < 400; ++i) {
    schema::ManagedEntry entry;
    entry.manager = std::to_string(i);
    entry.api_version = i % 2 == 0 ? "autoscaling/v1" : "autoscaling/v2";
    owners.emplace(entry.manager, entry);
  }
  int compared = 0;
  const Changes changes = changes_by_version(owners, [&](const std::string&) {
    ++compared;
    return schema::Comparison();
  });
  CHECK(compared == 2);
  CHECK(changes.size() == 2);
}

TEST_CASE("faults of an autoscaler are told of the version that is stored") {
  Server server;
  CHECK(server.post(kOlder, scaler("v1", {{"targetCPUUtilizationPercentage", 0}}))
            .message()
            .ends_with("spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must "
                       "be greater than 0"));
  Json object = scaler("v1");
  object["metadata"]["annotations"][kMetrics] = R"([{"type":"Foo"}])";
  CHECK(server.post(kOlder, object).message().find("spec.metrics[0].type: Unsupported value") !=
        std::string::npos);
}

}  // namespace kubewatch::apiserver

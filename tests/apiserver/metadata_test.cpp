// What the server says of the metadata of a new object; of an update's only what is large.
#include "apiserver/metadata.hpp"

#include "apiserver/registry.hpp"
#include "apiserver/strategy.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

std::string told(const core::Gvk& gvk, const char* metadata) {
  const Registry registry;
  FieldErrors errors;
  validate_metadata(*registry.find_kind(gvk), {{"metadata", Json::parse(metadata)}}, errors);
  return errors.empty() ? "" : schema::sentences(errors);
}

const core::Gvk kConfigMap = {"", "v1", "ConfigMap"};
const core::Gvk kApiService = {"apiregistration.k8s.io", "v1", "APIService"};

}  // namespace

TEST_CASE("all that is wrong with a key is told") {
  const std::string no_name =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  for (const std::string field : {"labels", "annotations"}) {
    const std::string metadata = R"({"name":"a",")" + field + R"(":{"a/":""}})";
    const std::string start = "metadata." + field + ": Invalid value: \"a/\": ";
    CHECK(told(kConfigMap, metadata.c_str()) ==
          "[" + start + "name part must be non-empty, " + start + no_name + "]");
  }
  // Prefixes of annotations may have capital letters.
  CHECK(told(kConfigMap, R"({"name":"a","annotations":{"A.b/C":""}})").empty());
  CHECK_FALSE(told(kConfigMap, R"({"name":"a","labels":{"A.b/C":""}})").empty());
}

TEST_CASE("no generation is below 0") {
  CHECK(told(kConfigMap, R"({"name":"a","generation":-1,"labels":{"a":"!"}})")
            .starts_with("[metadata.generation: Invalid value: -1: must be greater than or equal "
                         "to 0, metadata.labels: "));
  CHECK(told(kConfigMap, R"({"name":"a","generation":5})").empty());
}

TEST_CASE("the name of an APIService is its spec's affair") {
  CHECK(told(kApiService, R"({"name":"v9."})").empty());
  CHECK(told(kApiService, R"({"generateName":"x_","name":"x_y"})").empty());
  CHECK(told(kApiService, "{}") ==
        "metadata.name: Required value: name or generateName is required");
  CHECK_FALSE(told(kConfigMap, R"({"name":"v9."})").empty());
}

TEST_CASE("metadata is looked at for all kinds, and by the rules of the kind once more or twice") {
  const Registry registry;
  const Json before = Json::parse(R"({"metadata":{"name":"a"}})");
  Json after = before;
  after["metadata"]["labels"] = {{"a", "!"}};
  after["metadata"]["generateName"] = "a/b";
  after["metadata"]["finalizers"] = {"a", "b c"};
  struct Counts {
    std::size_t labels = 0;
    std::size_t prefixes = 0;
    std::size_t names = 0;
    std::size_t domains = 0;
    bool operator==(const Counts&) const = default;
  };
  const auto counts = [&](const core::Gvk& gvk, const char* subresource) {
    FieldErrors errors;
    validate_metadata_update(*registry.find_kind(gvk), before, after, subresource, errors);
    Counts out;
    for (const auto& error : errors) {
      out.labels += error.field == "metadata.labels" ? 1 : 0;
      out.prefixes += error.field == "metadata.generateName" ? 1 : 0;
      out.names += error.field == "metadata.finalizers" ? 1 : 0;
      out.domains += error.field == "metadata.finalizers[0]" ? 1 : 0;
    }
    return out;
  };
  const core::Gvk volume = {"", "v1", "PersistentVolume"};
  CHECK(counts(kConfigMap, "") == Counts{4, 2, 2, 2});
  CHECK(counts({"apps", "v1", "Deployment"}, "") == Counts{3, 1, 1, 1});
  CHECK(counts(volume, "") == Counts{4, 3, 3, 2});
  CHECK(counts(volume, "status") == Counts{3, 1, 1, 1});
  CHECK(counts({"policy", "v1", "PodDisruptionBudget"}, "") == Counts{2, 1, 1, 0});
  CHECK(counts({"", "v1", "Event"}, "") == Counts{2, 1, 1, 0});
  CHECK(counts({"events.k8s.io", "v1", "Event"}, "") == Counts{3, 1, 1, 1});
  CHECK(counts({"coordination.k8s.io", "v1", "Lease"}, "") == Counts{3, 1, 1, 0});
  CHECK(counts({"batch", "v1", "CronJob"}, "status") == Counts{2, 1, 1, 0});
}

TEST_CASE("an owner is shown as JSON") {
  CHECK(told(kConfigMap, R"({"name":"a","ownerReferences":[
            {"apiVersion":"v1","kind":"Event","name":"<","uid":"u"}]})") ==
        R"(metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",)"
        R"("name":"\u003c","uid":"u"}: /v1, Kind=Event is disallowed from being an owner)");
}

TEST_CASE("the one name of a definition follows from its spec, and one that lacks is required") {
  const Registry registry;
  const ResourcePtr crds =
      registry.find_kind({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
  const auto faults = [&](const Json& metadata) {
    FieldErrors errors;
    validate_metadata(
        *crds,
        {{"metadata", metadata}, {"spec", {{"group", "kw.dev"}, {"names", {{"plural", "as"}}}}}},
        errors);
    std::vector<std::string> out;
    for (const auto& error : errors) out.push_back(schema::sentence(error));
    return out;
  };
  using Told = std::vector<std::string>;
  const std::string none = "must be spec.names.plural+\".\"+spec.group";
  CHECK(faults({{"name", "as.kw.dev"}}).empty());
  CHECK(faults(Json::object()) ==
        Told{"metadata.name: Required value: name or generateName is required"});
  CHECK(faults({{"name", "b"}, {"labels", {{"a", ""}, {" ", ""}}}}).front() ==
        "metadata.name: Invalid value: \"b\": " + none);
  CHECK(faults({{"name", "as.kw.dev"}, {"generateName", "as"}}) ==
        Told{"metadata.generateName: Invalid value: \"as\": " + none});
}

TEST_CASE("the rules of budgets and of core Events do not ask for the metadata") {
  const Registry registry;
  CHECK(looks_at_metadata(*registry.find_kind(kConfigMap)));
  CHECK(looks_at_metadata(*registry.find_kind({"events.k8s.io", "v1", "Event"})));
  CHECK_FALSE(looks_at_metadata(*registry.find_kind({"", "v1", "Event"})));
  CHECK_FALSE(looks_at_metadata(*registry.find_kind({"policy", "v1", "PodDisruptionBudget"})));
  test::Server server;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  Json budget = {{"metadata", {{"name", "x"}, {"labels", {{"a", "!"}}}}},
                 {"spec", {{"minAvailable", -1}}}};
  const auto causes = [&] { return server.post(budgets, budget).json["details"]["causes"]; };
  const Json spec = causes();
  REQUIRE(spec.size() == 1);
  CHECK(spec[0]["field"] == "spec.minAvailable");
  budget["spec"]["minAvailable"] = 1;
  const Json metadata = causes();
  REQUIRE(metadata.size() == 1);
  CHECK(metadata[0]["field"] == "metadata.labels");
}

// Nothing is timed: each with each would be 10^10 comparisons.
TEST_CASE("many finalizers of an object that is dying are kept, and none may be added") {
  constexpr int kMany = 100000;
  Json finalizers = Json::array();
  for (int i = 0; i < kMany; ++i) finalizers.push_back("x.io/" + std::to_string(i));
  const Json before = {
      {"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}, {"finalizers", finalizers}}}};
  Json after = before;
  after["metadata"]["finalizers"].erase(0);
  const Registry registry;
  const ResourcePtr deployments = registry.find_kind({"apps", "v1", "Deployment"});
  schema::FieldErrors errors;
  validate_metadata_update(*deployments, before, after, "", errors);
  CHECK(errors.empty());
  after["metadata"]["finalizers"].push_back("x.io/new");
  validate_metadata_update(*deployments, before, after, "", errors);
  REQUIRE(errors.size() == 2);
  CHECK(errors.front().message.find("[]string{\"x.io/new\"}") != std::string::npos);
}

}  // namespace kubewatch::apiserver

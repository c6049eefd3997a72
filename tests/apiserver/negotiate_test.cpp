#include "apiserver/negotiate.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::kTableAccept;
using test::Server;

namespace {

std::string chosen(const std::string& accept, Endpoint endpoint = Endpoint::object) {
  const auto as = negotiate(accept, {endpoint, false, "core.ConfigMap"});
  if (!as) return "406";
  const char* formats[] = {"object", "table", "partial"};
  return std::string(formats[static_cast<int>(as->format)]) + (as->yaml ? " yaml" : "");
}

}  // namespace

TEST_CASE("the first clause of Accept that can be served wins") {
  const std::string kubectl =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
      "json;as=Table;v=v1beta1;g=meta.k8s.io,"
      "application/json";
  CHECK(chosen("") == "object");
  CHECK(chosen("*/*") == "object");
  CHECK(chosen("application/yaml") == "object yaml");
  CHECK(chosen(kubectl) == "table");
  CHECK(chosen("application/vnd.kubernetes.protobuf,application/json") == "object");
  CHECK(chosen("application/json;q=0.1, application/yaml;q=0.9") == "object yaml");
  CHECK(chosen("application/json;as=Bogus;v=v1;g=meta.k8s.io,application/json") == "object");
  CHECK(chosen("application/json;as=Table;v=v9;g=meta.k8s.io") == "406");
  CHECK(chosen("text/html") == "406");
  // Ordering them takes the square of their number: those past the 256th are not read.
  std::string many;
  for (int i = 0; i < 4000; ++i) many += "a/b,";
  CHECK(chosen("application/json," + many) == "object");
  CHECK(chosen(many + "application/json") == "406");
  // The router takes types by their name; behind it, open ones are taken as well.
  CHECK(chosen("application/*") == "406");
  CHECK(chosen("Application/json") == "406");
  CHECK(chosen("application/*, application/yaml;q=0.1") == "object yaml");
  CHECK(chosen("text/html;q=0.9, application/yaml;q=0.1, */*;q=0.5") == "object");
  CHECK(chosen("application/json;q=0") == "object");
  CHECK(negotiate("application/*", {Endpoint::object, true, "unstructured.Unstructured"}).ok());
  CHECK(chosen("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io") == "partial");
  CHECK(chosen("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Endpoint::list) ==
        "406");
  CHECK(chosen("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
               Endpoint::list) == "partial");
  CHECK(chosen("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io") == "406");
  CHECK(chosen("application/yaml", Endpoint::watch) == "406");
  CHECK(chosen("application/yaml,application/json", Endpoint::watch) == "406");
}

TEST_CASE("a refusal names the media types that there are, a router's with streams of lists") {
  const auto words = [](const std::string& accept, Endpoint endpoint, bool custom) {
    const auto as = negotiate(accept, {endpoint, custom, "core.ConfigMap"});
    return as ? std::string() : as.error().message();
  };
  const std::string three =
      "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const std::string streams =
      "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  const std::string router = "406: Not Acceptable\n\nAvailable representations: ";
  const std::string only = "only the following media types are accepted: ";
  CHECK(words("text/plain", Endpoint::object, false) == router + three);
  CHECK(words("text/plain", Endpoint::deleted, false) == router + three);
  CHECK(words("text/plain", Endpoint::list, false) == router + three + ", " + streams);
  CHECK(words("text/plain", Endpoint::list, true) == only + three);
  CHECK(words("application/json;as=Foo;g=meta.k8s.io;v=v1", Endpoint::object, false) ==
        only + three);
  CHECK(words("application/yaml", Endpoint::watch, false) == only + streams);
}

TEST_CASE("failures come in YAML for who takes YAML") {
  Server server;
  const auto lost = server.call("GET", kConfigMaps + "/nope", "", "", "application/yaml");
  CHECK(lost.code == 404);
  CHECK(lost.content_type == "application/yaml");
  CHECK(lost.text.find("reason: NotFound\n") != std::string::npos);
  CHECK(server.call("GET", kConfigMaps + "/nope", "", "", kTableAccept).json["code"] == 404);
}

TEST_CASE("aggregated discovery is chosen by its transform and version") {
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  CHECK(negotiate_discovery(v2 + ",application/json", true).value().aggregated == "v2");
  CHECK(negotiate_discovery(v2 + ",application/json", false).value().aggregated.empty());
  CHECK_FALSE(negotiate_discovery(v2, false).ok());
  CHECK(negotiate_discovery("application/json", true).value().aggregated.empty());
  CHECK(negotiate_discovery("application/yaml", true).value().yaml);
  CHECK(negotiate_discovery("", true).value().aggregated.empty());
  CHECK_FALSE(negotiate_discovery("text/html", true).ok());
}

TEST_CASE("tables have the columns of their kind and rows with metadata, nothing, or the object") {
  Server server;
  server.post(kConfigMaps, config_map("a", {{"data", {{"k", "v"}}}}));
  server.advance(125000);
  const auto table = server.call("GET", kConfigMaps, "", "", kTableAccept);
  CHECK(table.json["kind"] == "Table");
  CHECK(table.json["rows"][0]["cells"] == Json::array({"a", 1, "2m5s"}));
  CHECK(table.json["rows"][0]["object"]["kind"] == "PartialObjectMetadata");
  CHECK(table.json["columnDefinitions"][1]["name"] == "Data");
  const auto none = server.call("GET", kConfigMaps + "/a?includeObject=None", "", "", kTableAccept);
  CHECK(none.json["rows"][0]["object"].is_null());
  const auto whole =
      server.call("GET", kConfigMaps + "?includeObject=Object", "", "", kTableAccept);
  CHECK(whole.json["rows"][0]["object"]["data"]["k"] == "v");
  const auto bogus = server.call("GET", kConfigMaps + "?includeObject=Bogus", "", "", kTableAccept);
  CHECK(bogus.code == 400);
  const auto roles =
      server.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "", "", kTableAccept);
  CHECK(roles.json["columnDefinitions"][1]["name"] == "Created At");
}

TEST_CASE("a custom kind's table has its printer columns, empty where the path finds nothing") {
  Server server;
  server.post(test::kCrdPath, test::website_crd());
  server.post(test::kWebsites, test::website("a"));
  const auto first = server.call("GET", test::kWebsites, "", "", kTableAccept);
  CHECK(first.json["rows"][0]["cells"] == Json::array({"a", 1, nullptr, "0s"}));
  server.merge(
      test::kWebsites + "/a/status",
      {{"status",
        {{"conditions",
          {{{"type", "Other"}, {"status", "False"}}, {{"type", "Ready"}, {"status", "True"}}}}}}});
  const auto second = server.call("GET", test::kWebsites, "", "", kTableAccept);
  CHECK(second.json["rows"][0]["cells"][2] == "True");
}

TEST_CASE("every kind can be printed, whatever its objects look like") {
  Server server;
  const Json odd = {{"spec", "x"}, {"status", Json::array({1})}, {"data", 1}};
  for (const auto& resource : server.api.registry().all()) {
    if (!resource->type.has_verb("list") || resource->type.plural == "customresourcedefinitions") {
      continue;
    }
    Json object = odd;
    object["metadata"] = {{"name", "odd"}};
    if (resource->type.namespaced) object["metadata"]["namespace"] = "default";
    server.api.storage().put(resource->storage_id, object);
    const auto& gvk = resource->type.gvk;
    const std::string root = gvk.group.empty() ? "/api/v1/" : "/apis/" + gvk.api_version() + "/";
    CAPTURE(gvk.str());
    const auto table = server.call("GET", root + resource->type.plural, "", "", kTableAccept);
    CHECK(table.code == 200);
    // The server itself writes an age for which it has no column.
    const std::size_t untold = gvk.kind == "IPAddress" ? 1 : 0;
    CHECK(table.json["rows"].back()["cells"].size() ==
          table.json["columnDefinitions"].size() + untold);
  }
}

TEST_CASE("YAML and indented JSON are given when asked for") {
  Server server;
  server.post(kConfigMaps, config_map("a", {{"data", {{"k", "v"}}}}));
  const auto yaml = server.call("GET", kConfigMaps + "/a", "", "", "application/yaml");
  CHECK(yaml.content_type == "application/yaml");
  CHECK(yaml.text.find("kind: ConfigMap\n") != std::string::npos);
  CHECK(server.get(kConfigMaps + "/a?pretty=true").text.find("\n  \"") != std::string::npos);
  CHECK(server.call("POST", kConfigMaps, "metadata: {name: yy}\ndata: {a: b}\n", "application/yaml")
            .json["data"]["a"] == "b");
}

}  // namespace kubewatch::apiserver

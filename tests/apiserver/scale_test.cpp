#include <utility>
#include <vector>

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kCrdPath;
using test::kTableAccept;
using test::kWebsites;
using test::Server;
using test::website;

namespace {

const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string kScale = kDeployments + "/d/scale";
const std::string kSiteScale = kWebsites + "/a/scale";

struct ScaleServer : Server {
  ScaleServer() {
    const Json pod = {{"metadata", {{"labels", {{"a", "b"}}}}},
                      {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
    post(kDeployments,
         {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "d"}}},
          {"spec",
           {{"replicas", 0}, {"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", pod}}}});
    post(kCrdPath, test::website_crd());
    post(kWebsites, website("a"));
  }
};

Json scale(const std::string& name, Json spec) {
  return {{"apiVersion", "autoscaling/v1"},
          {"kind", "Scale"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

const std::string kUnsaid =
    "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

}  // namespace

TEST_CASE("a Scale of none says nothing of how many") {
  ScaleServer server;
  CHECK(server.get(kScale).json["spec"] == Json::object());
  CHECK(server.put(kScale, scale("d", {{"replicas", 2}})).json["spec"] == Json{{"replicas", 2}});
}

TEST_CASE("fields that a Scale lacks are told, or refused where they are to be") {
  ScaleServer server;
  const Json odd = scale("d", {{"replicas", 0}, {"bar", 1}});
  CHECK(server.put(kScale, odd).headers.get("Warning") ==
        "299 - \"unknown field \\\"spec.bar\\\"\"");
  CHECK(server.put(kScale + "?fieldValidation=Ignore", odd).headers.get("Warning").empty());
  const std::string strict = "?fieldValidation=Strict";
  CHECK(server.put(kScale + strict, odd).message() ==
        "Scale in version \"v1\" cannot be handled as a Scale: strict decoding error: unknown "
        "field \"spec.bar\"");
  CHECK(server.call("PUT", kScale + strict, R"({"metadata":{"name":"d"},"spec":{},"spec":{}})")
            .message()
            .ends_with("duplicate field \"spec\""));
  const auto patched = server.merge(kScale + strict, {{"spec", {{"bar", 1}}}});
  CHECK(patched.code == 422);
  CHECK(patched.message().ends_with("strict decoding error: unknown field \"spec.bar\""));
  CHECK(server.put(kSiteScale + strict, scale("a", {{"bar", 1}})).message() == kUnsaid);
}

TEST_CASE("bodies that are no Scale are refused in the server's words") {
  ScaleServer server;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"apiVersion": "apps/v1", "kind": "Scale"})",
       "Scale in version \"v1\" cannot be handled as a Scale: no kind \"Scale\" is registered for "
       "version \"apps/v1\" in scheme \"pkg/runtime/scheme.go:111\""},
      {R"({"apiVersion": "apps/v1beta1", "kind": "Scale"})",
       "the API version in the data (apps/v1beta1) does not match the expected API version "
       "(autoscaling/v1)"},
      {R"({"metadata": {"name": "d"}, "spec": {"replicas": "x"}})",
       "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal string into "
       "Go struct field ScaleSpec.spec.replicas of type int32"},
      {R"({"metadata": {"name": "d"}, "spec": {"replicas": 99999999999}})",
       "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal number "
       "99999999999 into Go struct field ScaleSpec.spec.replicas of type int32"},
  };
  for (const auto& [body, words] : cases) {
    CAPTURE(body);
    const auto refused = server.call("PUT", kScale, body);
    CHECK(refused.code == 400);
    CHECK(refused.message() == words);
    CHECK(server.call("PUT", kSiteScale, body).message() == kUnsaid);
  }
  CHECK(server.merge(kScale, {{"kind", "Foo"}})
            .message()
            .ends_with("no kind \"Foo\" is registered for version \"autoscaling/v1\" in scheme "
                       "\"pkg/runtime/scheme.go:111\""));
}

TEST_CASE("a Scale that means another object is a conflict") {
  ScaleServer server;
  Json other = scale("d", {{"replicas", 1}});
  other["metadata"]["uid"] = "x";
  const auto refused = server.put(kScale, other);
  CHECK(refused.code == 409);
  CHECK(refused.message().find("StorageError: invalid object, Code: 4, Key: "
                               "/registry/deployments/default/d, ResourceVersion: 0") !=
        std::string::npos);
  other["metadata"].erase("uid");
  other["metadata"]["resourceVersion"] = "x";
  CHECK(server.put(kScale, other).code == 500);
  CHECK(server.get(kScale + "?resourceVersion=x").code == 500);
  CHECK(server.get(kScale + "?resourceVersion=99999").code == 504);
}

TEST_CASE("writes of a Scale are answered in the form that is asked for") {
  ScaleServer server;
  const std::string body = base::dump_json(scale("d", {{"replicas", 1}}));
  const std::string json = "application/json";
  CHECK(server.call("PUT", kScale, body, json, kTableAccept).json["kind"] == "Table");
  CHECK(server.call("PUT", kScale, body, json, "application/yaml").content_type ==
        "application/yaml");
  CHECK(server.call("PUT", kScale, body, json, "text/plain").code == 406);
  const std::string list = json + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  CHECK(server.call("GET", kScale, "", json, list).message().find("(*autoscaling.Scale)") !=
        std::string::npos);
  CHECK(server.call("GET", kSiteScale, "", json, list).message().find("(*v1.Scale)") !=
        std::string::npos);
  const auto table = server.call("GET", kSiteScale, "", json, kTableAccept);
  REQUIRE(table.json["columnDefinitions"].size() == 4);
  CHECK(table.json["columnDefinitions"][3]["type"] == "date");
  CHECK(table.json["rows"][0]["cells"][1] == 1);
}

TEST_CASE("the replicas of a custom object are owned as those of its Scale, by any version") {
  ScaleServer server;
  const std::string other = "/apis/demo.kubewatch.dev/v1beta1/namespaces/default/websites/a";
  const auto owners = [&] {
    std::string out;
    const Json object = server.get(kWebsites + "/a").json;
    for (const Json& one : object["metadata"]["managedFields"]) {
      if (base::find(one, {"fieldsV1", "f:spec", "f:replicas"}) == nullptr) continue;
      out += base::string_at(one, {"manager"}) + "/" + base::string_at(one, {"subresource"}) + " ";
    }
    return out;
  };
  struct Step {
    std::string path;
    int replicas = 0;
    std::string owners;
  };
  const std::vector<Step> steps = {
      {kSiteScale + "?fieldManager=s", 2, "s/scale "},
      {kSiteScale + "?fieldManager=s", 0, ""},
      {kSiteScale + "?fieldManager=s", 4, ""},
      {kWebsites + "/a?fieldManager=m", 5, "m/ "},
      {kSiteScale + "?fieldManager=s", 6, "s/scale "},
      {other + "?fieldManager=m", 7, "m/ "},
      // That version has no Scale.
      {kSiteScale + "?fieldManager=s", 8, "m/ "},
  };
  for (const Step& step : steps) {
    CAPTURE(step.path, step.replicas);
    CHECK(server.merge(step.path, {{"spec", {{"replicas", step.replicas}}}}).code == 200);
    CHECK(server.get(kWebsites + "/a").json["spec"]["replicas"] == step.replicas);
    CHECK(owners() == step.owners);
  }
}

TEST_CASE("who replaces a custom kind's Scale without saying that it is one owns nothing of it") {
  ScaleServer server;
  struct Case {
    Json without;
    bool owned = false;
  };
  const Case cases[] = {{Json::array({"kind", "apiVersion"}), false},
                        {Json::array({"apiVersion"}), false},
                        {Json::array({"kind"}), true},
                        {Json::array(), true}};
  const auto owns_replicas = [&](const std::string& path) {
    bool owned = false;
    const Json object = server.get(path).json;
    for (const Json& one : object["metadata"]["managedFields"]) {
      owned = owned || base::find(one, {"fieldsV1", "f:spec", "f:replicas"}) != nullptr;
    }
    return owned;
  };
  for (const Case& one : cases) {
    CAPTURE(one.without);
    Json body = scale("a", {{"replicas", 8}});
    for (const Json& key : one.without) body.erase(key.get<std::string>());
    server.merge(kWebsites + "/a?fieldManager=m", {{"spec", {{"replicas", 5}}}});
    server.merge(kWebsites + "/a?fieldManager=m", {{"spec", {{"replicas", 6}}}});
    REQUIRE(owns_replicas(kWebsites + "/a"));
    const auto answer = server.put(kSiteScale + "?fieldManager=s", body);
    CHECK(answer.code == 200);
    CHECK(answer.json["spec"]["replicas"] == 8);
    CHECK(owns_replicas(kWebsites + "/a") == one.owned);
    // Built-in kinds are known without it.
    body["metadata"]["name"] = "d";
    server.put(kScale, scale("d", {{"replicas", 7}}));
    CHECK(server.put(kScale + "?fieldManager=s", body).code == 200);
    CHECK(owns_replicas(kDeployments + "/d"));
  }
}

}  // namespace kubewatch::apiserver

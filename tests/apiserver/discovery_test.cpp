#include "apiserver/discovery.hpp"

#include <map>

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

constexpr const char kV2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const Json* group_of(const Json& list, const std::string& name) {
  for (const auto& group : list.at("items")) {
    if (base::string_at(group, {"metadata", "name"}) == name) return &group;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("aggregated discovery lists built-in and custom resources with all that clients use") {
  Server server;
  server.post(test::kCrdPath, test::website_crd());
  const auto core = server.call("GET", "/api", "", "", kV2);
  CHECK(core.content_type == kV2);
  CHECK(core.json["kind"] == "APIGroupDiscoveryList");
  const auto apis = server.call("GET", "/apis", "", "", kV2);
  REQUIRE(group_of(apis.json, "apps") != nullptr);
  const Json* group = group_of(apis.json, "demo.kubewatch.dev");
  REQUIRE(group != nullptr);
  REQUIRE(group->at("versions").size() == 2);
  CHECK(group->at("versions")[0]["version"] == "v1");
  const Json& resource = group->at("versions")[0]["resources"][0];
  CHECK(resource["resource"] == "websites");
  CHECK(resource["scope"] == "Namespaced");
  CHECK(resource["shortNames"] == Json::array({"ws"}));
  CHECK(resource["subresources"].size() == 2);
  CHECK(resource["responseKind"] ==
        Json{{"group", "demo.kubewatch.dev"}, {"version", "v1"}, {"kind", "Website"}});
  CHECK((*group_of(apis.json, "apps"))["versions"][0]["resources"][0]["responseKind"] ==
        Json{{"group", ""}, {"version", ""}, {"kind", "ControllerRevision"}});
  const std::string tag(apis.headers.get("ETag"));
  CHECK(tag.size() > 10);
}

TEST_CASE("plain discovery still answers old clients") {
  Server server;
  server.post(test::kCrdPath, test::website_crd());
  CHECK(server.get("/api").json["versions"] == Json::array({"v1"}));
  CHECK(server.get("/apis").json["kind"] == "APIGroupList");
  CHECK(server.get("/apis/apps").json["preferredVersion"]["groupVersion"] == "apps/v1");
  CHECK(server.get("/api/v1").json["groupVersion"] == "v1");
  CHECK_FALSE(server.get("/api/v1").json.contains("apiVersion"));
  CHECK(server.get("/api/v2").message() == "the server could not find the requested resource");
  CHECK(server.get("/apis/demo.kubewatch.dev/v7").text == "404 page not found\n");
  const auto custom = server.get("/apis/demo.kubewatch.dev/v1");
  CHECK(custom.json["resources"][0]["name"] == "websites");
  CHECK(custom.json["resources"][1]["name"] == "websites/status");
  CHECK(custom.json["resources"][2]["kind"] == "Scale");
  CHECK(custom.json["resources"][2]["group"] == "autoscaling");
}

TEST_CASE("the versions of a custom group are in one order over all its definitions") {
  Server server;
  const auto post = [&](const std::string& plural, const std::string& kind,
                        const std::vector<std::string>& names) {
    Json crd = test::website_crd();
    crd["metadata"]["name"] = plural + ".demo.kubewatch.dev";
    crd["spec"]["names"] = {{"plural", plural}, {"kind", kind}};
    Json version = crd["spec"]["versions"][1];
    crd["spec"]["versions"] = Json::array();
    for (const std::string& name : names) {
      version["name"] = name;
      version["storage"] = name == names[0];
      crd["spec"]["versions"].push_back(version);
    }
    REQUIRE(server.post(test::kCrdPath, crd).code == 201);
  };
  // v20240101 is a version like v2; 20 digits are more than any number has.
  post("as", "A", {"v1beta1", "foo10", "v99999999999999999999", "v1alpha3"});
  post("bs", "B", {"foo1", "v2", "v1beta1", "v10beta3", "v20240101"});
  const std::vector<std::string> order = {"v20240101", "v2",   "v10beta3", "v1beta1",
                                          "v1alpha3",  "foo1", "foo10",    "v99999999999999999999"};
  std::vector<std::string> told;
  const Json group = server.get("/apis/demo.kubewatch.dev").json;
  for (const Json& one : group["versions"]) told.push_back(base::string_at(one, {"version"}));
  CHECK(told == order);
  CHECK(group["preferredVersion"]["version"] == "v20240101");
  told.clear();
  const Json aggregated = server.call("GET", "/apis", "", "", kV2).json;
  for (const Json& one : group_of(aggregated, "demo.kubewatch.dev")->at("versions")) {
    told.push_back(base::string_at(one, {"version"}));
    if (one["version"] == "v1beta1") CHECK(one["resources"].size() == 2);
  }
  CHECK(told == order);
}

TEST_CASE("health, version and OpenAPI say what kubectl asks") {
  Server server;
  server.post(test::kCrdPath, test::website_crd());
  for (const std::string path : {"/healthz", "/livez", "/readyz"}) {
    CHECK(server.get(path).text == "ok");
    CHECK(server.get(path + "/ping").text == "ok");
    CHECK(server.get(path + "?verbose").text ==
          "[+]ping ok\n" + path.substr(1) + " check passed\n");
    CHECK(server.get(path + "/frob").code == 404);
  }
  const auto version = server.get("/version");
  CHECK(version.at({"gitVersion"}).rfind("v1.36.", 0) == 0);
  CHECK(version.at({"emulationMajor"}) + "." + version.at({"emulationMinor"}) == "1.36");
  CHECK(version.at({"minCompatibilityMajor"}) + "." + version.at({"minCompatibilityMinor"}) ==
        "1.35");
  const auto index = server.get("/openapi/v3");
  CHECK(index.json["paths"]["api/v1"]["serverRelativeURL"].get<std::string>().rfind(
            "/openapi/v3/api/v1?hash=", 0) == 0);
  const auto document = server.get("/openapi/v3/apis/demo.kubewatch.dev/v1");
  const Json& patch =
      document.json["paths"]["/apis/demo.kubewatch.dev/v1/namespaces/{namespace}/websites/{name}"]
                   ["patch"];
  CHECK(patch["x-kubernetes-group-version-kind"]["kind"] == "Website");
  bool validates = false;
  for (const auto& one : patch["parameters"])
    validates = validates || one["name"] == "fieldValidation";
  CHECK(validates);
  CHECK(document
            .json["components"]["schemas"]["dev.kubewatch.demo.v1.Website"]["properties"]["spec"]
                 ["properties"]
            .contains("host"));
  CHECK(server.get("/openapi/v3/apis/none/v1").code == 404);
  CHECK(server.get("/openapi/v2").json["definitions"].contains("dev.kubewatch.demo.v1.Website"));
}

TEST_CASE("unknown paths are plain 404s, unknown resources are Status objects, wrong methods 405") {
  Server server;
  for (const char* path : {"/nope", "/apis/nope", "/apis/nope.io/v1/things"}) {
    CAPTURE(path);
    CHECK(server.get(path).code == 404);
    CHECK(server.get(path).text == "404 page not found\n");
  }
  for (const char* path : {"/api/v1/nope", "/apis/apps/v7/deployments", "/api/v1/pods/x"}) {
    CAPTURE(path);
    CHECK(server.get(path).message() == "the server could not find the requested resource");
  }
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"PUT", test::kConfigMaps},
      {"POST", test::kConfigMaps + "/a"},
      {"FOO", test::kConfigMaps + "/a"},
      {"POST", "/api/v1/configmaps"},
      {"DELETE", "/api/v1/namespaces"},
      {"POST", "/healthz"},
      {"PUT", "/api/v1/namespaces/default/pods/a/exec"},
      {"GET", "/api/v1/namespaces/default/pods/a/eviction"}};
  for (const auto& [method, path] : cases) {
    CAPTURE(method, path);
    const auto answer = server.call(method, path, "{}");
    CHECK(answer.code == 405);
    CHECK(answer.reason() == "MethodNotAllowed");
  }
}

TEST_CASE("every endpoint of discovery answers") {
  Server server;
  std::vector<std::string> roots = {"/api/v1"};
  const auto groups = server.get("/apis");
  for (const Json& group : groups.json.at("groups")) {
    for (const Json& one : group["versions"]) {
      roots.push_back("/apis/" + base::string_at(one, {"groupVersion"}));
    }
  }
  for (const std::string& root : roots) {
    const auto listed = server.get(root);
    for (const Json& one : listed.json.at("resources")) {
      const std::string name = base::string_at(one, {"name"});
      const auto slash = name.find('/');
      if (slash == std::string::npos) continue;
      const std::string object = root + (one["namespaced"] == true ? "/namespaces/default/" : "/") +
                                 name.substr(0, slash) + "/x" + name.substr(slash);
      for (const Json& verb : one["verbs"]) {
        static const std::map<std::string, std::string> methods = {
            {"get", "GET"}, {"create", "POST"}, {"update", "PUT"}, {"patch", "PATCH"}};
        const auto method = methods.find(verb.get<std::string>());
        if (method == methods.end()) continue;
        CAPTURE(object, verb);
        CHECK(server.call(method->second, object, "{}").code != 405);
      }
    }
  }
}

TEST_CASE("a self subject access review is allowed") {
  Server server;
  const auto review = server.post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      {{"kind", "SelfSubjectAccessReview"}, {"spec", {{"resourceAttributes", Json::object()}}}});
  CHECK(review.code == 201);
  CHECK(review.json["status"]["allowed"] == true);
}

TEST_CASE("what there is not in a group of custom kinds is answered as no page at all") {
  Server server;
  server.post(test::kCrdPath, test::website_crd());
  const std::string group = "/apis/demo.kubewatch.dev/";
  for (const std::string& path : {group + "v1/nopes", group + "v1/namespaces/default/nopes/x",
                                  group + "v9/websites", group + "v1/websites/x"}) {
    CAPTURE(path);
    const auto answer = server.get(path);
    CHECK(answer.code == 404);
    CHECK(answer.text == "404 page not found\n");
  }
  CHECK(server.post(group + "v1/websites", test::website("a")).text == "404 page not found\n");
  CHECK(server.get(group + "v1/websites").code == 200);
  CHECK(server.get("/api/v1/nopes").reason() == "NotFound");
  CHECK(server.get("/apis/apps/v9/deployments").reason() == "NotFound");
  CHECK(server.get("/api/v1/configmaps/x").reason() == "NotFound");
}

}  // namespace kubewatch::apiserver

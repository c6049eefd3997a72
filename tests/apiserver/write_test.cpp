#include <new>
#include <stdexcept>

#include "apiserver/support.hpp"
#include "apiserver/writer.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::kCrdPath;
using test::kWebsites;
using test::Server;
using test::website;
using test::website_crd;

namespace {

// managers as "tester Update,other Apply status".
std::string managers(const Json& object) {
  std::vector<std::string> out;
  for (const auto& entry : object["metadata"].value("managedFields", Json::array())) {
    const std::string sub = base::string_at(entry, {"subresource"});
    out.push_back(base::string_at(entry, {"manager"}) + " " +
                  base::string_at(entry, {"operation"}) + (sub.empty() ? "" : " " + sub));
  }
  return base::join(out, ",");
}

struct WebsiteServer : Server {
  WebsiteServer() { post(kCrdPath, website_crd()); }
};

}  // namespace

TEST_CASE("a created object gets uid, creation time, resourceVersion and its manager") {
  Server server;
  server.advance(5000);
  const auto made = server.post(kConfigMaps, config_map("a", {{"data", {{"k", "v"}}}}));
  CHECK(made.code == 201);
  CHECK(made.at({"metadata", "uid"}).size() == 36);
  CHECK(made.at({"metadata", "creationTimestamp"}) == base::format_rfc3339(server.now()));
  CHECK(made.at({"metadata", "namespace"}) == "default");
  CHECK(managers(made.json) == "tester Update");
  CHECK(made.json["metadata"]["managedFields"][0]["fieldsV1"] ==
        Json::parse(R"({"f:data":{".":{},"f:k":{}}})"));
  CHECK_FALSE(made.json["metadata"].contains("generation"));
  CHECK(server.get(kConfigMaps + "/a").json == made.json);
}

TEST_CASE("generateName makes a name of its base and five characters") {
  Server server;
  Json object = config_map("");
  object["metadata"] = {{"generateName", "job-"}};
  const auto made = server.post(kConfigMaps, object);
  CHECK(made.code == 201);
  CHECK(made.at({"metadata", "name"}).size() == 9);
  CHECK(made.at({"metadata", "name"}).rfind("job-", 0) == 0);
}

TEST_CASE("bodies that are no such object are refused in the API server's words") {
  WebsiteServer server;
  const std::vector<std::tuple<std::string, Json, int, std::string>> cases = {
      {kConfigMaps, config_map("A_"), 422,
       "ConfigMap \"A_\" is invalid: metadata.name: Invalid value: \"A_\": a lowercase RFC 1123 "
       "subdomain"},
      {kConfigMaps, config_map("e\x1b[31mx"), 422,
       "ConfigMap \"e\\x1b[31mx\" is invalid: metadata.name: Invalid value: \"e\\x1b[31mx\": a "
       "lowercase RFC 1123 subdomain"},
      {kConfigMaps,
       {{"metadata", Json::object()}},
       422,
       "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
       "required"},
      {kConfigMaps, config_map("q", {{"metadata", {{"resourceVersion", "5"}}}}), 500,
       "resourceVersion should not be set on objects to be created"},
      {kConfigMaps, config_map("q", {{"metadata", {{"namespace", "other"}}}}), 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {kConfigMaps, config_map("q", {{"apiVersion", "v2"}}), 400,
       "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
       "registered for version \"v2\" in scheme"},
      {kConfigMaps, config_map("q", {{"metadata", {{"finalizers", {"nodomain"}}}}}), 422,
       "ConfigMap \"q\" is invalid: metadata.finalizers[0]: Invalid value: \"nodomain\": name is "
       "neither a standard finalizer name nor is it fully qualified"},
      {kConfigMaps,
       config_map("q", {{"metadata", {{"ownerReferences", {{{"kind", "X"}, {"name", "a"}}}}}}}),
       422,
       "ConfigMap \"q\" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: \"\": "
       "version must not be empty, metadata.ownerReferences.uid: Invalid value: \"\": must not be "
       "empty]"},
      {kConfigMaps, config_map("q", {{"metadata", {{"labels", {{"a b", "c"}}}}}}), 422,
       "ConfigMap \"q\" is invalid: metadata.labels: Invalid value: \"a b\": name part must "
       "consist of"},
      {kConfigMaps, config_map("q", {{"metadata", {{"labels", "x"}}}}), 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
       "string"},
      {kConfigMaps, config_map("q", {{"data", {{"a/b", "c"}}}}), 422,
       "ConfigMap \"q\" is invalid: data[a/b]: Invalid value"},
      {kConfigMaps, config_map("q", {{"data", {{"a", 1}}}}), 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
       "number"},
      {kConfigMaps, config_map("q", {{"data", {{"a", true}}}}), 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
       "bool into Go struct field ConfigMap.data of type string"},
      {kConfigMaps, config_map("q", {{"metadata", {{"uid", 5}}}}), 400,
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
       "number into Go struct field ObjectMeta.metadata.uid of type types.UID"},
      {"/api/v1/namespaces/nope/configmaps", config_map("a"), 404, "namespaces \"nope\" not found"},
      {kWebsites,
       {{"metadata", {{"name", "b"}}}},
       400,
       "the object provided is unrecognized (must be of type Website): Object 'Kind' is missing "
       "in"},
      {kWebsites,
       {{"kind", "Website"}},
       400,
       "the API version in the data () does not match the expected API version "
       "(demo.kubewatch.dev/v1)"},
      {kWebsites,
       {{"kind", "Wrong"}, {"apiVersion", "demo.kubewatch.dev/v1"}, {"metadata", {{"name", "b"}}}},
       422,
       "Wrong.demo.kubewatch.dev \"b\" is invalid: kind: Invalid value: \"Wrong\": must be "
       "Website"},
      {kWebsites, Json::array(), 400,
       "the object provided is unrecognized (must be of type Website)"},
  };
  for (const auto& [path, body, code, message] : cases) {
    CAPTURE(base::dump_json(body));
    const auto answer = server.post(path, body);
    CHECK(answer.code == code);
    CHECK(answer.message().substr(0, message.size()) == message);
    CHECK(answer.json["kind"] == "Status");
  }
  CHECK(server.call("POST", kConfigMaps, "{nope").code == 400);
  CHECK(server.call("POST", kConfigMaps, "x", "text/plain").code == 415);
  server.post(kConfigMaps, config_map("a"));
  const auto twice = server.post(kConfigMaps, config_map("a"));
  CHECK(twice.code == 409);
  CHECK(twice.reason() == "AlreadyExists");
  CHECK(twice.message() == "configmaps \"a\" already exists");
}

TEST_CASE("a custom object is pruned, defaulted and checked by its schema") {
  WebsiteServer server;
  const auto made = server.post(kWebsites, website("a", {{"host", "abc"}, {"x", 1}}));
  CHECK(made.code == 201);
  CHECK(made.json["spec"] == Json::parse(R"({"host":"abc","replicas":1})"));
  CHECK(made.json["metadata"]["generation"] == 1);
  CHECK(made.headers.get("Warning") == "299 - \"unknown field \\\"spec.x\\\"\"");
  const auto strict = server.post(kWebsites + "?fieldValidation=Strict",
                                  website("b", {{"host", "abc"}, {"x", 1}, {"y", 2}}));
  CHECK(strict.code == 400);
  CHECK(strict.message() ==
        "Website in version \"v1\" cannot be handled as a Website: strict decoding error: unknown "
        "field \"spec.x\", unknown field \"spec.y\"");
  const auto bad = server.post(
      kWebsites,
      website("b", {{"host", "ABC"}, {"replicas", 99}, {"mode", "c"}, {"map", {{"a", 1}}}}));
  CHECK(bad.code == 422);
  CHECK(
      bad.message() ==
      "Website.demo.kubewatch.dev \"b\" is invalid: [spec.host: Invalid value: \"ABC\": spec.host "
      "in body should match '^[a-z.]+$', spec.map.a: Invalid value: \"integer\": spec.map.a in "
      "body must be of type string: \"integer\", spec.mode: Unsupported value: \"c\": supported "
      "values: \"a\", \"b\", spec.replicas: Invalid value: 99: spec.replicas in body should be "
      "less than or equal to 10]");
  CHECK(bad.json["details"]["causes"].size() == 4);
}

TEST_CASE("an update needs the newest resourceVersion, or none where the kind allows it") {
  WebsiteServer server;
  server.post(kConfigMaps, config_map("a"));
  const auto changed = server.put(kConfigMaps + "/a", config_map("a", {{"data", {{"k", "v"}}}}));
  CHECK(changed.code == 200);
  const auto stale =
      server.put(kConfigMaps + "/a", config_map("a", {{"metadata", {{"resourceVersion", "1"}}}}));
  CHECK(stale.code == 409);
  CHECK(stale.message() ==
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
        "apply your changes to the latest version and try again");
  CHECK(server.put(kConfigMaps + "/new", config_map("new")).message() ==
        "configmaps \"new\" not found");
  CHECK(server.put(kConfigMaps + "/a", config_map("b")).message() ==
        "the name of the object (b) does not match the name on the URL (a)");
  CHECK(server.put(kConfigMaps + "/a", config_map("a", {{"metadata", {{"uid", "z"}}}})).code ==
        409);
  server.post(kWebsites, website("w"));
  CHECK(server.put(kWebsites + "/w", website("w")).message() ==
        "websites.demo.kubewatch.dev \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: "
        "must be specified for an update");
}

TEST_CASE("an update of what admission obeys names its version") {
  Server server;
  const std::string root = "/apis/admissionregistration.k8s.io/v1/";
  struct Of {
    const char* plural;
    const char* kind;
    const char* rest;
  };
  for (const Of& one : {
           Of{"mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "{}"},
           Of{"mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding",
              R"({"spec":{"policyName":"p"}})"},
           Of{"mutatingadmissionpolicies", "MutatingAdmissionPolicy",
              R"({"spec":{"reinvocationPolicy":"Never","matchConstraints":{"resourceRules":[
                {"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
                "resources":["pods"]}]},"mutations":[{"patchType":"ApplyConfiguration",
                "applyConfiguration":{"expression":"Object{}"}}]}})"},
       }) {
    CAPTURE(one.kind);
    Json object = Json::parse(one.rest);
    object["apiVersion"] = "admissionregistration.k8s.io/v1";
    object["kind"] = one.kind;
    object["metadata"] = {{"name", "a"}};
    REQUIRE(server.post(root + one.plural, object).code == 201);
    CHECK(server.put(root + one.plural + "/a", object)
              .message()
              .ends_with("metadata.resourceVersion: Invalid value: 0: must be specified for an "
                         "update"));
  }
}

TEST_CASE("a write that changes nothing keeps the resourceVersion and makes no event") {
  Server server;
  const auto made = server.post(kConfigMaps, config_map("a", {{"data", {{"k", "v"}}}}));
  const auto record = server.watch(
      kConfigMaps + "?watch=1&resourceVersion=" + made.at({"metadata", "resourceVersion"}));
  server.advance(90000);
  const auto same = server.merge(kConfigMaps + "/a", {{"data", {{"k", "v"}}}});
  CHECK(same.json == made.json);
  Json again = made.json;
  CHECK(server.put(kConfigMaps + "/a", again).json == made.json);
  CHECK(record->text.empty());
}

TEST_CASE("generation counts changes of the specification, not of metadata or status") {
  WebsiteServer server;
  server.post(kWebsites, website("a"));
  const std::string a = kWebsites + "/a";
  CHECK(
      server.merge(a, {{"metadata", {{"labels", {{"x", "y"}}}}}}).json["metadata"]["generation"] ==
      1);
  CHECK(
      server.merge(a + "/status", {{"status", {{"ready", true}}}}).json["metadata"]["generation"] ==
      1);
  CHECK(server.merge(a, {{"spec", {{"host", "abcd"}}}}).json["metadata"]["generation"] == 2);
}

TEST_CASE("status and the rest are written through their own endpoints only") {
  WebsiteServer server;
  Json object = website("a");
  object["status"] = {{"ready", true}};
  CHECK_FALSE(server.post(kWebsites, object).json.contains("status"));
  const std::string a = kWebsites + "/a";
  CHECK_FALSE(server.merge(a, {{"status", {{"ready", true}}}}).json.contains("status"));
  const auto status = server.merge(a + "/status", {{"status", {{"ready", true}}},
                                                   {"spec", {{"host", "zzz"}}},
                                                   {"metadata", {{"labels", {{"a", "b"}}}}}});
  CHECK(status.json["status"]["ready"] == true);
  CHECK(status.json["spec"]["host"] == "abc");
  CHECK_FALSE(status.json["metadata"].contains("labels"));
  CHECK(managers(status.json) == "tester Update,tester Update status");
  CHECK(server.get(a + "/status").json == server.get(a).json);
  CHECK(server.get(kConfigMaps + "/x/status").code == 404);
}

TEST_CASE("patches of every type change the object, each kind taking those it knows") {
  WebsiteServer server;
  server.post(kConfigMaps, config_map("a", {{"data", {{"k", "v"}}}}));
  const std::string a = kConfigMaps + "/a";
  CHECK(server.json_patch(a, Json::parse(R"([{"op":"add","path":"/data/x","value":"y"}])"))
            .json["data"]["x"] == "y");
  CHECK(server.merge(a, {{"data", {{"x", nullptr}}}}).json["data"] == Json{{"k", "v"}});
  CHECK(server
            .call("PATCH", a, R"({"metadata":{"labels":{"z":"y"}}})",
                  "application/strategic-merge-patch+json")
            .json["metadata"]["labels"]["z"] == "y");
  const auto failed =
      server.json_patch(a, Json::parse(R"([{"op":"test","path":"/data/k","value":"no"}])"));
  CHECK(failed.code == 422);
  CHECK(failed.reason() == "Invalid");
  CHECK(server.call("PATCH", a, "[]", "application/merge-patch+json").code == 400);
  CHECK(server.call("PATCH", a, "{}", "application/json-patch+json").code == 400);
  CHECK(server.call("PATCH", a, "{}", "application/foo").code == 415);
  CHECK(server.merge(a, {{"metadata", {{"name", "b"}}}}).code == 400);
  CHECK(server.merge(a, {{"metadata", {{"resourceVersion", "1"}}}}).code == 409);
  CHECK(
      server.merge(a, {{"metadata", {{"uid", "x"}}}})
          .message()
          .rfind(
              "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable",
              0) == 0);
  CHECK(server.merge(kConfigMaps + "/none", Json::object()).code == 404);
  server.post(kWebsites, website("w"));
  CHECK(
      server.call("PATCH", kWebsites + "/w", "{}", "application/strategic-merge-patch+json").code ==
      415);
}

TEST_CASE("server-side apply creates, owns, conflicts, and takes over by force") {
  WebsiteServer server;
  const auto made = server.apply(kWebsites + "/a?fieldManager=one", website("a"));
  CHECK(made.code == 201);
  CHECK(managers(made.json) == "one Apply");
  CHECK(made.json["spec"]["replicas"] == 1);
  CHECK(made.json["metadata"]["managedFields"][0]["fieldsV1"] ==
        Json::parse(R"({"f:spec":{"f:host":{}}})"));
  const auto again = server.apply(kWebsites + "/a?fieldManager=one", website("a"));
  CHECK(again.code == 200);
  CHECK(again.json == made.json);
  const auto refused =
      server.apply(kWebsites + "/a?fieldManager=two", website("a", {{"host", "other"}}));
  CHECK(refused.code == 409);
  CHECK(refused.message() == "Apply failed with 1 conflict: conflict with \"one\": .spec.host");
  CHECK(refused.json["details"]["causes"][0]["reason"] == "FieldManagerConflict");
  const auto forced =
      server.apply(kWebsites + "/a?fieldManager=two&force=true", website("a", {{"host", "other"}}));
  CHECK(forced.code == 200);
  CHECK(forced.json["spec"]["host"] == "other");
  CHECK(managers(forced.json) == "two Apply");
}

TEST_CASE("an apply without a field is the end of that field, unless others own it") {
  Server server;
  const std::string a = kConfigMaps + "/a?fieldManager=one";
  server.apply(a, config_map("a", {{"data", {{"k", "v"}, {"l", "w"}}}}));
  server.apply(kConfigMaps + "/a?fieldManager=two", config_map("a", {{"data", {{"l", "w"}}}}));
  const auto less = server.apply(a, config_map("a", {{"data", {{"m", "x"}}}}));
  CHECK(less.json["data"] == Json::parse(R"({"l":"w","m":"x"})"));
}

TEST_CASE("apply checks its options and its configuration") {
  WebsiteServer server;
  const std::string s = kConfigMaps + "/s?fieldManager=m";
  server.apply(s, config_map("s"));
  const auto with = [](Json more) { return config_map("s", more); };
  CHECK(server.apply(kConfigMaps + "/s", config_map("s")).message() ==
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
        "apply patch");
  CHECK(server.call("PATCH", kConfigMaps + "/s?force=true", "{}", "application/merge-patch+json")
            .message() ==
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
        "non-apply patch");
  CHECK(server.apply(s + "&dryRun=x", config_map("s")).code == 422);
  CHECK(server.apply(s, with({{"apiVersion", "v2"}})).message() ==
        "invalid object type: /v2, Kind=ConfigMap");
  CHECK(server.apply(s, with({{"metadata", {{"managedFields", {Json::object()}}}}})).message() ==
        "metadata.managedFields must be nil");
  CHECK(server.apply(s, with({{"metadata", {{"resourceVersion", "1"}}}})).code == 409);
  CHECK(server
            .apply(kConfigMaps + "/n?fieldManager=m",
                   config_map("n", {{"metadata", {{"uid", "abc"}}}}))
            .message() ==
        "Operation cannot be fulfilled on configmaps \"n\": uid mismatch: the provided object "
        "specified uid abc, and no existing object was found");
  CHECK(server.call("PATCH", s, ": : :", "application/apply-patch+yaml").code == 400);
  const auto unknown = server.apply(kWebsites + "/s?fieldManager=m", website("s", {{"bogus", 1}}));
  CHECK(unknown.code == 500);
  CHECK(unknown.message() ==
        "failed to create typed patch object (/s; demo.kubewatch.dev/v1, Kind=Website): "
        ".spec.bogus: field not declared in schema");
  CHECK(server
            .call("PATCH", s, "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
                  "application/apply-patch+yaml")
            .json["data"]["a"] == "b");
}

TEST_CASE("status is applied through its endpoint with an ownership of its own") {
  WebsiteServer server;
  server.apply(kWebsites + "/a?fieldManager=one", website("a"));
  const auto status = server.apply(kWebsites + "/a/status?fieldManager=one&force=true",
                                   {{"apiVersion", "demo.kubewatch.dev/v1"},
                                    {"kind", "Website"},
                                    {"metadata", {{"name", "a"}}},
                                    {"status", {{"ready", true}}}});
  CHECK(status.code == 200);
  CHECK(status.json["status"]["ready"] == true);
  CHECK(managers(status.json) == "one Apply,one Apply status");
  const auto main =
      server.apply(kWebsites + "/a?fieldManager=one", website("a", {{"host", "abd"}}));
  CHECK(main.json["status"]["ready"] == true);
  CHECK(server.apply(kWebsites + "/none/status?fieldManager=one", website("none")).code == 404);
}

TEST_CASE("a dry run answers as if and stores nothing") {
  Server server;
  const auto before = server.api.storage().version();
  CHECK(server.post(kConfigMaps + "?dryRun=All", config_map("a")).code == 201);
  CHECK(server.get(kConfigMaps + "/a").code == 404);
  CHECK(server.api.storage().version() == before);
  server.post(kConfigMaps, config_map("b"));
  CHECK(server.merge(kConfigMaps + "/b?dryRun=All", {{"data", {{"k", "v"}}}}).json["data"]["k"] ==
        "v");
  CHECK_FALSE(server.get(kConfigMaps + "/b").json.contains("data"));
  CHECK(server.call("DELETE", kConfigMaps + "/b?dryRun=All").code == 200);
  CHECK(server.get(kConfigMaps + "/b").code == 200);
}

TEST_CASE("a Secret's stringData becomes data, fields that may not change do not") {
  Server server;
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const auto made = server.post(secrets, {{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", {{"name", "s"}}},
                                          {"stringData", {{"a", "hello"}}}});
  CHECK(made.json["data"]["a"] == "aGVsbG8=");
  CHECK_FALSE(made.json.contains("stringData"));
  CHECK(made.json["type"] == "Opaque");
  CHECK(server.merge(secrets + "/s", {{"type", "other"}}).code == 422);
  server.post(kConfigMaps, config_map("a", {{"immutable", true}, {"data", {{"k", "v"}}}}));
  CHECK(server.merge(kConfigMaps + "/a", {{"data", {{"k", "w"}}}}).message() ==
        "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
}

TEST_CASE("built-in kinds lose fields that their type lacks and refuse values of another type") {
  Server server;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const Json deployment = Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"d"},"spec":{"replicas":1,"bogus":1,"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","wrong":true,
      "resources":{"limits":{"cpu":1,"memory":"1Gi"}}}],
      "volumes":[{"name":"v","emptyDir":{}}]}}}})");
  const auto strict = server.post(path + "?fieldValidation=Strict", deployment);
  CHECK(strict.code == 400);
  CHECK(strict.message() ==
        "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: "
        "unknown field \"spec.bogus\", unknown field \"spec.template.spec.containers[0].wrong\"");
  const auto made = server.post(path, deployment);
  CHECK(made.code == 201);
  CHECK_FALSE(made.json["spec"].contains("bogus"));
  const Json& pod = made.json["spec"]["template"]["spec"];
  CHECK_FALSE(pod["containers"][0].contains("wrong"));
  CHECK(pod["containers"][0]["resources"]["limits"]["memory"] == "1Gi");
  CHECK(pod["volumes"][0].contains("emptyDir"));
  const auto wrong = server.merge(path + "/d", {{"spec", {{"replicas", "many"}}}});
  CHECK(wrong.code == 422);
  CHECK(wrong.message().ends_with(
      "cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"));
  for (const char* number : {"1.5", "99999999999"}) {
    const auto whole =
        server.call("PATCH", path + "/d", std::string(R"({"spec":{"replicas":)") + number + "}}",
                    "application/merge-patch+json");
    CHECK(whole.code == 422);
    CHECK(whole.message().find("of type int32") != std::string::npos);
  }
}

TEST_CASE("custom objects may have plain finalizers, with a warning of each that is new") {
  WebsiteServer server;
  const auto warnings = [](const test::Answer& answer) {
    CHECK(answer.code / 100 == 2);
    std::vector<std::string> out;
    for (const auto& [name, value] : answer.headers.all()) {
      if (name == "Warning") out.push_back(value);
    }
    return out;
  };
  const auto told = [](const std::string& name, const std::string& how) {
    return R"(299 - "metadata.finalizers: \")" + name +
           R"(\": prefer a domain-qualified finalizer name)" + how +
           R"( to avoid accidental conflicts with other finalizer writers")";
  };
  using Warnings = std::vector<std::string>;
  const std::string one = kWebsites + "/a";
  Json object = website("a");
  object["metadata"]["finalizers"] = {"plain", "orphan", "demo.io/x", "a.plain"};
  CHECK(warnings(server.post(kWebsites, object)) ==
        Warnings{told("a.plain", " including a path (/)"), told("plain", "")});
  CHECK(warnings(server.merge(one, {{"metadata", {{"labels", {{"x", "y"}}}}}})).empty());
  CHECK(warnings(server.put(one, server.get(one).json)).empty());
  CHECK(warnings(server.merge(one + "/status", {{"status", {{"replicas", 1}}}})).empty());
  CHECK(warnings(server.merge(one, {{"metadata", {{"finalizers", {"plain", "other"}}}}})) ==
        Warnings{told("other", "")});
  CHECK(server.merge(one, {{"metadata", {{"resourceVersion", nullptr}}}}).code == 422);
  // Of an object that is refused nothing is said.
  object["metadata"]["name"] = "b";
  object["spec"]["host"] = "A";
  const auto refused = server.post(kWebsites, object);
  CHECK(refused.code == 422);
  CHECK_FALSE(refused.headers.has("Warning"));
}

TEST_CASE("what the server fills into a new namespace belongs to no manager") {
  Server server;
  const auto made = server.post("/api/v1/namespaces", {{"metadata", {{"name", "shop"}}}});
  CHECK(made.json["spec"]["finalizers"] == Json::array({"kubernetes"}));
  CHECK(made.json["metadata"]["managedFields"][0]["fieldsV1"] ==
        Json::parse(R"({"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}})"));
}

TEST_CASE("scale reads and sets replicas of built-in and custom kinds") {
  WebsiteServer server;
  server.post(kWebsites, website("a"));
  const std::string scale = kWebsites + "/a/scale";
  CHECK(server.get(scale).json["spec"]["replicas"] == 1);
  CHECK(server.merge(scale, {{"spec", {{"replicas", 3}}}}).json["spec"]["replicas"] == 3);
  CHECK(server.get(kWebsites + "/a").json["spec"]["replicas"] == 3);
  CHECK(server.merge(scale, {{"spec", {{"replicas", -1}}}}).code == 422);
  CHECK(server.get(kConfigMaps + "/a/scale").code == 404);
}

TEST_CASE("load creates objects as their manager would, CRDs at once usable") {
  Server server;
  REQUIRE(server.api.load(website_crd(), "setup", server.now()).ok());
  REQUIRE(server.api.load(website("a"), "setup", server.now()).ok());
  CHECK(managers(server.get(kWebsites + "/a").json) == "setup Update");
  const auto unknown =
      server.api.load({{"apiVersion", "x.y/v1"}, {"kind", "Z"}}, "setup", server.now());
  CHECK_FALSE(unknown.ok());
  Json elsewhere = config_map("a");
  elsewhere["metadata"]["namespace"] = "nope";
  CHECK(server.api.load(elsewhere, "setup", server.now()).error().is_not_found());
}

TEST_CASE("an applied MicroTime that is none fails as the conversion of the patch does") {
  Server server;
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  const auto refused =
      server.apply(lease + "?fieldManager=m", {{"apiVersion", "coordination.k8s.io/v1"},
                                               {"kind", "Lease"},
                                               {"metadata", {{"name", "l"}}},
                                               {"spec", {{"renewTime", 1}}}});
  CHECK(refused.code == 500);
  CHECK(refused.message() ==
        "failed to convert new object (/l; coordination.k8s.io/v1, Kind=Lease) to proper version: "
        "unable to convert unstructured object to coordination.k8s.io/v1, Kind=Lease: json: cannot "
        "unmarshal number into Go value of type string");
}

TEST_CASE("a time that is none is told as whoever reads it tells it, and others are in UTC") {
  Server server;
  const std::string events = "/api/v1/namespaces/default/events";
  const auto event = [](const Json& first) {
    return Json{{"apiVersion", "v1"},
                {"kind", "Event"},
                {"metadata", {{"name", "e"}}},
                {"involvedObject", {{"namespace", "default"}}},
                {"firstTimestamp", first}};
  };
  const std::string no_time =
      "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"";
  const std::string number = "json: cannot unmarshal number into Go ";
  const std::string decoding = "Event in version \"v1\" cannot be handled as a Event: ";
  const auto bad = server.post(events, event("x"));
  CHECK(bad.code == 400);
  CHECK(bad.message() == decoding + no_time);
  CHECK(server.post(events, event(5)).message() ==
        decoding + number + "struct field Event.firstTimestamp of type string");
  const auto made = server.post(events, event("2026-01-01T02:00:00.5+02:00"));
  REQUIRE(made.code == 201);
  CHECK(made.json["firstTimestamp"] == "2026-01-01T00:00:00Z");
  CHECK(made.json["lastTimestamp"].is_null());
  const auto lease = server.post("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                                 {{"apiVersion", "coordination.k8s.io/v1"},
                                  {"kind", "Lease"},
                                  {"metadata", {{"name", "l"}}},
                                  {"spec", {{"renewTime", "2026-01-01T00:00:00,000000+01:00"}}}});
  REQUIRE(lease.code == 201);
  CHECK(lease.json["spec"]["renewTime"] == "2025-12-31T23:00:00.000000Z");

  const std::string one = events + "/e";
  const auto merged = server.merge(one, {{"firstTimestamp", 5}});
  CHECK(merged.code == 422);
  CHECK(merged.message().ends_with(": " + number +
                                   "struct field Event.firstTimestamp of type string"));
  const auto strategic = server.call("PATCH", one, R"({"firstTimestamp":5})",
                                     "application/strategic-merge-patch+json");
  CHECK(strategic.code == 422);
  CHECK(strategic.message() ==
        " \"\" is invalid: patch: Invalid value: \"map[firstTimestamp:5]\": " + number +
            "value of type string");
  // Who owns it comes first.
  const Json applied = {{"apiVersion", "v1"},
                        {"kind", "Event"},
                        {"metadata", {{"name", "e"}}},
                        {"firstTimestamp", "x"}};
  CHECK(server.apply(one + "?fieldManager=m", applied).code == 409);
  const auto forced = server.apply(one + "?fieldManager=m&force=true", applied);
  CHECK(forced.code == 500);
  CHECK(forced.message() ==
        "failed to convert new object (/e; /v1, Kind=Event) to proper version: unable to convert "
        "unstructured object to /v1, Kind=Event: " +
            no_time);
}

TEST_CASE("owner references are read as their type") {
  Server server;
  server.post(kCrdPath, website_crd());
  const auto post = [&](const std::string& path, Json object, const Json& more) {
    Json owner = {{"apiVersion", "v1"}, {"kind", "X"}, {"name", "n"}, {"uid", "u"}};
    owner.update(more);
    object["metadata"]["ownerReferences"] = Json::array({owner});
    return server.post(path, object);
  };
  CHECK(post(kWebsites, website("a"), {{"controller", "true"}}).message() ==
        "Website in version \"v1\" cannot be handled as a Website: json: cannot unmarshal string "
        "into Go struct field OwnerReference.ownerReferences.controller of type bool");
  CHECK(post(kConfigMaps, config_map("a"), {{"name", 5}}).message() ==
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
        "number into Go struct field OwnerReference.metadata.ownerReferences.name of type string");
  const auto strict = post(kWebsites + "?fieldValidation=Strict", website("a"), {{"foo", 1}});
  CHECK(strict.message() ==
        "Website in version \"v1\" cannot be handled as a Website: strict decoding error: unknown "
        "field \"metadata.ownerReferences[0].foo\"");
  const auto made = post(kWebsites, website("a"), {{"foo", 1}, {"controller", nullptr}});
  CHECK(made.code == 201);
  CHECK(made.headers.get("Warning") ==
        "299 - \"unknown field \\\"metadata.ownerReferences[0].foo\\\"\"");
  CHECK(made.json["metadata"]["ownerReferences"] ==
        Json::array({{{"apiVersion", "v1"}, {"kind", "X"}, {"name", "n"}, {"uid", "u"}}}));
  CHECK(managers(made.json) == "tester Update");
}

TEST_CASE("a status endpoint leaves metadata as it is where its kind says so") {
  Server server;
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  const Json labels = {{"a", "b"}};
  const Json pod = {{"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}};
  REQUIRE(server
              .post(deployments,
                    {{"metadata", {{"name", "d"}, {"labels", labels}}},
                     {"spec",
                      {{"selector", {{"matchLabels", labels}}},
                       {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}})
              .code == 201);
  const Json patch = {{"metadata", {{"labels", {{"n", "1"}}}, {"annotations", {{"n", "1"}}}}}};
  const auto deployment = server.merge(deployments + "/d/status", patch);
  CHECK(deployment.json["metadata"]["labels"] == labels);
  CHECK(deployment.at({"metadata", "annotations", "n"}) == "1");
  CHECK(deployment.json["metadata"]["managedFields"][1]["fieldsV1"] ==
        Json::parse(R"({"f:metadata":{"f:annotations":{".":{},"f:n":{}}}})"));

  const std::string pods = "/api/v1/namespaces/default/pods";
  REQUIRE(server.post(pods, {{"metadata", {{"name", "p"}}}, {"spec", pod}}).code == 201);
  const Json owner = {{"apiVersion", "v1"}, {"kind", "X"}, {"name", "n"}, {"uid", "u"}};
  const auto owned =
      server.merge(pods + "/p/status",
                   {{"metadata", {{"ownerReferences", Json::array({owner})}, {"labels", labels}}}});
  CHECK_FALSE(owned.json["metadata"].contains("ownerReferences"));
  CHECK(owned.json["metadata"]["labels"] == labels);
  Json without_class = owned.json;
  without_class["status"] = {{"phase", "Failed"}};
  CHECK(server.put(pods + "/p/status", without_class).at({"status", "qosClass"}) == "BestEffort");

  const std::string attachments = "/apis/storage.k8s.io/v1/volumeattachments";
  REQUIRE(server
              .post(attachments, {{"metadata", {{"name", "v"}}},
                                  {"spec",
                                   {{"attacher", "a"},
                                    {"nodeName", "n"},
                                    {"source", {{"persistentVolumeName", "p"}}}}}})
              .code == 201);
  Json attached = patch;
  attached["status"] = {{"attached", true}};
  const auto attachment = server.merge(attachments + "/v/status", attached);
  CHECK(attachment.json["status"]["attached"] == true);
  CHECK_FALSE(attachment.json["metadata"].contains("labels"));
  CHECK_FALSE(attachment.json["metadata"].contains("annotations"));
}

// "-----BEGIN CERTIFICATE REQUEST-----" and so on, with next to nothing inside.
constexpr const char* kRequest =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUFBPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
    "LS0tLS0K";

TEST_CASE("a CertificateSigningRequest is approved by its endpoint alone, and says who made it") {
  Server server;
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const Json approved = {{"type", "Approved"}, {"status", "True"}};
  const auto made = server.post(requests, {{"metadata", {{"name", "r"}}},
                                           {"spec",
                                            {{"request", kRequest},
                                             {"signerName", "example.com/s"},
                                             {"username", "eve"},
                                             {"extra", {{"a", {"b"}}}},
                                             {"usages", {"client auth"}}}},
                                           {"status", {{"conditions", Json::array({approved})}}}});
  CHECK(made.code == 201);
  CHECK(made.json["status"] == Json::object());
  CHECK(made.at({"spec", "username"}) == "kubernetes-admin");
  CHECK_FALSE(made.json["spec"].contains("extra"));
  const std::string path = requests + "/r";
  const auto written = [&](const std::string& endpoint, const Json& conditions) {
    return server.merge(
        path + endpoint,
        {{"metadata", {{"labels", {{"at", "x" + endpoint.substr(endpoint.empty() ? 0 : 1)}}}}},
         {"spec", {{"signerName", "example.com/other"}}},
         {"status", {{"conditions", conditions}}}});
  };
  const auto plain = written("", Json::array({approved}));
  CHECK(plain.json["status"] == Json::object());
  CHECK(plain.at({"spec", "signerName"}) == "example.com/s");
  CHECK(written("/status", Json::array({approved})).message() ==
        "CertificateSigningRequest.certificates.k8s.io \"r\" is invalid: status.conditions: "
        "Forbidden: updates may not add a condition of type \"Approved\"");
  const auto decided = server.merge(
      path + "/approval",
      {{"metadata", {{"labels", {{"l", "1"}}}}},
       {"status", {{"certificate", "YQ=="}, {"conditions", Json::array({approved})}}}});
  CHECK(decided.code == 200);
  CHECK(decided.at({"metadata", "labels", "l"}) == "1");
  CHECK_FALSE(decided.json["status"].contains("certificate"));
  const std::string now = decided.at({"metadata", "creationTimestamp"});
  CHECK(decided.json["status"]["conditions"] == Json::array({{{"type", "Approved"},
                                                              {"status", "True"},
                                                              {"lastUpdateTime", now},
                                                              {"lastTransitionTime", now}}}));
  CHECK(server.get(path + "/approval").json == server.get(path).json);
  CHECK(written("/approval", Json::array()).message() ==
        "CertificateSigningRequest.certificates.k8s.io \"r\" is invalid: status.conditions: "
        "Forbidden: updates may not remove a condition of type \"Approved\"");
  const auto both = written("/approval", {approved,
                                          {{"type", "Denied"}, {"status", "False"}},
                                          {{"type", ""}, {"status", "x"}},
                                          {{"type", "Approved"}}});
  CHECK(both.message() ==
        "CertificateSigningRequest.certificates.k8s.io \"r\" is invalid: "
        "[status.conditions[1].status: Unsupported value: \"False\": supported values: \"True\", "
        "status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually "
        "exclusive, status.conditions[2].type: Required value, status.conditions[2].status: "
        "Unsupported value: \"x\": supported values: \"False\", \"True\", \"Unknown\", "
        "status.conditions[3].status: Required value, status.conditions: Invalid value: "
        "\"Approved\": Approved and Denied conditions are mutually exclusive, "
        "status.conditions[3].type: Duplicate value: \"Approved\"]");
  server.advance(5000);
  Json again = approved;
  again["reason"] = "changed";
  const auto later = written("/approval", {again, {{"type", "Foo"}, {"status", "False"}}});
  CHECK(later.json["status"]["conditions"][0]["lastTransitionTime"] == now);
  CHECK(later.json["status"]["conditions"][1]["lastTransitionTime"] != now);
  const auto issued = written("/status", Json::array({approved}));
  CHECK(issued.json["status"]["conditions"][0]["reason"] == "changed");
  CHECK(server.post(path + "/approval", Json::object()).code == 405);
}

TEST_CASE("what a request takes that there is not ends the request, not the server") {
  Server server;
  const auto failing = [&server](auto fail) {
    server.api.on_change(fail);
    return server.post(kConfigMaps, config_map("a"));
  };
  const auto memory = failing([] { throw std::bad_alloc(); });
  CHECK(memory.code == 500);
  CHECK(memory.message().find("out of memory") != std::string::npos);
  server.remove(kConfigMaps + "/a");
  server.api.on_change([] {});
  server.remove(kConfigMaps + "/a");
  CHECK(failing([] { throw std::length_error("basic_string::append"); }).code == 500);
  server.api.on_change([] {});
  CHECK(server.post(kConfigMaps, config_map("b")).code == 201);
}

}  // namespace kubewatch::apiserver

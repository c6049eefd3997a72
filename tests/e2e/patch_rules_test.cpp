// Bodies and patches at the edge of what the server takes: fields said twice, warnings of requests
// that fail, patches that change the type, nulls, documents of YAML, scales of custom kinds.
#include <algorithm>

#include "base/json.hpp"
#include "e2e/requests.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kYaml = "application/yaml";

struct Heard {
  int code = 0;
  Json body;
  std::vector<std::string> warnings;

  bool says(const std::string& text) const {
    return base::string_at(body, {"message"}).find(text) != std::string::npos;
  }
  // The sentence as it stands in a header, with its quotes escaped.
  bool warns(const std::string& text) const {
    std::string quoted;
    for (const char c : text) quoted += c == '"' ? "\\\"" : std::string(1, c);
    return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& one) {
      return one.find(quoted) != std::string::npos;
    });
  }
};

Heard ask(World& w, const std::string& method, const std::string& path, const std::string& body,
          const std::string& content_type = kJson) {
  http::Request request;
  request.method = method;
  request.url = path;
  request.headers.set("Accept", kJson);
  request.headers.set("Content-Type", content_type);
  request.body = body;
  const http::Response answer = fetch(w, w.server().config(), std::move(request));
  Heard out;
  out.code = answer.status;
  auto parsed = base::parse_json(answer.body);
  out.body = parsed.ok() ? std::move(*parsed) : Json(answer.body);
  for (const auto& [name, value] : answer.headers.all()) {
    if (name == "Warning" || name == "warning") out.warnings.push_back(value);
  }
  return out;
}

void make_map(World& w) {
  w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}, data: {k: v}}");
}

// Thing of a group of this case, with a scale and a map.
struct Things {
  explicit Things(World& world) : w(world), group("p" + world.ns() + ".example.com") {
    w.apply(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "things." +
        group + "}, spec: {group: " + group +
        ", scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, served: "
        "true, storage: true, subresources: {scale: {specReplicasPath: .spec.size, "
        "statusReplicasPath: .status.size}}, schema: {openAPIV3Schema: {type: object, properties: "
        "{spec: {type: object, properties: {size: {type: integer, minimum: 0}, mode: {type: "
        "string, default: 'on'}, plain: {type: string}, conf: {type: object, "
        "additionalProperties: {type: string}}, free: {type: object, "
        "x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}");
    REQUIRE(w.eventually([&] { return send(w, "GET", path()).code == 200; }));
  }
  ~Things() { (void)w.try_remove("CustomResourceDefinition", "things." + group, ""); }

  std::string path() const { return "/apis/" + group + "/v1/namespaces/" + w.ns() + "/things"; }
  std::string object(const std::string& spec) const {
    return R"({"apiVersion":")" + group + R"(/v1","kind":"Thing","metadata":{"name":"a"},"spec":)" +
           spec + "}";
  }

  World& w;
  std::string group;
};

}  // namespace

E2E_CASE("fields that a patch says twice are warned of, or refused") {
  World w;
  make_map(w);
  const std::string path = maps(w) + "/a";
  const std::string twice = R"({"data":{"a":"1","a":"2"}})";
  for (const char* type : {kMerge, kStrategic}) {
    INFO(type);
    const Heard answer = ask(w, "PATCH", path, twice, type);
    CHECK(answer.code == 200);
    CHECK(answer.warns(R"(duplicate field "data.a")"));
    const Heard strict = ask(w, "PATCH", path + "?fieldValidation=Strict", twice, type);
    CHECK(strict.code == 422);
    CHECK(strict.says(R"(strict decoding error: duplicate field "data.a")"));
  }
  CHECK(ask(w, "PATCH", path + "?fieldValidation=Ignore", twice, kMerge).warnings.empty());
  const Heard operations =
      ask(w, "PATCH", path, R"([{"op":"add","op":"add","path":"/data/q","value":"1","foo":1}])",
          kJsonPatch);
  CHECK(operations.code == 200);
  CHECK(operations.warns(R"(json patch duplicate field "[0].op")"));
  CHECK(operations.warns(R"(json patch unknown field "[0].foo")"));
}

E2E_CASE("a request that fails tells its warnings as well") {
  World w;
  make_map(w);
  const std::string unknown =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"foo":1,)"
      R"("data":{"a":"1","a":"2"}})";
  const Heard exists = ask(w, "POST", maps(w), unknown);
  CHECK(exists.code == 409);
  CHECK(exists.warns(R"(unknown field "foo")"));
  CHECK(exists.warns(R"(duplicate field "data.a")"));
  const Heard stale =
      ask(w, "PATCH", maps(w) + "/a", R"({"foo":1,"metadata":{"resourceVersion":"1"}})", kMerge);
  CHECK(stale.code == 409);
  CHECK(stale.warns(R"(unknown field "foo")"));
  const Heard elsewhere = ask(
      w, "POST", maps(w),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"z"},"foo":1})");
  CHECK(elsewhere.code == 400);
  CHECK(elsewhere.warns(R"(unknown field "foo")"));
  // What could not be read at all is not warned of.
  CHECK(ask(w, "PATCH", maps(w) + "/a", R"({"foo":1,"data":{"a":5}})", kMerge).warnings.empty());
}

E2E_CASE("a patch does not change the type of its object") {
  World w;
  make_map(w);
  const std::string path = maps(w) + "/a?dryRun=All";
  CHECK(ask(w, "PATCH", path, R"({"kind":"Secret","apiVersion":"v2"})", kStrategic).code == 200);
  const Heard version = ask(w, "PATCH", path, R"({"apiVersion":"v2"})", kMerge);
  CHECK(version.code == 422);
  CHECK(version.says(R"(no kind "ConfigMap" is registered for version "v2")"));
  const Heard none = ask(w, "PATCH", path, R"({"apiVersion":null})", kMerge);
  CHECK(none.code == 400);
  CHECK(none.says("the name of the object (a based on URL) was undeterminable"));
  CHECK(ask(w, "PATCH", path, "null", kJsonPatch).code == 200);
  CHECK(ask(w, "PATCH", maps(w) + "/none", "{", kJsonPatch).code == 404);
  const Heard directive = ask(w, "PATCH", path, R"({"data":{"$patch":"foo"}})", kStrategic);
  CHECK(directive.code == 500);
  CHECK(directive.says("unknown patch type: foo in map: map[$patch:foo]"));
  const Heard number = ask(w, "PATCH", path, R"({"data":{"a":5}})", kStrategic);
  CHECK(number.code == 422);
  CHECK(number.says(R"(Invalid value: "map[data:map[a:5]]": )"));
}

E2E_CASE("kind and apiVersion of a body are texts, and null is an empty object") {
  World w;
  for (const char* body : {R"({"kind":5})", R"({"apiVersion":5})"}) {
    const Heard answer = ask(w, "POST", maps(w), body);
    CHECK(answer.code == 400);
    CHECK(answer.says("json: cannot unmarshal number into Go struct field ."));
    CHECK(answer.says(std::string("of type string (") + body + ")"));
  }
  CHECK(ask(w, "POST", maps(w), "null").code == 422);
}

E2E_CASE("of a YAML body the first document counts, and the last of repeated keys") {
  World w;
  const std::string text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: \"1\"}\n";
  const std::string path = maps(w) + "?dryRun=All";
  CHECK(ask(w, "POST", path, text + "---\nfoo: [", kYaml).code == 201);
  const Heard twice = ask(w, "POST", path, text + "data: {b: \"2\"}\n", kYaml);
  CHECK(twice.code == 201);
  CHECK(twice.body["data"] == Json({{"b", "2"}}));
  CHECK(twice.warns(R"(line 5: key "data" already set in map)"));
  const Heard strict = ask(w, "POST", path + "&fieldValidation=Strict", text + "data: {}\n", kYaml);
  CHECK(strict.code == 400);
  CHECK(strict.says("strict decoding error: yaml: unmarshal errors:\n  line 5: key \"data\""));
  const std::string apply = maps(w) + "/m?dryRun=All&fieldManager=m";
  const Heard applied = ask(w, "PATCH", apply, text + "data: {b: \"2\"}\n", kApply);
  CHECK(applied.code == 201);
  CHECK(applied.warns(R"(line 5: key "data" already set in map)"));
  const Heard refused =
      ask(w, "PATCH", apply + "&fieldValidation=Strict", text + "data: {}\n", kApply);
  CHECK(refused.code == 400);
  CHECK(refused.says("error strict decoding YAML: error converting YAML to JSON: yaml: "));
}

E2E_CASE("nulls: merge patches lose them also in lists, applied ones of custom kinds are refused") {
  World w;
  const Things things(w);
  const std::string path = things.path() + "/a";
  const std::string apply = path + "?fieldManager=m";
  CHECK(ask(w, "PATCH", apply, things.object(R"({"conf":{"a":"1"}})"), kApply).code == 201);
  const Heard emptied = ask(w, "PATCH", apply, things.object(R"({"conf":{}})"), kApply);
  CHECK(emptied.code == 422);
  CHECK(emptied.says(R"(spec.conf in body must be of type object: "null")"));
  CHECK(ask(w, "PATCH", apply, things.object(R"({"plain":null})"), kApply).code == 422);
  const Heard fallback = ask(w, "PATCH", apply, things.object(R"({"mode":null})"), kApply);
  CHECK(fallback.code == 200);
  CHECK(fallback.body["spec"] == Json({{"mode", "on"}}));
  const Heard merged =
      ask(w, "PATCH", path, R"({"spec":{"free":{"a":{"b":[{"c":null,"d":[null]}]}}}})", kMerge);
  CHECK(merged.code == 200);
  CHECK(base::dump_json(merged.body["spec"]["free"]) == R"({"a":{"b":[{"d":[null]}]}})");
}

E2E_CASE("the scale of a custom kind answers what was written, by the rules of its schema") {
  World w;
  const Things things(w);
  const std::string path = things.path() + "/a";
  REQUIRE(ask(w, "POST", things.path(), things.object(R"({"size":4})")).code == 201);
  const auto put = [&](const std::string& query, const std::string& spec) {
    return ask(w, "PUT", path + "/scale" + query,
               R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":)" +
                   spec + "}");
  };
  CHECK(put("?dryRun=All", R"({"replicas":9})").body["spec"]["replicas"] == 9);
  const Heard negative = put("", R"({"replicas":-1})");
  CHECK(negative.code == 422);
  const Told told = told_by_server(negative.body);
  CHECK(tells(told, ".spec.size", "Invalid value: -1: should be a non-negative integer"));
  CHECK(tells(told, "spec.size", "should be greater than or equal to 0"));
  CHECK(put("", "{}").code == 200);
  CHECK(send(w, "GET", path).body["spec"]["size"] == 0);
  const Heard elsewhere =
      ask(w, "PATCH", path + "/scale", R"({"metadata":{"namespace":"z"}})", kMerge);
  CHECK(elsewhere.code == 400);
}

E2E_CASE("owner references of a custom object are read as their type") {
  World w;
  const Things things(w);
  const auto post = [&](const std::string& query, const std::string& owner) {
    return ask(w, "POST", things.path() + query,
               R"({"apiVersion":")" + things.group +
                   R"(/v1","kind":"Thing","metadata":{"name":"a","ownerReferences":[)"
                   R"({"apiVersion":"v1","kind":"X","name":"n","uid":"u",)" +
                   owner + "}]}}");
  };
  const Heard text = post("", R"("controller":"true")");
  CHECK(text.code == 400);
  CHECK(
      text.says("cannot unmarshal string into Go struct field "
                "OwnerReference.ownerReferences.controller of type bool"));
  const std::string unknown = R"(unknown field "metadata.ownerReferences[0].foo")";
  const Heard strict = post("?fieldValidation=Strict", R"("foo":1)");
  CHECK(strict.code == 400);
  CHECK(strict.says(unknown));
  const Heard made = post("?dryRun=All", R"("foo":1,"controller":null)");
  CHECK(made.code == 201);
  CHECK(made.warns(unknown));
  CHECK(made.body["metadata"]["ownerReferences"] ==
        Json::parse(R"([{"apiVersion":"v1","kind":"X","name":"n","uid":"u"}])"));
}

E2E_CASE("a status endpoint leaves metadata as it is where its kind says so") {
  World w;
  w.apply(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: '@NS@', labels: {a: "
      "b}}, spec: {paused: true, replicas: 0, selector: {matchLabels: {a: b}}, template: "
      "{metadata: "
      "{labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}");
  const std::string patch = R"({"metadata":{"labels":{"n":"1"},"annotations":{"n":"1"}}})";
  const std::string deployment = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments/d/status";
  const Heard kept = ask(w, "PATCH", deployment, patch, kMerge);
  CHECK(kept.code == 200);
  CHECK(kept.body["metadata"]["labels"] == Json({{"a", "b"}}));
  CHECK(kept.body["metadata"]["annotations"]["n"] == "1");
  const std::string attachments = "/apis/storage.k8s.io/v1/volumeattachments";
  const std::string name = "v-" + w.ns();
  REQUIRE(ask(w, "POST", attachments,
              R"({"metadata":{"name":")" + name +
                  R"("},"spec":{"attacher":"a","nodeName":"n",)"
                  R"("source":{"persistentVolumeName":"p"}}})")
              .code == 201);
  const Heard attached = ask(w, "PATCH", attachments + "/" + name + "/status",
                             R"({"metadata":{"labels":{"n":"1"},"annotations":{"n":"1"}},)"
                             R"("status":{"attached":true}})",
                             kMerge);
  CHECK(attached.code == 200);
  CHECK(attached.body["status"]["attached"] == true);
  CHECK_FALSE(attached.body["metadata"].contains("labels"));
  CHECK_FALSE(attached.body["metadata"].contains("annotations"));
  CHECK(send(w, "DELETE", attachments + "/" + name).code == 200);
}

E2E_CASE("a CertificateSigningRequest is approved by its endpoint alone, and says who made it") {
  World w;
  // Of CN=x; the key is nobody's.
  const std::string request =
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVF"
      "QXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCUEVFVWppUEgvcHBZeThZblV4"
      "cXRXaTdxbHJXUHJMTEZadE9WbEZDNUxKWWhpNXNrdFFBajRBangvZEZTRmluCnN5c1Z0anluZHZwTE9S"
      "N21BTEwybXFpZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQWdaVDFmK3owQmZxTm0KamVSNW96VXBl"
      "SC9tMXFQK2pXbE95WEJ0WjlsVzVBSWhBUGNZUnVqbmNvMnJ3RkhMa3ZERzAxeEZjTThibGVuNgovRXo1"
      "b1Y1QWpwbFoKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const std::string name = "r-" + w.ns();
  const std::string path = requests + "/" + name;
  const Heard made =
      ask(w, "POST", requests,
          R"({"metadata":{"name":")" + name +
              R"("},"spec":{"signerName":"example.com/s",)"
              R"("username":"eve","usages":["client auth"],"request":")" +
              request + R"("},"status":{"conditions":[{"type":"Approved","status":"True"}]}})");
  REQUIRE(made.code == 201);
  CHECK(made.body["status"] == Json::object());
  CHECK(made.body["spec"]["username"] != "eve");
  const auto patch = [&](const std::string& endpoint, const std::string& conditions) {
    return ask(w, "PATCH", path + endpoint,
               R"({"metadata":{"labels":{"l":"1"}},"spec":{"signerName":"z"},)"
               R"("status":{"conditions":[)" +
                   conditions + "]}}",
               kMerge);
  };
  const std::string approved = R"({"type":"Approved","status":"True"})";
  CHECK(patch("", approved).body["status"] == Json::object());
  CHECK(patch("/status", approved)
            .says(R"(Forbidden: updates may not add a condition of type "Approved")"));
  const Heard decided = patch("/approval", approved);
  CHECK(decided.code == 200);
  CHECK(decided.body["spec"]["signerName"] == "example.com/s");
  CHECK(decided.body["metadata"]["labels"]["l"] == "1");
  const Json condition = decided.body["status"]["conditions"][0];
  CHECK(condition["lastUpdateTime"].is_string());
  CHECK(condition["lastTransitionTime"].is_string());
  CHECK(patch("/approval", "")
            .says(R"(Forbidden: updates may not remove a condition of type "Approved")"));
  CHECK(patch("/approval", approved + R"(,{"type":"Denied","status":"False"},{"type":"",)"
                                      R"("status":"x"},{"type":"Approved"})")
            .says(R"([status.conditions[1].status: Unsupported value: "False": supported values: )"
                  R"("True", status.conditions: Invalid value: "Denied": Approved and Denied )"
                  R"(conditions are mutually exclusive, status.conditions[2].type: Required )"
                  R"(value, status.conditions[2].status: Unsupported value: "x": supported )"
                  R"(values: "False", "True", "Unknown", status.conditions[3].status: Required )"
                  R"(value, status.conditions: Invalid value: "Approved": Approved and Denied )"
                  R"(conditions are mutually exclusive, status.conditions[3].type: Duplicate )"
                  R"(value: "Approved"])"));
  CHECK(send(w, "DELETE", path).code == 200);
}

}  // namespace kubewatch::e2e

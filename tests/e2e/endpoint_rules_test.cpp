// What endpoints make of a request before it is about an object: paths, parameters and media types,
// bodies that are no JSON or of another kind, patches that are no operations, reviews that ask
// nothing; and what they fill in of generations and tokens.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/strings.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kIdentity = "/apis/authentication.k8s.io/v1/";
constexpr const char* kRights = "/apis/authorization.k8s.io/v1/";

http::Response ask_for(World& w, const std::string& path, const std::string& accept) {
  http::Request request;
  request.method = "GET";
  request.url = path;
  request.headers.set("Accept", accept);
  return fetch(w, w.server().config(), std::move(request));
}

Answer post_text(World& w, const std::string& path, const std::string& text) {
  return send_text(w, "POST", path, text, "application/json");
}

}  // namespace

E2E_CASE("a review that asks nothing, or too much, is refused") {
  World w;
  const std::string access = std::string(kRights) + "subjectaccessreviews";
  const std::string local =
      std::string(kRights) + "namespaces/" + w.ns() + "/localsubjectaccessreviews";
  const std::string path = R"({"path":"/"})";
  const std::string invalid = ".authorization.k8s.io \"\" is invalid: ";
  const std::string nothing =
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
      "resourceAttributes must be specified";
  const std::string unread = " in version \"v1\" cannot be handled as a ";
  const std::string misread =
      "SubjectAccessReview" + unread + "SubjectAccessReview: json: cannot unmarshal ";
  const std::string requirement =
      "spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: \"\": ";
  struct Row {
    std::string path, body;
    int code;
    std::string message;
  };
  const std::vector<Row> rows = {
      {access, R"({"spec":{}})", 422,
       invalid + "[" + nothing +
           ", spec.user: Invalid value: \"\": at least one of user or group must be specified]"},
      {std::string(kRights) + "selfsubjectaccessreviews", "{}", 422, invalid + nothing},
      {access,
       R"({"spec":{"user":"a","resourceAttributes":{},"nonResourceAttributes":)" + path + "}}", 422,
       invalid +
           "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"\"}: cannot "
           "be specified in combination with resourceAttributes"},
      {access,
       R"({"spec":{"user":"a","resourceAttributes":{"fieldSelector":{},"labelSelector":)"
       R"({"rawSelector":)"
       R"("x","requirements":[{"key":"a","operator":"In"}]}}}})",
       422,
       invalid +
           "[spec.resourceAttributes.fieldSelector.requirements: Required value: when "
           "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is "
           "required, spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"x\": may "
           "not specified at the same time as requirements, "
           "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be "
           "specified when `operator` is 'In' or 'NotIn']"},
      {local, R"({"spec":{"user":"a","resourceAttributes":{"namespace":"other"}}})", 422,
       invalid + "spec.resourceAttributes.namespace: Invalid value: \"other\": must match "
                 "metadata.namespace"},
      {local, R"({"metadata":{"namespace":"other"},"spec":{}})", 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {access, R"({"spec":{"user":1}})", 400,
       "SubjectAccessReview" + unread +
           "SubjectAccessReview: json: cannot unmarshal number into Go struct field "
           "SubjectAccessReviewSpec.spec.user of type string"},
      {access, R"({"kind":"Foo"})", 400,
       "Foo" + unread +
           "SubjectAccessReview: no kind \"Foo\" is registered for version "
           "\"authorization.k8s.io/v1\" in scheme \"pkg/runtime/scheme.go:111\""},
      {access + "?fieldValidation=Strict", R"({"spec":{"user":"a","foo":1}})", 400,
       "SubjectAccessReview" + unread +
           "SubjectAccessReview: strict decoding error: unknown field \"spec.foo\""},
      {access,
       R"({"spec":{"user":"a","resourceAttributes":{"labelSelector":{"requirements":[null]}}}})",
       422,
       invalid + "[" + requirement + "name part must be non-empty, " + requirement +
           "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
           "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
           "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]"},
      {access, R"({"spec":{"user":"a","extra":{"k":7}}})", 400,
       misread + "number into Go struct field SubjectAccessReviewSpec.spec.extra of type "
                 "v1.ExtraValue"},
      {access, R"({"spec":{"user":"a","extra":{"k":[7]}}})", 400,
       misread + "number into Go struct field SubjectAccessReviewSpec.spec.extra of type string"},
      {access, R"({"spec":{"user":"a","extra":7}})", 400,
       misread + "number into Go struct field SubjectAccessReviewSpec.spec.extra of type "
                 "map[string]v1.ExtraValue"},
      {access,
       R"({"spec":{"user":"a","resourceAttributes":{"labelSelector":)"
       R"({"requirements":[{"operator":7}]}}}})",
       400,
       misread + "number into Go struct field "
                 "LabelSelectorRequirement.spec.resourceAttributes.labelSelector.requirements."
                 "operator of type v1.LabelSelectorOperator"},
      {access, R"({"spec":{"user":"a"},"status":{"allowed":"x"}})", 400,
       misread + "string into Go struct field SubjectAccessReviewStatus.status.allowed of type "
                 "bool"},
      {std::string(kRights) + "selfsubjectrulesreviews", R"({"spec":{}})", 400,
       "no namespace on request"},
      {std::string(kIdentity) + "tokenreviews", R"({"spec":{}})", 400,
       "token is required for TokenReview in authentication"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path, row.body);
    const Answer answer = post_text(w, row.path, row.body);
    CHECK(answer.code == row.code);
    CHECK(message(answer) == row.message);
  }
  const Answer made =
      post_text(w, access, R"({"spec":{"user":"a","foo":1,"nonResourceAttributes":)" + path + "}}");
  CHECK(made.code == 201);
  CHECK(made.body["spec"] == Json{{"user", "a"}, {"nonResourceAttributes", {{"path", "/"}}}});
  const Json& owner = made.body["metadata"]["managedFields"][0];
  CHECK(owner["operation"] == "Update");
  CHECK(owner["fieldsV1"]["f:spec"] ==
        Json{{"f:user", Json::object()},
             {"f:nonResourceAttributes", {{".", Json::object()}, {"f:path", Json::object()}}}});
  const Answer named = post_text(
      w, access, R"({"metadata":{"name":"x"},"spec":{"user":"a","nonResourceAttributes":{}}})");
  CHECK(tells(told_by_server(named.body), "metadata", "{\"name\":\"x\",\"managedFields\":[{"));
  CHECK(tells(told_by_server(named.body), "metadata", "}]}: must be empty"));
  const Answer nulls = post_text(
      w, access,
      R"({"spec":{"groups":[null],"extra":{"k":null},"nonResourceAttributes":{"path":"/"}}})");
  CHECK(nulls.code == 201);
  CHECK(nulls.body["spec"]["groups"] == Json::array({""}));
  CHECK(nulls.body["spec"]["extra"] == Json{{"k", nullptr}});
  CHECK(nulls.body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:extra"] ==
        Json{{".", Json::object()}, {"f:k", Json::object()}});
  const http::Response table = [&] {
    http::Request request;
    request.method = "POST";
    request.url = access;
    request.headers.set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1");
    request.headers.set("Content-Type", "application/json");
    request.body = "{}";
    return fetch(w, w.server().config(), std::move(request));
  }();
  CHECK(table.status == 406);
}

E2E_CASE("a body that is no JSON is refused in the decoder's words") {
  World w;
  const std::string start =
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
      "json parse error: ";
  const std::string end = "unexpected end of JSON input";
  const auto bad = [](const std::string& what) { return "invalid character " + what; };
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", end + " (<empty>)"},
      {R"({"a":)", end + R"( ({"a":))"},
      {"{\"a\":\"b", end + " ({\"a\":\"b)"},
      {"{} x", bad("'x' after top-level value ({} x)")},
      {"{,}", bad("',' looking for beginning of object key string ({,})")},
      {R"({"a" 1})", bad(R"('1' after object key ({"a" 1}))")},
      {R"({"a":01})", bad(R"('1' after object key:value pair ({"a":01}))")},
      {"[1 2]", bad("'2' after array element (5b3120325d)")},
      {std::string("{}\0", 3), bad("'\\x00' after top-level value (") + std::string("{}\0)", 4)},
      {"nul", bad("' ' in literal null (expecting 'l') (6e756c)")},
      {R"({"a":-})", bad(R"('}' in numeric literal ({"a":-}))")},
      {R"({"a":1.})", bad(R"('}' after decimal point in numeric literal ({"a":1.}))")},
      {R"({"a":1e})", bad(R"('}' in exponent of numeric literal ({"a":1e}))")},
      {"{\"a\":\"\x01\"}", bad("'\\x01' in string literal ({\"a\":\"\x01\"})")},
      {R"({"a":"\x"})", bad(R"('x' in string escape code ({"a":"\x"}))")},
      {R"({"a":"\u12x"})", bad(R"('x' in \u hexadecimal character escape ({"a":"\u12x"}))")},
      {"\xEF\xBB\xBF{}", bad("'\xC3\xAF' looking for beginning of value (efbbbf7b7d)")},
  };
  for (const auto& [body, words] : rows) {
    CAPTURE(body);
    const Answer answer = post_text(w, maps(w), body);
    CHECK(answer.code == 400);
    CHECK(message(answer) == start + words);
  }
  const std::string name = R"({"metadata":{"name":"odd"},"data":)";
  const Answer odd = post_text(
      w, maps(w), name + "{\"a\":\"x\\ud800y\",\"b\":\"\xED\xA0\x80\",\"c\":\"\\ud83d\\ude00\"}}");
  REQUIRE(odd.code == 201);
  CHECK(odd.body["data"] == Json{{"a", "x\xEF\xBF\xBDy"},
                                 {"b", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                                 {"c", "\xF0\x9F\x98\x80"}});
}

E2E_CASE("a body of another kind or version is refused, by what the server knows of it") {
  World w;
  struct Row {
    std::string path;
    const char* version;
    const char* kind;
    std::string message;
  };
  const std::string unknown = " in scheme \"pkg/runtime/scheme.go:111\"";
  const std::string deployments = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::vector<Row> rows = {
      {maps(w), "v2", "",
       "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is "
       "registered for version \"v2\"" +
           unknown},
      {maps(w), "apps/v1", "Deployment",
       "Deployment in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Deployment) "
       "to (core.ConfigMap): unknown conversion"},
      {maps(w), "v1", "ConfigMapList",
       "ConfigMapList in version \"v1\" cannot be handled as a ConfigMap: converting "
       "(v1.ConfigMapList) to (core.ConfigMap): unknown conversion"},
      {deployments, "", "Pod",
       "Pod in version \"v1\" cannot be handled as a Deployment: no kind \"Pod\" is registered for "
       "version \"apps/v1\"" +
           unknown},
      {deployments, "apps/v1beta1", "Deployment",
       "the API version in the data (apps/v1beta1) does not match the expected API version "
       "(apps/v1)"},
      {"/api/v1/namespaces/" + w.ns() + "/events", "events.k8s.io/v1", "Event",
       "the API version in the data (events.k8s.io/v1) does not match the expected API version "
       "(v1)"},
      {definitions, "v1", "ConfigMap",
       "ConfigMap in version \"v1\" cannot be handled as a CustomResourceDefinition: no kind "
       "\"ConfigMap\" is registered for version \"v1\"" +
           unknown},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path, row.version, row.kind);
    Json body = {{"metadata", {{"name", "x"}}}};
    if (*row.version != '\0') body["apiVersion"] = row.version;
    if (*row.kind != '\0') body["kind"] = row.kind;
    const Answer answer = send(w, "POST", row.path, body);
    CHECK(answer.code == 400);
    CHECK(message(answer) == row.message);
  }
  CHECK(send(w, "POST", maps(w), {{"apiVersion", "/v1"}, {"metadata", {{"name", "x"}}}}).code ==
        201);
  const auto why = [&](const std::string& path, const char* version, const char* kind) {
    const std::string told = message(send(
        w, "POST", path, {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", "x"}}}}));
    if (told.ends_with(unknown)) return std::string("no kind");
    const auto at = told.rfind(": converting (");
    if (told.ends_with(": unknown conversion") && at != std::string::npos) {
      return told.substr(at + 14, told.find(')', at) - at - 14);
    }
    return told.find("does not match the expected API version") == std::string::npos ? told
                                                                                     : "version";
  };
  const std::string space = "/namespaces/" + w.ns();
  const std::string reviews = std::string(kIdentity) + "selfsubjectreviews";
  const std::string pod = "/api/v1" + space + "/pods/x";
  const std::vector<std::tuple<std::string, const char*, const char*, const char*>> known = {
      {definitions, "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "version"},
      {definitions, "v1", "Status", "v1.Status"},
      {definitions, "v1", "List", "no kind"},
      {definitions, "apps/v1", "DeleteOptions", "no kind"},
      {"/apis/apiregistration.k8s.io/v1/apiservices", "apiregistration.k8s.io/v1beta1",
       "APIService", "version"},
      {reviews, "authentication.k8s.io/v1alpha1", "SelfSubjectReview", "version"},
      {"/apis/batch/v1" + space + "/jobs", "batch/v1beta1", "Job", "no kind"},
      {"/apis/apps/v1" + space + "/replicasets", "apps/v1beta1", "ReplicaSet", "no kind"},
      {"/apis/apps/v1" + space + "/replicasets", "extensions/v1beta1", "ReplicaSet", "version"},
      {"/apis/storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1alpha1", "StorageClass",
       "no kind"},
      {maps(w), "v1", "List", "v1.List"},
      {maps(w), "apps/v1", "List", "no kind"},
      {maps(w), "v1", "BindingList", "no kind"},
      {maps(w), "v1", "RangeAllocation", "v1.RangeAllocation"},
      {maps(w), "v1", "NodeProxyOptions", "v1.NodeProxyOptions"},
      {maps(w), "apps/v1beta1", "DeleteOptions", "v1.DeleteOptions"},
      {maps(w), "foo/v1", "DeleteOptions", "no kind"},
      {maps(w), "foo/v2", "Status", "v1.Status"},
      {maps(w), "apps/v1beta2", "DaemonSetList", "v1beta2.DaemonSetList"},
      {maps(w), "policy/v1beta1", "Eviction", "v1beta1.Eviction"},
      {pod + "/binding", "v1", "Pod", "v1.Pod"},
      {pod + "/binding", "policy/v1", "Eviction", "v1.Eviction"},
      {pod + "/eviction", "v1", "Eviction", "no kind"},
      {pod + "/eviction", "v1", "Binding", "v1.Binding"},
      {pod + "/eviction", "policy/v1beta1", "Eviction", "pods \"x\" not found"},
  };
  for (const auto& [path, version, kind, what] : known) {
    CAPTURE(path, version, kind);
    CHECK(why(path, version, kind) == what);
  }
}

E2E_CASE("a patch that cannot be read is refused as it is decoded") {
  World w;
  made(w, maps(w), {{"metadata", {{"name", "a"}}}});
  const std::string object = maps(w) + "/a";
  const std::string start = "error decoding patch: json: cannot unmarshal ";
  const std::vector<std::pair<const char*, std::string>> rows = {
      {R"(["x"])", start + "string into Go value of type handlers.jsonPatchOp"},
      {R"([{"op":"test"},{"op":1}])",
       start + "number into Go struct field jsonPatchOp.op of type string"},
      {R"([{"op":"add","path":[]}])",
       start + "array into Go struct field jsonPatchOp.path of type string"},
      {"[{]",
       "error decoding patch: invalid character ']' looking for beginning of object key "
       "string"},
  };
  for (const auto& [body, words] : rows) {
    CAPTURE(body);
    const Answer answer = send_text(w, "PATCH", object, body, kJsonPatch);
    CHECK(answer.code == 400);
    CHECK(message(answer) == words);
  }
  CHECK(send_text(w, "PATCH", maps(w) + "/none", R"(["x"])", kJsonPatch).code == 404);
  CHECK(send_text(w, "PATCH", object, "[null]", kJsonPatch).code == 422);
  const Json test = {{"op", "test"}, {"path", "/kind"}, {"value", "ConfigMap"}};
  const Answer many = patch(w, object, Json::array_t(10001, test), kJsonPatch);
  CHECK(many.code == 413);
  CHECK(message(many) ==
        "Request entity too large: The allowed maximum operations in a JSON patch "
        "is 10000, got 10001");
  const std::string scale = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments/none/scale";
  for (const std::string& path : {object, maps(w) + "/none", scale}) {
    CAPTURE(path);
    const Answer answer = send_text(w, "PATCH", path, "{}", "application/json");
    CHECK(answer.code == 415);
    CHECK(message(answer) == "415: Unsupported Media Type");
  }
  const Answer nameless = send(w, "PUT", scale, Json::object());
  CHECK(nameless.code == 400);
  CHECK(message(nameless) ==
        "the name of the object (none based on URL) was undeterminable: name must be provided");
}

E2E_CASE("media types are taken by their name, and forms when there is something to show") {
  World w;
  made(w, maps(w), {{"metadata", {{"name", "a"}}}});
  const std::string list_form = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  struct Row {
    const char* path;
    std::string accept;
    int code;
    const char* type;
  };
  const char* const json = "application/json";
  const char* const yaml = "application/yaml";
  const std::vector<Row> rows = {
      {"/a", "application/*", 406, json},
      {"/a", "*/json", 406, json},
      {"/a", "APPLICATION/JSON", 406, json},
      {"/a", "*/*", 200, json},
      {"/a", "application/json;q=0", 200, json},
      {"/a", "application/*, application/yaml;q=0.1", 200, yaml},
      {"/a", "text/html;q=0.9, application/yaml;q=0.1, */*;q=0.5", 200, json},
      {"/a", "application/yaml;q=x, application/json;q=0.5", 200, json},
      {"/a", list_form, 406, json},
      {"/none", list_form, 404, json},
      {"", list_form, 200, json},
      {"?limit=x", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", 400, json},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path, row.accept);
    const http::Response answer = ask_for(w, maps(w) + row.path, row.accept);
    CHECK(answer.status == row.code);
    CHECK(answer.headers.get("Content-Type") == row.type);
  }
  CHECK(ask_for(w, "/api", "application/*").status == 406);
}

E2E_CASE("a parameter that is there is read, and a field selector may choose by nothing") {
  World w;
  made(w, maps(w), {{"metadata", {{"name", "a"}}}});
  const std::string empty = "strconv.ParseInt: parsing \"\": invalid syntax";
  for (const char* query : {"?limit=", "?limit", "?timeoutSeconds=", "?limit=&limit=3"}) {
    CAPTURE(query);
    const Answer answer = send(w, "GET", maps(w) + query);
    CHECK(answer.code == 400);
    CHECK(message(answer) == empty);
  }
  for (const char* query :
       {"?fieldSelector=%3D", "?fieldSelector=!%3D,metadata.name%3Da,%3D%3D", "?limit=3&limit="}) {
    CAPTURE(query);
    const Answer answer = send(w, "GET", maps(w) + query);
    CHECK(answer.code == 200);
    CHECK(std::any_of(answer.body["items"].begin(), answer.body["items"].end(),
                      [](const Json& item) { return item["metadata"]["name"] == "a"; }));
  }
  CHECK(message(send(w, "GET", maps(w) + "?fieldSelector=%3Da")) ==
        "\"\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  const Json nameless = {{"metadata", {{"name", "b"}}}};
  const std::string dry = maps(w) + "?dryRun=All&fieldManager=";
  const Answer bell = send(w, "POST", dry + "a%01", nameless);
  CHECK(bell.code == 422);
  CHECK(told_by_server(bell.body) ==
        Told{"fieldManager: Invalid value: \"a\\x01\": invalid character U+0001 (at position 1)"});
  CHECK(send(w, "POST", dry + "%C3%A9", nameless).code == 201);
  const std::vector<std::tuple<const char*, const char*, const char*>> hidden = {
      {"%E2%80%8B", "\\u200b", "U+200B"},
      {"%CD%B8", "\\u0378", "U+0378"},
      {"%F3%A0%80%81", "\\U000e0001", "U+E0001"},
  };
  for (const auto& [sent, shown, code] : hidden) {
    CAPTURE(code);
    CHECK(told_by_server(send(w, "POST", dry + "a" + sent, nameless).body) ==
          Told{fmt::format("fieldManager: Invalid value: \"a{}\": invalid character {} (at "
                           "position 1)",
                           shown, code)});
  }
}

E2E_CASE("a path with a gap leads nowhere, but for the namespace") {
  World w;
  struct Row {
    const char* method;
    std::string path;
    int code;
  };
  const std::string own = "/api/v1/namespaces/" + w.ns();
  const std::vector<Row> rows = {
      {"GET", "/api/v1//namespaces", 404},
      {"GET", own + "//configmaps", 404},
      {"GET", "/api//v1", 404},
      {"GET", "/api/v1/namespaces//pods", 200},
      {"GET", maps(w) + "//", 200},
      {"GET", own + "/finalize", 405},
      {"GET", own + "/status", 200},
      {"POST", "/.well-known/openid-configuration", 405},
  };
  for (const Row& row : rows) {
    CAPTURE(row.method, row.path);
    CHECK(send(w, row.method, row.path).code == row.code);
  }
  for (const char* path : {"//", "//api/v1", "/apis//", "/livez/ping/"}) {
    CAPTURE(path);
    const http::Response answer = ask_for(w, path, "*/*");
    CHECK(answer.status == 404);
    CHECK(answer.body == "404 page not found\n");
  }
  CHECK(send(w, "GET", "/api/v1/namespaces//pods").body["kind"] == "PodList");
  const Answer root = send(w, "GET", "/");
  CHECK(root.code == 200);
  for (const char* path :
       {"/.well-known/openid-configuration", "/api/v1", "/apis/", "/apis/apps", "/apis/apps/v1",
        "/livez/ping", "/openapi/v3", "/openid/v1/jwks", "/version"}) {
    CAPTURE(path);
    const Json& paths = root.body["paths"];
    CHECK(std::find(paths.begin(), paths.end(), path) != paths.end());
  }
  const Answer issuer = send(w, "GET", "/.well-known/openid-configuration");
  CHECK(issuer.code == 200);
  const std::string keys = base::string_at(issuer.body, {"jwks_uri"});
  CHECK(keys.ends_with("/openid/v1/jwks"));
  CHECK_FALSE(base::string_at(issuer.body, {"issuer"}).empty());
  const http::Response found = ask_for(w, "/openid/v1/jwks", "*/*");
  CHECK(found.status == 200);
  CHECK(found.headers.get("Content-Type") == "application/jwk-set+json");
}

E2E_CASE("generations are counted by their kind, a resourceVersion by who stores it") {
  World w;
  const Answer below =
      send(w, "POST", maps(w), {{"metadata", {{"name", "a"}, {"generation", -1}}}});
  CHECK(below.code == 422);
  CHECK(told_by_server(below.body) ==
        Told{"metadata.generation: Invalid value: -1: must be greater than or equal to 0"});
  const auto generations = [&](const std::string& collection, const Json& object,
                               const Json& change) {
    const std::string name = w.ns();
    Json body = object;
    body["metadata"]["name"] = name;
    const Json first = made(w, collection, body)["metadata"].value("generation", Json());
    const Answer second = patch(w, collection + "/" + name, change);
    CHECK(send(w, "DELETE", collection + "/" + name).code == 200);
    return std::pair(first, second.body["metadata"].value("generation", Json()));
  };
  CHECK(generations("/apis/scheduling.k8s.io/v1/priorityclasses", {{"value", 5}},
                    {{"description", "x"}}) == std::pair<Json, Json>(1, 1));
  const Json slice = {{"spec",
                       {{"driver", "d.example.com"},
                        {"nodeName", "n"},
                        {"pool", {{"name", "p"}, {"resourceSliceCount", 1}, {"generation", 1}}}}}};
  CHECK(generations("/apis/resource.k8s.io/v1/resourceslices", slice,
                    {{"spec", {{"pool", {{"generation", 2}}}}}}) == std::pair<Json, Json>(1, 2));
  const Json old = {{"metadata", {{"name", "b"}, {"resourceVersion", "5"}}}};
  const Answer tried = send(w, "POST", maps(w) + "?dryRun=All", old);
  CHECK(tried.code == 201);
  CHECK(tried.body["metadata"]["resourceVersion"] == "5");
  CHECK(send(w, "POST", maps(w), old).code == 500);
}

E2E_CASE("a token has an id of its own") {
  World w;
  w.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: bot, namespace: '@NS@'}}");
  const auto id = [&] {
    const Answer issued = send(
        w, "POST", "/api/v1/namespaces/" + w.ns() + "/serviceaccounts/bot/token", Json::object());
    REQUIRE(issued.code == 201);
    std::string claims = base::string_at(issued.body, {"status", "token"});
    claims = claims.substr(claims.find('.') + 1);
    claims = claims.substr(0, claims.find('.'));
    std::replace(claims.begin(), claims.end(), '-', '+');
    std::replace(claims.begin(), claims.end(), '_', '/');
    while (claims.size() % 4 != 0) claims += '=';
    return base::string_at(*base::parse_json(*base::base64_decode(claims)), {"jti"});
  };
  const std::string first = id();
  CHECK(first.size() == 36);
  CHECK(first[14] == '4');
  CHECK(id() != first);
}

E2E_CASE("a review of a token says by which credential its bearer is known") {
  World w;
  w.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: bot, namespace: '@NS@'}}");
  const Answer issued = send(
      w, "POST", "/api/v1/namespaces/" + w.ns() + "/serviceaccounts/bot/token", Json::object());
  REQUIRE(issued.code == 201);
  const Answer review = send(w, "POST", std::string(kIdentity) + "tokenreviews",
                             {{"spec", {{"token", issued.body["status"]["token"]}}}});
  const Json extra = review.body["status"]["user"].value("extra", Json::object());
  REQUIRE(extra.contains("authentication.kubernetes.io/credential-id"));
  CHECK(extra["authentication.kubernetes.io/credential-id"][0].get<std::string>().starts_with(
      "JTI="));
}

E2E_CASE("faults of fields are told in the order of the text, and a body is read before its kind") {
  World w;
  const std::string text =
      R"({"zz":1,"metadata":{"name":"m","bar":1,"labels":{"a":"1","a":"2"}},"foo":1,)"
      R"("data":{"a":"1","a":"2"},"foo":2})";
  CHECK(message(post_text(w, maps(w) + "?fieldValidation=Strict", text)) ==
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
        "unknown field \"zz\", unknown field \"metadata.bar\", duplicate field "
        "\"metadata.labels.a\", unknown field \"foo\", duplicate field \"data.a\"");
  const std::string refused = " in version \"v1\" cannot be handled as a ConfigMap: ";
  CHECK(message(post_text(w, maps(w), R"({"apiVersion":"v1","kind":"Secret","data":{"x":"y"}})")) ==
        "Secret" + refused + "illegal base64 data at input byte 0");
  CHECK(
      message(post_text(
          w, maps(w), R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":"y"}})")) ==
      "Deployment" + refused +
          "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
          "type int32");
}

E2E_CASE("each answer has an id for audits, and the version says what it goes back to") {
  World w;
  http::Request request;
  request.method = "GET";
  request.url = "/version";
  request.headers.set("Audit-ID", "mine-" + w.ns());
  const http::Response version = fetch(w, w.server().config(), std::move(request));
  CHECK(version.headers.get("Audit-Id") == "mine-" + w.ns());
  const Json told = base::parse_json(version.body).value();
  for (const char* key :
       {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"}) {
    CAPTURE(key);
    CHECK_FALSE(base::string_at(told, {key}).empty());
  }
  CHECK(ask_for(w, "/api/v1", "*/*").headers.get("Audit-Id").size() == 36);
}

E2E_CASE("a definition that is refused is not warned of") {
  World w;
  const std::string group = "f" + w.ns() + ".example.com";
  Json crd = {{"metadata", {{"name", "wrong." + group}}},
              {"spec",
               {{"group", group},
                {"scope", "Namespaced"},
                {"names", {{"plural", "things"}, {"kind", "Thing"}}},
                {"versions", Json::array()}}}};
  crd["spec"]["versions"].push_back({{"name", "v1"},
                                     {"served", true},
                                     {"storage", true},
                                     {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}});
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"] = {{"type", "string"},
                                                                                {"format", "foo"}};
  const auto ask = [&] {
    http::Request request;
    request.method = "POST";
    request.url = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
    request.headers.set("Content-Type", "application/json");
    request.body = base::dump_json(crd);
    return fetch(w, w.server().config(), std::move(request));
  };
  const http::Response refused = ask();
  CHECK(refused.status == 422);
  CHECK(refused.headers.get("Warning").empty());
  crd["metadata"]["name"] = "things." + group;
  const http::Response taken = ask();
  CHECK(taken.status == 201);
  CHECK(taken.headers.get("Warning") == R"(299 - "unrecognized format \"foo\"")");
}

E2E_CASE("a body beyond 3 MiB is refused in a Status") {
  World w;
  const Answer answer = post_text(w, maps(w), std::string((3U << 20U) + 10, ' '));
  CHECK(answer.code == 413);
  CHECK(base::string_at(answer.body, {"kind"}) == "Status");
  CHECK(base::string_at(answer.body, {"reason"}) == "RequestEntityTooLarge");
  CHECK(answer.body["code"] == 413);
  CHECK(message(answer) == "Request entity too large: limit is 3145728");
}

E2E_CASE("a value of another type is told before fields that nobody knows") {
  World w;
  const std::string all =
      "/apis/apps/v1/namespaces/" + w.ns() + "/deployments?fieldValidation=Strict&dryRun=All";
  const std::string unread =
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type "
      "int32";
  CHECK(message(post_text(w, all, R"({"bogus":1,"spec":{"replicas":"3","zz":1,"zz":2}})")) ==
        "Deployment in version \"v1\" cannot be handled as a Deployment: " + unread);
  CHECK(message(post_text(w, maps(w) + "?fieldValidation=Strict",
                          R"({"metadata":{"name":"m"},"zz":1,"data":{"a":1}})"))
            .find("strict decoding error") == std::string::npos);
  CHECK(message(post_text(w, std::string(kRights) + "subjectaccessreviews?fieldValidation=Strict",
                          R"({"foo":1,"spec":{"user":1}})")) ==
        "SubjectAccessReview in version \"v1\" cannot be handled as a SubjectAccessReview: json: "
        "cannot unmarshal number into Go struct field SubjectAccessReviewSpec.spec.user of type "
        "string");
  made(w, maps(w), {{"metadata", {{"name", "m"}}}});
  for (const char* type : {kMerge, kJsonPatch}) {
    const char* body =
        type == kMerge ? R"({"zz":1,"data":{"a":1}})" : R"([{"op":"add","path":"/zz","value":1},
                                 {"op":"add","path":"/data","value":{"a":1}}])";
    const Answer answer = send_text(w, "PATCH", maps(w) + "/m?fieldValidation=Strict", body, type);
    CHECK(answer.code == 422);
    CHECK(message(answer).find("cannot unmarshal number") != std::string::npos);
  }
}

E2E_CASE("a merge patch that is a list is the object where its fields are not validated") {
  World w;
  made(w, maps(w), {{"metadata", {{"name", "m"}}}});
  const Answer answer = send_text(w, "PATCH", maps(w) + "/m?fieldValidation=Ignore", "[]", kMerge);
  CHECK(answer.code == 422);
  CHECK(message(answer).find("couldn't get version/kind; json parse error: json: cannot unmarshal "
                             "array into Go value of type struct {") != std::string::npos);
  CHECK(send_text(w, "PATCH", maps(w) + "/m", "[]", kMerge).code == 400);
}

}  // namespace kubewatch::e2e

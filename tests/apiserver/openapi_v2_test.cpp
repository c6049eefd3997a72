// What the document of /openapi/v2 makes of the schemas and paths of v3, in JSON and in protobuf.
// That its definitions are those of a real server is tests/e2e/openapi_test.cpp's.
#include "apiserver/openapi_v2.hpp"

#include <map>
#include <set>

#include "apiserver/discovery.hpp"
#include "apiserver/openapi_v2_protobuf.hpp"
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

constexpr const char kAsked[] = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const std::string kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

Json v2(Json schema) {
  to_openapi_v2(schema);
  const Json once = schema;
  to_openapi_v2(schema);
  CHECK(schema == once);
  return once;
}

// A message without its meaning: numbers and bytes by the number of their field.
struct Fields {
  std::multimap<unsigned, std::string> bytes;
  std::multimap<unsigned, std::uint64_t> numbers;

  explicit Fields(std::string_view text) {
    const auto varint = [&] {
      std::uint64_t out = 0;
      for (unsigned shift = 0;; shift += 7) {
        REQUIRE(!text.empty());
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        out |= std::uint64_t(byte & 0x7FU) << shift;
        if (byte < 0x80U) return out;
      }
    };
    while (!text.empty()) {
      const std::uint64_t tag = varint();
      const auto number = static_cast<unsigned>(tag >> 3U);
      switch (tag & 7U) {
        case 0: numbers.emplace(number, varint()); break;
        case 1:
          REQUIRE(text.size() >= 8);
          bytes.emplace(number, text.substr(0, 8));
          text.remove_prefix(8);
          break;
        default: {
          REQUIRE((tag & 7U) == 2);
          const std::uint64_t size = varint();
          REQUIRE(size <= text.size());
          bytes.emplace(number, text.substr(0, size));
          text.remove_prefix(size);
        }
      }
    }
  }
  std::string text(unsigned number) const {
    const auto it = bytes.find(number);
    return it == bytes.end() ? "" : it->second;
  }
  Fields message(unsigned number) const { return Fields(text(number)); }
  // Of a list of names and what they name.
  Fields named(unsigned number, const std::string& name) const {
    const auto range = bytes.equal_range(number);
    for (auto it = range.first; it != range.second; ++it) {
      const Fields entry(it->second);
      if (entry.text(1) == name) return entry.message(2);
    }
    FAIL("nothing is called " << name);
    return Fields("");
  }
};

Json extension(const Fields& message, unsigned number, const std::string& name) {
  return Json::parse(message.named(number, name).text(2));
}

}  // namespace

TEST_CASE("openapi v2: references stand beside what is said of them, and defaults go") {
  CHECK(v2({{"allOf", Json::array({{{"$ref", "#/components/schemas/io.k8s.X"}}})},
            {"default", Json::object()},
            {"description", "What it is."}}) ==
        Json{{"$ref", "#/definitions/io.k8s.X"}, {"description", "What it is."}});
  CHECK(v2({{"type", "array"}, {"items", {{"$ref", "#/components/schemas/X"}}}}) ==
        Json{{"type", "array"}, {"items", {{"$ref", "#/definitions/X"}}}});
  const Json list = {{"type", "array"},
                     {"items", {{"type", "string"}}},
                     {"x-kubernetes-list-type", "map"},
                     {"x-kubernetes-list-map-keys", Json::array({"name"})},
                     {"x-kubernetes-patch-merge-key", "name"},
                     {"x-kubernetes-patch-strategy", "merge"}};
  CHECK(v2(list) == list);
  // Fields may be called like what goes.
  const Json fields = {{"type", "object"},
                       {"properties", {{"default", {{"type", "string"}}}, {"nullable", {}}}}};
  CHECK(v2(fields) == fields);
  CHECK(v2({{"format", "int-or-string"},
            {"oneOf", Json::array({{{"type", "integer"}}, {{"type", "string"}}})}}) ==
        Json{{"format", "int-or-string"}, {"type", "string"}});
}

TEST_CASE("openapi v2: of what may be null or may be anything nothing is said that refuses it") {
  CHECK(
      v2({{"type", "object"},
          {"required", Json::array({"a", "b"})},
          {"properties",
           {{"a", {{"type", "string"}, {"nullable", true}}},
            {"b", {{"type", "array"}, {"nullable", false}, {"items", {{"type", "string"}}}}}}}}) ==
      Json{{"type", "object"},
           {"required", Json::array({"b"})},
           {"properties",
            {{"a", Json::object()}, {"b", {{"type", "array"}, {"items", {{"type", "string"}}}}}}}});
  CHECK(v2({{"type", "object"},
            {"required", Json::array({"a"})},
            {"additionalProperties", {{"type", "string"}, {"nullable", true}}}}) ==
        Json{{"type", "object"}, {"additionalProperties", Json::object()}});
  CHECK(v2({{"type", "object"},
            {"x-kubernetes-preserve-unknown-fields", true},
            {"properties", {{"a", {{"type", "string"}}}}}}) ==
        Json{{"x-kubernetes-preserve-unknown-fields", true}});
  CHECK(v2({{"type", "array"}}) == Json::object());
  CHECK(v2({{"x-kubernetes-int-or-string", true},
            {"anyOf", Json::array({{{"type", "integer"}}, {{"type", "string"}}})},
            {"oneOf", Json::array({{{"minimum", 1}}})},
            {"pattern", "a"}}) == Json{{"x-kubernetes-int-or-string", true}, {"pattern", "a"}});
  CHECK(v2({{"type", "object"},
            {"not", {{"required", Json::array({"a"})}}},
            {"allOf", Json::array({{{"required", Json::array({"b"})}}})}}) ==
        Json{{"type", "object"}});
}

TEST_CASE("openapi v2: a schema has its messages by gnostic's numbers") {
  const Json schema = {
      {"type", "object"},
      {"description", "A thing."},
      {"required", Json::array({"a"})},
      {"properties",
       {{"a",
         {{"type", "string"},
          {"enum", Json::array({"x", "y"})},
          {"maxLength", 300},
          {"pattern", "^[xy]$"}}},
        {"n", {{"type", "number"}, {"minimum", -1.5}, {"exclusiveMinimum", true}}},
        {"list", {{"type", "array"}, {"items", {{"$ref", "#/definitions/X"}}}}},
        {"map", {{"type", "object"}, {"additionalProperties", {{"type", "boolean"}}}}},
        {"free", {{"additionalProperties", false}}}}},
      {"x-kubernetes-list-map-keys", Json::array({"name"})}};
  const Fields message(schema_message(schema));
  CHECK(message.message(22).text(1) == "object");
  CHECK(message.text(4) == "A thing.");
  CHECK(message.text(19) == "a");
  CHECK(extension(message, 31, "x-kubernetes-list-map-keys") == Json::array({"name"}));
  const Fields fields = message.message(25);
  CHECK(fields.bytes.count(1) == 5);
  const Fields a = fields.named(1, "a");
  CHECK(a.bytes.count(20) == 2);
  CHECK(Json::parse(a.message(20).text(2)) == "x");
  CHECK(a.numbers.find(11)->second == 300);
  CHECK(a.text(13) == "^[xy]$");
  const Fields n = fields.named(1, "n");
  CHECK(n.text(9) == std::string("\0\0\0\0\0\0\xf8\xbf", 8));
  CHECK(n.numbers.find(10)->second == 1);
  CHECK(fields.named(1, "list").message(23).message(1).text(1) == "#/definitions/X");
  CHECK(fields.named(1, "map").message(21).message(1).message(22).text(1) == "boolean");
  // Which of the two it is has to be told, be it false.
  CHECK(fields.named(1, "free").message(21).numbers.count(2) == 1);
}

TEST_CASE("openapi v2: operations have their parameters, bodies and kinds") {
  Registry registry;
  const Json v3 = openapi_document(registry, "apps", "v1");
  const std::string name = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
  const Json path = openapi_v2_path(v3["paths"][name]);
  CHECK(path["parameters"][0] == Json{{"name", "namespace"},
                                      {"in", "path"},
                                      {"type", "string"},
                                      {"uniqueItems", true},
                                      {"required", true}});
  const Json& put = path["put"];
  CHECK(put["x-kubernetes-action"] == "put");
  CHECK(put["x-kubernetes-group-version-kind"]["kind"] == "Deployment");
  const Json reference = {{"$ref", "#/definitions/io.k8s.api.apps.v1.Deployment"}};
  CHECK(put["parameters"][0] ==
        Json{{"name", "body"}, {"in", "body"}, {"required", true}, {"schema", reference}});
  std::set<std::string> names;
  for (const Json& one : put["parameters"]) names.insert(base::string_at(one, {"name"}));
  CHECK(names == std::set<std::string>{"body", "dryRun", "fieldManager", "fieldValidation"});
  CHECK(put["responses"]["200"]["schema"] == reference);
  CHECK(put["produces"][0] == "application/json");
  CHECK_FALSE(path["get"].contains("parameters"));
  CHECK(path["patch"]["consumes"].size() == 4);

  const Fields message(path_message(path));
  const Fields told = message.message(3);
  CHECK(extension(told, 13, "x-kubernetes-action") == "put");
  const Fields body = told.message(8).message(1).message(1);
  CHECK(body.text(2) == "body");
  CHECK(body.message(5).text(1) == reference["$ref"]);
  const Fields in_path = message.message(9).message(1).message(2).message(4);
  CHECK(in_path.text(4) == "namespace");
  CHECK(in_path.numbers.find(1)->second == 1);
  const Fields answer = told.message(9).named(1, "200").message(1);
  CHECK(answer.text(1) == "OK");
  CHECK(answer.message(2).message(1).text(1) == reference["$ref"]);
}

TEST_CASE("openapi v2: the document has every kind once, whole in itself, and follows the CRDs") {
  Server server;
  const Json before = server.get("/openapi/v2").json;
  CHECK(before["swagger"] == "2.0");
  const std::string kind = "dev.kubewatch.demo.v1.Website";
  CHECK_FALSE(before["definitions"].contains(kind));
  server.post(test::kCrdPath, test::website_crd());
  const auto answer = server.get("/openapi/v2");
  const Json& definitions = answer.json["definitions"];
  REQUIRE(definitions.contains(kind));
  CHECK(definitions.contains(kind + "List"));
  CHECK(definitions[kind]["properties"]["metadata"]["$ref"] ==
        "#/definitions/" + kMeta + "ObjectMeta");
  CHECK(definitions[kind]["properties"]["spec"]["properties"]["replicas"] ==
        Json{{"type", "integer"}, {"minimum", 0}, {"maximum", 10}});
  CHECK(definitions[kind]["properties"]["spec"]["properties"]["free"] ==
        Json{{"x-kubernetes-preserve-unknown-fields", true}});
  // All of it may be anything, so no field may be named.
  CHECK(definitions["dev.kubewatch.demo.v1beta1.Website"] ==
        Json{{"type", "object"},
             {"x-kubernetes-group-version-kind", Json::array({{{"group", "demo.kubewatch.dev"},
                                                               {"version", "v1beta1"},
                                                               {"kind", "Website"}}})}});
  CHECK(answer.json["paths"].contains(
      "/apis/demo.kubewatch.dev/v1/namespaces/{namespace}/websites/{name}/scale"));
  // Each group version's own are told together.
  CHECK(definitions[kMeta + "DeleteOptions"]["x-kubernetes-group-version-kind"].size() > 20);
  const std::string text = answer.text;
  CHECK(text.find("#/components/") == text.npos);
  std::set<std::string> seen;
  const std::string mark = "\"#/definitions/";
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const auto from = at + mark.size();
    seen.insert(text.substr(from, text.find('"', from) - from));
  }
  for (const std::string& name : seen) {
    CAPTURE(name);
    CHECK(definitions.contains(name));
  }

  const auto packed = server.call("GET", "/openapi/v2", "", "", kAsked);
  CHECK(packed.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  const Fields document(packed.text);
  CHECK(document.text(1) == "2.0");
  CHECK(document.message(8).bytes.count(2) == answer.json["paths"].size());
  const Fields packed_definitions = document.message(9);
  CHECK(packed_definitions.bytes.count(1) == definitions.size());
  const Fields spec =
      packed_definitions.named(1, kind).message(25).named(1, "spec").message(25).named(1, "host");
  CHECK(spec.message(22).text(1) == "string");
  CHECK(extension(packed_definitions.named(1, kind), 31,
                  "x-kubernetes-group-version-kind")[0]["kind"] == "Website");
}

TEST_CASE("openapi v2: who has the document already is told so") {
  Server server;
  const auto again = [&](const std::string& tag) {
    ApiRequest request;
    request.method = "GET";
    request.path = "/openapi/v2";
    request.headers.add("If-None-Match", tag);
    return server.api.handle(request, server.now()).response;
  };
  const std::string tag(server.get("/openapi/v2").headers.get("ETag"));
  REQUIRE(tag.size() > 2);
  CHECK(again(tag).status == 304);
  CHECK(again(tag).body.empty());
  server.post(test::kCrdPath, test::website_crd());
  CHECK(again(tag).status == 200);
}

}  // namespace kubewatch::apiserver

// Objects that are too large to be kept, and requests of which too much would be told.
#include "apiserver/stored_size.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::kCrdPath;
using test::Server;

namespace {

const std::string kBoxes = "/apis/demo.kubewatch.dev/v1/namespaces/default/boxes";
constexpr std::size_t kMib = 1U << 20U;
constexpr const char* kTooLarge = "etcdserver: request is too large";

Json box_crd(const Json& spec) {
  const Json schema = {{"type", "object"}, {"properties", {{"spec", spec}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "boxes.demo.kubewatch.dev"}}},
          {"spec",
           {{"group", "demo.kubewatch.dev"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "boxes"}, {"kind", "Box"}}},
            {"versions",
             {{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

const Json kOpen = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};

struct BoxServer : Server {
  explicit BoxServer(const Json& spec = kOpen) {
    CHECK(post(kCrdPath, box_crd(spec)).code == 201);
    settle();
  }
};

Json box(const Json& spec) {
  return {{"apiVersion", "demo.kubewatch.dev/v1"},
          {"kind", "Box"},
          {"metadata", {{"name", "b"}}},
          {"spec", spec}};
}

Json repeated(int times, const Json& item) {
  Json out = Json::array();
  for (int i = 0; i < times; ++i) out.push_back(item);
  return out;
}

}  // namespace

TEST_CASE("an object that etcd would not take is refused in its words, a dry run is not") {
  BoxServer server;
  const std::string text(kMib, 'x');
  REQUIRE(server.post(kBoxes, box({{"a", text}})).code == 201);
  const auto before = server.get(kBoxes + "/b");

  const auto grown = server.merge(kBoxes + "/b", {{"spec", {{"b", std::string(kMib / 2, 'x')}}}});
  CHECK(grown.code == 500);
  CHECK(grown.message() == kTooLarge);
  CHECK(grown.reason().empty());
  CHECK_FALSE(grown.json.contains("details"));
  const auto doubled = server.merge(kBoxes + "/b", {{"spec", {{"b", text}}}});
  CHECK(doubled.code == 500);
  CHECK(doubled.message().rfind("rpc error: code = ResourceExhausted desc = trying to send message "
                                "larger than max (2097",
                                0) == 0);
  CHECK(doubled.message().find(" vs. 2097152)") != std::string::npos);
  const bool kept = server.get(kBoxes + "/b").json == before.json;
  CHECK(kept);
  CHECK(server.merge(kBoxes + "/b?dryRun=All", {{"spec", {{"b", text}}}}).code == 200);

  // Before it is known that the name is taken.
  const auto again = server.post(kBoxes, box({{"a", std::string(3 * kMib / 2, 'x')}}));
  CHECK(again.message() == kTooLarge);
}

TEST_CASE("what is kept as JSON is as large as Go writes it, built-in kinds take less") {
  BoxServer server;
  // Six bytes each.
  CHECK(server.post(kBoxes, box({{"a", std::string(kMib / 4, '<')}})).message() == kTooLarge);
  CHECK(server.post(kBoxes, box({{"a", std::string(kMib / 4, 'x')}})).code == 201);
  // Two bytes each as JSON, one as it is kept.
  const Json quotes = {{"data", {{"a", std::string(kMib - 1, '"')}}}};
  CHECK(server.post(kConfigMaps, config_map("a", quotes)).code == 201);
  // Three bytes for four, as they are kept.
  const Json secret = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", "a"}, {"annotations", {{"a", std::string(200 << 10U, 'x')}}}}},
      {"data", {{"a", std::string(kMib / 3 * 4, 'A')}}}};
  CHECK(server.post("/api/v1/namespaces/default/secrets", secret).code == 201);
  const Json annotated = {{"metadata", {{"annotations", {{"a", std::string(kMib, 'x')}}}}}};
  CHECK(server.merge(kConfigMaps + "/a", annotated).code == 422);  // annotations have a limit first
}

TEST_CASE("defaults that make an object of many small items too large are not all filled in") {
  const Json item = {
      {"type", "object"},
      {"properties", {{"x", {{"type", "string"}, {"default", std::string(50 << 10U, 'x')}}}}}};
  BoxServer server(
      {{"type", "object"}, {"properties", {{"items", {{"type", "array"}, {"items", item}}}}}});
  const auto refused = server.post(kBoxes, box({{"items", repeated(20000, Json::object())}}));
  CHECK(refused.code == 500);
  CHECK(refused.message() == kTooLarge);
  CHECK(server.post(kBoxes, box({{"items", repeated(20, Json::object())}})).code == 201);
}

TEST_CASE("below a long key, what is right costs no path and what is wrong is told up to a bound") {
  const std::string key(1U << 17U, 'k');
  const Json numbers = {{"type", "array"}, {"items", {{"type", "integer"}}}};
  const Json closed = {{"type", "object"}, {"properties", {{"a", {{"type", "string"}}}}}};
  BoxServer server({{"type", "object"},
                    {"properties",
                     {{"numbers", {{"type", "object"}, {"additionalProperties", numbers}}},
                      {"closed", {{"type", "object"}, {"additionalProperties", closed}}}}}});

  const auto wrong = server.post(kBoxes, box({{"numbers", {{key, repeated(20000, "x")}}}}));
  CHECK(wrong.code == 422);
  CHECK(wrong.text.size() < 8 * kMib);
  CHECK(wrong.message().find("there are more errors") != std::string::npos);

  Json unknown = Json::object();
  for (int i = 0; i < 20000; ++i) unknown["u" + std::to_string(i)] = 1;
  const Json body = box({{"closed", {{key, unknown}}}});
  const auto strict = server.post(kBoxes + "?fieldValidation=Strict", body);
  CHECK(strict.code == 400);
  CHECK(strict.text.size() < 8 * kMib);
  const auto ignored = server.post(kBoxes + "?fieldValidation=Ignore", body);
  CHECK(ignored.code == 201);
  CHECK(ignored.json["spec"]["closed"][key] == Json::object());
}

TEST_CASE("of many owners that all want to be the controller only as many errors are told") {
  Server server;
  const Json owner = {{"apiVersion", "v1"}, {"kind", "a"}, {"name", "a"}, {"controller", true}};
  Json body = config_map("a");
  for (int i = 0; i < 4500; ++i) {
    body["metadata"]["ownerReferences"].push_back(owner);
    body["metadata"]["ownerReferences"].back()["uid"] = std::to_string(i);
  }
  const auto refused = server.post(kConfigMaps, body);
  CHECK(refused.code == 422);
  CHECK(refused.text.size() < 8 * kMib);
}

TEST_CASE("conflicts below long keys are counted, and told up to a bound") {
  BoxServer server;
  const std::string key(1000, 'k');  // YAML takes 1024, and 100 levels
  const auto with = [&](int value) {
    Json fields = Json::object();
    for (int i = 0; i < 5000; ++i) fields["f" + std::to_string(i)] = value;
    for (int i = 0; i < 80; ++i) fields = {{key, fields}};
    return box(fields);
  };
  REQUIRE(server.apply(kBoxes + "/b?fieldManager=one", with(1)).code == 201);
  const auto refused = server.apply(kBoxes + "/b?fieldManager=two", with(2));
  CHECK(refused.code == 409);
  CHECK(refused.text.size() < 8 * kMib);
  CHECK(refused.message().rfind("Apply failed with 5000 conflicts: ", 0) == 0);
  CHECK(refused.message().find(" more") != std::string::npos);
  CHECK(server.apply(kBoxes + "/b?fieldManager=two&force=true", with(2)).code == 200);
}

TEST_CASE("a definition with a long name of a property costs no path for each of its parts") {
  Server server;
  const std::string key(1U << 20U, 'k');
  const Json listed = {{"type", "object"}, {"required", repeated(20000, "")}};
  const Json taken = box_crd({{"type", "object"}, {"properties", {{key, listed}}}});
  CHECK(server.post(kCrdPath + "?dryRun=All", taken).code == 201);

  Json many = {{"type", "object"}};
  for (int i = 0; i < 10000; ++i)
    many["properties"]["p" + std::to_string(i)] = {{"type", "string"}};
  const Json crd = box_crd({{"type", "object"}, {"properties", {{key, many}}}});
  CHECK(server.post(kCrdPath, crd).code == 201);
}

}  // namespace kubewatch::apiserver

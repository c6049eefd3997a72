#include "apiserver/protobuf.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out + static_cast<char>(value);
}

// A field of bytes: a string, a message, a map entry.
std::string field(unsigned number, const std::string& bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string count(unsigned number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}

std::string body(const std::string& api_version, const std::string& kind,
                 const std::string& message) {
  return std::string("k8s\0", 4) + field(1, field(1, api_version) + field(2, kind)) +
         field(2, message) + field(3, "") + field(4, "");
}

}  // namespace

TEST_CASE("a typed client's protobuf becomes the JSON that it stands for") {
  const std::string metadata = field(1, "p") + field(2, "") + field(3, "shop") + field(8, "") +
                               field(11, field(1, "a") + field(2, "b")) + field(14, "x.io/y");
  const std::string container = field(1, "c") + field(2, "image") + count(16, 1) + field(8, "") +
                                field(6, count(3, 80) + field(4, "TCP"));
  const std::string probe =
      field(1, field(2, field(1, "/") + field(2, count(1, 1) + field(3, "http"))));
  const std::string volume = field(1, "v") + field(2, field(2, ""));
  const std::string spec = field(1, volume) + field(2, container + field(11, probe)) +
                           field(3, "Never") + count(4, 0) + count(11, 0);
  const auto pod =
      decode_protobuf(body("v1", "Pod", field(1, metadata) + field(2, spec) + field(3, "")));
  REQUIRE(pod.ok());
  CHECK(pod.value() == Json::parse(R"({"apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"p","namespace":"shop","labels":{"a":"b"},"finalizers":["x.io/y"]},
    "spec":{"volumes":[{"name":"v","emptyDir":{}}],
      "containers":[{"name":"c","image":"image","stdin":true,
        "ports":[{"containerPort":80,"protocol":"TCP"}],
        "readinessProbe":{"httpGet":{"path":"/","port":"http"}}}],
      "restartPolicy":"Never","terminationGracePeriodSeconds":0}})"));
}

TEST_CASE("times, quantities, bytes and negative numbers are read") {
  const auto secret =
      decode_protobuf(body("v1", "Secret",
                           field(1, field(1, "s") + field(8, count(1, 1800000000))) +
                               field(2, field(1, "k") + field(2, std::string("\x00\xff", 2)))));
  REQUIRE(secret.ok());
  CHECK(secret.value()["metadata"]["creationTimestamp"] == "2027-01-15T08:00:00Z");
  CHECK(secret.value()["data"]["k"] == "AP8=");
  const auto claim = decode_protobuf(body(
      "v1", "LimitRange",
      field(2, field(1, field(1, "Pod") + field(2, field(1, "cpu") + field(2, field(1, "1")))))));
  REQUIRE(claim.ok());
  CHECK(claim.value()["spec"]["limits"][0]["max"]["cpu"] == "1");
  const auto autoscaler = decode_protobuf(body("autoscaling/v1", "HorizontalPodAutoscaler",
                                               field(2, count(2, static_cast<std::uint64_t>(-3)))));
  REQUIRE(autoscaler.ok());
  CHECK(autoscaler.value()["spec"]["minReplicas"] == -3);
}

TEST_CASE("of what has one of several forms the one that was written is read") {
  const auto property = [](const std::string& name, const std::string& schema) {
    return field(29, field(1, name) + field(2, schema));
  };
  const std::string text = field(5, "string");
  const std::string schema =
      property("list", field(24, field(1, text))) + property("lists", field(24, field(2, text))) +
      property("map", field(30, count(1, 1) + field(2, text))) +
      property("any", field(30, count(1, 1))) + property("none", field(30, count(1, 0))) +
      property("default", field(8, field(1, "[1]")));
  const std::string version = field(4, field(1, schema)) + field(5, field(1, ""));
  const auto crd = decode_protobuf(body("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                        field(2, field(7, field(1, "v1") + version))));
  REQUIRE(crd.ok());
  const Json& read = crd.value()["spec"]["versions"][0];
  CHECK(read["subresources"] == Json::parse(R"({"status":{}})"));
  CHECK(read["schema"]["openAPIV3Schema"]["properties"] ==
        Json::parse(R"({"list":{"items":{"type":"string"}},"lists":{"items":[{"type":"string"}]},
                        "map":{"additionalProperties":{"type":"string"}},
                        "any":{"additionalProperties":true},"none":{"additionalProperties":false},
                        "default":{"default":[1]}})"));
}

TEST_CASE("kubectl create namespace works: its body is protobuf") {
  test::Server server;
  const std::string text =
      body("v1", "Namespace", field(1, field(1, "shop")) + field(2, "") + field(3, ""));
  const auto made =
      server.call("POST", "/api/v1/namespaces", text, "application/vnd.kubernetes.protobuf",
                  "application/vnd.kubernetes.protobuf,application/json");
  CHECK(made.code == 201);
  CHECK(made.json["status"]["phase"] == "Active");
  CHECK(server
            .call("DELETE", "/api/v1/namespaces/shop",
                  body("v1", "DeleteOptions", field(4, "Background")),
                  "application/vnd.kubernetes.protobuf")
            .json["status"]["phase"] == "Terminating");
  CHECK(server.call("POST", test::kWebsites, text, "application/vnd.kubernetes.protobuf").code ==
        404);
}

TEST_CASE("bytes that are no protobuf of a known kind are an error, never a crash") {
  const std::string good =
      body("v1", "Pod", field(1, field(1, "p")) + field(2, field(2, field(1, "c"))));
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_NOTHROW((void)decode_protobuf(good.substr(0, size)));
  }
  for (std::size_t at = 4; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    CHECK_NOTHROW((void)decode_protobuf(changed));
  }
  CHECK_FALSE(decode_protobuf("").ok());
  CHECK_FALSE(decode_protobuf("{}").ok());
  CHECK_FALSE(decode_protobuf(body("v1", "Nothing", "")).ok());
  CHECK_FALSE(decode_protobuf(body("demo.kubewatch.dev/v1", "Website", "")).ok());
}

}  // namespace kubewatch::apiserver

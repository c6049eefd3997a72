#include "core/field_text.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::core {
namespace {

const Json kObject = R"({
  "metadata": {"annotations": {"a.example.com/x": "1", "a": "2"}, "finalizers": ["one", "two"]},
  "spec": {"replicas": 3,
           "containers": [{"name": "web", "image": "one", "ports": [{"port": 80, "protocol": "TCP"}]},
                          {"name": "a,\"]b", "image": "two"}]}})"_json;

Json at(const std::string& path) {
  const Json* found = value_at_field(kObject, path);
  return found == nullptr ? Json("absent") : *found;
}

std::vector<std::vector<std::string_view>> steps(const Json& object, std::string_view field) {
  std::vector<std::vector<std::string_view>> out;
  for (const FieldReading& reading : readings_of(object, field)) out.push_back(reading.steps);
  return out;
}

}  // namespace

TEST_CASE("a path of a managed field is cut as the object says, dots and brackets in names too") {
  CHECK(at(".spec.replicas") == 3);
  CHECK(at(".metadata.annotations.a.example.com/x") == "1");
  CHECK(at(".metadata.annotations.a") == "2");
  CHECK(at(R"(.spec.containers[name="web"].image)") == "one");
  CHECK(at(R"(.spec.containers[name="a,\"]b"].image)") == "two");
  CHECK(at(R"(.spec.containers[name="web"].ports[port=80,protocol="TCP"].protocol)") == "TCP");
  CHECK(at(R"(.metadata.finalizers[="two"])") == "two");
  CHECK(at(".spec.containers[1].image") == "two");
  for (const char* path : {".spec.containers[7]", ".spec.containers[name=", ".spec.", "spec", "[",
                           ".metadata.finalizers[=three]", ".spec.replicas.x"}) {
    INFO(path);
    CHECK(at(path) == "absent");
  }
}

TEST_CASE("a path that may be cut in several ways is, in all of them") {
  using Steps = std::vector<std::vector<std::string_view>>;
  CHECK(steps(R"({"b": {"c": 1}, "b.c": 2})"_json, ".b.c") == Steps{{".b", ".c"}, {".b.c"}});
  CHECK(steps(R"({"b": "text", "b.c": 2})"_json, ".b.c") == Steps{{".b.c"}});
  CHECK(steps(R"({"a": 1})"_json, ".b").empty());
  const Json list = R"({"ports": [{"port": 80}]})"_json;
  const std::string_view defaulted = R"(.ports[port=80,protocol="TCP"].name)";
  const auto found = readings_of(list, defaulted);
  REQUIRE(found.size() == 1);
  CHECK(found[0].steps == std::vector<std::string_view>{".ports"});
  CHECK(found[0].rest == defaulted.substr(6));
  CHECK(found[0].value == nullptr);
}

}  // namespace kubewatch::core

#include "core/json_path.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::core {

TEST_CASE("paths of printer columns find what kubectl would") {
  const Json object = Json::parse(R"({"spec":{"a":1,"list":[{"t":"x","v":1},{"t":"Ready","v":2}],
    "an.notation":{"k]ey":"z"}}})");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {".spec.a", "1"},
      {"{.spec.a}", "1"},
      {"$.spec.a", "1"},
      {".spec.list[0].t", "\"x\""},
      {".spec.list[-1].v", "2"},
      {".spec.list[*].v", "1 2"},
      {".spec.list[?(@.t==\"Ready\")].v", "2"},
      {".spec.list[?(@.t=='x')].v", "1"},
      {".spec.list[?(@.v==2)].t", "\"Ready\""},
      {".spec['an.notation']['k]ey']", "\"z\""},
      {".spec.an\\.notation['k]ey']", "\"z\""},
      {".spec.none", ""},
      {".spec.a.b", ""},
      {".spec.list[9]", ""},
      {".spec.list[", ""},
      {"..", ""},
      {".spec.list[1:2]", ""},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    std::string found;
    for (const Json* one : find_at(object, path)) {
      found += (found.empty() ? "" : " ") + one->dump();
    }
    CHECK(found == wanted);
  }
}

TEST_CASE("a path of plain fields can be set, making objects on the way") {
  Json object = Json::object();
  CHECK(set_at(object, ".spec.replicas", 3));
  CHECK(object == Json::parse(R"({"spec":{"replicas":3}})"));
  CHECK_FALSE(set_at(object, ".spec.list[0]", 3));
  CHECK_FALSE(set_at(object, ".spec.replicas.x", 3));
}

}  // namespace kubewatch::core

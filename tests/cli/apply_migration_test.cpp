#include "cli/apply/csa_migration.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {
namespace {

Json entry(const std::string& manager, const std::string& operation, const Json& fields) {
  return {{"manager", manager},       {"operation", operation},
          {"apiVersion", "v1"},       {"time", "2026-01-01T00:00:00Z"},
          {"fieldsType", "FieldsV1"}, {"fieldsV1", fields}};
}

Json live(std::vector<Json> managed, bool annotation = false) {
  Json out = R"({"apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "a", "resourceVersion": "7"}, "data": {"x": "1", "y": "2"}})"_json;
  out["metadata"]["managedFields"] = managed;
  if (annotation) {
    out["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{}";
  }
  return out;
}

const Json kBoth = R"({"f:data": {"f:x": {}, "f:y": {}}})"_json;

}  // namespace

TEST_CASE("client-side ownership goes over to the server-side manager at one resourceVersion") {
  const auto plan =
      plan_migration(live({entry("kubectl-client-side-apply", "Update", kBoth)}), "kubewatch", {});
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  CHECK((*plan)->managers == std::vector<std::string>{"kubectl-client-side-apply"});
  const Json& patch = (*plan)->patch;
  REQUIRE(patch.size() == 2);
  REQUIRE(patch[0]["value"].size() == 1);
  CHECK(patch[0]["value"][0]["manager"] == "kubewatch");
  CHECK(patch[0]["value"][0]["operation"] == "Apply");
  CHECK(patch[0]["value"][0]["fieldsV1"] == kBoth);
  CHECK(patch[1]["path"] == "/metadata/resourceVersion");
  CHECK(patch[1]["value"] == "7");
}

TEST_CASE("ownership is joined with what the server-side manager has, others keep theirs") {
  const Json x = R"({"f:data": {"f:x": {}}})"_json;
  const Json y = R"({"f:data": {"f:y": {}}})"_json;
  const auto plan = plan_migration(
      live({entry("kubewatch", "Apply", x), entry("kubectl-client-side-apply", "Update", y),
            entry("controller", "Update", y)}),
      "kubewatch", {});
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  const Json& managed = (*plan)->patch[0]["value"];
  REQUIRE(managed.size() == 2);
  CHECK(managed[0]["fieldsV1"] == kBoth);
  CHECK(managed[1]["manager"] == "controller");
  CHECK((*plan)->paths.empty());  // the controller has .data.y as well
}

TEST_CASE("only kubectl's own names count, and others when they are named") {
  const auto none = [](const Json& object, const std::vector<std::string>& more) {
    const auto plan = plan_migration(object, "kubewatch", more);
    return plan.ok() && !plan->has_value();
  };
  CHECK(none(live({entry("helm", "Update", kBoth)}), {}));
  CHECK_FALSE(none(live({entry("helm", "Update", kBoth)}), {"helm"}));
  CHECK(none(live({entry("helm", "Apply", kBoth)}), {"helm"}));
  CHECK(none(live({entry("before-first-apply", "Update", kBoth)}), {}));
  CHECK_FALSE(none(live({entry("before-first-apply", "Update", kBoth)}, true), {}));
  Json status = entry("kubectl-client-side-apply", "Update", kBoth);
  status["subresource"] = "status";
  CHECK(none(live({status}), {}));
  CHECK(none(live({}), {}));
  CHECK_FALSE(plan_migration(live({Json("x")}), "kubewatch", {}).ok());
}

TEST_CASE("a dry run takes out what the migrated apply would remove") {
  const auto plan =
      plan_migration(live({entry("kubectl-client-side-apply", "Update", kBoth)}), "kubewatch", {});
  REQUIRE(plan.ok());
  Json after = live({entry("kubewatch", "Apply", R"({"f:data": {"f:x": {}}})"_json)});
  CHECK(rehearse(**plan, "kubewatch", after));
  CHECK_FALSE(rehearse(**plan, "kubewatch", after));
  CHECK(after["data"] == R"({"x": "1"})"_json);
  Json nothing_left = live({entry("kubewatch", "Apply", Json::object())});
  rehearse(**plan, "kubewatch", nothing_left);
  CHECK_FALSE(nothing_left.contains("data"));
}

TEST_CASE("a dry run tells fields apart whose paths read the same, and frees nothing twice") {
  // The key "a.b" of .data.x and .data.x.a.b are one text, and the one has the other's parent.
  const Json old = R"({"f:data": {"f:x": {"f:a.b": {}, "f:a": {"f:b": {"f:c": {}}}}}})"_json;
  Json before = live({entry("kubectl-client-side-apply", "Update", old)});
  before["data"] = R"({"x": {"a.b": 2, "a": {"b": {"c": "a text too long to be kept in place"}}},
                       "stays": 1})"_json;
  const auto plan = plan_migration(before, "kubewatch", {});
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  Json after = before;
  after["metadata"]["managedFields"] = Json::array({entry("kubewatch", "Apply", Json::object())});
  rehearse(**plan, "kubewatch", after);
  CHECK(after["data"] == R"({"stays": 1})"_json);
  // Only the key goes where the manifest says the other one.
  after = before;
  const Json said = R"({"f:data": {"f:x": {"f:a": {"f:b": {"f:c": {}}}}}})"_json;
  after["metadata"]["managedFields"] = Json::array({entry("kubewatch", "Apply", said)});
  rehearse(**plan, "kubewatch", after);
  CHECK(after["data"]["x"] == R"({"a": {"b": {"c": "a text too long to be kept in place"}}})"_json);
}

TEST_CASE("a dry run takes an item out whole, its key included, and leaves its neighbours") {
  const Json old = R"({"f:items": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:v": {}},
                                   "i:0": {}, "v:\"s\"": {}}})"_json;
  Json before = live({entry("kubectl-client-side-apply", "Update", old)});
  before["items"] = R"([{"name": "a", "v": 1}, "s", {"name": "b", "v": 2}])"_json;
  const auto plan = plan_migration(before, "kubewatch", {});
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  Json after = before;
  after["metadata"]["managedFields"] = Json::array({entry("kubewatch", "Apply", Json::object())});
  rehearse(**plan, "kubewatch", after);
  CHECK(after["items"] == R"([{"name": "b", "v": 2}])"_json);
}

}  // namespace kubewatch::cli

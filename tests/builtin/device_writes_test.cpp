// What writes do to claims and slices besides defaults and rules.
#include "builtin/device_writes.hpp"

#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kClaim = "resourceclaims.resource.k8s.io";

Json with_results(const char* results) {
  return {{"status", {{"allocation", {{"devices", {{"results", Json::parse(results)}}}}}}}};
}

}  // namespace

TEST_CASE("a taint is as old as the write that brings it") {
  Json slice = Json::parse(R"({"spec":{"devices":[{"taints":[{"key":"a"},
      {"key":"b","timeAdded":"2020-01-01T00:00:00Z"}]},{"name":"x"}]}})");
  fill_taint_times("2026-01-01T00:00:00Z", slice);
  const Json& taints = slice["spec"]["devices"][0]["taints"];
  CHECK(taints[0]["timeAdded"] == "2026-01-01T00:00:00Z");
  CHECK(taints[1]["timeAdded"] == "2020-01-01T00:00:00Z");
}

TEST_CASE("lists of values of attributes are kept where there are some") {
  const Json sent = Json::parse(
      R"({"spec":{"devices":[{"attributes":{"a":{"strings":["x"]},"b":{"int":1,"ints":[]}}}]}})");
  Json slice = sent;
  drop_attribute_lists(nullptr, slice);
  CHECK(slice["spec"]["devices"][0]["attributes"] == Json::parse(R"({"a":{},"b":{"int":1}})"));
  slice = sent;
  drop_attribute_lists(&sent, slice);
  CHECK(slice == sent);
}

TEST_CASE("what drivers told of a device goes with its allocation") {
  const char* device = R"([{"driver":"d","pool":"p","device":"a"}])";
  const Json live = with_results(device);
  Json claim = {{"status", {{"devices", Json::parse(device)}}}};
  drop_deallocated(live, claim);
  CHECK(claim == Json{{"status", Json::object()}});
  claim = live;
  claim["status"]["devices"] = Json::parse(
      R"([{"driver":"d","pool":"p","device":"a"},{"driver":"d","pool":"p","device":"b"}])");
  drop_deallocated(live, claim);
  CHECK(claim["status"]["devices"].size() == 2);
}

TEST_CASE("devices are had as an administrator where the namespace says so") {
  const Json devices = Json::parse(R"({"devices":{"requests":[{"firstAvailable":[]},
      {"exactly":{"adminAccess":true}},{"exactly":{"adminAccess":true}}]}})");
  const Json claim = {{"spec", devices}};
  CHECK(asked_admin_access(kClaim, nullptr, claim, "") == "spec.devices.requests[1].adminAccess");
  CHECK(asked_admin_access(kClaim, &claim, claim, "").empty());
  const Json of_template = {{"spec", {{"spec", devices}}}};
  CHECK(asked_admin_access("resourceclaimtemplates.resource.k8s.io", nullptr, of_template, "") ==
        "spec.devices.requests[1].adminAccess");
  CHECK(asked_admin_access("pods", nullptr, claim, "").empty());
  const Json plain = with_results(R"([{"adminAccess":false}])");
  const Json granted = with_results(R"([{},{"adminAccess":true}])");
  CHECK(asked_admin_access(kClaim, &plain, granted, "status") ==
        "status.allocation.devices.results[1].adminAccess");
  CHECK(asked_admin_access(kClaim, &granted, granted, "status").empty());
  CHECK(asked_admin_access(kClaim, nullptr, plain, "status").empty());

  Json ns = {{"metadata", {{"labels", {{"resource.kubernetes.io/admin-access", "true"}}}}}};
  CHECK(grants_admin_access(ns));
  ns["metadata"]["labels"]["resource.kubernetes.io/admin-access"] = "True";
  CHECK_FALSE(grants_admin_access(ns));
}

}  // namespace kubewatch::builtin

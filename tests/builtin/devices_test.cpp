// The rules of what claims devices and of what offers them.
#include <algorithm>

#include "builtin/device_expressions.hpp"
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kClass = "deviceclasses.resource.k8s.io";
constexpr const char* kClaim = "resourceclaims.resource.k8s.io";
constexpr const char* kTemplate = "resourceclaimtemplates.resource.k8s.io";
constexpr const char* kSlice = "resourceslices.resource.k8s.io";

std::string selecting(const std::string& source) {
  Json change;
  change["spec"]["selectors"] = {{{"cel", {{"expression", source}}}}};
  return change.dump();
}

}  // namespace

TEST_CASE("a request is for one class, in one way") {
  const std::string unknown =
      "must be the name of a request in the claim or the name of a request and a subrequest "
      "separated by '/'";
  check_all({
      {kClaim, R"({"spec":{"devices":{"constraints":null,"requests":[{"name":"a"},{"name":"a",
        "exactly":{},"firstAvailable":[{}]},{"name":"c","exactly":{"allocationMode":"All",
        "count":2,"deviceClassName":"c"}}]}}})",
       "[spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is "
       "required, spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or "
       "`firstAvailable` is required, but multiple fields are set, "
       "spec.devices.requests[2].exactly.count: Invalid value: 2: must not be specified when "
       "allocationMode is 'All', spec.devices.requests[1]: Duplicate value: \"a\"]"},
      {kClaim, R"({"spec":{"devices":{"constraints":null,"requests":[{"name":"a","exactly":{
        "allocationMode":"x","tolerations":[{"operator":"Exists","value":"v","effect":"y"}],
        "selectors":[{}]}}]}}})",
       "[spec.devices.requests[0].exactly.deviceClassName: Required value, "
       "spec.devices.requests[0].exactly.selectors[0].cel: Required value, "
       "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"x\": supported "
       "values: \"All\", \"ExactCount\", spec.devices.requests[0].exactly.tolerations[0].value: "
       "Invalid value: \"v\": must be empty for operator `Exists`, "
       "spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: \"y\": "
       "supported values: \"NoExecute\", \"NoSchedule\", \"None\"]"},
      {kClaim, R"({"spec":{"devices":{"constraints":[{},{"matchAttribute":"model"}]}}})",
       "[spec.devices.constraints[0]: Required value: exactly one of \"matchAttribute\" or "
       "\"distinctAttribute\" is required, but multiple fields are set, "
       "spec.devices.constraints[1].matchAttribute: Invalid value: \"model\": a fully qualified "
       "name must be a domain and a name separated by a slash]"},
  });
  for (const char* name : {"b/y", "c", "a/b/c"}) {
    Json claim = right(kClaim);
    claim["spec"]["devices"]["constraints"][0]["requests"] = {name};
    CHECK(told(kClaim, nullptr, claim) ==
          "spec.devices.constraints[0].requests[0]: Invalid value: \"" + std::string(name) +
              "\": " + unknown);
  }
  Json many = right(kClaim);
  many["spec"]["devices"]["requests"] = Json::array();
  for (int i = 0; i < 33; ++i) many["spec"]["devices"]["requests"].push_back(Json::object());
  CHECK(told(kClaim, nullptr, many)
            .starts_with("[spec.devices.requests: Too many: 33: must have at most 32 items, "
                         "spec.devices.constraints[0].requests[0]: "));
}

TEST_CASE("a claim and its template do not change") {
  CHECK(told_of_update(kClaim, R"({"spec":{"devices":{"requests":null}}})")
            .ends_with(": field is immutable"));
  Json tmpl = {{"spec", {{"spec", right(kClaim)["spec"]}}}};
  CHECK(told(kTemplate, nullptr, tmpl).empty());
  CHECK(told(kTemplate, &tmpl, tmpl).empty());
  tmpl["spec"]["spec"]["devices"]["requests"][0]["name"] = "";
  CHECK(told(kTemplate, nullptr, tmpl)
            .starts_with("[spec.spec.devices.requests[0].name: Invalid value: \"\": "));
  const Json before = {{"spec", {{"spec", right(kClaim)["spec"]}}}};
  Json changed = Json::parse(R"({"spec":{"metadata":{"generation":3},"spec":{"devices":{
      "requests":[{"name":"r","exactly":{"deviceClassName":"d","count":1}}],
      "config":[{"opaque":{"driver":"d","parameters":{"a":1}}}]}}}})");
  CHECK(told(kTemplate, &before, changed) ==
        "[spec.metadata.generation: Forbidden: cannot be set, spec: Invalid value: "
        "{\"generation\":3,\"Spec\":{\"Devices\":{\"Requests\":[{\"Name\":\"r\",\"Exactly\":"
        "{\"DeviceClassName\":\"d\",\"Selectors\":null,\"AllocationMode\":\"\",\"Count\":1,"
        "\"AdminAccess\":null,\"Tolerations\":null,\"Capacity\":null},\"FirstAvailable\":null}],"
        "\"Constraints\":null,\"Config\":[{\"Requests\":null,\"Opaque\":{\"Driver\":\"d\","
        "\"Parameters\":{\"a\":1}}}]}}}: field is immutable]");
}

TEST_CASE("a class selects devices and configures them") {
  CHECK(
      told_of(kClass, R"({"spec":{"selectors":[{"cel":{"expression":"device."}}]}})")
          .starts_with("spec.selectors[0].cel.expression: Invalid value: \"device.\": compilation "
                       "failed: ERROR: <input>:1:"));
  check_all({
      {kClass, R"({"spec":{"config":[{},{"opaque":{"driver":"","parameters":3}}]}})",
       "[spec.config[0].opaque: Required value, spec.config[1].opaque.driver: Required value, "
       "spec.config[1].opaque.parameters: Invalid value: \"<value omitted>\": must be a valid JSON "
       "object]"},
      {kClass, R"({"spec":{"extendedResourceName":"a.b/c"}})", ""},
      {kClass, R"({"spec":{"extendedResourceName":""}})",
       "spec.extendedResourceName: Invalid value: \"\": must be a valid extended resource name"},
      {kClass, R"({"spec":{"extendedResourceName":"kubernetes.io/x"}})",
       "spec.extendedResourceName: Invalid value: \"kubernetes.io/x\": must be a valid extended "
       "resource name"},
      {kClass, R"({"spec":{"selectors":[{"cel":{"expression":""}}]}})",
       "spec.selectors[0].cel.expression: Invalid value: \"\": compilation failed: ERROR: "
       "<input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', "
       "'!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
  });
}

TEST_CASE("what selects devices costs at worst what a device may hold at most") {
  const std::vector<std::pair<const char*, std::uint64_t>> costs = {
      {"true", 0},
      {"'d.io' in device.attributes", 3},
      {"device.driver == ''", 2},
      {"device.driver == 'dra.example.com'", 4},
      {"device.attributes['d.io'].isThere", 4},
      {"device.attributes['d.io'].name == 'fish'", 5},
      {"device.attributes['d.io'].name > 0", 5},
      {"cel.bind(dra, device.attributes['d.io'], dra.name)", 15},
      {"device.capacity['d.io'].name.isGreaterThan(quantity('1Ki'))", 6},
      {"device.attributes.exists_one(x, x == 'dra.example.com')", 164},
  };
  for (const auto& [source, cost] : costs) {
    CAPTURE(source);
    const DeviceSelector read = read_device_selector(source);
    CHECK(read.problem.empty());
    CHECK(read.cost == cost);
  }
  const std::string all = "device.attributes.all(";
  const std::string deep = all + "a, " + all + "b, " + all + "c, ";
  CHECK(told_of(kClass, selecting(deep + "a != b && b != c)))").c_str()).empty());
  CHECK(told_of(kClass, selecting(deep + all + "d, a != d))))").c_str()) ==
        "spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit");
}

TEST_CASE("what selects devices is compiled with what a device has") {
  for (const char* good :
       {"true", "device.driver == 'd.io' && device.allowMultipleAllocations",
        "device.attributes['d.io'].model", "device.attributes['d.io'].x + 1 == 2",
        "device.attributes[?'d.io'].orValue({}).x", "true ? device.attributes['d.io'].x : 1",
        "device.capacity['d.io'].memory.isGreaterThan(quantity('1Gi'))",
        "cel.bind(a, device.attributes['d.io'], a.x && cel.bind(b, a.y, b == a.z))"}) {
    CAPTURE(good);
    CHECK(told_of(kClass, selecting(good).c_str()).empty());
  }
  const auto told_of_expression = [](const std::string& source) {
    const std::string all = told_of(kClass, selecting(source).c_str());
    const std::string start = "spec.selectors[0].cel.expression: Invalid value: ";
    CHECK(all.starts_with(start));
    return all.substr(std::min(start.size(), all.size()));
  };
  CHECK(told_of_expression("v1") ==
        "\"v1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'v1' (in "
        "container '')\n | v1\n | ^");
  CHECK(told_of_expression("device.foo").find("undefined field 'foo'") != std::string::npos);
  CHECK(told_of_expression("cel.bind(a.b, 2, true)") ==
        "\"cel.bind(a.b, 2, true)\": compilation failed: ERROR: <input>:1:11: cel.bind() variable "
        "names must be simple identifiers\n | cel.bind(a.b, 2, true)\n | ..........^");
  const std::vector<std::pair<const char*, const char*>> types = {
      {"1", "int"},
      {"null", "null_type"},
      {"dyn(true)", "dyn"},
      {"device.attributes['d'].x.y", "dyn"},
      {"device", "kubernetes.DRADevice"},
      {"device.attributes", "map(string, map(string, google.protobuf.Any))"},
      {"device.capacity['d'].x", "kubernetes.Quantity"},
      {"optional.of(true)", "optional_type(bool)"},
  };
  for (const auto& [source, type] : types) {
    CHECK(told_of_expression(source) == "\"" + std::string(source) +
                                            "\": must evaluate to bool or the unknown type, not " +
                                            type);
  }
}

TEST_CASE("a slice is of one pool, and of nodes told in one way") {
  const std::string one =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  CHECK(told_of(kSlice, R"({"spec":{"nodeName":null}})") == "spec: Required value: " + one);
  CHECK(told_of(kSlice, R"({"spec":{"allNodes":true}})") ==
        "spec: Invalid value: \"{`nodeName`, `allNodes`}\": " + one +
            ", but multiple fields are set");
  check_all({
      {kSlice, R"({"spec":{"driver":"","pool":{"name":"","resourceSliceCount":0,"generation":-1},
        "devices":[{"name":"a"},{"name":"a"}],"sharedCounters":[{}]}})",
       "[spec.driver: Required value, spec.pool.name: Required value, "
       "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero, "
       "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero, spec: "
       "Invalid value: \"\": only one of `sharedCounters` or `devices` is allowed, "
       "spec.devices[1]: Duplicate value: \"a\", spec.sharedCounters[0].name: Required value, "
       "spec.sharedCounters[0].counters: Required value]"},
  });
  check_all({
      {kSlice, R"({"spec":{"nodeName":null,"perDeviceNodeSelection":true,"devices":[
        {"name":"a","nodeName":"n"},{"name":"b"},{"name":"c","allNodes":true,"nodeName":"n"},
        {"name":"d","nodeName":""}]}})",
       "[spec.devices[1]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` "
       "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec, "
       "spec.devices[2]: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, "
       "`nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in "
       "the ResourceSlice spec, spec.devices[3].nodeName: Invalid value: \"\": must not be empty, "
       "spec.devices[3]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` "
       "is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec]"},
      {kSlice, R"({"spec":{"devices":[{"name":"a","allNodes":true}]}})",
       "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only "
       "be "
       "set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
  });
  check_updates({
      {kSlice, R"({"spec":{"driver":"e.io","nodeName":"m"}})",
       "[spec.driver: Invalid value: \"e.io\": field is immutable, spec.nodeName: Invalid value: "
       "\"m\": field is immutable]"},
  });
}

}  // namespace kubewatch::builtin

// The rules of what drivers offer: attributes, capacities, taints and counters of devices.
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kSlice = "resourceslices.resource.k8s.io";

Json slice_of(const Json& device) {
  Json slice = right(kSlice);
  slice["spec"]["devices"][0].merge_patch(device);
  return slice;
}

std::string told_of_device(const char* device) {
  return told(kSlice, nullptr, slice_of(Json::parse(device)));
}

std::string told_of_policy(const std::string& policy) {
  return told_of_device((R"({"allowMultipleAllocations":true,"capacity":{"k":{"value":"10",
      "requestPolicy":)" +
                         policy + "}}}")
                            .c_str());
}

const std::string kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const std::string kName =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace

TEST_CASE("an attribute has one value") {
  const std::string at = "spec.devices[0].attributes";
  CHECK(told_of_device(R"({"attributes":{"a":{"int":0},"d.io/b":{"bool":false},"c":{"string":""},
      "a/b/c":{"version":"1.2.3-rc.0a+x.01"}}})")
            .empty());
  CHECK(told_of_device(R"({"attributes":{"k":{}}})") ==
        at + "[k]: Invalid value: \"\": exactly one value must be specified");
  CHECK(told_of_device(R"({"attributes":{"k":{"int":1,"string":"x"}}})") ==
        at + "[k]: Invalid value: {\"IntValue\":1,\"BoolValue\":null,\"StringValue\":\"x\","
             "\"VersionValue\":null,\"IntValues\":null,\"BoolValues\":null,\"StringValues\":null,"
             "\"VersionValues\":null}: exactly one value must be specified");
  CHECK(told_of_device(R"({"attributes":{"/":{"int":1}}})") ==
        "[" + at + ": Invalid value: \"\": the domain must not be empty, " + at +
            ": Invalid value: \"\": the name must not be empty]");
  for (const char* text :
       {"", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0+_", "1.0.0-a..b"}) {
    Json slice = slice_of({{"attributes", {{"k", {{"version", text}}}}}});
    CHECK(told(kSlice, nullptr, slice) ==
          at + "[k].version: Invalid value: \"" + text +
              "\": must be a string compatible with semver.org spec 2.0.0");
  }
  Json slice = slice_of({{"attributes", {{"k", {{"string", std::string(65, 'x')}}}}}});
  CHECK(told(kSlice, nullptr, slice) == at + "[k].string: Too long: may not be more than 64 bytes");
}

TEST_CASE("a device has a limited number of attributes, told by keys that are cut") {
  const std::string at = "spec.devices[0]";
  Json device = {{"attributes", {{std::string(120, 'a'), Json::object()}}}};
  CHECK(told(kSlice, nullptr, slice_of(device)) ==
        "[" + at + ".attributes: Too long: may not be more than 32 bytes, " + at + ".attributes[" +
            std::string(47, 'a') + "..." + std::string(46, 'a') +
            "]: Invalid value: \"\": exactly one value must be specified]");
  device = Json::object();
  for (int i = 0; i < 50; ++i) device["attributes"]["a" + std::to_string(i)] = {{"int", i}};
  CHECK(told(kSlice, nullptr, slice_of(device)) ==
        "[" + at +
            ": Invalid value: 50: the total number of attributes and capacities must not exceed "
            "32, " +
            at + ": Invalid value: 50: the total number of attribute values must not exceed 48]");
}

TEST_CASE("a capacity that several may have says how much each") {
  const std::string at = "spec.devices[0].capacity[k].requestPolicy";
  CHECK(told_of_device(R"({"capacity":{"k":{"value":"1","requestPolicy":{}}}})") ==
        at + ": Forbidden: allowMultipleAllocations must be true");
  CHECK(told_of_policy("{}").empty());
  CHECK(told_of_policy(R"({"validValues":["5"],"validRange":{}})") ==
        at + ": Forbidden: exactly one policy can be specified, cannot specify \"validValues\" and "
             "\"validRange\" at the same time");
  CHECK(told_of_policy(R"({"validValues":["5"]})") ==
        at + ".default: Required value: required when validValues is defined");
  CHECK(told_of_policy(R"({"validRange":{"min":"1"}})") ==
        at + ".default: Required value: required when validRange is defined");
  CHECK(told_of_policy(R"({"default":"3","validValues":["5","2","12","2"]})") ==
        "[" + at +
            ".validValues[1]: Invalid value: \"2\": values must be sorted in ascending "
            "order, " +
            at +
            ".validValues[3]: Invalid value: \"2\": values must be sorted in ascending "
            "order, " +
            at +
            ".validValues[2]: Invalid value: \"12\": option is larger than capacity value: "
            "10, " +
            at + ".validValues[3]: Duplicate value: \"2\", " + at +
            ".validValues: Invalid value: \"3\": default value is not valid according to the "
            "requestPolicy]");
  CHECK(told_of_policy(R"({"default":"3","validValues":["3"]})").empty());
}

TEST_CASE("a range of capacity begins somewhere, and has whole steps") {
  const std::string at = "spec.devices[0].capacity[k].requestPolicy.validRange";
  CHECK(told_of_policy(R"({"default":"1","validRange":{}})") ==
        at + ".min: Required value: required when validRange is defined");
  CHECK(told_of_policy(R"({"default":"3","validRange":{"min":"11","max":"12","step":"2"}})") ==
        "[" + at + ".min: Invalid value: \"11\": min is larger than capacity value: 10, " + at +
            ".min: Invalid value: \"3\": default is less than min: 11, " + at +
            ".max: Invalid value: \"12\": max is larger than capacity value: 10, " + at +
            ".step: Invalid value: \"2\": one step 13 is larger than capacity value: 10, " + at +
            ".step: Invalid value: \"12\": value is not a multiple of a given step (2) from (11)]");
  CHECK(told_of_policy(R"({"default":"5","validRange":{"min":"2","max":"1","step":"0.5"}})") ==
        "[" + at + ".max: Invalid value: \"2\": min is larger than max: 1, " + at +
            ".max: Invalid value: \"5\": default is more than max: 1]");
  CHECK(told_of_policy(R"({"default":"3","validRange":{"min":"1","max":"9","step":"2"}})").empty());
  CHECK(told_of_policy(R"({"default":"3","validRange":{"min":"1","step":"0"}})").empty());
}

TEST_CASE("taints of devices") {
  const std::string at = "spec.devices[0].taints";
  CHECK(told_of_device(R"({"taints":[{},{"key":"k","value":"v","effect":"x"}]})") ==
        "[" + at + "[0].key: Invalid value: \"\": name part must be non-empty, " + at +
            "[0].key: Invalid value: \"\": " + kName + ", " + at + "[0].effect: Required value, " +
            at +
            "[1].effect: Unsupported value: \"x\": supported values: \"NoExecute\", "
            "\"NoSchedule\", \"None\"]");
  CHECK(told_of_device(R"({"taints":[{"key":"k","value":"-","effect":"None"}]})")
            .starts_with(at + "[0].value: Invalid value: \"-\": a valid label must be "));
  Json many = Json::object();
  for (int i = 0; i < 17; ++i) many["taints"].push_back({{"key", "k"}, {"effect", "None"}});
  CHECK(told(kSlice, nullptr, slice_of(many)) == at + ": Too many: 17: must have at most 16 items");
  // Those that did not change are not looked at again.
  const Json live = slice_of(Json::parse(R"({"taints":[{"key":"-"}]})"));
  CHECK(told(kSlice, &live, live).empty());
}

TEST_CASE("counters that devices share and consume") {
  const std::string at = "spec.devices[0].consumesCounters";
  CHECK(told_of_device(R"({"consumesCounters":[{},
      {"counterSet":"A","counters":{"A":{"value":"2"}}}]})") ==
        "[" + at + "[0].counterSet: Required value, " + at + "[0].counters: Required value, " + at +
            "[1].counterSet: Invalid value: \"A\": " + kLabel + ", " + at +
            "[1].counters: Invalid value: \"A\": " + kLabel + "]");
  CHECK(told_of_device(R"({"consumesCounters":[{"counterSet":"a","counters":{"k":{"value":1}}},
      {"counterSet":"a","counters":{"k":{"value":1}}}]})") == at + "[1]: Duplicate value: \"a\"");
  CHECK(told_of_device(R"({"consumesCounters":[{},{},{}]})") ==
        at + ": Too many: 3: must have at most 2 items");
  Json shared = Json::parse(R"({"spec":{"devices":null,"sharedCounters":[{"name":"a"}]}})");
  Json& counters = shared["spec"]["sharedCounters"][0]["counters"];
  for (int i = 0; i < 33; ++i) counters["k" + std::to_string(i)] = Json::object();
  CHECK(told_of(kSlice, shared.dump().c_str()) ==
        "spec.sharedCounters[0].counters: Too many: 33: must have at most 32 items");
}

TEST_CASE("conditions of binding come in pairs of lists") {
  const std::string at = "spec.devices[0].";
  CHECK(told_of_device(R"({"bindingConditions":["a","a","-"],
      "bindingFailureConditions":["a","b","b"]})") ==
        "[" + at + "bindingConditions[2]: Invalid value: \"-\": " + kName + ", " + at +
            "bindingConditions[1]: Duplicate value: \"a\", " + at +
            "bindingFailureConditions[0]: Invalid value: \"a\": bindingFailureConditions must not "
            "overlap with bindingConditions, " +
            at + "bindingFailureConditions[2]: Duplicate value: \"b\"]");
  CHECK(told_of_device(R"({"bindingConditions":["a"]})") ==
        at + "bindingFailureConditions: Invalid value: null: bindingFailureConditions are required "
             "to use bindingConditions");
  CHECK(told_of_device(R"({"bindingFailureConditions":["a"]})") ==
        at + "bindingConditions: Invalid value: null: bindingConditions are required to use "
             "bindingFailureConditions");
}

}  // namespace kubewatch::builtin

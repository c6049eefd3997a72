// The rules of the status of a claim of devices.
#include "builtin/objects.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kClaim = "resourceclaims.resource.k8s.io";
constexpr const char* kDevice = R"("driver":"d.x","pool":"p","device":"x")";

std::string told_between(const std::string& before, const std::string& after,
                         const Json& metadata = Json::object()) {
  Json live = right(kClaim);
  live["metadata"] = metadata;
  live["status"] = Json::parse(before);
  Json object = live;
  object["status"] = Json::parse(after);
  schema::FieldErrors errors;
  validate(kClaim, &live, object, "status", errors);
  return errors.empty() ? "" : schema::sentences(errors);
}

std::string told_of_claim(const std::string& status) {
  return told_between("{}", status);
}

std::string allocated(const std::string& more = "") {
  return std::string(R"("allocation":{"devices":{"results":[{"request":"a",)") + kDevice + more +
         "}]}}";
}

}  // namespace

TEST_CASE("who uses a claim is told once it is allocated") {
  CHECK(told_of_claim(R"({"reservedFor":[{}]})") ==
        "[status.reservedFor[0].resource: Required value, status.reservedFor[0].name: Required "
        "value, status.reservedFor[0].uid: Required value, status.reservedFor: Forbidden: may not "
        "be specified when `allocated` is not set]");
  const std::string one = R"({"resource":"pods","name":"a","uid":"u"})";
  const std::string two = R"({"resource":"pods","name":"b","uid":"u"})";
  CHECK(told_of_claim("{" + allocated() + ",\"reservedFor\":[" + one + "," + two + "]}") ==
        "status.reservedFor[1]: Duplicate value: \"u\"");
  const Json dying = {{"deletionTimestamp", "2026-01-01T00:00:00Z"}};
  const std::string with_one = "{" + allocated() + ",\"reservedFor\":[" + one + "]}";
  CHECK(told_between(with_one, with_one, dying).empty());
  CHECK(told_between("{" + allocated() + "}", with_one, dying) ==
        "status.reservedFor: Forbidden: new entries may not be added while "
        "`deallocationRequested` or `deletionTimestamp` are set");
}

TEST_CASE("drivers tell of allocated devices") {
  const std::string device = std::string("{") + kDevice + "}";
  CHECK(told_of_claim("{" + allocated() + ",\"devices\":[" + device + "]}").empty());
  CHECK(told_of_claim("{\"devices\":[" + device + "]}") ==
        "status.devices[0]: Invalid value: {\"Driver\":\"d.x\",\"Pool\":\"p\",\"Device\":\"x\","
        "\"ShareID\":\"\"}: must be an allocated device in the claim");
  CHECK(told_of_claim("{" + allocated() + ",\"devices\":[" + device + "," + device + "]}") ==
        "status.devices[1]: Duplicate value: {\"Driver\":\"d.x\",\"Pool\":\"p\",\"Device\":\"x\","
        "\"ShareID\":\"\"}");
  const std::string at = "status.devices[0].";
  const auto told_with = [&](const std::string& more) {
    return told_of_claim("{" + allocated() + ",\"devices\":[{" + kDevice + "," + more + "}]}");
  };
  CHECK(told_with(R"("data":3)") ==
        at + "data: Invalid value: \"<value omitted>\": must be a valid JSON object");
  CHECK(told_with(R"("networkData":{"ips":["1.2.3.4","10.9.8.7/024","::ffff:1.2.3.4/120",
      "10.9.8.7/24","10.9.8.7/24","2001:DB8::1/64"]})") ==
        "[" + at +
            "networkData.ips[0]: Invalid value: \"1.2.3.4\": must be a valid address in "
            "CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64), " +
            at +
            "networkData.ips[1]: Invalid value: \"10.9.8.7/024\": must be in canonical form "
            "(\"10.9.8.7/24\"), " +
            at +
            "networkData.ips[2]: Invalid value: \"::ffff:1.2.3.4/120\": must be in canonical "
            "form (\"1.2.3.4/24\"), " +
            at +
            "networkData.ips[5]: Invalid value: \"2001:DB8::1/64\": must be in canonical form "
            "(\"2001:db8::1/64\"), " +
            at + "networkData.ips[4]: Duplicate value: \"10.9.8.7/24\"]");
  CHECK(told_with("\"networkData\":{\"interfaceName\":\"" + std::string(257, 'a') +
                  "\",\"hardwareAddress\":\"" + std::string(129, 'a') + "\"}") ==
        "[" + at + "networkData.interfaceName: Too long: may not be more than 256 bytes, " + at +
            "networkData.hardwareAddress: Too long: may not be more than 128 bytes]");
}

TEST_CASE("a share is told by a UID in its one form") {
  const std::string at = "status.allocation.devices.results[0].shareID: Invalid value: ";
  const std::string form =
      "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
      "lowercase hexadecimal characters";
  const std::string zero = "00000000-0000-0000-0000-000000000000";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "error validating uid: invalid UUID length: 0"},
      {"abc", "error validating uid: invalid UUID length: 3"},
      {"{" + zero + "}", form},
      {"(" + zero + ")", "error validating uid: invalid bracketed UUID format"},
      {"urn:uuid:" + zero, form},
      {"xrn:uuid:" + zero, "error validating uid: invalid urn prefix: \"xrn:uuid:\""},
      {std::string(32, '0'), form},
      {"A" + zero.substr(1), form},
      {"g" + zero.substr(1), "error validating uid: invalid UUID format"},
      {"00000000_0000-0000-0000-000000000000", "error validating uid: invalid UUID format"},
  };
  for (const auto& [id, problem] : cases) {
    CHECK(told_of_claim("{" + allocated(",\"shareID\":\"" + id + "\"") + "}") ==
          at + "\"" + id + "\": " + problem);
  }
  CHECK(told_of_claim("{" + allocated(",\"shareID\":\"" + zero + "\"") + "}").empty());
}

TEST_CASE("what is allocated belongs to requests, and stays") {
  const std::string at = "status.allocation.devices.";
  CHECK(told_of_claim(R"({"allocation":{"devices":{"results":[{"request":"z/y","driver":"d",
      "pool":"p","device":"x"},{"request":"b/x","driver":"d","pool":"p","device":"x"}],"config":[
      {"source":"x"},{"source":"FromClass","requests":["a","a"],"opaque":{"driver":"d"}}]},
      "nodeSelector":{}}})") ==
        "[" + at +
            "results[0].request: Invalid value: \"z/y\": must be the name of a request in "
            "the claim or the name of a request and a subrequest separated by '/', " +
            at +
            "config[0].source: Unsupported value: \"x\": supported values: \"FromClaim\", "
            "\"FromClass\", " +
            at + "config[0].opaque: Required value, " + at +
            "config[1].requests[1]: Duplicate value: \"a\", " + at +
            "config[1].opaque.parameters: Required value, "
            "status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least "
            "one node selector term]");
  CHECK(told_between("{" + allocated() + "}", "{" + allocated() + "}").empty());
  CHECK(told_between("{" + allocated() + "}", "{}").empty());
  CHECK(told_between("{" + allocated() + "}", R"({"allocation":{"devices":{"config":[{"source":
      "FromClass","opaque":{"driver":"d","parameters":{"a":1}}}]},"nodeSelector":{
      "nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["a"]}]}]}}})") ==
        "status.allocation: Invalid value: {\"Devices\":{\"Results\":null,\"Config\":[{\"Source\":"
        "\"FromClass\",\"Requests\":null,\"Opaque\":{\"Driver\":\"d\",\"Parameters\":{\"a\":1}}}]},"
        "\"NodeSelector\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":[{\"Key\":\"a\","
        "\"Operator\":\"In\",\"Values\":[\"a\"]}],\"MatchFields\":null}]},"
        "\"AllocationTimestamp\":null}: field is immutable");
}

}  // namespace kubewatch::builtin

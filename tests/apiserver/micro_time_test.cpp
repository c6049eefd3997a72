#include "apiserver/micro_time.hpp"

#include <array>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

std::string why(const std::string& text) {
  return why_no_micro_time(text).value_or("");
}

std::string not_parsed(const std::string& text, const std::string& rest,
                       const std::string& element) {
  return "parsing time \"" + text + "\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"" +
         rest + "\" as \"" + element + "\"";
}

}  // namespace

TEST_CASE("a MicroTime has six digits and a zone, and what it lacks is told as Go tells it") {
  CHECK(why("2024-01-01T00:00:00.000000Z").empty());
  CHECK(why("2024-01-01T00:00:00,123456Z").empty());
  CHECK(why("2024-01-01T00:00:00.000000+01:00").empty());
  CHECK(why("2024-02-29T00:00:00.000000Z").empty());
  for (const auto& [text, rest, element] : std::vector<std::array<std::string, 3>>{
           {"x", "x", "2006"},
           {"", "", "2006"},
           {"2024-01-01 00:00:00.000000Z", " 00:00:00.000000Z", "T"},
           {"2024-01-01T00:00:00Z", "Z", ".000000"},
           {"2024-01-01T00:00:00+01:00", "+01:00", ".000000"},
           {"2024-01-01T00:00:00.123Z", ".123Z", ".000000"},
           {"2024-01-01T00:00:00.123456789Z", "789Z", "Z07:00"},
           {"2024-01-01T00:00:00.123456", "", "Z07:00"}}) {
    CAPTURE(text);
    CHECK(why(text) == not_parsed(text, rest, element));
  }
  const std::string late = "2024-01-01T24:00:00.000000Z";
  CHECK(why("2024-13-01T00:00:00.000000Z") ==
        "parsing time \"2024-13-01T00:00:00.000000Z\": month out of range");
  CHECK(why("2024-02-30T00:00:00.000000Z") ==
        "parsing time \"2024-02-30T00:00:00.000000Z\": day out of range");
  CHECK(why(late) == "parsing time \"" + late + "\": hour out of range");
}

TEST_CASE("a MicroTime is a text, and its kind's others are not looked at") {
  const std::string leases = "leases.coordination.k8s.io";
  const auto with = [](const Json& time) { return Json{{"spec", {{"renewTime", time}}}}; };
  CHECK(why_no_micro_times(leases, with(1)) ==
        "json: cannot unmarshal number into Go value of type string");
  CHECK(why_no_micro_times(leases, with(true)) ==
        "json: cannot unmarshal bool into Go value of type string");
  CHECK_FALSE(why_no_micro_times(leases, with(nullptr)));
  CHECK_FALSE(why_no_micro_times("configmaps", with(1)));
}

}  // namespace kubewatch::apiserver

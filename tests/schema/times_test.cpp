// Times of built-in kinds, and what is none. All words are those of Go's decoder and converter.
#include "schema/times.hpp"

#include <array>
#include <string>
#include <vector>

#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

using Scalar = MergeNode::Scalar;

// As it is written, or why it is none.
std::string read(const std::string& text, Scalar kind = Scalar::time) {
  const auto time = written_time(kind, text);
  if (!time.ok()) return time.error().message();
  return time->is_null() ? "null" : time->get<std::string>();
}

std::string read_micro(const std::string& text) {
  return read(text, Scalar::micro_time);
}

std::string not_parsed(const std::string& text, const std::string& rest, const std::string& element,
                       const std::string& micros = "") {
  return "parsing time \"" + text + "\" as \"2006-01-02T15:04:05" + micros +
         "Z07:00\": cannot parse \"" + rest + "\" as \"" + element + "\"";
}

const MergeNode& kind(const std::string& group, const std::string& name) {
  return *builtin_merge_schema({group, "v1", name});
}

Json job(const Json& start) {
  return {{"status", {{"startTime", start}}}};
}

}  // namespace

TEST_CASE("a Time is written in UTC, in whole seconds") {
  for (const auto& [text, written] : std::vector<std::array<std::string, 2>>{
           {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
           {"2026-01-01T02:00:00.5+02:00", "2026-01-01T00:00:00Z"},
           {"2026-01-01T01:00:00,5Z", "2026-01-01T01:00:00Z"},
           {"2026-01-01T01:00:00.1234567891Z", "2026-01-01T01:00:00Z"},
           {"2026-01-01T1:00:00Z", "2026-01-01T01:00:00Z"},
           {"2026-01-01T01:00:00-24:60", "2026-01-02T02:00:00Z"},
           {"9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"},
           {"0001-01-01T00:00:00Z", "null"}}) {
    CAPTURE(text);
    CHECK(read(text) == written);
  }
}

TEST_CASE("what is no Time is told as Go tells it") {
  for (const auto& [text, rest, element] :
       std::vector<std::array<std::string, 3>>{{"yesterday", "yesterday", "2006"},
                                               {"", "", "2006"},
                                               {"20a6-01-01T", "20a6-01-01T", "2006"},
                                               {"2026-1-01", "1-01", "01"},
                                               {"2026-01-01t01:00:00z", "t01:00:00z", "T"},
                                               {"2026-01-01T001:00:00Z", "1:00:00Z", ":"},
                                               {"2026-01-01T-1:00:00Z", "-1:00:00Z", "15"},
                                               {"2026-01-01T00:00:0", "0", "05"},
                                               {"2026-01-01T01:00:00.", ".", "Z07:00"},
                                               {"2026-01-32T00:00:00x", "x", "Z07:00"},
                                               {"2026-01-01T00:00:00+1a:00", "+1a:00", "Z07:00"},
                                               {"2026-01-01T00:00:00*01:00", "*01:00", "Z07:00"},
                                               {"2026-01-01T00:00:00+01:0", "+01:0", "Z07:00"},
                                               {"2026-01-01T00:00:00+01.00", "+01.00", "Z07:00"}}) {
    CAPTURE(text);
    CHECK(read(text) == not_parsed(text, rest, element));
  }
  for (const auto& [text, what] : std::vector<std::array<std::string, 2>>{
           {"2026-13", "month"},
           {"2026-02-30T01:00:00Z", "day"},
           {"2026-01-01T25:00:00Z", "hour"},
           {"2026-01-01T00:99:61", "minute"},
           {"2026-01-01T01:00:60Z", "second"},
           {"2026-01-01T00:00:00+26:0x", "time zone offset hour"},
           {"2026-01-01T00:00:00*01:61", "time zone offset minute"}}) {
    CAPTURE(text);
    CHECK(read(text) == "parsing time \"" + text + "\": " + what + " out of range");
  }
  CHECK(read("2026-01-01T01:00:00Zx") ==
        "parsing time \"2026-01-01T01:00:00Zx\": extra text: \"x\"");
  const std::string quoted = R"(\xc3\xa9<\"\\)";
  CHECK(read("\xc3\xa9<\"\\") == not_parsed(quoted, quoted, "2006"));
}

TEST_CASE("a MicroTime has six digits after the point") {
  CHECK(read_micro("2024-02-29T00:00:00.000000Z") == "2024-02-29T00:00:00.000000Z");
  CHECK(read_micro("2026-01-01T02:00:00,500000+02:00") == "2026-01-01T00:00:00.500000Z");
  CHECK(read_micro("0001-01-01T00:00:00.000000Z") == "null");
  for (const auto& [text, rest, element] : std::vector<std::array<std::string, 3>>{
           {"x", "x", "2006"},
           {"2024-01-01 00:00:00.000000Z", " 00:00:00.000000Z", "T"},
           {"2024-01-01T00:00:00Z", "Z", ".000000"},
           {"2024-01-01T00:00:00+01:00", "+01:00", ".000000"},
           {"2024-01-01T00:00:00.123Z", ".123Z", ".000000"},
           {"2024-01-01T00:00:00.123456789Z", "789Z", "Z07:00"},
           {"2024-01-01T00:00:00.123456", "", "Z07:00"}}) {
    CAPTURE(text);
    CHECK(read_micro(text) == not_parsed(text, rest, element, ".000000"));
  }
}

TEST_CASE(
    "the first time of an object that cannot be read is told, by its field if it is no text") {
  const MergeNode& jobs = kind("batch", "Job");
  const auto why = [&](const Json& object, TimeReader reader = TimeReader::decoder) {
    return why_no_times(jobs, object, reader).value_or("");
  };
  CHECK(why(job("2026-01-01T00:00:00Z")).empty());
  CHECK(why(job(nullptr)).empty());
  CHECK(why(job("x")) == not_parsed("x", "x", "2006"));
  CHECK(why(job(5)) ==
        "json: cannot unmarshal number into Go struct field JobStatus.status.startTime of type "
        "string");
  CHECK(why(job(Json::array({1}))) ==
        "json: cannot unmarshal array into Go struct field JobStatus.status.startTime of type "
        "string");
  CHECK(why(job(true), TimeReader::converter) ==
        "json: cannot unmarshal bool into Go value of type string");
  CHECK(
      why({{"status", {{"conditions", Json::array({Json{{"lastProbeTime", Json::object()}}})}}}}) ==
      "json: cannot unmarshal object into Go struct field "
      "JobCondition.status.conditions.lastProbeTime of type string");
  CHECK(why({{"spec", {{"template", {{"metadata", {{"creationTimestamp", "x"}}}}}}}}) ==
        not_parsed("x", "x", "2006"));
  CHECK(why_no_times(kind("policy", "PodDisruptionBudget"),
                     {{"status", {{"disruptedPods", {{"p", 5}}}}}}, TimeReader::decoder) ==
        "json: cannot unmarshal number into Go struct field "
        "PodDisruptionBudgetStatus.status.disruptedPods of type string");
}

TEST_CASE("a time that is none fits no built-in kind, but may be merged") {
  const MergeNode& jobs = kind("batch", "Job");
  CHECK(check_value(jobs, job("2026-01-01T00:00:00+01:00"), false).ok());
  CHECK(check_value(jobs, job(nullptr), false).ok());
  CHECK(check_value(jobs, job("x"), false).error().message() ==
        ".status.startTime: expected an RFC 3339 time, got &{x}");
  CHECK(check_value(jobs, job(5), false).error().message() ==
        ".status.startTime: expected an RFC 3339 time, got &{5}");
  CHECK(check_value(kind("coordination.k8s.io", "Lease"),
                    {{"spec", {{"renewTime", "2026-01-01T00:00:00Z"}}}}, false)
            .error()
            .message() ==
        ".spec.renewTime: expected an RFC 3339 time with six digits after the point, got "
        "&{2026-01-01T00:00:00Z}");
  CHECK(check_for_merge(jobs, job("x")).ok());
  CHECK(check_for_merge(jobs, job(5)).ok());
  CHECK(check_for_merge(jobs, job(Json::array({1}))).error().message() ==
        ".status.startTime: expected any scalar, got &{[1]}");
}

TEST_CASE("as the server writes an object, its times are in UTC, and zero is null") {
  Json object = {
      {"status",
       {{"startTime", "2026-01-01T02:00:00.5+02:00"},
        {"completionTime", "0001-01-01T00:00:00Z"},
        {"conditions", Json::array({Json{{"type", "A"},
                                         {"lastProbeTime", "0001-01-01T00:00:00Z"},
                                         {"lastTransitionTime", "2026-01-01T00:00:00-01:00"}}})}}}};
  as_written(kind("batch", "Job"), object);
  CHECK(object["status"] ==
        Json{{"startTime", "2026-01-01T00:00:00Z"},
             {"conditions", Json::array({Json{{"type", "A"},
                                              {"lastProbeTime", nullptr},
                                              {"lastTransitionTime", "2026-01-01T01:00:00Z"}}})}});
}

// Values in the words of Go's decoder.
#include "schema/go_words.hpp"

#include <limits>

#include "base/json.hpp"
#include "schema/field_error.hpp"
#include "schema/structural.hpp"
#include "schema/validator.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

TEST_CASE("a value that does not fit is told as Go's decoder tells it") {
  CHECK(misread_value(json_word(Json(true)), "string") ==
        "json: cannot unmarshal bool into Go value of type string");
  CHECK(misread_field(json_word(Json(1.5)), "Job.spec.parallelism", "int32") ==
        "json: cannot unmarshal number into Go struct field Job.spec.parallelism of type int32");
}

TEST_CASE("numbers are told as Go prints them, those that JSON does not have as well") {
  CHECK(go_number(1e20) == "1e+20");
  CHECK(go_number(0.25) == "0.25");
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  CHECK(go_number(Json(kInfinite)) == "+Inf");
  CHECK(go_number(Json(-kInfinite)) == "-Inf");
  CHECK(go_number(Json(std::numeric_limits<double>::quiet_NaN())) == "NaN");
}

TEST_CASE(
    "values are told as %v tells them, whole numbers that were written with a point as well") {
  CHECK(go_text(Json::parse(R"({"a":{"b":1.0,"c":[1.5,2,null,true]},"d":"x"})")) ==
        "map[a:map[b:1 c:[1.5 2 <nil> true]] d:x]");
  CHECK(go_text(Json(1e6)) == "1e+06");
}

TEST_CASE("texts are quoted as %q quotes them") {
  CHECK(go_quoted("e\x1b[31mx") == R"("e\x1b[31mx")");
  CHECK(go_quoted("a\tb\n\a\"\\<&>") == R"("a\tb\n\a\"\\<&>")");
  CHECK(go_quoted("\x7f\u00e9\u202e\ufeff\U0001F600") == "\"\\x7f\u00e9\\u202e\\ufeff\U0001F600\"");
}

TEST_CASE("of a value that a field has texts are quoted, and all else is JSON that HTML may hold") {
  CHECK(shown_value("<\x7f") == R"("<\x7f")");
  CHECK(shown_value(Json::parse(R"({"a":["<","&",1.5,null]})")) ==
        R"({"a":["\u003c","\u0026",1.5,null]})");
  CHECK(shown_value(2) == "2");
  CHECK(field_not_supported("f", "1", {"a\x7f"}).message ==
        R"(Unsupported value: 1: supported values: "a\x7f")");
}

TEST_CASE("a schema that is none is told so by the decoder's name of what it is") {
  const auto refused = parse_structural(Json::parse(R"({"properties":{"a":true}})"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message() ==
        "json: cannot unmarshal bool into Go value of type v1.JSONSchemaProps");
}

}  // namespace kubewatch::schema

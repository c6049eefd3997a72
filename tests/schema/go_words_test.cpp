// Values in the words of Go's decoder.
#include "schema/go_words.hpp"

#include "base/json.hpp"
#include "schema/structural.hpp"
#include "support/catch.hpp"

namespace kubewatch::schema {

TEST_CASE("a value that does not fit is told as Go's decoder tells it") {
  CHECK(misread_value(json_word(Json(true)), "string") ==
        "json: cannot unmarshal bool into Go value of type string");
  CHECK(misread_field(json_word(Json(1.5)), "Job.spec.parallelism", "int32") ==
        "json: cannot unmarshal number into Go struct field Job.spec.parallelism of type int32");
}

TEST_CASE("a schema that is none is told so by the decoder's name of what it is") {
  const auto refused = parse_structural(Json::parse(R"({"properties":{"a":true}})"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message() ==
        "json: cannot unmarshal bool into Go value of type v1.JSONSchemaProps");
}

}  // namespace kubewatch::schema

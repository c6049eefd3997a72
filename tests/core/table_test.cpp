#include "core/table.hpp"

#include "support/catch.hpp"

namespace kubewatch::core {

TEST_CASE("a server's Table is read with its columns, cells and objects") {
  const auto table = parse_table(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1",
    "metadata":{"resourceVersion":"12","continue":"next"},
    "columnDefinitions":[{"name":"Name","type":"string","priority":0},{"name":"IP","priority":1}],
    "rows":[{"cells":["a",null],"object":{"kind":"PartialObjectMetadata","metadata":{"name":"a",
      "namespace":"shop","uid":"u","resourceVersion":"7","labels":{"x":"y"}}}},
     {"cells":[3,4.0,4.5,true,{"a":1}]}]})",
                                 true);
  REQUIRE(table.ok());
  CHECK(table->resource_version == "12");
  CHECK(table->continue_token == "next");
  REQUIRE(table->columns.size() == 2);
  CHECK(table->columns[0].name == "Name");
  CHECK(table->columns[1].priority == 1);
  REQUIRE(table->rows.size() == 2);
  CHECK(table->rows[0].cells == std::vector<std::string>{"a", ""});  // null, as kubectl
  CHECK(table->rows[0].key.str() == "shop/a");
  CHECK(table->rows[0].uid == "u");
  CHECK(table->rows[0].labels.at(0).second == "y");
  CHECK(table->rows[0].object.find("\"uid\":\"u\"") != std::string::npos);
  CHECK(table->rows[1].cells == std::vector<std::string>{"3", "4", "4.5", "true", R"({"a":1})"});
}

TEST_CASE("numbers in cells are as kubectl prints them, however wide") {
  const auto table = parse_table(R"({"kind":"Table","rows":[{"cells":[100000000000000000000,
    9223372036854775807,9223372036854775808,-9223372036854776000,1234567.5,0.5]}]})");
  REQUIRE(table.ok());
  CHECK(table->rows.at(0).cells ==
        std::vector<std::string>{"1e+20", "9223372036854775807", "9.223372036854776e+18",
                                 "-9.223372036854776e+18", "1.2345675e+06", "0.5"});
}

TEST_CASE("what is no Table is told from what is broken") {
  CHECK(parse_table(R"({"kind":"PodList","items":[]})").error().kind() == ErrorKind::unsupported);
  CHECK(parse_table("[]").error().kind() == ErrorKind::unsupported);
  CHECK(parse_table("{\"kind\":").error().kind() == ErrorKind::unavailable);
  CHECK(parse_table(R"({"kind":"Table","rows":[1]})").error().kind() == ErrorKind::unavailable);
  CHECK(parse_table(R"({"kind":"Table","columnDefinitions":[1]})").error().kind() ==
        ErrorKind::unavailable);
  const auto empty = parse_table(R"({"kind":"Table","rows":null})");
  REQUIRE(empty.ok());
  CHECK(empty->rows.empty());
}

}  // namespace kubewatch::core

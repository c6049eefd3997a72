#include "builtin/checks.hpp"

#include "builtin/typed_form.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

TEST_CASE("the texts of a list are each there once, and none where there is no list") {
  const Json object = {{"scopes", {"b", "a", "b"}}};
  FieldErrors errors;
  const Field root(object, errors);
  CHECK(root["scopes"].texts() == std::set<std::string>{"a", "b"});
  CHECK(root["absent"].texts().empty());
}

TEST_CASE("zero is what nobody set, of any type") {
  const Json zeros = {nullptr, "", false, 0, 0.0, Json::array(), Json::object()};
  for (const Json& value : zeros) CHECK(is_zero_value(value));
  const Json others = {"0", true, 1, -0.5, Json::array({0})};
  for (const Json& value : others) CHECK_FALSE(is_zero_value(value));
}

}  // namespace kubewatch::builtin

#include "base/environment.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("a variable that is not set is empty") {
  ::setenv("KUBEWATCH_TEST_VARIABLE", "a b", 1);
  CHECK(base::from_environment("KUBEWATCH_TEST_VARIABLE") == "a b");
  ::unsetenv("KUBEWATCH_TEST_VARIABLE");
  CHECK(base::from_environment("KUBEWATCH_TEST_VARIABLE").empty());
}

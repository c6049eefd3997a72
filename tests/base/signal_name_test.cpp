#include "base/signal_name.hpp"

#include <signal.h>

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("a signal without a name is told by its number") {
  CHECK(base::signal_name(SIGKILL) == "SIGKILL");
  CHECK(base::signal_name(0) == "0");
  CHECK(base::signal_name(-1) == "-1");
}

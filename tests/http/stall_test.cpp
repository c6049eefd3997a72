#include "http/stall.hpp"

#include "support/catch.hpp"

namespace kubewatch::http {

TEST_CASE("a client is given up when it has taken nothing for a minute") {
  const TimePoint start{Duration{1000}};
  Stall stall(start);
  CHECK_FALSE(stall.stalled(500, start + Duration{59000}));
  CHECK_FALSE(stall.stalled(600, start + Duration{60000}));  // more to take is nothing taken
  CHECK(stall.stalled(600, start + Duration{61000}));
  CHECK_FALSE(stall.stalled(599, start + Duration{62000}));
  CHECK_FALSE(stall.stalled(599, start + Duration{122000}));
  CHECK(stall.stalled(599, start + Duration{123000}));
  // Where nothing waits, there is nothing to take.
  CHECK_FALSE(stall.stalled(0, start + Duration{200000}));
  CHECK_FALSE(stall.stalled(0, start + Duration{300000}));
}

TEST_CASE("who is sent more than it takes is not given up while it takes some") {
  const TimePoint start{Duration{1000}};
  Stall stall(start);
  CHECK_FALSE(stall.stalled(500, start + Duration{50000}, 500));
  CHECK_FALSE(stall.stalled(510, start + Duration{100000}, 560));
  CHECK_FALSE(stall.stalled(520, start + Duration{150000}, 620));
  CHECK(stall.stalled(580, start + Duration{211000}, 680));
}

}  // namespace kubewatch::http

#include "base/token_bucket.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("a bucket is full at first, gives a burst, and fills up again to the burst") {
  base::TokenBucket bucket(3, Duration{100});
  const TimePoint start{Duration{5000}};
  CHECK(bucket.level(start) == 3);
  for (int i = 0; i < 3; ++i) bucket.take(start);
  CHECK(bucket.level(start) == 0);
  CHECK(bucket.level(start + Duration{50}) == 0.5);
  CHECK(bucket.level(start + Duration{100}) == 1);
  CHECK(bucket.level(start + Duration{60'000}) == 3);
}

TEST_CASE("who takes more than there is leaves a debt") {
  base::TokenBucket bucket(10, Duration{5});
  const TimePoint start{Duration{5000}};
  bucket.take(start, 30);
  CHECK(bucket.level(start) == -20);
  CHECK(bucket.level(start + Duration{100}) == 0);
  bucket.take(start + Duration{100}, 0.5);
  CHECK(bucket.level(start + Duration{100}) == -0.5);
}

TEST_CASE("a bucket whose tokens never come back gives its burst alone") {
  base::TokenBucket bucket(1, Duration::max());
  const TimePoint start{Duration{5000}};
  bucket.take(start);
  CHECK(bucket.level(start + Duration{3'600'000}) < 1);
}

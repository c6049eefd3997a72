#include "cli/apply/apply_pace.hpp"

#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("few objects are in flight while answers are quick, more once they are slow") {
  ApplyPace pace(32);
  CHECK(pace.limit() == 8);
  for (int i = 0; i < 100; ++i) pace.note(Duration{5});
  CHECK(pace.limit() == 8);
  // One that is slow among quick ones is no reason.
  for (int i = 0; i < 16; ++i) pace.note(Duration{i == 3 ? 60 : 2});
  CHECK(pace.limit() == 8);
  for (int i = 0; i < 16; ++i) pace.note(Duration{50});
  CHECK(pace.limit() == 16);
  for (int i = 0; i < 100; ++i) pace.note(Duration{50});
  CHECK(pace.limit() == 32);
}

TEST_CASE("a server that is busy gets less at once, and more again when it is only far away") {
  ApplyPace pace(32);
  for (int i = 0; i < 6; ++i) pace.busy();
  CHECK(pace.limit() == 1);
  pace.note(Duration{1});
  CHECK(pace.limit() == 1);
  for (int i = 0; i < 7; ++i) pace.note(Duration{50});
  CHECK(pace.limit() == 8);
}

TEST_CASE("never more objects are in flight than is allowed") {
  for (const std::size_t most : {1, 3, 20}) {
    ApplyPace pace(most);
    for (int i = 0; i < 1000; ++i) pace.note(Duration{1000});
    CHECK(pace.limit() == most);
  }
}

}  // namespace kubewatch::cli

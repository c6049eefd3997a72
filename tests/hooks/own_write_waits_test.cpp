// Which runs wait for what was written before them, and how their waits end.
#include "hooks/own_write_waits.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Keys = std::vector<core::ObjectKey>;

const core::ObjectKey kA{"shop", "a"};
const core::ObjectKey kB{"shop", "b"};
const ChildId kPage{"", "ConfigMap", {"shop", "page"}};
const ChildId kMenu{"", "ConfigMap", {"shop", "menu"}};

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

ExpectedWrite written(const ChildId& id, const std::string& version) {
  return {id, version, "", {}};
}

OwnWriteWaits::Views shows(const std::string& version) {
  return [version](const ExpectedWrite&) {
    CacheView view;
    view.up_to = version;
    return std::vector<CacheView>{view};
  };
}

// Two objects have written, and their next runs wait.
OwnWriteWaits two_wait() {
  OwnWriteWaits waits;
  waits.expect("u-a", kA, written(kPage, "10"), shows("1"), at(0));
  waits.expect("u-b", kB, written(kMenu, "20"), shows("1"), at(0));
  REQUIRE(waits.wait(kA, "u-a") == at(5000));
  REQUIRE(waits.wait(kB, "u-b") == at(5000));
  return waits;
}

}  // namespace

TEST_CASE("what the caches show already is not waited for") {
  OwnWriteWaits waits;
  waits.expect("u-a", kA, written(kPage, "10"), shows("10"), at(0));
  CHECK_FALSE(waits.any());
  CHECK_FALSE(waits.wait(kA, "u-a"));
}

TEST_CASE("a run that waits is woken when all that was written is shown, and no other is") {
  OwnWriteWaits waits = two_wait();
  waits.expect("u-a", kA, written(kMenu, "30"), shows("1"), at(0));
  CHECK(waits.settle(kPage, shows("10")).empty());
  CHECK(waits.settle(kMenu, shows("20")) == Keys{kB});
  CHECK(waits.settle(shows("30")) == Keys{kA});
  CHECK_FALSE(waits.any());
  CHECK(waits.start(kA).empty());
}

TEST_CASE("who does not wait is not woken") {
  OwnWriteWaits waits;
  waits.expect("u-a", kA, written(kPage, "10"), shows("1"), at(0));
  CHECK(waits.settle(kPage, shows("10")).empty());
  OwnWriteWaits forgotten = two_wait();
  forgotten.forget(kA);
  CHECK(forgotten.settle(shows("30")) == Keys{kB});
}

TEST_CASE("a run starts at last without what no cache shows, and is told of it once") {
  OwnWriteWaits waits = two_wait();
  CHECK(waits.give_up(at(4999)).empty());
  CHECK_FALSE(waits.is_overdue("u-a", at(4999)));
  CHECK(waits.is_overdue("u-a", at(5000)));
  CHECK(waits.give_up(at(5000)).size() == 2);
  CHECK_FALSE(waits.is_overdue("u-a", at(5000)));
  CHECK_FALSE(waits.wait(kA, "u-a"));
  CHECK(waits.start(kA) == "ConfigMap shop/page");
  CHECK(waits.start(kA).empty());
}

TEST_CASE("an object made anew under the name does not start without what the first one wrote") {
  OwnWriteWaits waits;
  waits.expect("u-a", kA, written(kPage, "10"), shows("1"), at(0));
  waits.expect("u-new", kA, written(kMenu, "20"), shows("1"), at(1000));
  CHECK(waits.wait(kA, "u-new") == at(6000));
  CHECK(waits.give_up(at(5000)).empty());
  CHECK(waits.first_of(kA) == kMenu);
  CHECK(waits.give_up(at(6000)) == Keys{kA});
  CHECK(waits.start(kA) == "ConfigMap shop/menu");
}

TEST_CASE("when the data of the server went back nobody waits any more") {
  OwnWriteWaits waits = two_wait();
  CHECK(waits.clear().size() == 2);
  CHECK_FALSE(waits.any());
  CHECK_FALSE(waits.wait(kA, "u-a"));
  CHECK(waits.start(kA).empty());
}

TEST_CASE("what a rule leaves is waited for by the next one, but for what is shown by then") {
  OwnWriteWaits waits = two_wait();
  OwnWriteWaits next;
  next.take_over(waits.leave(), shows("10"));
  CHECK_FALSE(next.has(kPage));
  CHECK(next.has(kMenu));
  CHECK(next.wait(kB, "u-b") == at(5000));
}

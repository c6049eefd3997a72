// What an index of related objects says while its program fails on some of them.
#include "hooks/relations.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::ObjectKey kSource{"shop", "source"};
const core::ObjectKey kOther{"shop", "other"};
const std::vector<core::ObjectKey> kSite{{"shop", "site"}};
const TimePoint kNow{Duration{1000}};

Error bad(const std::string& what) {
  return Error(ErrorKind::invalid, what);
}

}  // namespace

TEST_CASE("an object on which the program fails keeps what it pointed at") {
  Relations relations;
  relations.set(kSource, kSite, kNow);
  relations.set(kSource, bad("no JSON"), kNow);
  CHECK(relations.targets_of(kSource) == kSite);
  CHECK(relations.sources_of(kSite[0]) == std::vector<core::ObjectKey>{kSource});
  CHECK(relations.failure_of(kSource).find("no JSON") != std::string::npos);
  CHECK(relations.failure_of(kOther).empty());
  CHECK_FALSE(relations.any_failure().empty());

  relations.set(kSource, std::vector<core::ObjectKey>{}, kNow);
  CHECK(relations.targets_of(kSource).empty());
  CHECK(relations.any_failure().empty());
}

TEST_CASE("a failure is remembered of what never pointed at anything, until that is gone") {
  Relations relations;
  relations.set(kSource, bad("first"), kNow);
  relations.set(kOther, bad("second"), kNow);
  CHECK(relations.targets_of(kSource).empty());
  relations.forget(kOther);
  CHECK(relations.any_failure().find("first") != std::string::npos);
  relations.forget(kSource);
  CHECK(relations.any_failure().empty());
}

TEST_CASE("of those on which the program fails each has its turn to be tried again") {
  Relations relations;
  CHECK_FALSE(relations.tried_longest_ago());
  relations.set(kSource, bad("first"), kNow);
  relations.set(kOther, bad("second"), kNow + Duration{1});
  CHECK(relations.tried_longest_ago() == kSource);
  relations.set(kSource, bad("first"), kNow + Duration{2});
  CHECK(relations.tried_longest_ago() == kOther);
  relations.set(kOther, kSite, kNow + Duration{3});
  CHECK(relations.tried_longest_ago() == kSource);
}

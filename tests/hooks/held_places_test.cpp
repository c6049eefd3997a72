// Where held objects are looked for, and how it goes on where that is refused.
#include "hooks/held_places.hpp"

#include "client/rig.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Places = std::vector<HeldPlace>;
using Names = std::vector<std::string>;

Places rest(HeldPlaces& places) {
  Places out;
  while (auto place = places.next()) out.push_back(*place);
  return out;
}

Places all(const core::ResourceType& type, Names namespaces, const HeldAsked& asked) {
  HeldPlaces places(type, std::move(namespaces), asked);
  return rest(places);
}

Error answered(ErrorKind kind, int code) {
  base::ApiStatus status;
  status.code = code;
  return {kind, "no", status};
}

const Error kForbidden = answered(ErrorKind::forbidden, 403);
const Places kEverywhere = {{"", ""}};

}  // namespace

TEST_CASE("held objects are looked for in the rule's namespaces, or everywhere") {
  CHECK(all(test::kPods, {}, {}) == kEverywhere);
  CHECK(all(test::kPods, {"shop", "blog"}, {}) == Places{{"shop", ""}, {"blog", ""}});
  CHECK(all(test::kPods, {"shop"}, {"", "", true}) == kEverywhere);
}

TEST_CASE("a namespace that is named is looked at alone, also one that the rule does not name") {
  CHECK(all(test::kPods, {}, {"", "blog"}) == Places{{"blog", ""}});
  CHECK(all(test::kPods, {"shop"}, {"", "blog"}) == Places{{"blog", ""}});
  // As in kubectl -A goes before -n.
  CHECK(all(test::kPods, {"shop"}, {"", "blog", true}) == kEverywhere);
}

TEST_CASE("an object that is named is read, and nothing is listed") {
  CHECK(all(test::kPods, {"shop", "news"}, {"a", "blog"}) == Places{{"blog", "a"}});
}

TEST_CASE("who names a namespace does not mean what is in none, but by its name") {
  CHECK(all(test::kNodes, {}, {"", "blog"}).empty());
  CHECK(all(test::kNodes, {}, {}) == kEverywhere);
  CHECK(all(test::kNodes, {}, {"a", "blog"}) == Places{{"", "a"}});
}

TEST_CASE("where all namespaces may not be listed those of the rule are, once") {
  HeldPlaces places(test::kPods, {"shop", "blog"}, {"", "", true});
  REQUIRE(places.next() == HeldPlace{"", ""});
  places.failed(kForbidden);
  CHECK_FALSE(places.cut_off());
  REQUIRE(places.next() == HeldPlace{"shop", ""});
  places.failed(kForbidden);
  CHECK(rest(places) == Places{{"blog", ""}});

  HeldPlaces none(test::kPods, {}, {});
  none.next();
  none.failed(kForbidden);
  CHECK(rest(none).empty());

  // Another failure is no want of rights.
  HeldPlaces busy(test::kPods, {"shop"}, {"", "", true});
  busy.next();
  busy.failed(answered(ErrorKind::unavailable, 503));
  CHECK(rest(busy).empty());
  CHECK_FALSE(busy.cut_off());
}

TEST_CASE("what fails in one namespace does not hide the others") {
  HeldPlaces places(test::kPods, {"shop", "blog"}, {});
  places.next();
  places.failed(answered(ErrorKind::unavailable, 500));
  CHECK_FALSE(places.cut_off());
  CHECK(rest(places) == Places{{"blog", ""}});
}

TEST_CASE("a server that is not there, or does not know the user, is asked nothing more") {
  for (const Error& error :
       {Error(ErrorKind::unreachable, "connection lost"), answered(ErrorKind::unauthorized, 401)}) {
    HeldPlaces places(test::kPods, {"shop", "blog"}, {});
    places.next();
    places.failed(error);
    CHECK(places.cut_off());
    CHECK(rest(places).empty());
  }
}

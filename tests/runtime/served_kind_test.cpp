// What one discovery says of a kind whose requests are answered with 404.
#include "runtime/served_kind.hpp"

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using State = ServedKind::State;

namespace {

core::ResourceType bars(const std::string& version) {
  auto out = test::resource("y.dev", version, "Bar", "bars");
  out.verbs = {"get", "list", "watch"};
  return out;
}

const core::ResourceType kBar = bars("v1");

}  // namespace

TEST_CASE("a kind is gone when no version of it is served, and not before") {
  client::ResourceMap map;
  CHECK(served_kind(map, kBar).state == State::unknown);  // nobody told of any group
  map.add(test::resource("", "v1", "Pod", "pods"));
  CHECK(served_kind(map, kBar).state == State::unknown);
  map.add(test::resource("y.dev", "v1", "Other", "others"));
  CHECK(served_kind(map, kBar).state == State::gone);
  map.failed_groups = {"y.dev/v2: 503"};
  CHECK(served_kind(map, kBar).state == State::unknown);
  map.failed_groups = {"z.dev/v1: 503"};
  CHECK(served_kind(map, kBar).state == State::gone);
  map.add(bars("v1beta1"));
  const auto other = served_kind(map, kBar);
  REQUIRE(other.state == State::another);
  CHECK(other.type->gvk.version == "v1beta1");
  map.add(bars("v1"));
  CHECK(served_kind(map, kBar).state == State::served);
}

TEST_CASE("another version that cannot be watched is neither a way on nor the end of a kind") {
  client::ResourceMap map;
  auto blind = bars("v2");
  blind.verbs = {"create"};
  map.add(blind);
  CHECK(served_kind(map, kBar).state == State::unknown);
}

TEST_CASE("a kind whose definition was made anew with another plural or scope has moved") {
  const auto seen = [](const core::ResourceType& now) {
    client::ResourceMap map;
    map.add(now);
    const auto out = served_kind(map, kBar);
    REQUIRE(out.type.has_value());
    CHECK(out.type->plural == now.plural);
    CHECK(out.type->namespaced == now.namespaced);
    return out.state;
  };
  CHECK(seen(bars("v1")) == State::served);
  auto now = bars("v1");
  now.plural = "barren";
  CHECK(seen(now) == State::moved);
  now = bars("v1");
  now.namespaced = false;
  CHECK(seen(now) == State::moved);
}

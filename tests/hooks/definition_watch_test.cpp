// The watch of custom resource definitions where it is refused, and once it is not any more. In
// virtual time.
#include "hooks/definition_watch.hpp"

#include <algorithm>

#include "client/rig.hpp"
#include "client/write_gate.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

// As the engine has it: what is asked for is answered at once, and start() comes after it.
struct Definitions {
  Definitions() {
    core::ResourceType type;
    type.gvk = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
    type.plural = "customresourcedefinitions";
    type.verbs = {"list", "watch"};
    type.namespaced = false;
    resources.add(type);
    transport.route("GET", kDefinitions, 403,
                    R"({"kind":"Status","reason":"Forbidden","code":403})");
    review(false);
    watch.start(resources);
  }

  void review(bool allowed) {
    transport.route("POST", kReviews, 201,
                    std::string(R"({"status":{"allowed":)") + (allowed ? "true" : "false") + "}}");
  }
  void pass(Duration time) {
    loop.run_until([] { return false; }, time);
  }
  std::ptrdiff_t requests(const std::string& line) const {
    const auto lines = transport.lines();
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& one) { return one.starts_with(line); });
  }
  std::ptrdiff_t lists() const { return requests("GET " + kDefinitions); }
  std::ptrdiff_t reviews() const { return requests("POST " + kReviews); }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport{loop};
  client::Client client{loop, transport, test::scripted_config()};
  base::Random random{7};
  StreamPool pool{client, random};
  client::ResourceMap resources;
  int asked = 0;
  DefinitionWatch watch{client, pool,
                        [this] {
                          ++asked;
                          watch.start(resources);
                        },
                        [](const std::string&) { return true; }};
};

}  // namespace

TEST_CASE("definitions that may not be watched are looked at once a minute and listed no more") {
  Definitions world;
  CHECK(world.pool.facts().size() == 1);
  world.pass(Duration{5000});
  CHECK(world.pool.facts().empty());
  const auto lists = world.lists();
  world.pass(Duration{600000});
  CHECK(world.lists() == lists);
  CHECK(world.asked == 10);
  CHECK(world.reviews() == 10);
}

TEST_CASE("definitions are watched once the right was granted, without a restart") {
  Definitions world;
  world.pass(Duration{65000});
  CHECK(world.pool.facts().empty());
  const auto lists = world.lists();
  world.review(true);
  world.transport.route("GET", kDefinitions, 200,
                        R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[]})");
  world.pass(Duration{60000});
  REQUIRE(world.pool.facts().size() == 1);
  CHECK(world.pool.facts()[0].synced);
  CHECK(world.lists() > lists);
  const auto reviews = world.reviews();
  world.pass(Duration{300000});
  CHECK(world.reviews() == reviews);
}

TEST_CASE(
    "what is refused although the right is there is tried twice, and again after a new grant") {
  Definitions world;
  world.review(true);
  world.pass(Duration{125000});
  const auto lists = world.lists();
  CHECK(lists == 3);
  world.pass(Duration{600000});
  CHECK(world.lists() == lists);
  world.review(false);
  world.pass(Duration{60000});
  CHECK(world.lists() == lists);
  world.review(true);
  world.pass(Duration{60000});
  CHECK(world.lists() > lists);
}

TEST_CASE("who does not lead asks for the right all the same") {
  struct Gate : client::WriteGate {
    Result<Duration> admit() override { return Error(ErrorKind::canceled, "not the leader"); }
  };
  Gate gate;
  Definitions world;
  world.client.set_write_gate(&gate);
  world.pass(Duration{310000});
  CHECK(world.reviews() == 5);
  CHECK(world.asked == 5);
  world.client.set_write_gate(nullptr);
}

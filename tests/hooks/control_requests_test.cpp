// What runs answers on the control socket, and what it has nothing to answer to.
#include "hooks/control_requests.hpp"

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

class Reply : public ControlReply {
 public:
  bool more(const Json& result) override {
    results.push_back(result);
    return true;
  }
  bool is_open() const override { return !ended; }
  void end() override { ended = true; }
  void fail(const Error& error) override {
    failed = error;
    ended = true;
  }

  std::vector<Json> results;
  std::optional<Error> failed;
  bool ended = false;
};

// A rule web for Websites, of which the server has shop/a, and its requests.
struct Asked {
  Asked() : world("") { world.transport.answer(200, list(object(kSite, "Website", "4", "{}"))); }
  std::shared_ptr<Reply> runs(const Json& args) {
    auto reply = std::make_shared<Reply>();
    if (!requests) requests.emplace(*world.engine, world.client);
    requests->handle({"runs", std::make_shared<const Json>(args)}, reply);
    return reply;
  }
  ScriptedEngine world;
  std::optional<ControlRequests> requests;
};

bool is_empty(const Reply& reply) {
  return !reply.failed && reply.results.size() == 1 && reply.results[0]["runs"].empty();
}

}  // namespace

TEST_CASE("runs of a rule that is not there are an error that names it, followed or not") {
  Asked asked;
  asked.world.start();
  for (const bool watch : {false, true}) {
    const auto reply = asked.runs({{"controller", "nosuch"}, {"watch", watch}});
    REQUIRE(reply->failed);
    CHECK(reply->failed->is_not_found());
    CHECK(reply->failed->message() == "there is no rule nosuch; there are web");
  }
  const auto other = asked.runs({{"controller", "nosuch"}, {"kind", "website"}, {"watch", true}});
  REQUIRE(other->failed);
  CHECK(other->failed->message() == "there is no rule nosuch for the kind website; there are web");
  CHECK(is_empty(*asked.runs({{"controller", "web"}})));  // it had none yet
}

TEST_CASE(
    "runs of an object that no rule selects are an error, of one that had none yet are none") {
  Asked asked;
  asked.world.start();
  const auto named = [](const char* name, bool watch) {
    return Json{{"kind", "website"}, {"namespace", "shop"}, {"name", name}, {"watch", watch}};
  };
  // What there is, is not known yet.
  CHECK(is_empty(*asked.runs(named("nosuch", false))));
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return !asked.world.runs.empty(); }));
  const auto reply = asked.runs(named("nosuch", false));
  REQUIRE(reply->failed);
  CHECK(reply->failed->is_not_found());
  CHECK(reply->failed->message() ==
        "no rule selects Website shop/nosuch, or there is none; explain KIND/NAME says why");
  CHECK(is_empty(*asked.runs(named("a", false))));
  // It may come.
  const auto followed = asked.runs(named("nosuch", true));
  CHECK(is_empty(*followed));
  CHECK(followed->is_open());
  asked.requests->on_run(asked.world.runs[0]);
  REQUIRE(asked.runs(named("a", false))->results.size() == 1);
  CHECK(asked.runs(named("a", false))->results[0]["runs"].size() == 1);
}

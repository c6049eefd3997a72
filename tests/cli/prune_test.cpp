// What is sent for an ApplySet to a server that is busy, or lost now and then. Time is skipped.
#include "cli/apply/prune.hpp"

#include <algorithm>

#include "local_session.hpp"

namespace kubewatch::cli {

namespace {

struct Rig : LocalSession {
  Rig() {
    session->wrap_transport([this](http::Transport&) {
      auto made = std::make_unique<rehearsal::LocalServer>(loop);
      server = made.get();
      return made;
    });
  }
  void fail(const std::string& verb, const std::string& kind, int code, std::size_t times = 1) {
    rehearsal::Fault fault;
    fault.verb = verb;
    fault.kind = kind;
    fault.code = code;
    fault.times = times;
    server->add_fault(fault);
  }
  Result<ApplySetRun> open() {
    ApplySetRun::Pauses pauses;
    pauses.stopped = [this] { return stopped; };
    pauses.told = [this](const std::string& what, const Error&, Duration) {
      told.push_back(what);
      stopped = stops_when_told;
    };
    return ApplySetRun::open(*session, "site", false, std::move(pauses));
  }

  rehearsal::LocalServer* server = nullptr;
  std::vector<std::string> told;
  bool stopped = false;
  bool stops_when_told = false;
};

}  // namespace

TEST_CASE("whatever is sent for an ApplySet is sent again while the server is busy or lost") {
  Rig rig;
  for (const int code : {429, 503, 0}) {
    for (const char* verb : {"get", "apply"}) rig.fail(verb, "Secret", code);
    for (const char* verb : {"list", "delete"}) rig.fail(verb, "ConfigMap", code);
  }
  auto set = rig.open();
  REQUIRE(set.ok());
  const Json member = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "old"}, {"labels", {{kPartOfLabel, set->id()}}}}}};
  const std::string members = "/api/v1/namespaces/default/configmaps";
  REQUIRE(rig.server->ask("POST", members, "", member).ok());
  const auto widened = set->widen({{"ConfigMap"}, {}});
  REQUIRE(widened.ok());
  auto obsolete = set->find_obsolete({});
  REQUIRE(obsolete.ok());
  REQUIRE(obsolete->size() == 1);
  set->remove(obsolete->front());
  CHECK_FALSE(obsolete->front().error);
  CHECK(set->narrow().ok());
  CHECK(rig.server->ask("GET", members + "/old", "", nullptr).error().is_not_found());
  for (const auto& fault : rig.server->faults()) CHECK(fault.times == 0);
  REQUIRE(rig.told.size() == 12);
  CHECK(rig.told.front() == "secrets \"site\"");
  CHECK(rig.told.back() == "configmap/old");
}

TEST_CASE("a server that stays busy is waited for no longer than a minute, nor after a signal") {
  Rig rig;
  rig.fail("get", "Secret", 429, 1000);
  REQUIRE(rig.session->resources().ok());
  const TimePoint begin = rig.loop.now();
  CHECK(rig.open().error().status()->code == 429);
  CHECK(rig.loop.now() - begin <= Duration{60000});
  CHECK(rig.told.size() > 3);
  rig.told.clear();
  rig.stops_when_told = true;
  const TimePoint again = rig.loop.now();
  CHECK_FALSE(rig.open().ok());
  CHECK(rig.told.size() == 1);
  CHECK(rig.loop.now() - again < Duration{1000});
}

TEST_CASE("a server that never answered is told to be lost at once") {
  Rig rig;
  REQUIRE(rig.session->resources().ok());
  rig.fail("get", "Secret", 0);
  CHECK(rig.open().error().is_unreachable());
  CHECK(rig.told.empty());
}

TEST_CASE("another ApplySet of the same kind of parent is told by its name, any other by its id") {
  Rig rig;
  auto set = rig.open();
  REQUIRE(set.ok());
  const Json parent = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", "k1"}, {"labels", {{kParentIdLabel, "applyset-one-v1"}}}}}};
  REQUIRE(rig.server->ask("POST", "/api/v1/namespaces/default/secrets", "", parent).ok());
  CHECK(set->name_of("applyset-one-v1") == "secrets \"k1\"");
  CHECK(set->name_of("applyset-two-v1") == "applyset-two-v1");
  // Asked for once, and not again and again of a server that will not tell.
  rig.fail("list", "Secret", 503, 1000);
  CHECK(set->name_of("applyset-one-v1") == "secrets \"k1\"");
  CHECK(set->name_of("applyset-three-v1") == "applyset-three-v1");
  CHECK(rig.told.empty());
}

}  // namespace kubewatch::cli

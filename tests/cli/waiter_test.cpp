// What a wait asks a server for that is away when it begins. Time is skipped.
#include "cli/wait/waiter.hpp"

#include <map>
#include <sstream>

#include "cli/exit_code.hpp"
#include "local_session.hpp"

namespace kubewatch::cli {

namespace {

const Error kAway = Error(ErrorKind::unreachable, "refused").as_disconnect();

struct Rig : LocalSession {
  Rig() {
    flags.conditions = {"create"};
    flags.timeout = Duration{10000};
    auto goal = wait_goal_of(flags);
    REQUIRE(goal.ok());
    waiter.emplace(context, *session, flags, std::move(*goal), runtime::WatcherOptions());
    waiter->start_clock();
  }
  // Which counts how often it is asked for.
  Result<void> add(const std::string& text, std::function<Result<Waiter::Resolved>()> resolve) {
    return waiter->add(text, [this, text, resolve = std::move(resolve)] {
      ++asked[text];
      return resolve();
    });
  }

  std::ostringstream out, err;
  GlobalOptions global;
  Context context{global, out, err};
  WaitFlags flags;
  std::optional<Waiter> waiter;
  std::map<std::string, int> asked;
};

Result<Waiter::Resolved> away() {
  return kAway;
}

Result<Waiter::Resolved> no_such_type() {
  Waiter::Resolved out;
  out.later = Error(ErrorKind::not_found, "there is no such type");
  return out;
}

}  // namespace

TEST_CASE("a server that is away is asked once for all that is waited for, and told of once") {
  Rig rig;
  for (const char* text : {"cm/a", "cm/b", "secret/c"}) REQUIRE(rig.add(text, away).ok());
  CHECK(rig.asked == std::map<std::string, int>{{"cm/a", 1}});
  CHECK(rig.err.str() == "refused; asking for it again until the deadline\n");
  CHECK(rig.waiter->finish() == kUnreachable);
  CHECK(rig.asked.size() == 1);
  CHECK(rig.asked["cm/a"] > 2);
  for (const char* text : {"cm/a", "cm/b", "secret/c"}) {
    CHECK(rig.err.str().find(text) != std::string::npos);
  }
}

TEST_CASE("once a server answers all that is waited for is looked for") {
  Rig rig;
  REQUIRE(rig.add("x/a", [&] { return rig.asked["x/a"] < 3 ? away() : no_such_type(); }).ok());
  REQUIRE(rig.add("x/b", no_such_type).ok());
  CHECK(rig.asked["x/b"] == 0);
  CHECK(rig.waiter->finish() == kNotFound);
  CHECK(rig.asked["x/b"] > 0);
}

TEST_CASE("what no other try can mend ends a wait for a server that was away") {
  Rig rig;
  const Error wrong(ErrorKind::unreachable, "TLS: the certificate is of nobody");
  REQUIRE(
      rig.add("cm/a",
              [&]() -> Result<Waiter::Resolved> { return rig.asked["cm/a"] == 1 ? kAway : wrong; })
          .ok());
  const TimePoint begin = rig.loop.now();
  CHECK(rig.waiter->finish() == kUnreachable);
  CHECK(rig.loop.now() - begin < Duration{5000});
  CHECK(rig.err.str().find("error: cm/a: " + wrong.message()) != std::string::npos);
}

}  // namespace kubewatch::cli

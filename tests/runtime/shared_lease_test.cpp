// A Lease that many hold with the same identity: renewals by others, and how long it lasts.
#include <utility>

#include "base/json.hpp"
#include "runtime/election_script.hpp"

namespace kubewatch::runtime {

TEST_CASE("of a shared lease renewals by others count, from the look before") {
  Script s("me", true);
  const auto held_until = [&s] { return s.elector.fence()->start_before; };
  CHECK(s.start() == Words{"get"});
  CHECK(s.answer(5, Script::held_by("me", 15, "t1")) == Words{"update 'me'"});
  CHECK(s.refuse(20, ErrorKind::conflict) == Words{"get"});
  // Renewed by another since: held, and counted from when "t1" was asked for.
  CHECK(s.answer(30, Script::held_by("me", 15, "t2")) == Words{"leading", "timer"});
  CHECK(held_until() == at(0 + 10000));
  CHECK(s.timer(1030) == Words{"get", "timer"});
  CHECK(s.answer(1040, Script::held_by("me", 60, "t3")) == Words{"timer"});
  CHECK(held_until() == at(20 + 10000));
  // Twice in a period, so that it is late for none.
  CHECK(s.last_timer >= 1040 + 686);
  CHECK(s.last_timer <= 20 + 2000);
  // Nobody did: our turn, and never for a shorter time than others count on.
  CHECK(s.timer(2020) == Words{"get", "timer"});
  CHECK(s.answer(2030, Script::held_by("me", 60, "t3")) == Words{"update 'me'", "timer"});
  CHECK(s.asked["spec"]["leaseDurationSeconds"] == 60);
  CHECK(s.accept(2040) == Words{"timer"});
  CHECK(held_until() == at(2030 + 10000));
  // What is fresh enough is left as it is.
  CHECK(s.timer(3040) == Words{"get", "timer"});
  CHECK(s.answer(3050, s.server) == Words{"timer"});
  CHECK(s.last_timer <= 2030 + 2000);
  CHECK(s.timer(4030) == Words{"get", "timer"});
  CHECK(s.answer(4040, Script::held_by("others")) == Words{"lost: it is held by others"});
}

TEST_CASE("of a shared lease no renewal counts that lasts for a shorter time than ours") {
  Script s("me", true);
  s.start();
  s.answer(5, Script::held_by("me", 8, "t1"));
  s.refuse(20, ErrorKind::conflict);
  CHECK(s.answer(30, Script::held_by("me", 8, "t2")) == Words{"update 'me'"});
  CHECK(s.asked["spec"]["leaseDurationSeconds"] == 15);
  CHECK(s.accept(40) == Words{"leading", "timer"});
  s.timer(1040);
  CHECK(s.answer(1050, Script::held_by("me", 8, "t3")) == Words{"update 'me'", "timer"});
  CHECK(s.elector.fence()->start_before == at(30 + 10000));
}

}  // namespace kubewatch::runtime

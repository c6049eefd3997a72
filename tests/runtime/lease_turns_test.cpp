// Turns of requests of many Leases.
#include "runtime/lease_turns.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace kubewatch::runtime;

namespace {

struct Asked {
  using Of = LeaseTurns::Of;
  explicit Asked(std::size_t most) : turns(most) {}
  LeaseTurns::Turn held(const std::string& name) { return ask(Of::held, name); }
  LeaseTurns::Turn other(const std::string& name) { return ask(Of::other, name); }
  LeaseTurns::Turn ask(Of of, const std::string& name) {
    return turns.ask(of, [this, name] { sent.push_back(name); });
  }
  LeaseTurns turns;
  std::vector<std::string> sent;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "no more requests of Leases are on their way than may be, and those that asked first go") {
  Asked asked(2);
  auto a = asked.other("a");
  auto b = asked.other("b");
  const auto c = asked.other("c");
  const auto d = asked.other("d");
  CHECK(asked.sent == Names{"a", "b"});
  CHECK(asked.turns.waiting() == 2);
  b.end();
  CHECK(asked.sent == Names{"a", "b", "c"});
  b.end();  // it has ended
  CHECK(asked.turns.waiting() == 1);
  a = {};
  CHECK(asked.sent == Names{"a", "b", "c", "d"});
}

TEST_CASE("a Lease that is held is renewed before others are looked at") {
  Asked asked(1);
  auto first = asked.other("look 1");
  auto second = asked.other("look 2");
  auto renewal = asked.held("renewal 1");
  auto another = asked.held("renewal 2");
  first.end();
  CHECK(asked.sent == Names{"look 1", "renewal 1"});
  renewal.end();
  CHECK(asked.sent == Names{"look 1", "renewal 1", "renewal 2"});
  another.end();
  CHECK(asked.sent == Names{"look 1", "renewal 1", "renewal 2", "look 2"});
}

TEST_CASE("a turn that is not wanted any more before it comes is passed over") {
  Asked asked(1);
  auto first = asked.other("a");
  {
    const auto dropped = asked.held("b");
    CHECK(asked.turns.waiting() == 1);
  }
  auto moved = std::move(first);
  const auto last = asked.other("c");
  CHECK(asked.sent == Names{"a"});
  moved = {};
  CHECK(asked.sent == Names{"a", "c"});
  CHECK(asked.turns.waiting() == 0);
}

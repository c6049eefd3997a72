// When a program that takes all its time is not run, and when it is tried again.
#include "jq/overruns.hpp"

#include "jq/jq.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::jq;

namespace {

constexpr TimePoint kStart{Duration{5000}};

Program compiled(const std::string& text) {
  auto program = Program::compile(text);
  if (!program.ok()) FAIL(program.error().render());
  return *std::move(program);
}

Limits within(int milliseconds) {
  Limits limits;
  limits.deadline = Duration{milliseconds};
  return limits;
}

}  // namespace

TEST_CASE("three overruns in a row begin a pause, each later one a longer one") {
  Overruns it;
  TimePoint now = kStart;
  it.overran(now);
  it.overran(now);
  CHECK_FALSE(it.pauses(now));
  it.overran(now);
  CHECK(it.pauses(now));
  CHECK(it.pauses(now + Duration{9999}));
  for (const int seconds : {10, 20, 40, 80, 160, 300, 300}) {
    CHECK(it.pause() == Duration{seconds * 1000});
    now += it.pause();
    CHECK_FALSE(it.pauses(now));  // one try
    it.overran(now);
    CHECK(it.pauses(now));
  }
  CHECK(it.in_a_row() == 10);
}

TEST_CASE("a run that ends is the end of a series of overruns") {
  Overruns it;
  it.overran(kStart);
  it.overran(kStart);
  it.ended();
  it.overran(kStart);
  it.overran(kStart);
  CHECK_FALSE(it.pauses(kStart));
  it.overran(kStart);
  it.overran(kStart + Duration{10000});
  CHECK(it.pause() == Duration{20000});
  it.ended();
  CHECK_FALSE(it.pauses(kStart + Duration{10000}));
  for (int i = 0; i < 3; ++i) it.overran(kStart);
  CHECK(it.pause() == Duration{10000});  // from the start again
}

TEST_CASE("a program that never ends costs its deadline a few times, not once for each object") {
  const std::string name = GENERATE("native", "libjq");
  const bool native = name == "native";
  const Program program = compiled(native ? "if .loop then last(range(1e12)) else 1 end"
                                          : "def f: if .loop then f else 1 end; f");
  REQUIRE(program.native() == native);
  const Json endless = {{"loop", true}};
  // Too short for two million steps.
  const Limits limits = within(native ? 0 : 20);
  const auto fails = [&](const Program& what) {
    const auto out = what.run(endless, limits);
    REQUIRE_FALSE(out.ok());
    CHECK(out.error().kind() == ErrorKind::timeout);
    return out.error().render();
  };
  SECTION("after three of them in a row it is not run, whoever has a copy of it") {
    const Program copy = program;
    for (int i = 0; i < 3; ++i) {
      CHECK(fails(i == 1 ? copy : program).find("runs longer than") != std::string::npos);
    }
    const std::string told = fails(copy);
    CHECK(told.find("it was not run: the last 3 times it took too long") != std::string::npos);
    CHECK(told.find("tried again 10s after that") != std::string::npos);
    CHECK(fails(copy) == told);
    const auto tested = program.test(Json::object(), within(60000));
    REQUIRE_FALSE(tested.ok());
    CHECK(tested.error().kind() == ErrorKind::timeout);
    // Another program of the same text is another one.
    CHECK(compiled(program.text()).run(Json::object(), within(60000)).ok());
  }
  SECTION("one that is slow for some objects alone is run") {
    for (int i = 0; i < 3; ++i) {
      CHECK(fails(program).find("runs longer than") != std::string::npos);
      CHECK(fails(program).find("runs longer than") != std::string::npos);
      CHECK(program.run(Json::object(), within(60000)).ok());
    }
  }
}

TEST_CASE("a program that always uses up its steps is not run for a while either") {
  const Program program = compiled("last(range(1e12))");
  REQUIRE(program.native());
  for (int i = 0; i < 3; ++i) {
    const auto out = program.run(nullptr, within(60000));
    REQUIRE_FALSE(out.ok());
    CHECK(out.error().kind() == ErrorKind::too_large);
  }
  const auto out = program.run(nullptr, within(60000));
  REQUIRE_FALSE(out.ok());
  CHECK(out.error().kind() == ErrorKind::timeout);
}

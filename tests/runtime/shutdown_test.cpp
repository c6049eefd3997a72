#include "runtime/shutdown.hpp"

#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

struct Bench {
  loop::EventLoop loop;
  ShutdownSequence sequence{loop};
  std::string order;
  std::optional<ShutdownReport> report;

  // A step that is done at once, or when the test calls what it gave.
  void step(const std::string& name) {
    sequence.add(name, [this, name](const auto& done) {
      order += name + " ";
      done();
    });
  }
  std::function<void()> waiting(const std::string& name) {
    auto kept = std::make_shared<std::function<void()>>();
    sequence.add(name, [this, name, kept](auto done) {
      order += name + " ";
      *kept = std::move(done);
    });
    return [kept] { (*kept)(); };
  }
  void begin(Duration deadline = Duration{60000}) {
    sequence.begin(deadline, [this](const ShutdownReport& told) { report = told; });
  }
  bool until_told() {
    return loop.run_until([this] { return report.has_value(); }, kLimit);
  }
  void turn() {
    for (int i = 0; i < 3; ++i) {
      bool turned = false;
      loop.post([&] { turned = true; });
      loop.run_until([&] { return turned; }, kLimit);
    }
  }
};

}  // namespace

TEST_CASE("a shutdown goes step by step, each after the one before") {
  Bench b;
  b.step("intake");
  const auto runs_done = b.waiting("runs");
  b.step("flush");
  b.step("release");
  b.begin();
  b.turn();
  CHECK(b.order == "intake runs ");
  runs_done();
  runs_done();  // says it twice: the next step is not skipped
  REQUIRE(b.until_told());
  CHECK(b.order == "intake runs flush release ");
  CHECK(b.report->clean);
  CHECK(b.report->unfinished_step.empty());
}

TEST_CASE("the deadline names what was not finished, and what comes after it does not happen") {
  Bench b;
  const auto runs_done = b.waiting("runs");
  b.step("release");
  b.begin(Duration{1});
  REQUIRE(b.until_told());
  CHECK_FALSE(b.report->clean);
  CHECK(b.report->unfinished_step == "runs");
  runs_done();
  b.turn();
  CHECK(b.order == "runs ");
}

TEST_CASE("a second signal ends a shutdown at once") {
  Bench b;
  const auto runs_done = b.waiting("runs");
  b.begin();
  b.sequence.abort();
  REQUIRE(b.until_told());
  CHECK(b.report->unfinished_step == "runs");
  runs_done();
  b.sequence.abort();
  b.turn();
}

TEST_CASE("aborting before the beginning or after the end changes nothing") {
  Bench b;
  b.sequence.abort();
  b.begin();
  REQUIRE(b.until_told());
  CHECK(b.report->clean);
  b.report.reset();
  b.sequence.abort();
  b.begin();
  b.turn();
  CHECK_FALSE(b.report);
}

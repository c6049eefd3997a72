#include "client/rewinds.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using client::Rewinds;

namespace {

struct Bench {
  loop::EventLoop loop{loop::VirtualClock{}};
  Rewinds rewinds{loop};
  std::vector<std::string> told;

  std::shared_ptr<Rewinds::Listener> listener(const std::string& name, const std::string& source) {
    return rewinds.listen(source, [this, name] { told.push_back(name); });
  }
  std::vector<std::string> after(Duration time) {
    told.clear();
    loop.run_until([] { return false; }, time);
    return told;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("who sees the data go back is not told of it, all others are, in a turn of their own") {
  Bench b;
  const auto pods = b.listener("pods", "pods");
  const auto sites = b.listener("sites", "sites.demo.dev");
  auto jobs = b.listener("jobs", "jobs.batch");
  b.rewinds.seen(sites);
  CHECK(b.told.empty());
  CHECK(b.after(Duration{1}) == Names{"pods", "jobs"});
  CHECK(b.after(Duration{1000}).empty());
  SECTION("who has gone is told nothing") {
    jobs.reset();
    b.rewinds.seen(pods);
    CHECK(b.after(Duration{1}) == Names{"sites"});
  }
}

TEST_CASE("two that see it in one turn tell it once") {
  Bench b;
  const auto pods = b.listener("pods", "pods");
  const auto sites = b.listener("sites", "sites.demo.dev");
  const auto jobs = b.listener("jobs", "jobs.batch");
  b.rewinds.seen(sites);
  b.rewinds.seen(pods);
  CHECK(b.after(Duration{1}) == Names{"pods", "jobs"});
}

TEST_CASE("a kind whose versions go back again and again is believed a few times in a while") {
  Bench b;
  const auto pods = b.listener("pods", "pods");
  const auto odd = b.listener("odd", "odd.example.com");
  for (int i = 0; i < Rewinds::kMost; ++i) {
    b.rewinds.seen(odd);
    CHECK(b.after(Duration{1000}) == Names{"pods"});
  }
  b.rewinds.seen(odd);
  CHECK(b.after(Duration{1000}).empty());
  // Nor does another watch of that kind count; one of another kind does.
  const auto twin = b.listener("twin", "odd.example.com");
  b.rewinds.seen(twin);
  CHECK(b.after(Duration{1000}).empty());
  b.rewinds.seen(pods);
  CHECK(b.after(Duration{1000}) == Names{"odd", "twin"});
  b.after(Rewinds::kAgain);
  b.rewinds.seen(odd);
  CHECK(b.after(Duration{1000}) == Names{"pods", "twin"});
}

TEST_CASE("a listener may be given up while others are told") {
  Bench b;
  const auto pods = b.listener("pods", "pods");
  std::shared_ptr<Rewinds::Listener> last;
  const auto first = b.rewinds.listen("sites.demo.dev", [&] { last.reset(); });
  last = b.listener("last", "jobs.batch");
  b.rewinds.seen(pods);
  CHECK(b.after(Duration{1}).empty());
}

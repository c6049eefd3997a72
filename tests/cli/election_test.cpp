// The flags of leader election: what they make of each other; and what a command is told of Leases
// that it may not have, and while it ends.
#include "cli/controller/election.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>

#include "base/log.hpp"
#include "hooks/recorded_request.hpp"
#include "http/transport_around.hpp"
#include "rehearsal/local_server.hpp"
#include "runtime/shard_map.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;

namespace {

Duration hand_over(std::vector<std::string> words) {
  CLI::App app;
  ElectionFlags flags;
  flags.bind(app);
  words.emplace_back("--leader-elect");
  std::reverse(words.begin(), words.end());
  app.parse(std::move(words));
  hooks::Rule rule;
  rule.name = "web";
  base::Random random(1);
  const auto plan = flags.plan({rule}, "shop", random);
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  return (*plan)->hand_over;
}

runtime::LeadershipOptions leases(std::size_t shards, Duration renew_deadline = Duration{60000}) {
  runtime::LeadershipOptions options;
  options.election.lease = {"default", "web"};
  options.election.identity = "me";
  options.election.lease_duration = 2 * renew_deadline;
  options.election.renew_deadline = renew_deadline;
  options.election.retry_period = Duration{20};
  options.shards = shards;
  options.plan = fmt::format("{}{}hash", shards, runtime::kPlanWords);
  REQUIRE(options.validate().ok());
  return options;
}

// An instance on a server that fails where it is told to, and what it is told.
struct Instance {
  explicit Instance(const runtime::LeadershipOptions& options)
      : server(loop), client(loop, server, config()), random(1) {
    base::capture_log(&lines);
    runtime::LeadershipCallbacks callbacks;
    callbacks.gained = [this](std::size_t) { ++led; };
    callbacks.end_runs = [this](std::size_t shard, const std::function<void()>& done) {
      runs ? void(ending[shard] = done) : done();
    };
    callbacks.lost = [this](const std::string& why, Duration) { lost = why; };
    callbacks.refused = [this](const Error& error) { refused.push_back(error.render()); };
    leadership = std::make_unique<runtime::Leadership>(client, options, random, callbacks);
  }
  ~Instance() { base::capture_log(nullptr); }

  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = rehearsal::LocalServer::kUrl;
    return out;
  }
  void fail(const std::string& verb, int code, std::size_t times) {
    rehearsal::Fault fault;
    fault.verb = verb;
    fault.kind = "Lease";
    fault.code = code;
    fault.times = times;
    server.add_fault(fault);
  }

  loop::EventLoop loop;
  rehearsal::LocalServer server;
  client::Client client;
  base::Random random;
  std::vector<std::string> lines;
  std::unique_ptr<runtime::Leadership> leadership;
  std::string holder(const std::string& lease) {
    std::optional<std::string> out;
    const auto asked =
        client.get(runtime::lease_type(), {"default", lease}, [&](const Result<Json>& answer) {
          out = answer.ok() ? base::string_at(*answer, {"spec", "holderIdentity"})
                            : answer.error().render();
        });
    REQUIRE(loop.run_until([&] { return out.has_value(); }, kLimit));
    return *out;
  }
  bool comes_to(const std::string& lease, const std::string& wanted) {
    for (int i = 0; i < 1000; ++i) {
      if (holder(lease) == wanted) return true;
      loop.run_until([] { return false; }, Duration{1});
    }
    return false;
  }
  std::size_t warnings() const {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.find("the lease cannot be read or written") != std::string::npos;
        }));
  }

  bool runs = false;  // something, in each shard
  std::map<std::size_t, std::function<void()>> ending;
  std::size_t led = 0;
  std::string lost;
  std::vector<std::string> refused;
};

// Counts requests for Leases.
class Counting : public http::TransportAround {
 public:
  Counting(http::Transport& inner, std::size_t& leases) : TransportAround(inner), leases_(leases) {}
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    const auto target = hooks::api_target(request.url);
    if (target && target->plural == "leases") ++leases_;
    return inner_.start(std::move(request), std::move(handlers));
  }

 private:
  std::size_t& leases_;
};

}  // namespace

TEST_CASE("what went before a hand-over is kept for two lease durations, with shards for four") {
  CHECK(hand_over({}) == Duration{30000});
  CHECK(hand_over({"--lease-duration", "40s"}) == Duration{80000});
  CHECK(hand_over({"--shards", "3"}) == Duration{60000});
  CHECK(hand_over({"--shards", "1", "--lease-duration", "40s"}) == Duration{160000});
  CHECK(hand_over({"--shard-by", "namespace=a;b"}) == Duration{60000});
}

TEST_CASE("that Leases are refused is told until it leads") {
  Instance one(leases(1));
  one.fail("create", 403, 2);
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return one.led == 1; }, kLimit));
  REQUIRE(one.refused.size() == 2);
  CHECK(one.refused[0].starts_with("create leases.coordination.k8s.io \"web\""));
  // The leader's troubles are another matter.
  one.fail("write", 403, 2);
  REQUIRE(one.loop.run_until([&] { return one.server.faults().back().times == 0; }, kLimit));
  one.loop.run_until([&] { return one.server.quiet(); }, kLimit);
  CHECK(one.refused.size() == 2);
}

TEST_CASE("who shares objects out is told that it may not see the other instances") {
  Instance one(leases(2));
  one.fail("list", 403, 2);
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return one.led == 2; }, kLimit));
  REQUIRE(one.refused.size() == 2);
  CHECK(one.refused[0].starts_with("list leases.coordination.k8s.io"));
}

TEST_CASE("a graceful end without a server is none that lost the lead, with shards neither") {
  for (const std::size_t shards : {1, 2}) {
    CAPTURE(shards);
    Instance one(leases(shards, Duration{1000}));
    one.leadership->start();
    REQUIRE(one.loop.run_until([&] { return one.led == shards; }, kLimit));
    one.fail("", 0, 1'000'000);
    bool released = false;
    one.leadership->release([&] { released = true; });
    CHECK(one.loop.run_until([&] { return released; }, kLimit));
    CHECK(one.lost == "");
    CHECK_FALSE(one.leadership->gate().admit().ok());
  }
}

TEST_CASE(
    "who ends gives each Lease back when nothing runs under it, and the last one at its end") {
  Instance one(leases(3));
  one.runs = true;
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return one.led == 3; }, kLimit));
  one.leadership->leave();
  REQUIRE(one.ending.size() == 3);
  // The others count on it no more, and take what it gives back.
  const std::string member = fmt::format("web-member-{:016x}", runtime::stable_hash("me"));
  CHECK(one.comes_to(member, ""));
  one.ending[0]();
  CHECK(one.comes_to("web-0", ""));
  one.ending[2]();
  CHECK(one.comes_to("web-2", ""));
  one.ending[1]();
  one.loop.run_until([] { return false; }, Duration{100});
  CHECK(one.holder("web-1") == "me");
  CHECK(one.holder("web-0") == "");
  CHECK(one.leadership->gate().admit().ok());
  bool released = false;
  one.leadership->release([&] { released = true; });
  REQUIRE(one.loop.run_until([&] { return released; }, kLimit));
  CHECK(one.holder("web-1") == "");
  CHECK(one.led == 3);
  CHECK(one.lost == "");
}

TEST_CASE("who ends while it only stands by does not stand by any more") {
  Instance one(leases(1));
  one.fail("create", 403, 1'000'000);
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return !one.refused.empty(); }, kLimit));
  one.leadership->leave();
  one.loop.run_until([] { return false; }, Duration{100});
  const std::size_t asked = one.refused.size();
  one.loop.run_until([] { return false; }, Duration{100});
  CHECK(one.refused.size() == asked);
  CHECK_FALSE(one.leadership->trouble());
}

TEST_CASE(
    "a Lease that can be read and not written is told of once, and is in the way until then") {
  Instance one(leases(1));
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return one.led == 1; }, kLimit));
  bool released = false;
  one.leadership->release([&] { released = true; });
  REQUIRE(one.loop.run_until([&] { return released; }, kLimit));
  one.fail("update", 403, 3);
  one.leadership->start();
  REQUIRE(one.loop.run_until([&] { return one.server.faults().back().times == 1; }, kLimit));
  const auto trouble = one.leadership->trouble();
  REQUIRE(trouble);
  CHECK(trouble->error.is_forbidden());
  REQUIRE(one.loop.run_until([&] { return one.led == 2; }, kLimit));
  CHECK_FALSE(one.leadership->trouble());
  CHECK(one.warnings() == 1);
}

TEST_CASE("what stays wrong is told again each minute") {
  runtime::LastingTrouble trouble;
  const auto at = [](std::int64_t ms) { return TimePoint(Duration(ms)); };
  const auto note = [&](const char* text, std::int64_t ms) {
    return trouble.note(Error(ErrorKind::unavailable, text), at(ms));
  };
  CHECK(note("no", 0));
  CHECK_FALSE(note("no", 59'999));
  CHECK(note("no", 60'000));
  CHECK(note("never", 60'001));
  CHECK_FALSE(note("never", 60'002));
  CHECK(trouble.get()->since == at(0));
  trouble.is_over();
  CHECK(note("never", 60'003));
}

TEST_CASE("what a command records has nothing of its own Leases") {
  auto session = cli::Session::open_sandbox({});
  REQUIRE(session.ok());
  std::size_t seen = 0;
  (*session)->wrap_transport(
      [&](http::Transport& inner) { return std::make_unique<Counting>(inner, seen); });
  hooks::EngineOptions options;
  options.shards.emplace();
  hooks::Engine engine((*session)->loop(), (*session)->client(), {}, options, {});
  cli::ElectionPlan plan;
  plan.leadership = leases(1);
  std::optional<std::string> lost;
  cli::Election election(**session, plan, engine,
                         {[&](const std::string& why, Duration) { lost = why; }, {}});
  election.start();
  CHECK((*session)->loop().run_until([&] { return (*session)->client().may_write().ok() || lost; },
                                     kLimit));
  bool released = false;
  election.release([&] { released = true; });
  CHECK((*session)->loop().run_until([&] { return released; }, kLimit));
  CHECK_FALSE(lost.has_value());
  CHECK(seen == 0);
}

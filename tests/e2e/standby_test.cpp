// C++ controllers behind a real Lease: the one that does not lead has its caches warm and writes
// nothing, takes over at once, and what lost the lead writes no more. The shell hooks' side of it
// is leader_election_test.
#include <set>

#include "base/json.hpp"
#include "e2e/world.hpp"
#include "runtime/applier.hpp"
#include "runtime/leadership.hpp"
#include "runtime/operator.hpp"

namespace kubewatch::e2e {
namespace {

// Nobody waits until one runs out, and a busy machine must not lose it.
runtime::LeadershipOptions long_leases(World& w, const std::string& lease,
                                       const std::string& identity) {
  runtime::LeadershipOptions options;
  options.election.lease = {w.ns(), lease};
  options.election.identity = identity;
  options.election.lease_duration = Duration{300000};
  options.election.renew_deadline = Duration{240000};
  options.election.retry_period = Duration{500};
  return options;
}

// What a Leadership speaks through: without its gate.
std::unique_ptr<client::Client> client_for(World& w, http::Transport& transport,
                                           const runtime::LeadershipOptions& options) {
  client::ClientConfig config = w.server().config();
  config.request_timeout = options.election.request_timeout();
  return std::make_unique<client::Client>(w.loop(), transport, config);
}

// One instance of a controller that writes its own name into a page of each ConfigMap of the case.
class Instance {
 public:
  Instance(World& w, std::string name) : w_(w), name_(std::move(name)) {
    transport_ = *client::make_transport(w.loop(), w.server().config());
    client_ = std::make_unique<client::Client>(w.loop(), *transport_, w.server().config());
    applier_ = std::make_unique<runtime::Applier>(*client_, w.ns(), true);
    runtime::KindOptions where;
    where.namespaces = {w.ns()};
    where.list.label_selector = "for=" + w.ns();
    auto built = runtime::ControllerBuilder(w.loop(), *client_, random_)
                     .for_(w.type("ConfigMap"), where)
                     .standby()
                     .build([this](const auto& object, const auto&, auto done) {
                       ++runs;
                       write(object.meta.name, done);
                     });
    if (!built.ok()) FAIL(built.error().render());
    op = std::move(*built);

    const runtime::LeadershipOptions options = long_leases(w, "cpp", name_);
    REQUIRE(options.validate().ok());
    leases_ = client_for(w, *transport_, options);
    runtime::LeadershipCallbacks callbacks;
    callbacks.gained = [this](std::size_t) {
      leads = true;
      op->lead();
    };
    callbacks.end_runs = [this](std::size_t, std::function<void()> done) {
      op->stand_by(std::move(done));
    };
    callbacks.lost = [this](const std::string& why, Duration) {
      lost = why;
      op->stand_by([] {});
    };
    leadership = std::make_unique<runtime::Leadership>(*leases_, options, random_, callbacks);
    client_->set_write_gate(&leadership->gate());
    op->start();
    leadership->start();
  }
  ~Instance() {
    // Runs refer to the client, the gate to the leadership.
    op.reset();
    client_->set_write_gate(nullptr);
  }

  void write(const std::string& name, std::function<void(Result<runtime::RunOutcome>)> done) {
    const Json page = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", name + "-page"}, {"namespace", w_.ns()}}},
                       {"data", {{"by", name_}}}};
    applier_->apply(w_.type("ConfigMap"), page, std::move(done));
  }

  std::size_t runs = 0;
  bool leads = false;
  std::string lost;
  std::unique_ptr<runtime::Operator> op;
  std::unique_ptr<runtime::Leadership> leadership;

 private:
  World& w_;
  std::string name_;
  base::Random random_ = base::Random::from_system();
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_, leases_;  // the first has the gate
  std::unique_ptr<runtime::Applier> applier_;
};

void source(World& w, const std::string& name, const std::string& value) {
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
          ", namespace: '@NS@', labels: {for: '@NS@'}}, data: {k: " + value + "}}");
}

std::string writer_of(World& w, const std::string& name) {
  const auto page = w.get("ConfigMap", name + "-page");
  return page ? base::string_at(*page, {"data", "by"}) : "";
}

std::string held_by(World& w) {
  const auto lease = w.get("Lease", "cpp");
  return lease ? base::string_at(*lease, {"spec", "holderIdentity"}) : "";
}

}  // namespace

E2E_CASE(
    "C++ controllers: a standby has warm caches, takes over, and what lost the lead is shut out") {
  World w;
  source(w, "a", "one");
  auto first = std::make_unique<Instance>(w, "first");
  REQUIRE(w.eventually([&] { return writer_of(w, "a") == "first"; }));
  Instance second(w, "second");
  REQUIRE(w.eventually([&] { return second.op->synced(); }));
  source(w, "b", "one");
  REQUIRE(w.eventually([&] { return writer_of(w, "b") == "first"; }));
  const auto* cache = second.op->cache(w.type("ConfigMap").gvk, w.ns());
  REQUIRE(cache != nullptr);
  CHECK(w.eventually([&] { return cache->size() == 2; }));
  CHECK_FALSE(second.leads);
  CHECK(second.runs == 0);
  // By itself or by somebody's hand: the gate knows who leads.
  std::optional<Result<runtime::RunOutcome>> refused;
  second.write("by-hand", [&](auto outcome) { refused.emplace(std::move(outcome)); });
  REQUIRE(w.eventually([&] { return refused.has_value(); }));
  REQUIRE_FALSE(refused->ok());
  CHECK(refused->error().render().find("by-hand-page") != std::string::npos);

  // A graceful end: the other one leads at once, with what it knew already.
  bool released = false;
  first->op->shut_down(Duration{5000},
                       [&](const auto&) { first->leadership->release([&] { released = true; }); });
  REQUIRE(w.eventually([&] { return released; }));
  REQUIRE(w.eventually([&] { return second.leads; }));
  CHECK(
      w.eventually([&] { return writer_of(w, "a") == "second" && writer_of(w, "b") == "second"; }));
  first.reset();

  // An end against its will: somebody else's name is in the Lease.
  const std::size_t runs = second.runs;
  w.merge("Lease", "cpp", "{spec: {holderIdentity: third, leaseDurationSeconds: 60}}");
  REQUIRE(w.eventually([&] { return !second.lost.empty(); }));
  CHECK(held_by(w) == "third");
  source(w, "c", "one");
  refused.reset();
  second.write("late", [&](auto outcome) { refused.emplace(std::move(outcome)); });
  REQUIRE(w.eventually([&] { return refused.has_value(); }));
  CHECK_FALSE(refused->ok());
  CHECK(w.eventually([&] { return cache->size() == 3; }));  // its caches stay warm
  CHECK(w.holds_for([&] { return second.runs == runs; }, Duration{1000}));
  CHECK(writer_of(w, "c").empty());
}

E2E_CASE("an instance that gave its shards back is no member any more, and may come again") {
  World w;
  struct Member {
    std::unique_ptr<client::Client> client;
    base::Random random = base::Random::from_system();
    std::set<std::size_t> leads;
    std::string lost;
    std::unique_ptr<runtime::Leadership> leadership;
  };
  const auto transport = *client::make_transport(w.loop(), w.server().config());
  const auto make = [&](const std::string& name) {
    auto out = std::make_unique<Member>();
    runtime::LeadershipOptions options = long_leases(w, "parts", name);
    options.shards = 4;
    options.plan = "4 even shards by hash of names";
    REQUIRE(options.validate().ok());
    out->client = client_for(w, *transport, options);
    runtime::LeadershipCallbacks callbacks;
    callbacks.gained = [raw = out.get()](std::size_t shard) { raw->leads.insert(shard); };
    callbacks.end_runs = [raw = out.get()](std::size_t shard, const std::function<void()>& done) {
      raw->leads.erase(shard);
      done();
    };
    callbacks.lost = [raw = out.get()](const std::string& why, Duration) { raw->lost = why; };
    out->leadership =
        std::make_unique<runtime::Leadership>(*out->client, options, out->random, callbacks);
    return out;
  };
  const auto one = make("one");
  const auto two = make("two");
  one->leadership->start();
  REQUIRE(w.eventually([&] { return one->leads.size() == 4; }));
  bool released = false;
  two->leadership->start();
  two->leadership->release([&] { released = true; });
  REQUIRE(w.eventually([&] { return released; }));
  CHECK(w.holds_for([&] { return one->leads.size() == 4; }, Duration{3000}));
  two->leadership->start();
  CHECK(w.eventually([&] { return one->leads.size() == 2 && two->leads.size() == 2; }));
  released = false;
  two->leads.clear();
  two->leadership->release([&] { released = true; });
  REQUIRE(w.eventually([&] { return released; }));
  CHECK(w.eventually([&] { return one->leads.size() == 4; }));
  CHECK((one->lost + two->lost).empty());
}

}  // namespace kubewatch::e2e

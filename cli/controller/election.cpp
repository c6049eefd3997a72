#include "cli/controller/election.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/flags.hpp"
#include "loop/boot_clock.hpp"
#include "runtime/shard_map.hpp"

namespace kubewatch::cli {
namespace {

constexpr std::size_t kLongestName = 50;  // with room for -member-HASH in a label value

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown-host";
}

// The same for every instance of the same rules.
std::string name_of_rules(const std::vector<hooks::Rule>& rules) {
  std::vector<std::string> names;
  for (const hooks::Rule& rule : rules) names.push_back(rule.name);
  std::sort(names.begin(), names.end());
  std::string name = "kubewatch-" + base::join(names, "-");
  if (name.size() <= kLongestName) return name;
  return fmt::format("kubewatch-{:016x}", runtime::stable_hash(name));
}

runtime::LeadershipNames flag_names() {
  runtime::LeadershipNames out;
  out.election = {"--lease-name",     "--lease-namespace", "--identity",
                  "--lease-duration", "--renew-deadline",  "--retry-period"};
  out.shards = "--shards";
  out.plan = "--shard-by";
  return out;
}

client::ClientConfig lease_config(client::ClientConfig config,
                                  const runtime::ElectionOptions& options) {
  config.request_timeout = options.request_timeout();
  return config;
}

}  // namespace

void ElectionFlags::bind(CLI::App& app) {
  app.add_flag("--leader-elect", leader_elect_,
               "run only while holding a Lease; other instances stand by");
  app.add_option("--lease-name", lease_name_, "name of the Lease (default: from the rules' names)")
      ->type_name("NAME");
  app.add_option("--lease-namespace", lease_namespace_,
                 "namespace of the Lease (default: of the context or the pod)")
      ->type_name("NAMESPACE");
  app.add_option("--identity", identity_,
                 "who holds the Lease, unique to each process (default: HOSTNAME_UUID)")
      ->type_name("TEXT");
  add_duration(
      app, "--lease-duration", lease_duration_,
      "others take over after so long without renewal, with shards after twice that (default 15s)");
  add_duration(app, "--renew-deadline", renew_deadline_,
               "stop writing and exit after so long without renewal (default 10s)");
  add_duration(app, "--retry-period", retry_period_, "between two looks at the Lease (default 2s)");
  app.add_option("--shards", shards_, "share the objects out to instances, a Lease for each share")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000).description(""));
  app.add_option("--shard-by", shard_by_,
                 "namespace=a,b;c or label=KEY: instances watch only what is theirs")
      ->type_name("RULE");
}

bool ElectionFlags::given() const {
  return leader_elect_ || !lease_name_.empty() || !lease_namespace_.empty() || !identity_.empty() ||
         lease_duration_ || renew_deadline_ || retry_period_ || shards_ || !shard_by_.empty();
}

Result<std::optional<ElectionPlan>> ElectionFlags::plan(const std::vector<hooks::Rule>& rules,
                                                        const std::string& namespace_,
                                                        base::Random& random) const {
  const bool sharded = shards_.has_value() || !shard_by_.empty();
  const bool tuned = !lease_name_.empty() || !lease_namespace_.empty() || !identity_.empty() ||
                     lease_duration_ || renew_deadline_ || retry_period_;
  if (!leader_elect_ && (tuned || sharded)) {
    return Error(ErrorKind::invalid,
                 "the flags of leases and shards do nothing without --leader-elect: add it");
  }
  if (!leader_elect_) return std::optional<ElectionPlan>();
  ElectionPlan plan;
  KW_ASSIGN(plan.shards, hooks::parse_shard_plan(shard_by_, shards_));
  runtime::ElectionOptions& election = plan.leadership.election;
  plan.leadership.shards = plan.shards.count;
  plan.leadership.plan = hooks::describe(plan.shards);
  election.lease.name = lease_name_.empty() ? name_of_rules(rules) : lease_name_;
  election.lease.namespace_ = lease_namespace_.empty() ? namespace_ : lease_namespace_;
  election.identity = identity_.empty() ? host_name() + "_" + random.uuid() : identity_;
  if (lease_duration_) election.lease_duration = *lease_duration_;
  if (renew_deadline_) election.renew_deadline = *renew_deadline_;
  if (retry_period_) election.retry_period = *retry_period_;
  KW_TRY(plan.leadership.validate(flag_names()));
  plan.hand_over = election.lease_duration * (sharded ? 4 : 2);
  return std::optional<ElectionPlan>(std::move(plan));
}

// Leases follow the clock, and each instance lists those of all others every few seconds: a
// recording would be full of them, and say nothing by it.
Election::Election(Session& session, ElectionPlan plan, hooks::Engine& engine, Callbacks callbacks)
    : session_(session),
      callbacks_(std::move(callbacks)),
      patience_(plan.give_up_start),
      client_(session.loop(), session.wire(),
              lease_config(session.client().config(), plan.leadership.election)),
      leadership_(client_, std::move(plan.leadership), session.random(), callbacks_of(engine)) {
  session_.client().set_write_gate(&leadership_.gate());
  engine.ask_about_lead([this]() -> std::optional<hooks::LeadTrouble> {
    const auto trouble = leadership_.trouble();
    if (!trouble) return std::nullopt;
    return hooks::LeadTrouble{trouble->error.render(), loop::boot_now() - trouble->since};
  });
}

runtime::LeadershipCallbacks Election::callbacks_of(hooks::Engine& engine) {
  runtime::LeadershipCallbacks out;
  out.gained = [&engine](std::size_t shard) { engine.lead(shard); };
  out.end_runs = [&engine](std::size_t shard, std::function<void()> done) {
    engine.end_runs(shard, std::move(done));
  };
  out.lost = callbacks_.on_lost;
  out.refused = [this](const Error& error) {
    if (patience_.is_over(error, session_.loop().now())) callbacks_.on_fatal(error);
  };
  return out;
}

Election::~Election() {
  session_.client().set_write_gate(nullptr);
}

}  // namespace kubewatch::cli

// Choosing between a process and a worker.
#include "hooks/hook_runner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "base/log.hpp"
#include "hooks/hook_cgroups.hpp"
#include "hooks/hook_gateway.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/invocation.hpp"

namespace kubewatch::hooks {

HookRunner::HookRunner(client::Client& client, base::Random& random, const Rule& rule,
                       HookPlaces places)
    : client_(client),
      loop_(client.loop()),
      random_(random),
      rule_(rule),
      places_(std::move(places)),
      homes_(std::make_shared<HookHomes>(places_.homes, places_.work_dir)),
      credentials_(client),
      guard_(loop_) {}

HookRunner::~HookRunner() = default;

void HookRunner::prepare(const HookRule& hook, std::function<void(Result<void>)> ready) {
  if (hook.credentials.kind != CredentialsRule::Kind::cache) {
    return credentials_.prepare(hook.credentials, std::move(ready));
  }
  if (gateway_ != nullptr) return ready({});
  auto opened = HookGateway::open(client_, rule_, *places_.caches, *places_.patches);
  if (!opened.ok()) return ready(std::move(opened).error().with_context("credentials: cache"));
  gateway_ = std::move(*opened);
  ready({});
}

Result<HookEnvironment> HookRunner::credentials_in(const std::string& home, const HookRule& hook) {
  if (hook.credentials.kind == CredentialsRule::Kind::cache) return gateway_->let_in(home);
  return hook.mode == HookMode::worker ? credentials_.write_kept(hook.credentials, home)
                                       : credentials_.write(hook.credentials, home);
}

void HookRunner::serve(const std::string& home, std::shared_ptr<GatewayGuest> guest) {
  if (gateway_ != nullptr) gateway_->serve(home, std::move(guest));
}

void HookRunner::revoke(const std::string& home) {
  if (gateway_ != nullptr) gateway_->revoke(home);
}

std::vector<std::string> HookRunner::secrets_of(const HookRule& hook) const {
  if (gateway_ != nullptr && hook.credentials.kind == CredentialsRule::Kind::cache) {
    return gateway_->secrets();
  }
  return credentials_.secrets(hook.credentials);
}

// Once for each rule.
void HookRunner::tell_limits(const HookRule& hook) {
  if (limits_told_ || !hook.limits.any()) return;
  limits_told_ = true;
  CgroupWay way;
  if (places_.cgroups != nullptr) {
    const CgroupAccess& access = places_.cgroups->access();
    if (access.tree) way = {access.tree->path(), access.tree->controllers(), ""};
    way.why_not = access.why_not;
  }
  base::log_info("limits apply",
                 {{"controller", rule_.name}, {"how", how_limits_apply(hook, way)}});
}

Result<HookEnvironment> HookRunner::worker_environment(const HookRule& hook,
                                                       const std::string& home) {
  Invocation nothing;
  nothing.controller = rule_.name;
  const core::ObjectMeta meta;
  KW_ASSIGN(HookEnvironment out,
            build_environment({nothing, meta, hook, places_.work_dir, home, own_environment,
                               base::read_regular_file, EnvironmentPart::worker},
                              random_));
  KW_ASSIGN(HookEnvironment more, credentials_in(home, hook));
  std::move(more.variables.begin(), more.variables.end(), std::back_inserter(out.variables));
  std::move(more.secrets.begin(), more.secrets.end(), std::back_inserter(out.secrets));
  return out;
}

WorkerPool& HookRunner::pool_of(const HookRule& hook) {
  auto& pool = pools_[&hook];
  if (pool == nullptr) {
    WorkerSurroundings around;
    around.controller = rule_.name;
    around.slots = rule_.concurrency;
    around.new_home = [this](const std::string&) { return homes_->take(); };
    around.environment = [this, &hook](const std::string& home) {
      return worker_environment(hook, home);
    };
    around.new_cgroup = [this, &hook] { return new_cgroup(hook); };
    around.refresh = [this, &hook](const std::string& home) {
      return credentials_.refresh(hook.credentials, home);
    };
    around.forget = [this](const std::string& home) {
      credentials_.forget(home);
      revoke(home);
      homes_->give_back(home);
    };
    pool = std::make_unique<WorkerPool>(loop_, random_, guard_, hook, std::move(around));
  }
  return *pool;
}

Result<std::unique_ptr<HookCall>> HookRunner::start(const HookRule& hook, HookStart start,
                                                    HookCall::OnExit on_exit) {
  tell_limits(hook);
  if (hook.mode == HookMode::worker) {
    return pool_of(hook).run(std::move(start), std::move(on_exit));
  }
  KW_ASSIGN(auto cgroup, new_cgroup(hook));
  return HookProcess::start(loop_, guard_, hook, std::move(start), std::move(on_exit),
                            std::move(cgroup));
}

std::optional<WorkerPool::Held> HookRunner::held(const HookRule& hook) const {
  const auto pool = pools_.find(&hook);
  return pool == pools_.end() ? std::nullopt : pool->second->held();
}

Result<std::shared_ptr<loop::Cgroup>> HookRunner::new_cgroup(const HookRule& hook) {
  if (places_.cgroups == nullptr) return std::shared_ptr<loop::Cgroup>();
  return places_.cgroups->make(hook.limits)
      .with_context("cannot start the hook of " + rule_.name + " under its limits");
}

void HookRunner::end_idle_workers() {
  for (auto& [hook, pool] : pools_) pool->end_idle();
}

Duration HookRunner::longest_grace_of_workers() const {
  Duration longest{0};
  for (const auto& [hook, pool] : pools_) {
    if (pool->any_alive()) longest = std::max(longest, hook->grace);
  }
  return longest;
}

void HookRunner::shut_down(std::function<void()> done) {
  if (pools_.empty()) return done();
  auto left = std::make_shared<std::size_t>(1);
  const auto one_less = [left, alive = std::weak_ptr<bool>(alive_), done = std::move(done)] {
    if (!alive.expired() && --*left == 0) done();
  };
  for (auto& [hook, pool] : pools_) {
    ++*left;
    pool->shut_down(one_less);
  }
  loop_.post(one_less);
}

}  // namespace kubewatch::hooks

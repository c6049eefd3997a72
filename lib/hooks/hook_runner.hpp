// How the hooks of one rule are run: each in a process of its own, or by workers that live on.
// Owned by the rule's driver; outlives its runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/random.hpp"
#include "hooks/hook_call.hpp"
#include "hooks/hook_credentials.hpp"
#include "hooks/hook_homes.hpp"
#include "hooks/limit_guard.hpp"
#include "hooks/list_files.hpp"
#include "hooks/rule.hpp"
#include "hooks/worker_pool.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class HookCgroups;
class GatewayGuest;
class HookGateway;
class PatchMemory;
class RuleCaches;

struct HookPlaces {
  std::string work_dir;                // KW_WORKDIR
  std::vector<std::string> homes;      // below the last each hook or worker has its own HOME
  const RuleCaches* caches = nullptr;  // what `credentials: cache` reads from; outlives the runner
  HookCgroups* cgroups = nullptr;      // outlives the runner
  // Where it is noted what passes the gateway of `credentials: cache`; outlives the runner.
  PatchMemory* patches = nullptr;
};

class HookRunner {
 public:
  // All must outlive it.
  HookRunner(client::Client& client, base::Random& random, const Rule& rule, HookPlaces places);
  ~HookRunner();

  // Before start(): what the hook's credentials need is fetched; `ready` comes at once where
  // nothing is. Errors: the server's.
  void prepare(const HookRule& hook, std::function<void(Result<void>)> ready);
  // The files and variables of the hook's credentials: of a process for one run, of a worker until
  // it ends.
  Result<HookEnvironment> credentials_in(const std::string& home, const HookRule& hook);
  // With `credentials: cache`: what the hook there writes from now on is of this run.
  void serve(const std::string& home, std::shared_ptr<GatewayGuest> guest);
  // What a worker of this hook was handed over: must not be logged.
  std::vector<std::string> secrets_of(const HookRule& hook) const;
  // A run that had them failed: perhaps for them.
  void credentials_failed(const HookRule& hook) { credentials_.doubt(hook.credentials); }
  // Of hooks that are processes. A run that is dropped late may be the last to need it.
  const std::shared_ptr<HookHomes>& homes() const { return homes_; }
  ListFiles& list_files() { return list_files_; }
  // `hook` is the rule's reconcile or finalize. Errors: not_found, forbidden, invalid. on_exit
  // comes later, once, from the loop.
  Result<std::unique_ptr<HookCall>> start(const HookRule& hook, HookStart start,
                                          HookCall::OnExit on_exit);
  // Why a run of it would not start for now; absent: it would.
  std::optional<WorkerPool::Held> held(const HookRule& hook) const;
  // The hook that lived there is gone: what it was let in with is no more.
  void revoke(const std::string& home);
  // Nothing starts any more, and what runs was told to end: so are the workers that have nothing to
  // do.
  void end_idle_workers();
  // Of hooks with a worker that lives.
  Duration longest_grace_of_workers() const;
  // No run is left: ends the workers; then `done`, at once or from the loop, and not at all once
  // this is gone.
  void shut_down(std::function<void()> done);

 private:
  WorkerPool& pool_of(const HookRule& hook);
  Result<HookEnvironment> worker_environment(const HookRule& hook, const std::string& home);
  void tell_limits(const HookRule& hook);
  Result<std::shared_ptr<loop::Cgroup>> new_cgroup(const HookRule& hook);

  client::Client& client_;
  loop::EventLoop& loop_;
  base::Random& random_;
  const Rule& rule_;
  HookPlaces places_;
  std::shared_ptr<HookHomes> homes_;
  ListFiles list_files_;
  HookCredentials credentials_;
  std::unique_ptr<HookGateway> gateway_;  // once a hook has `credentials: cache`
  LimitGuard guard_;
  bool limits_told_ = false;
  std::map<const HookRule*, std::unique_ptr<WorkerPool>> pools_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace kubewatch::hooks

// What all rules of one engine share, and what one run needs of its rule. Owned by engine and
// driver; both outlive every run.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "client/discovery.hpp"
#include "hooks/caches.hpp"
#include "hooks/engine.hpp"
#include "hooks/hook_cgroups.hpp"
#include "hooks/hook_runner.hpp"
#include "hooks/kind_schemas.hpp"
#include "hooks/reporter.hpp"
#include "hooks/state_store.hpp"
#include "hooks/streams.hpp"
#include "hooks/telemetry.hpp"
#include "hooks/write_context.hpp"
#include "runtime/controller.hpp"

namespace kubewatch::hooks {

struct Services {
  loop::EventLoop& loop;
  client::Client& client;
  base::Random& random;
  runtime::RunSlots& slots;
  StreamPool& pool;
  Reporter& reporter;
  // The latest discovery; null before the first.
  std::function<std::shared_ptr<const client::ResourceMap>()> resources;
  // Asks the server again, at most every few seconds; `done` comes in any case.
  std::function<void(std::function<void()> done)> rediscover;
  std::function<void(const RunRecord&)> on_run;
  std::function<void(const RunRecord&)> on_held;
  std::function<void()> on_progress;
  std::function<std::set<std::string>()> rule_managers;  // see WriteContext
  std::string work_dir;
  Telemetry& telemetry;
  StateStore* state = nullptr;     // --state; null: nothing is kept over restarts
  OnExchange on_exchange;          // may be empty
  OnMetric on_metric;              // may be empty
  HookCgroups* cgroups = nullptr;  // null: hooks run in ours
  bool steady = false;             // resyncs come exactly in time, loops are not slowed down
  Duration hand_over{60000};       // see EngineOptions, here and below
  std::size_t most_failed_deletions = 100000;
};

// One rule as its runs see it.
class RunHost : public WriteContext {
 public:
  virtual Services& services() = 0;
  virtual const RuleCaches& caches() const = 0;
  virtual HookRunner& hooks() = 0;
  virtual std::string work_dir() const = 0;  // KW_WORKDIR
  // Once the schemas of declared kinds are known, none of them read before `oldest`.
  virtual void with_schemas(TimePoint oldest, std::function<void(const KindSchemas&)> done) = 0;
  // A manifest has fields that the hook may not mean: told once in a while.
  virtual void warn_of_fields(const std::string& object, const std::string& what) = 0;
};

}  // namespace kubewatch::hooks

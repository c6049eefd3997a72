// What the requests on the control socket mean: explain, runs, trigger, retry, queue, log-level,
// finalizers. Looks into the engine's drivers and keeps the list of runs. Requests are checked,
// answers bounded. Their members are documented on the pages of the subcommands.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "client/in_flight.hpp"
#include "hooks/control.hpp"
#include "hooks/engine.hpp"
#include "hooks/explain.hpp"
#include "hooks/run_history.hpp"

namespace kubewatch::hooks {

class ControlRequests {
 public:
  // Both must outlive it.
  ControlRequests(Engine& engine, client::Client& client);

  void on_run(const RunRecord& run);
  void handle(const ControlRequest& request, const ControlReplyPtr& reply);

 private:
  struct Follower {
    Json args;
    ControlReplyPtr reply;
  };
  struct Explaining;

  std::vector<Driver*> drivers_of(const std::string& kind);
  void explain(const Json& args, const ControlReplyPtr& reply);
  std::vector<Driver*> drivers_named(const std::string& name);
  Json explained_by(const std::vector<Driver*>& drivers, const core::ObjectKey& key,
                    const Json* live, const std::string& live_error);
  void explain_live(const std::shared_ptr<Explaining>& work);
  Json explained(Driver& driver, const core::ObjectKey& key, const Json* live,
                 const std::string& live_error);
  void runs(const Json& args, const ControlReplyPtr& reply);
  Result<Json> trigger(const Json& args);
  Error nothing_runs(const Json& args, const TriggerRequest& request,
                     const std::vector<Driver*>& drivers);
  Json retry(const Json& args);
  Json queue(const Json& args);
  Result<Json> log_level(const Json& args);
  void finalizers(const Json& args, const ControlReplyPtr& reply);
  Error no_such_kind(const std::string& kind);
  Error no_such_controller(const std::string& name, const std::string& kind);
  Error selected_by_none(const Json& args, Driver& driver);
  bool may_be_known(const Json& args, const std::vector<Driver*>& drivers);
  Result<void> check_controller(const std::string& name, const std::string& kind);

  Engine& engine_;
  client::Client& client_;
  RunHistory history_;
  std::list<Follower> followers_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks

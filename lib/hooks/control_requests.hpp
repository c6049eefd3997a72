// What the requests on the control socket mean: explain, runs, trigger, retry, queue, log-level,
// finalizers. Looks into the engine's drivers and keeps the list of runs. Requests are checked,
// answers bounded. Their members are documented on the pages of the subcommands. Owned by who runs
// the engine and opens the ControlServer, whose handler this is; lines and connections are that
// one's.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/in_flight.hpp"
#include "hooks/control.hpp"
#include "hooks/engine.hpp"
#include "hooks/explain.hpp"
#include "hooks/run_history.hpp"

namespace kubewatch::hooks {

class ControlRequests {
 public:
  // Both must outlive it. Requests to the server that are under way end with it.
  ControlRequests(Engine& engine, client::Client& client);

  // The engine's callback: into the list of runs, and to those who follow it.
  void on_run(const RunRecord& run);
  // The answers come at once or later from the loop; the reply is kept until then, and of who
  // follows the runs until they are gone. Errors, to the reply: invalid (no such request, a wrong
  // argument), not_found (no rule is for the kind, none selects the object, no such controller),
  // unavailable (too many follow the runs, another instance leads). What the server refuses is told
  // in the answer, at the object that it is about.
  void handle(const ControlRequest& request, const ControlReplyPtr& reply);

 private:
  struct Follower {
    Json args;
    ControlReplyPtr reply;
  };
  struct Explaining;

  std::vector<Driver*> drivers_of(const std::string& kind);
  std::vector<Driver*> drivers_named(const std::string& name);
  // control_explain.cpp
  void explain(const Json& args, const ControlReplyPtr& reply);
  Json explained_by(const std::vector<Driver*>& drivers, const core::ObjectKey& key,
                    const Json* live, const std::string& live_error);
  void explain_live(const std::shared_ptr<Explaining>& work);
  Json explained(Driver& driver, const core::ObjectKey& key, const Json* live,
                 const std::string& live_error);
  // control_trigger.cpp
  Result<Json> trigger(const Json& args);
  Error nothing_runs(const Json& args, const TriggerRequest& request,
                     const std::vector<Driver*>& drivers);
  Result<Json> retry(const Json& args);
  // control_requests.cpp
  void runs(const Json& args, const ControlReplyPtr& reply);
  Json queue(const Json& args);
  Result<Json> log_level(const Json& args);
  void finalizers(const Json& args, const ControlReplyPtr& reply);
  Error no_such_kind(const std::string& kind);
  Error no_such_controller(const std::string& name, const std::string& kind);
  std::string object_named(const Json& args, const std::vector<Driver*>& drivers) const;
  Error selected_by_none(const Json& args, const std::vector<Driver*>& drivers);
  bool may_be_known(const Json& args, const std::vector<Driver*>& drivers);
  Result<void> check_controller(const std::string& name, const std::string& kind);
  // control_shards.cpp. Of shards that narrow what is watched, led here or elsewhere; "" names all.
  std::vector<const Rule*> shared_rules(const std::string& kind,
                                        const std::string& controller) const;
  // What the plan alone says of an object of that name; absent: it may be of a shard that is led
  // here.
  std::optional<Explanation> out_of_shards(const Rule& rule, const core::ObjectKey& key) const;
  Explanation elsewhere() const;
  std::optional<Explanation> labelled_elsewhere(const Json& live) const;
  // What the request names, whatever the scope of its kind.
  static core::ObjectKey named_key(const Json& args);
  static Json told_of(const Rule& rule, const core::ObjectKey& key, const Explanation& explanation);
  // For a request about what is not here; absent: no other instance knows more.
  std::optional<Error> ask_another(const Json& args) const;

  Engine& engine_;
  client::Client& client_;
  RunHistory history_;
  std::list<Follower> followers_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks

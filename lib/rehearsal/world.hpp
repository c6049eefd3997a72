// One rehearsal: loop, embedded server, client, and the engine under test, which can be started,
// ended and started again. What happens in it is noted until it is taken.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "client/client.hpp"
#include "hooks/engine.hpp"
#include "loop/skipping_time.hpp"
#include "rehearsal/front_door.hpp"
#include "rehearsal/local_server.hpp"
#include "rehearsal/observed.hpp"
#include "rehearsal/pace.hpp"
#include "rehearsal/recorded_state.hpp"

namespace kubewatch::rehearsal {

struct WorldOptions {
  std::optional<WallTime> now;
  Duration patience{60000};
  bool through_retries = false;
  std::uint64_t max_runs = PaceLimits{}.runs;  // of one step: more is a loop
};

class World {
 public:
  World(std::vector<hooks::Rule> rules, WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  LocalServer& server() { return server_; }
  hooks::Engine& engine() { return *engine_; }
  loop::EventLoop& loop() { return loop_; }
  const std::vector<hooks::Rule>& rules() const { return rules_; }

  // The server has a kind of this name, of whatever group.
  bool has_kind(const std::string& kind) const;
  // As kubectl apply --server-side --force-conflicts: a missing namespace is made, `status` goes to
  // the subresource where there is one. Errors: the server's.
  Result<void> apply(const Json& object);
  // By kind, name, namespace, and apiVersion where two groups have the kind. Errors: not_found.
  Result<void> remove(const Json& reference);

  // Does what a recorded change says, past all checks of the server: the object as it was told, or
  // where it is there already what was changed of it. False: nothing. What follows from it waits
  // for server().finish_work(): a child may be put before its owner.
  bool put(const apiserver::Resource& resource, const RecordedChange& change);
  Result<void> make_namespace(const std::string& name);

  void start_engine();
  // Gracefully. False: it did not end in time.
  bool end_engine();
  // Changes that wait for the debounce of their rule: are waited for, or left to be joined by more.
  enum class Debounced { waited_for, left };
  // Until nothing is due; with `advance`, so much later. Errors: timeout, saying what it waits for;
  // unreachable, where hooks are to have credentials and nothing can be listened on.
  Result<void> settle(Duration advance = {}, Debounced debounced = Debounced::waited_for);

  // What happened since the last call, with the objects as they are now.
  Observed take();
  // Only the runs, as take() has them.
  std::vector<Json> take_runs() { return std::exchange(runs_, {}); }
  std::vector<Json> objects() const;
  hooks::EngineStatus status() const { return engine_->status(); }
  const std::vector<std::string>& log() const { return all_log_; }
  void set_on_exchange(hooks::OnExchange on_exchange) { on_exchange_ = std::move(on_exchange); }

 private:
  client::ClientConfig open_door();
  PaceFacts facts(Debounced debounced) const;
  void turn();
  void skip_to(TimePoint time);
  void wait_for_hook();
  void note_metric(const std::string& controller, const hooks::HookMetric& metric);
  std::vector<Json> take_events();
  bool is_ours(const Json& event) const;
  bool has_grown(const Json& event);
  apiserver::ResourcePtr find_kind(const Json& reference) const;
  void sort_log();

  loop::EventLoop loop_;
  loop::SkippingTime time_;
  WorldOptions options_;
  std::vector<hooks::Rule> rules_;
  LocalServer server_;
  std::unique_ptr<FrontDoor> door_;  // where a rule hands out credentials
  Result<void> opened_;
  client::Client client_;
  std::vector<std::string> captured_;
  std::vector<std::string> all_log_;
  std::vector<std::string> step_log_;
  std::vector<Json> runs_;
  std::vector<Json> metrics_;
  std::vector<Json> told_;  // Events, as the engine said them; those not written yet stay
  std::map<std::string, std::int64_t> known_events_;  // others', by uid, with their series' count
  std::size_t writes_taken_ = 0;
  std::uint64_t earlier_runs_ = 0;  // of engines that ended
  hooks::OnExchange on_exchange_;
  std::chrono::steady_clock::time_point step_started_;
  Duration skipped_{0};
  std::unique_ptr<hooks::Engine> engine_;
};

// Rules as a rehearsal runs them: nothing is left to chance, nothing comes from outside.
void make_steady(hooks::Rule& rule);

}  // namespace kubewatch::rehearsal

// Writes status and conditions of one object: reads it, asks status_plan what differs, sends that.
// What they should say is its owner's: a run's OutcomeWriter, or an OwnerCondition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/in_flight.hpp"
#include "hooks/status_plan.hpp"
#include "hooks/write_context.hpp"

namespace kubewatch::hooks {

class StatusWriter {
 public:
  // True: something was written. Comes once: from the loop, or at once where nothing is to be
  // asked. Errors: the server's, with what was written where; conflict (another field manager's
  // fields); invalid (there are conditions, and the kind's schema has no place for them).
  using Done = std::function<void(Result<bool>)>;
  // `context` must outlive it. `version`: the owner's resourceVersion in the cache, to skip what is
  // known to be written.
  StatusWriter(WriteContext& context, Owner owner, std::int64_t generation, std::string version);
  // What is under way is canceled: its `done` does not come.
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;
  // One at a time: after `done` it may be started again. An object that is gone, or another one by
  // now, is no error.
  void start(std::optional<Json> status, std::vector<Json> conditions, Done done);
  // Asks the server whether it would take them (dry run); writes nothing, and remembers nothing.
  void rehearse(std::optional<Json> status, std::vector<Json> conditions, Done done);
  // Conditions are written together with the rest, or not at all; else they go ahead of it.
  bool writes_all_at_once() const { return shape_.list_map; }

 private:
  void begin(std::optional<Json> status, std::vector<Json> conditions, Done done);
  void look_at_shape(TimePoint oldest);
  void read();
  void decide(const Json& live);
  void send_conditions();
  void send_apply();
  void written(const Json& object);
  void finish(Result<bool> result);
  core::PatchParams params(core::PatchType type) const;
  // "dry run of writing status of Website shop/a".
  std::string doing(const char* what) const;

  WriteContext& context_;
  Owner owner_;
  std::int64_t generation_;
  std::string version_;
  std::uint64_t hash_ = 0;
  int tries_ = 0;
  bool rehearsing_ = false;
  std::optional<Json> status_;
  std::vector<Json> conditions_;
  StatusShape shape_;
  TimePoint began_{};
  bool renewed_ = false;  // the shape
  StatusWrites writes_;
  bool sent_ = false;
  Done done_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks

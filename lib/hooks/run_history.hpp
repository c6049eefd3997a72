// The last runs of each controller and of each object, for `run-controller runs` and `explain`.
// Bounded: rings, and the objects that ran longest ago are forgotten. Of runs that have only waited
// (kIncomplete) the last of each object, in a ring of their own, so that they push out no real one.
// What it is given is masked already. Pure: no clock, no I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/time.hpp"
#include "hooks/engine.hpp"

namespace kubewatch::hooks {

struct PastRun {
  std::uint64_t number = 0;  // 1, 2, ... in the order of their ends
  WallTime ended{};
  RunRecord record;
};

struct HistoryLimits {
  std::size_t per_controller = 200;
  std::size_t per_object = 10;
  std::size_t objects = 2000;
};

class RunHistory {
 public:
  explicit RunHistory(HistoryLimits limits = {}) : limits_(limits) {}

  std::shared_ptr<const PastRun> add(WallTime ended, RunRecord record);

  using Runs = std::vector<std::shared_ptr<const PastRun>>;  // oldest first
  Runs of_object(const std::string& controller, const core::ObjectKey& key) const;
  // Of several controllers for it, together.
  Runs of_object(const std::vector<std::pair<std::string, core::ObjectKey>>& of) const;
  Runs of_controller(const std::string& controller) const;
  Runs all() const;
  // What has only waited counts for none.
  std::shared_ptr<const PastRun> last(const std::string& controller,
                                      const core::ObjectKey& key) const;
  std::size_t objects() const { return of_object_.size(); }

 private:
  using Key = std::pair<std::string, core::ObjectKey>;
  using Ring = std::deque<std::shared_ptr<const PastRun>>;
  struct Object {
    Ring runs;
    std::shared_ptr<const PastRun> waited;  // null: none
    std::list<Key>::iterator place;
  };
  struct Controller {
    Ring runs;
    Ring waited;
  };
  void remember(Controller& controller, Object& object, const std::shared_ptr<const PastRun>& run);

  HistoryLimits limits_;
  std::uint64_t count_ = 0;
  std::map<std::string, Controller> of_controller_;
  std::map<Key, Object> of_object_;
  std::list<Key> by_age_;  // the object that ran longest ago first
};

// One run as `runs -o json` shows it.
Json to_json(const PastRun& run);

}  // namespace kubewatch::hooks

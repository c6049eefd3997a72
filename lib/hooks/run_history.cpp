#include "hooks/run_history.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace kubewatch::hooks {
namespace {

using Ring = std::deque<std::shared_ptr<const PastRun>>;

RunHistory::Runs in_order(RunHistory::Runs runs) {
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  return runs;
}

void push(Ring& ring, std::shared_ptr<const PastRun> run, std::size_t limit) {
  ring.push_back(std::move(run));
  if (ring.size() > limit) ring.pop_front();
}

}  // namespace

std::shared_ptr<const PastRun> RunHistory::add(WallTime ended, RunRecord record) {
  auto run = std::make_shared<PastRun>();
  run->number = ++count_;
  run->ended = ended;
  run->record = std::move(record);
  const Key key{run->record.controller, run->record.key};
  const auto [it, fresh] = of_object_.try_emplace(key);
  if (!fresh) by_age_.erase(it->second.place);
  it->second.place = by_age_.insert(by_age_.end(), key);
  remember(of_controller_[run->record.controller], it->second, run);
  if (of_object_.size() > limits_.objects) {
    of_object_.erase(by_age_.front());
    by_age_.pop_front();
  }
  return run;
}

void RunHistory::remember(Controller& controller, Object& object,
                          const std::shared_ptr<const PastRun>& run) {
  if (run->record.outcome != kIncomplete) {
    push(controller.runs, run, limits_.per_controller);
    return push(object.runs, run, limits_.per_object);
  }
  if (object.waited != nullptr) std::erase(controller.waited, object.waited);
  object.waited = run;
  push(controller.waited, run, limits_.per_controller);
}

RunHistory::Runs RunHistory::of_object(const std::string& controller,
                                       const core::ObjectKey& key) const {
  const auto it = of_object_.find({controller, key});
  if (it == of_object_.end()) return {};
  Runs out{it->second.runs.begin(), it->second.runs.end()};
  if (it->second.waited != nullptr) out.push_back(it->second.waited);
  return in_order(std::move(out));
}

RunHistory::Runs RunHistory::of_object(
    const std::vector<std::pair<std::string, core::ObjectKey>>& of) const {
  Runs out;
  for (const auto& [controller, key] : of) {
    const Runs runs = of_object(controller, key);
    out.insert(out.end(), runs.begin(), runs.end());
  }
  out = in_order(std::move(out));
  // A rule that was changed is there twice while its old hooks end.
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

RunHistory::Runs RunHistory::of_controller(const std::string& controller) const {
  const auto it = of_controller_.find(controller);
  if (it == of_controller_.end()) return {};
  Runs out{it->second.runs.begin(), it->second.runs.end()};
  out.insert(out.end(), it->second.waited.begin(), it->second.waited.end());
  return in_order(std::move(out));
}

RunHistory::Runs RunHistory::all() const {
  Runs out;
  for (const auto& [controller, runs] : of_controller_) {
    const Runs its = of_controller(controller);
    out.insert(out.end(), its.begin(), its.end());
  }
  return in_order(std::move(out));
}

std::shared_ptr<const PastRun> RunHistory::last(const std::string& controller,
                                                const core::ObjectKey& key) const {
  const auto it = of_object_.find({controller, key});
  if (it == of_object_.end() || it->second.runs.empty()) return nullptr;
  return it->second.runs.back();
}

Json to_json(const PastRun& run) {
  const RunRecord& record = run.record;
  Json out = {{"number", run.number},
              {"ended", base::format_rfc3339(run.ended)},
              {"id", record.id},
              {"controller", record.controller},
              {"object", record.object},
              {"namespace", record.key.namespace_},
              {"name", record.key.name},
              {"reason", record.reason},
              {"attempt", record.attempt},
              {"outcome", record.outcome},
              {"milliseconds", record.elapsed.count()},
              {"created", record.created},
              {"configured", record.configured},
              {"unchanged", record.unchanged},
              {"deleted", record.deleted},
              {"writes", record.writes}};
  if (!record.reason_object.empty()) out["reasonObject"] = record.reason_object;
  if (!record.message.empty()) out["message"] = record.message;
  if (record.exit_code) out["exitCode"] = *record.exit_code;
  if (!record.stderr_tail.empty()) out["stderr"] = record.stderr_tail;
  return out;
}

}  // namespace kubewatch::hooks

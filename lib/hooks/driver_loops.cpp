// Driver, the part about objects whose runs cause each other: what woke a run, and telling of a
// loop.
#include <algorithm>

#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

// A change of the object by somebody is none of ours, unless its own runs write it.
LoopAlarm::Woken Driver::woken_by(const Wake& wake) const {
  using Woken = LoopAlarm::Woken;
  if (wake.author == Author::itself) return Woken::by_itself;
  if (wake.author == Author::rule) return Woken::by_rule;
  if (wake.reason == runtime::Reason::owned_changed) return Woken::perhaps_by_itself;
  if (wake.reason != runtime::Reason::updated) return Woken::by_others;
  return write_themselves_.contains(wake.key) ? Woken::perhaps_by_itself : Woken::by_others;
}

// Whatever else woke it: a run that others have caused as well is not its own doing.
LoopAlarm::Woken Driver::note_woken(const Wake& wake) {
  const LoopAlarm::Woken woken = woken_by(wake);
  auto [it, fresh] = woken_.try_emplace(wake.key, woken);
  if (!fresh) it->second = std::max(it->second, woken);
  return woken;
}

// Its patches have had their answers.
void Driver::resolve_doubts(const core::ObjectKey& key) {
  auto node = in_doubt_.extract(key);
  if (!node) return;
  for (Wake& wake : node.mapped()) {
    const std::string* by = memory_.patches().left_by(wake.doubt->id, wake.doubt->resource_version);
    if (by != nullptr) wake.author = *by == wake.doubt->patcher ? Author::itself : Author::rule;
    wake.doubt.reset();
    on_wake(std::move(wake));
  }
}

void Driver::look_for_loop(const core::ObjectKey& key, const RunEnd& end) {
  const auto now = services_.loop.now();
  if (end.printed_itself) {
    write_themselves_.insert(key);
  } else {
    write_themselves_.erase(key);
  }
  // What a run notes in its own object may follow its children: of what others do to those there
  // is as much as there is. The event of its own note is another matter.
  const bool noted = end.status_written || end.wrote_itself > 0;
  const bool changed = end.record.created + end.record.configured > end.wrote_itself ||
                       (end.woken == LoopAlarm::Woken::by_itself && noted);
  const auto report = loop_alarm_.note(key, now, end.woken, changed, end.printed);
  if (!report) return;
  base::log_warn(report->text(), {{"controller", rule_.name}, {"object", end.record.object}});
  services_.telemetry.metrics.loop_found(rule_.name, now);
  const auto meta = caches_.object_meta(key);
  if (!meta) return;
  const Owner owner{owner_type().gvk, owner_type().namespaced, key, meta->uid, false};
  runtime::Happening event = failure_of(owner, Outcome::failed, report->text());
  event.reason = "ReconcileLoop";
  services_.reporter.tell(rule_.name, event);
}

}  // namespace kubewatch::hooks

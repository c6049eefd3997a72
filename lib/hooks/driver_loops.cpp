// Driver, the part about objects whose runs cause each other: what woke a run, and telling of a
// loop.
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
  return notes_.has(wake.key, Mark::prints_itself) ? Woken::perhaps_by_itself : Woken::by_others;
}

// Of a run whose patches have had their answers.
void Driver::resolve_doubts(std::vector<Wake> wakes) {
  for (Wake& wake : wakes) {
    const std::string* by = memory_.patches().left_by(wake.doubt->id, wake.doubt->resource_version);
    if (by != nullptr) wake.author = *by == wake.doubt->patcher ? Author::itself : Author::rule;
    wake.doubt.reset();
    on_wake(std::move(wake));
  }
}

void Driver::look_for_loop(const core::ObjectKey& key, const RunEnd& end) {
  const auto now = services_.loop.now();
  notes_.set(key, Mark::prints_itself, end.printed_itself);
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

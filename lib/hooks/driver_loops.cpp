// Driver, the part about objects whose runs cause each other: what woke a run, and telling of a
// loop.
#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

// A change of the object by somebody is none of ours, unless its own runs write it.
LoopAlarm::Woken Driver::woken(const core::ObjectKey& key, runtime::Reason reason,
                               bool echo) const {
  using Woken = LoopAlarm::Woken;
  if (echo) return Woken::by_itself;
  if (reason == runtime::Reason::owned_changed) return Woken::perhaps_by_itself;
  if (reason != runtime::Reason::updated) return Woken::by_others;
  return write_themselves_.contains(key) ? Woken::perhaps_by_itself : Woken::by_others;
}

void Driver::look_for_loop(const core::ObjectKey& key, const RunEnd& end) {
  const auto now = services_.loop.now();
  if (end.printed_itself) {
    write_themselves_.insert(key);
  } else {
    write_themselves_.erase(key);
  }
  const bool changed =
      end.record.created + end.record.configured > 0 || (end.by_echo && end.status_written);
  const auto report =
      loop_alarm_.note(key, now, woken(key, end.reason, end.by_echo), changed, end.printed);
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

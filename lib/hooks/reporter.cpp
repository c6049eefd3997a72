// Events of runs.
#include "hooks/reporter.hpp"

#include <unistd.h>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

std::string host_instance() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "kubewatch";
  return "kubewatch-" + std::string(name).substr(0, 100);
}

}  // namespace

std::string_view event_reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::timeout: return "HookTimedOut";
    case Outcome::invalid_output: return "InvalidOutput";
    case Outcome::write_failed: return "WriteFailed";
    case Outcome::permanent: return "PermanentFailure";
    default: return "HookFailed";
  }
}

runtime::Happening failure_of(const Owner& owner, Outcome outcome, const std::string& note) {
  runtime::Happening out;
  out.type = runtime::EventType::warning;
  out.reason = event_reason(outcome);
  out.action = "Reconcile";
  out.note = note;
  out.regarding = {owner.gvk.api_version(), owner.gvk.kind,
                   owner.namespaced ? owner.key.namespace_ : "", owner.key.name, owner.uid};
  return out;
}

Reporter::Reporter(client::Client& client, base::Random& random, OnEvent on_event)
    : instance_(host_instance()), recorder_(client, random), on_event_(std::move(on_event)) {}

void Reporter::report(const Owner& owner, const std::string& controller, Outcome outcome,
                      const std::string& note) {
  if (owner.uid.empty()) return;
  tell(controller, failure_of(owner, outcome, note));
}

void Reporter::tell(const std::string& controller, const runtime::Happening& what) {
  const auto taken = recorder_.record({std::string(kDomain) + controller, instance_}, what);
  if (!taken.ok()) return base::vlog(2, "an Event was not written: " + taken.error().render());
  if (on_event_) on_event_(controller, what);
}

}  // namespace kubewatch::hooks

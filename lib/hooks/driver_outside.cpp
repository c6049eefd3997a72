// Driver, the part about namespaces that the rule does not name any more: objects there that still
// carry its finalizer are let go, kept or finalized, as whenNoLongerMatched says. Rights there are
// not the rule's to ask for: where they are missing it is said once, and nothing fails.
#include <algorithm>

#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

// An instance that was narrowed to a shard leaves the others' namespaces to them.
void Driver::look_for_left() {
  if (!rule_.has_for || !owner_type().namespaced || rule_.for_.namespaces.empty() || scope_.only) {
    return;
  }
  WatchedBefore before = before_;
  if (services_.state != nullptr) {
    for (const auto& [key, handled] : services_.state->of_controller(rule_.name)) {
      if (!caches_.covers(key.namespace_)) before.namespaces.insert(key.namespace_);
    }
  }
  if (!caches_.may_finalize() && !before.known()) return;
  // A changed rule that names no fewer namespaces: its former self has looked.
  const bool left_any =
      std::any_of(before.namespaces.begin(), before.namespaces.end(),
                  [this](const std::string& name) { return !caches_.covers(name); });
  if (before_.known() && !before.all && !left_any) return;
  outside_ = std::make_unique<FinalizersOutside>(
      services_.client, services_.random,
      ReleaseTarget{rule_.name, owner_type(), rule_.for_.namespaces, rule_.finalizer_name,
                    rule_.apply.field_manager},
      std::move(before));
  outside_->start([this](const FinalizersOutside::Found& found) { on_left(found); });
}

void Driver::on_left(const FinalizersOutside::Found& found) {
  unseen_ = found.unseen;
  const std::vector<std::string> namespaces(found.namespaces.begin(), found.namespaces.end());
  outside_.reset();
  if (!namespaces.empty()) caches_.open_left(services_.pool, namespaces);
  check_left();
  services_.on_progress();
}

// What the state knows of them and nobody sees is gone.
void Driver::check_left() {
  if (!started_ || stopping_ || left_told_ || !left_settled()) return;
  left_told_ = true;
  if (services_.state != nullptr) forget_gone();
}

bool Driver::may_be_left(const core::ObjectKey& key) const {
  if (!rule_.has_for || caches_.covers(key.namespace_)) return false;
  return !left_settled() || unseen_.contains(key.namespace_);
}

bool Driver::is_refused_outside(const core::ObjectKey& key, const Error& error) const {
  if (!error.is_forbidden() || caches_.covers(key.namespace_)) return false;
  base::log_warn(
      "the rule does not name this namespace any more, and may not take its finalizer off there: "
      "the object's deletion waits until that is done with: kubewatch run-controller finalizers "
      "-f FILE -n " +
          key.namespace_ + " --release",
      {{"controller", rule_.name},
       {"object", owner_of(key, {}).str()},
       {"finalizer", rule_.finalizer_name},
       {"error", error.render()}});
  return true;
}

}  // namespace kubewatch::hooks

// Objects in namespaces that the rule does not name any more.
#include "hooks/left_namespaces.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace kubewatch::hooks {

std::optional<WatchedBefore> where_left(const WatchedBefore& before,
                                        const std::set<std::string>& in_state,
                                        const std::function<bool(const std::string&)>& covers,
                                        bool may_finalize) {
  WatchedBefore out = before;
  for (const std::string& name : in_state) {
    if (!covers(name)) out.namespaces.insert(name);
  }
  if (!may_finalize && !out.known()) return std::nullopt;
  // A changed rule that names no fewer namespaces: its former self has looked.
  const bool left_any = std::any_of(out.namespaces.begin(), out.namespaces.end(),
                                    [&](const std::string& name) { return !covers(name); });
  if (before.known() && !out.all && !left_any) return std::nullopt;
  return out;
}

void LeftNamespaces::look(const WatchedBefore& before, std::function<void()> looked) {
  if (!rule_.has_for || !caches_.type().namespaced || rule_.for_.namespaces.empty()) return;
  std::set<std::string> in_state;
  if (services_.state != nullptr) {
    for (const auto& [key, handled] : services_.state->of_controller(rule_.name)) {
      in_state.insert(key.namespace_);
    }
  }
  const auto covers = [this](const std::string& name) { return caches_.covers(name); };
  auto where = where_left(before, in_state, covers, caches_.may_finalize());
  if (!where) return;
  looked_ = std::move(looked);
  search_ = std::make_unique<FinalizersOutside>(
      services_.client, services_.random,
      ReleaseTarget{rule_.name, caches_.type(), rule_.for_.namespaces, rule_.finalizer_name,
                    rule_.apply.field_manager},
      *std::move(where));
  search_->start([this](const FinalizersOutside::Found& found) { on_found(found); });
}

void LeftNamespaces::on_found(const FinalizersOutside::Found& found) {
  unseen_ = found.unseen;
  const std::vector<std::string> namespaces(found.namespaces.begin(), found.namespaces.end());
  search_.reset();
  if (!namespaces.empty()) caches_.open_left(services_.pool, namespaces);
  looked_();
}

bool LeftNamespaces::take_settled() {
  if (settled_taken_ || !settled()) return false;
  settled_taken_ = true;
  return true;
}

bool LeftNamespaces::may_have(const core::ObjectKey& key) const {
  if (!rule_.has_for || caches_.covers(key.namespace_)) return false;
  return !settled() || unseen_.contains(key.namespace_);
}

bool LeftNamespaces::is_refused(const core::ObjectKey& key, const Error& error) const {
  if (!error.is_forbidden() || caches_.covers(key.namespace_)) return false;
  const core::ResourceType& type = caches_.type();
  base::log_warn(
      "the rule does not name this namespace any more, and may not take its finalizer off there: "
      "the object's deletion waits until that is done with: kubewatch run-controller finalizers "
      "-f FILE -n " +
          key.namespace_ + " --release",
      {{"controller", rule_.name},
       {"object", Owner{type.gvk, type.namespaced, key, "", false}.str()},
       {"finalizer", rule_.finalizer_name},
       {"error", error.render()}});
  return true;
}

}  // namespace kubewatch::hooks

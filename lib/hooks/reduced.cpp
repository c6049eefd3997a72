#include "hooks/reduced.hpp"

#include "runtime/store_options.hpp"

namespace kubewatch::hooks {

bool needs_whole_object(const Rule& rule, const core::ObjectMeta& meta) {
  if (rule.for_.list.content != core::Content::full) return false;
  if (!meta.deleting()) return true;
  // Without a finalize hook there are only children to remove; without our finalizer, nothing.
  return rule.finalize.has_value() && meta.has_finalizer(rule.finalizer_name);
}

bool ReducedKeys::note(const runtime::StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  if (change.type == runtime::ChangeType::deleted) {
    // What tells of the end of an object may be small enough to be whole.
    return keys_.erase(key) > 0 || change.reduced;
  }
  return change.reduced ? !keys_.insert(key).second : keys_.erase(key) > 0;
}

std::string why_reduced(const std::string& object) {
  return runtime::why_reduced(object) +
         ". No hook is run on half an object; it runs when the object has become smaller, or use "
         "content: metadata where the hook needs no more";
}

}  // namespace kubewatch::hooks

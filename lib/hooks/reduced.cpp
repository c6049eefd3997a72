#include "hooks/reduced.hpp"

#include <fmt/format.h>

#include "runtime/store_options.hpp"

namespace kubewatch::hooks {

bool needs_whole_object(const Rule& rule, const core::ObjectMeta& meta) {
  if (rule.for_.list.content != core::Content::full) return false;
  if (!meta.deleting()) return true;
  // Without a finalize hook there are only children to remove; without our finalizer, nothing.
  return rule.finalize.has_value() && meta.has_finalizer(rule.finalizer_name);
}

std::string why_reduced(const std::string& object) {
  const runtime::IngestLimits limits;
  return fmt::format(
      "of {} the cache has metadata only: it is bigger than {} MiB, nested deeper than {} levels, "
      "or broken. No hook is run on half an object; it runs when the object has become smaller, "
      "or use content: metadata where the hook needs no more",
      object, limits.max_bytes >> 20U, limits.max_depth);
}

}  // namespace kubewatch::hooks

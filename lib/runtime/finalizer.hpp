// The finalizer machine: given an object's metadata, what comes next; and the JSON patches that
// test before they change. Pure. Apply work never runs before the finalizer is persisted; removal
// only after cleanup.
#pragma once

#include <string>

#include "base/json_fwd.hpp"
#include "core/meta.hpp"

namespace kubewatch::runtime {

enum class FinalizerStep {
  reconcile,  // finalizer not wanted, or there: run the normal work
  add_first,  // patch it in, then wait for the event of our own patch
  clean_up,   // deleting and ours is there: run the cleanup, then remove
  nothing,    // deleting and ours is not there
  remove,     // alive, ours is there, not wanted any more: take it off
};

// `wanted`: the rule guards its objects (finalize block, or children that need it).
FinalizerStep finalizer_step(const core::ObjectMeta& meta, const std::string& name, bool wanted);

Json add_finalizer_patch(const core::ObjectMeta& meta, const std::string& name);
// Precondition: meta has it.
Json remove_finalizer_patch(const core::ObjectMeta& meta, const std::string& name);

}  // namespace kubewatch::runtime

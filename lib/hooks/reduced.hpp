// Objects of which the cache has metadata only, because they are too big or too deep: hooks are not
// run on half of them. Pure.
#pragma once

#include <string>

#include "core/meta.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// Whether what is to be done about it takes more than its metadata: false where no hook would run,
// or none sees the object.
bool needs_whole_object(const Rule& rule, const core::ObjectMeta& meta);

// A sentence that names `object`, why, and what can be done.
std::string why_reduced(const std::string& object);

}  // namespace kubewatch::hooks

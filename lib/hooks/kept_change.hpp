// Whether a change of an owned or related object is one of what its stream does not keep (`content:
// metadata`, `strip`): a run would be given what the one before was given, but for a version. Where
// that is in doubt it is none. Pure.
#pragma once

#include <string_view>

#include "core/resource.hpp"
#include "hooks/rule.hpp"
#include "runtime/store.hpp"

namespace kubewatch::hooks {

// owned: the run is to undo what others do to the object, also where its hook is not given that;
// related: the hook only reads it.
enum class Relative { owned, related };

// `type` is the object's.
bool only_unkept_changed(const StreamRule& stream, const core::ResourceType& type,
                         const runtime::StoreChange& change, Relative relative);
// Of two texts of one object: they differ in what the server counts alone, which is
// metadata.resourceVersion, generation and managedFields. What cannot be read differs.
bool same_but_for_counts(std::string_view before, std::string_view now);

}  // namespace kubewatch::hooks

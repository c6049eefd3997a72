// What has become of a kind whose lists and watches are answered with 404: its objects are under
// another path, another version of it is served, it is gone, or nobody can say. Pure: decides by
// one discovery.
#pragma once

#include <optional>

#include "client/discovery.hpp"
#include "core/resource.hpp"

namespace kubewatch::runtime {

struct ServedKind {
  enum class State {
    served,   // as it was: something else answered 404
    moved,    // its definition was made anew, with another plural or scope; `type` is how it is now
    another,  // only in other versions; `type` is the best of them
    gone,     // in no version, and no version of its group failed to answer
    unknown,
  };
  State state = State::unknown;
  std::optional<core::ResourceType> type;
};

// `known`: as its lists and watches have it.
ServedKind served_kind(const client::ResourceMap& map, const core::ResourceType& known);

}  // namespace kubewatch::runtime

// One member of an object as it is in another. Of whole values: base/json.hpp.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::base {

// `object` has the member of `live`, or none where that has none. Both are objects.
inline void keep_member(const Json& live, Json& object, const std::string& key) {
  const auto it = live.find(key);
  if (it == live.end()) {
    object.erase(key);
  } else {
    object[key] = *it;
  }
}

}  // namespace kubewatch::base

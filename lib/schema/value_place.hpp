// Where a value stands in its object: a chain on the stack, written out only when there is
// something to say of the place. Private to lib/schema; what it points to must outlive it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kubewatch::schema {

struct ValuePlace {
  const ValuePlace* above = nullptr;  // null: the object itself
  std::string_view key;
  std::size_t index = 0;
  bool is_index = false;
  bool is_extra = false;  // a key that is no property: the validator puts a dot before it

  // "spec.list[0].name"
  std::string text() const {
    if (above == nullptr) return "";
    std::string out = above->text();
    if (is_index) return out + "[" + std::to_string(index) + "]";
    if (!out.empty() || is_extra) out += '.';
    return out.append(key);
  }
};

}  // namespace kubewatch::schema

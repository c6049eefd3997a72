// JSON pointers (RFC 6901) as text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::base {

// "a/b~c" -> "a~1b~0c".
std::string escape_pointer(std::string_view key);
// And back; a ~ before anything but 0 and 1, which is no escape, stands for itself.
std::string unescape_pointer(std::string_view step);
// {"metadata", "a/b"} -> "/metadata/a~1b"; none: "", the whole.
std::string pointer_to(const std::vector<std::string>& keys);

}  // namespace kubewatch::base

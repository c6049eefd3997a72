// JSON pointers (RFC 6901) as text: how a key is written in one. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::base {

// "a/b~c" -> "a~1b~0c".
std::string escape_pointer(std::string_view key);

}  // namespace kubewatch::base

// The words that no name in an expression may be (the language's definition, "Syntax").
#pragma once

#include <string_view>

namespace kubewatch::cel {

// true, false, null, in.
bool is_keyword(std::string_view word);
// Kept free for languages that CEL may be embedded in: "for", "namespace", ...
bool is_reserved_word(std::string_view word);

}  // namespace kubewatch::cel

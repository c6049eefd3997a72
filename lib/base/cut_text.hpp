// Texts that have to fit somewhere.
#pragma once

#include <cstddef>
#include <string>

namespace kubewatch::base {

// At most `most` bytes of it, cut between two characters of UTF-8.
std::string cut_text(std::string text, std::size_t most);
// The same, with "..." behind it where there was more.
std::string shortened_bytes(std::string text, std::size_t most);

}  // namespace kubewatch::base

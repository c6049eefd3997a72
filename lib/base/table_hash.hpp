// Hashes for tables in memory, under a key of this process: who chooses names cannot choose their
// places in a table, nor make two of them meet. Never kept or sent.
#pragma once

#include <cstdint>
#include <string_view>

namespace kubewatch::base {

// `before`: of what goes before the text, where several things make one key.
std::uint64_t table_hash(std::string_view text, std::uint64_t before = 0);

}  // namespace kubewatch::base

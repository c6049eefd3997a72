// Which of two resourceVersions of one kind is newer. Of one server they compare as integers, of
// any length (KEP-5504); texts that are none only as equal or not. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::core {

// False as well where one of them is no number.
bool older_version(std::string_view a, std::string_view b);
// A state of version `seen` has what was written as `wanted`.
bool at_least_version(std::string_view seen, std::string_view wanted);
// For those who keep many of them. Absent: no number, or one beyond 64 bits.
std::optional<std::uint64_t> version_number(std::string_view version);

}  // namespace kubewatch::core

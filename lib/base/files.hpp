// Files that can be made again, beside read_file and write_file_atomic of base/strings.hpp.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::base {

// As write_file_atomic, without waiting for the disk, which takes longer than making the content:
// after a loss of power the file may be empty. Errors: as there.
Result<void> write_generated_file(const std::string& path, std::string_view content, unsigned mode);

}  // namespace kubewatch::base

// Whole files, read within a limit and written at once.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::base {

// The whole file, which may be a pipe or a terminal: then it waits for the end. Errors: not_found,
// unavailable, too_large, invalid (a folder, a pipe that nobody has opened to write), each naming
// the path.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);
// The same, but somebody who writes to a pipe is waited for, however long.
Result<std::string> read_awaited_file(const std::string& path, std::size_t max_bytes);
// For what is read while a loop runs, which must not wait. Links are followed. Errors: as above;
// invalid for whatever is no regular file.
Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes);
// Written beside and renamed, with mode; the folder must exist. Errors: as above.
Result<void> write_file_atomic(const std::string& path, std::string_view content, unsigned mode);
// As write_file_atomic, without waiting for the disk, which takes longer than making the content:
// after a loss of power the file may be empty. Errors: as there.
Result<void> write_generated_file(const std::string& path, std::string_view content, unsigned mode);
// Whether a folder's file of this name is read for YAML or JSON: .yaml, .yml, .json. What is hidden
// is the caller's question.
bool holds_documents(const std::string& path);

}  // namespace kubewatch::base

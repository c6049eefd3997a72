// -o custom-columns=HEADER:PATH,... and custom-columns-file: headers, and the cells of an object.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/json_path.hpp"

namespace kubewatch::cli {

class CustomColumns {
 public:
  // Errors: invalid, with a caret under the column that is wrong.
  static Result<CustomColumns> parse(const std::string& spec);
  // Of a file: two lines, headers, and paths under them, both split at blanks. Errors: invalid.
  static Result<CustomColumns> parse_file(const std::string& text);
  // One or the other, as an output format has it: only a file has lines.
  static Result<CustomColumns> of_format(const std::string& text);

  const std::vector<std::string>& headers() const { return headers_; }
  // As they were given.
  const std::vector<std::string>& path_texts() const { return path_texts_; }
  // "<none>" for what is missing, several values joined by ",".
  std::vector<std::string> cells(const Json& object) const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::string> path_texts_;
  std::vector<core::JsonPath> paths_;
};

}  // namespace kubewatch::cli

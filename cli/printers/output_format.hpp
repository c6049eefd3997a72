// -o as a value: which format, with the text that belongs to it. Reads only the files of
// jsonpath-file= and custom-columns-file=.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::cli {

struct OutputFormat {
  enum class Kind { table, wide, json, yaml, name, jsonpath, jq, custom_columns, own };
  Kind kind = Kind::table;
  std::string text;  // the template, program or columns; of own: the word
};

// `own`: words of this verb alone, as "stats"; they go before the common ones. Errors: invalid,
// with the formats that there are; go-templates are refused with what to use instead.
Result<OutputFormat> parse_output_format(const std::string& output,
                                         const std::vector<std::string>& own);

// "json, yaml, name, wide, ..." for help and messages.
std::string format_words(const std::vector<std::string>& own);

}  // namespace kubewatch::cli

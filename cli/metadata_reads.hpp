// Programs and paths of the command line where only the metadata of objects is kept: what looks for
// more would find nothing, and decide by that. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/printers/output_format.hpp"
#include "core/json_path.hpp"
#include "jq/jq.hpp"

namespace kubewatch::cli {

class MetadataReads {
 public:
  enum class Input {
    object,
    event,  // an object with .old, .event and .initial beside its members
    list,   // a List of objects, or one that was named
  };
  // `keeper`: who has only metadata, and the verb: "FILE has".
  explicit MetadataReads(std::string keeper = "--metadata-only keeps")
      : keeper_(std::move(keeper)) {}

  // Errors: invalid, naming `flag` and what it reads, as far as the text says so. What is wrong in
  // another way is for those to say who use it.
  Result<void> check(const std::string& flag, const jq::Program& program, Input input) const;
  // Of JSONPath, kubectl's relaxed forms too.
  Result<void> check_path(const std::string& flag, std::string_view path, Input input) const;
  Result<void> check_format(const OutputFormat& format, Input input) const;
  Error refused(const std::string& flag, const std::string& place) const;

 private:
  Result<void> check_reads(const std::string& flag, const std::vector<core::PathRead>& reads,
                           Input input) const;
  Result<void> check_columns(const std::string& text) const;

  std::string keeper_;
};

}  // namespace kubewatch::cli

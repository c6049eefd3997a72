// Plain paths into objects: a hash of what stands at them (`changed:`) and removing them
// (`strip:`). A path is the form of Program::as_path(): a list of object keys, empty for the whole
// value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::jq {

using Path = std::vector<std::string>;

// ".spec", ".metadata.labels[\"a/b\"]". Errors: invalid, when the text is no jq or no plain path.
Result<Path> parse_path(std::string_view expression);

// Tells whether any of some values changed between two versions of an object, by hash. An absent
// value differs from null; 1 and 1.0 are the same; the hash is the same in every process and
// release.
class ChangeHash {
 public:
  explicit ChangeHash(std::vector<Path> paths) : paths_(std::move(paths)) {}
  // From expressions as rule files have them. Errors: as parse_path().
  static Result<ChangeHash> parse(const std::vector<std::string>& expressions);

  std::uint64_t of(const Json& object) const;
  const std::vector<Path>& paths() const { return paths_; }

 private:
  std::vector<Path> paths_;
};

// The value without what stands at the paths. Absent paths and steps through other things than
// objects are skipped; an empty path gives null.
Json without_paths(Json value, const std::vector<Path>& paths);

}  // namespace kubewatch::jq

// Whether an object changed in what its rule looks at: the paths of `changed`, by default
// everything but status, what the server counts, and our own marks. Of an object that is kept as
// metadata only (`content: metadata`) what the server counts is all that tells of its spec. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "hooks/rule.hpp"
#include "jq/paths.hpp"

namespace kubewatch::hooks {

class ContentHash {
 public:
  explicit ContentHash(const Rule& rule);
  std::uint64_t of(const Json& object) const;
  // Of two texts of one object, as of() tells, and mostly without reading all of them. What does
  // not parse differs.
  bool differs(std::string_view before, std::string_view after) const;

 private:
  std::optional<jq::ChangeHash> paths_;
  std::string finalizer_;
  bool metadata_only_;
};

}  // namespace kubewatch::hooks

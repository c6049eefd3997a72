// Object metadata as the runtime reads it: cheap to extract from raw bytes, no whole parse of the
// object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::core {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool blocks_deletion = false;  // blockOwnerDeletion
};

struct ObjectMeta {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::string creation_timestamp;  // RFC 3339, as sent
  std::optional<std::string> deletion_timestamp;
  std::vector<std::pair<std::string, std::string>> labels;  // as sent
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;

  ObjectKey key() const { return {namespace_, name}; }
  bool deleting() const { return deletion_timestamp.has_value(); }
  bool has_finalizer(std::string_view name) const;
  // Null when absent.
  const std::string* label(std::string_view key) const;
  const std::string* annotation(std::string_view key) const;
};

// From one JSON object (simdjson, validated). Errors: invalid.
Result<ObjectMeta> parse_meta(std::string_view object_json);
// The same for text that parse_meta() has taken before, as a cache's: what stands outside the
// metadata is passed over unread. Errors: invalid.
Result<ObjectMeta> parse_kept_meta(std::string_view object_json);
// The same from a built value.
ObjectMeta meta_of(const Json& object);
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
// Of a bookmark, by that annotation: with it a watch has told all that was there before
// (sendInitialEvents).
bool ends_initial_events(const ObjectMeta& bookmark);
bool ends_initial_events(const Json& bookmark);

}  // namespace kubewatch::core

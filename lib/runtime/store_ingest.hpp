// From an object's text as the server sent it to what the store keeps: compact, without what
// StoreOptions drop, with the type that list items lack, validated once. What is too big, too deep
// or broken below its metadata is kept as metadata alone and says why. No I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/json_cut.hpp"
#include "core/meta.hpp"
#include "runtime/store_options.hpp"

namespace kubewatch::runtime {

// One entry of metadata.managedFields without its fields.
struct FieldManager {
  std::string manager;
  std::string operation;    // "Apply" or "Update"
  std::string subresource;  // "" for the object itself
  std::string time;         // RFC 3339, as sent
  bool operator==(const FieldManager&) const = default;
};

struct PreparedObject {
  core::ObjectMeta meta;
  std::string json;
  std::string managers;  // as one text, see parse_managers; "" = none
  std::string reduced;   // why only metadata was kept; "" = the whole object
};

// What is left of managedFields, as text and back.
std::string compact_managers(std::string_view managed_fields_json);
std::vector<FieldManager> parse_managers(std::string_view compact);

class Ingest {
 public:
  explicit Ingest(const StoreOptions& options);

  // It has a name, and no part is longer than a record can hold.
  static bool names(const core::ObjectMeta& meta);
  // Errors: invalid (not even metadata with a name can be read).
  Result<PreparedObject> prepare(std::string_view object_json) const;

 private:
  Result<PreparedObject> whole(std::string_view object_json) const;
  Result<PreparedObject> modified(PreparedObject before) const;
  Result<PreparedObject> metadata_only(std::string_view object_json, std::string why) const;
  Result<PreparedObject> finish(core::JsonCutResult cut) const;

  core::JsonCutter cutter_;
  IngestLimits limits_;
  std::function<std::string(std::string)> modify_;
  std::string api_version_member_;  // "\"apiVersion\":\"v1\","; "" when the type is not known
  std::string kind_member_;
};

}  // namespace kubewatch::runtime

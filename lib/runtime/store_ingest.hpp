// From an object's text as the server sent it to what the store keeps: compact, without
// managedFields and what the rule strips, with the type that list items lack, validated once. What
// is too big, too deep or broken below its metadata is kept as metadata alone and says why. No I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/json_cut.hpp"
#include "core/meta.hpp"
#include "core/resource.hpp"

namespace kubewatch::runtime {

struct PreparedObject {
  core::ObjectMeta meta;
  std::string json;
  std::string reduced;  // why only metadata was kept; "" = the whole object
};

struct IngestLimits {
  std::size_t max_bytes = 16U << 20U;  // the largest event that client-go accepts
  std::size_t max_depth = 200;         // what the rest of the program parses
};

class Ingest {
 public:
  Ingest();
  void set_strip(std::vector<std::string> pointers);
  void set_type(const core::Gvk& gvk);
  void set_limits(IngestLimits limits) { limits_ = limits; }

  // Errors: invalid (not even metadata with a name can be read).
  Result<PreparedObject> prepare(std::string_view object_json) const;

 private:
  Result<PreparedObject> whole(std::string_view object_json) const;
  Result<PreparedObject> metadata_only(std::string_view object_json, std::string why) const;
  Result<PreparedObject> finish(core::JsonCutResult cut) const;

  core::JsonCutter cutter_;
  IngestLimits limits_;
  std::string api_version_member_;  // "\"apiVersion\":\"v1\","
  std::string kind_member_;
};

}  // namespace kubewatch::runtime

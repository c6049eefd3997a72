// Two parsers must agree: what parse_meta takes is JSON for nlohmann as well, with the same
// metadata.
#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "core/meta.hpp"
#include "core/status.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(kubewatch::core::causes_of(kubewatch::core::error_from_response(409, text)));
  const auto meta = kubewatch::core::parse_meta(text);
  if (!meta.ok()) return 0;
  const auto value = kubewatch::base::parse_json(text, {.max_bytes = size + 1, .max_depth = 2000});
  if (!value.ok()) std::abort();
  const auto other = kubewatch::core::meta_of(*value);
  const bool same = other.name == meta->name && other.namespace_ == meta->namespace_ &&
                    other.uid == meta->uid && other.resource_version == meta->resource_version &&
                    other.kind == meta->kind && other.api_version == meta->api_version &&
                    other.deletion_timestamp == meta->deletion_timestamp &&
                    other.finalizers == meta->finalizers &&
                    other.owners.size() == meta->owners.size();
  if (!same) std::abort();
  return 0;
}

// The last-applied annotation under server-side apply.
#include "schema/last_applied.hpp"

#include "core/server_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

constexpr std::size_t kMaxAnnotations = 256U << 10U;

std::size_t annotations_size(const Json& annotations) {
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    size += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  return size;
}

}  // namespace

FieldSet fields_of_client_side_apply(const MergeNode& schema, const Json& live) {
  const std::string text =
      base::string_at(live, {"metadata", "annotations", core::kLastAppliedAnnotation});
  if (text.empty()) return {};
  const Result<Json> last = base::parse_json(text, {kMaxAnnotations, 200});
  if (!last.ok() || base::string_at(*last, {"apiVersion"}) != base::string_at(live, {"apiVersion"}))
    return {};
  if (!check_value(schema, *last, false).ok() || !check_value(schema, live, false).ok()) return {};
  FieldSet allowed = to_field_set(schema, *last);
  const Comparison drift = compare(schema, *last, live);
  for (const FieldSet* set : {&drift.modified, &drift.added, &drift.removed})
    allowed.subtract(*set);
  return allowed;
}

void sync_last_applied(const Json& applied, Json& object) {
  Json* annotations = base::find(object, {"metadata", "annotations"});
  if (annotations == nullptr ||
      base::string_at(*annotations, {core::kLastAppliedAnnotation}).empty())
    return;
  Json written = applied;
  if (Json* own = base::find(written, {"metadata", "annotations"});
      own != nullptr && own->is_object()) {
    own->erase(core::kLastAppliedAnnotation);
    if (own->empty()) written["metadata"].erase("annotations");
  }
  (*annotations)[core::kLastAppliedAnnotation] = base::dump_json(written) + "\n";
  if (annotations_size(*annotations) > kMaxAnnotations)
    annotations->erase(core::kLastAppliedAnnotation);
}

bool is_last_applied(const Path& path) {
  return path_str(path) == std::string(".metadata.annotations.") + core::kLastAppliedAnnotation;
}

}  // namespace kubewatch::schema

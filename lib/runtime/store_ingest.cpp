#include "runtime/store_ingest.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "runtime/store_record.hpp"

namespace kubewatch::runtime {

namespace {

constexpr const char* kManagedFields = "/metadata/managedFields";
constexpr std::size_t kMaxMetadata = 1U << 20U;

}  // namespace

Ingest::Ingest() : cutter_({kManagedFields}) {}

void Ingest::set_strip(std::vector<std::string> pointers) {
  pointers.emplace_back(kManagedFields);
  cutter_ = core::JsonCutter(pointers);
}

void Ingest::set_type(const core::Gvk& gvk) {
  api_version_member_ = fmt::format("\"apiVersion\":{},", base::dump_json(gvk.api_version()));
  kind_member_ = fmt::format("\"kind\":{},", base::dump_json(gvk.kind));
}

Result<PreparedObject> Ingest::prepare(std::string_view object_json) const {
  if (object_json.size() > limits_.max_bytes) {
    return metadata_only(object_json, fmt::format("{} bytes, more than the limit of {}",
                                                  object_json.size(), limits_.max_bytes));
  }
  auto prepared = whole(object_json);
  if (prepared.ok()) return prepared;
  auto reduced = metadata_only(object_json, prepared.error().message());
  if (reduced.ok()) return reduced;
  return prepared;
}

Result<PreparedObject> Ingest::whole(std::string_view object_json) const {
  KW_ASSIGN(auto cut, cutter_.cut(object_json, limits_.max_depth));
  return finish(std::move(cut));
}

Result<PreparedObject> Ingest::metadata_only(std::string_view object_json, std::string why) const {
  std::string small = "{";
  // An error behind the metadata is what this function is for.
  (void)core::for_each_member(object_json, [&](const core::JsonMember& member) {
    if (member.key != "apiVersion" && member.key != "kind" && member.key != "metadata") return;
    if (member.value.size() > kMaxMetadata) return;
    small.append(small.size() > 1 ? ",\"" : "\"").append(member.key).append("\":");
    small.append(member.value);
  });
  small.push_back('}');
  KW_ASSIGN(auto prepared, whole(small));
  prepared.reduced = std::move(why);
  return prepared;
}

Result<PreparedObject> Ingest::finish(core::JsonCutResult cut) const {
  PreparedObject out;
  std::string missing;
  if (!cut.has_api_version) missing += api_version_member_;
  if (!cut.has_kind) missing += kind_member_;
  out.json = std::move(cut.json);
  if (!missing.empty()) {
    if (out.json.size() == 2) missing.pop_back();  // "{}": no comma
    out.json.insert(1, missing);
  }
  KW_ASSIGN(out.meta, core::parse_meta(out.json));
  if (out.meta.name.empty()) {
    return Error(ErrorKind::invalid, "an object without metadata.name");
  }
  for (const auto* part : {&out.meta.name, &out.meta.uid, &out.meta.resource_version}) {
    if (part->size() > Record::kMaxIdentity) {
      return Error(ErrorKind::invalid, "an object whose name, uid or resourceVersion is too long");
    }
  }
  return out;
}

}  // namespace kubewatch::runtime

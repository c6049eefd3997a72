#include "apiserver/read_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/convert.hpp"
#include "apiserver/printers.hpp"
#include "apiserver/table.hpp"
#include "core/json_cut.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::apiserver {

namespace {

// What is behind a leading apiVersion and kind: `"metadata":{...},...}`.
std::string_view without_type(std::string_view json) {
  core::JsonCursor text(json);
  if (!text.accept('{')) return json.substr(json.empty() ? 0 : 1);
  while (true) {
    (void)text.peek();
    const std::size_t at = text.position();
    const std::string_view key = text.take_string();
    if (key != "\"apiVersion\"" && key != "\"kind\"") return json.substr(at);
    text.accept(':');
    (void)text.take_value();
    text.accept(',');
  }
}

std::string_view member(std::string_view json, std::string_view name) {
  std::string_view found;
  // A broken text has no such member.
  (void)core::for_each_member(json, [&](const core::JsonMember& one) {
    if (found.empty() && one.key == name) found = one.value;
  });
  return found;
}

void append_partial(const Representation& as, std::string_view json, std::string& out) {
  std::string_view metadata = member(json, "metadata");
  if (metadata.empty()) metadata = "{}";
  out.append(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)")
      .append(as.transform_version)
      .append(R"(","metadata":)")
      .append(metadata)
      .append("}");
}

void append_whole(const Resource& resource, std::string_view json, std::string& out) {
  if (resource.custom) {
    out.append(json);
    return;
  }
  out.append(type_head(resource, resource.type.gvk.kind)).append(without_type(json));
}

// The columns of built-in kinds look at what is stored, those of custom ones at what is served.
Json cells_of(const Resource& resource, std::string_view json, WallTime now) {
  auto parsed = base::parse_json(json);
  Json object = parsed.ok() ? std::move(*parsed) : Json::object();
  if (!resource.custom) object = to_stored(resource, std::move(object));
  return table_cells(resource, object, now);
}

// Absent where the key does not say it.
std::optional<bool> matches_by_key(const core::FieldRequirement& one, const core::ObjectKey& key) {
  if (one.path == "metadata.name") return (key.name == one.value) == one.equal;
  if (one.path == "metadata.namespace") return (key.namespace_ == one.value) == one.equal;
  return std::nullopt;
}

ResourcePtr name_and_age_only(const ResourcePtr& resource) {
  auto out = std::make_shared<Resource>(*resource);
  out->storage_id.clear();  // has no columns of its own
  out->custom.reset();
  return out;
}

}  // namespace

ReadText::ReadText(ResourcePtr resource, bool metadata_only)
    : resource_(std::move(resource)),
      shown_(metadata_only ? name_and_age_only(resource_) : resource_) {}

void ReadText::append_row(const Representation& as, std::string_view json, WallTime now,
                          std::string& out) const {
  out.append(R"({"cells":)");
  if (shown_->storage_id != "pods" || !append_pod_cells(json, now, out)) {
    out.append(base::dump_json(cells_of(*shown_, json, now)));
  }
  out.append(",");
  if (shown_->storage_id == "pods") {
    out.append(pod_row_conditions(field_text(json, "status.phase")));
  }
  out.append(R"("object":)");
  switch (as.include) {
    case IncludeObject::none: out.append("null"); break;
    case IncludeObject::metadata: append_partial(as, json, out); break;
    case IncludeObject::object: append_whole(*resource_, json, out); break;
  }
  out.append("}");
}

std::string ReadText::object(const Representation& as, std::string_view json, WallTime now) const {
  std::string out;
  switch (as.format) {
    case Format::partial: append_partial(as, json, out); break;
    case Format::object: append_whole(*resource_, json, out); break;
    case Format::table: {
      const std::string version = field_text(json, "metadata.resourceVersion");
      out = table_head(as, fmt::format(R"({{"resourceVersion":"{}"}})", version),
                       base::dump_json(table_columns(*shown_)));
      append_row(as, json, now, out);
      out.append("]}");
    }
  }
  return out;
}

void ReadText::append_item(const Representation& as, std::string_view json, WallTime now,
                           std::string& out) const {
  switch (as.format) {
    case Format::table: return append_row(as, json, now, out);
    case Format::partial: return append_partial(as, json, out);
    case Format::object: break;
  }
  // Items of built-in lists carry no kind and apiVersion of their own.
  if (resource_->custom) {
    out.append(json);
  } else {
    out.append("{").append(without_type(json));
  }
}

ListFrame ReadText::frame(const Representation& as, const ListMeta& meta) const {
  return list_frame(as.format == Format::table ? *shown_ : *resource_, as, meta);
}

std::string ReadText::line(const Representation& as, const char* type, std::string_view json,
                           bool with_columns, WallTime now) const {
  std::string out = R"({"type":")";
  out.append(type).append(R"(","object":)");
  if (as.format == Format::table) {
    const std::string version = field_text(json, "metadata.resourceVersion");
    out += table_head(as, fmt::format(R"({{"resourceVersion":"{}"}})", version),
                      with_columns ? base::dump_json(table_columns(*shown_)) : "null");
    append_row(as, json, now, out);
    out += "]}";
  } else {
    out += object(as, json, now);
  }
  return out + "}\n";
}

std::string field_text(std::string_view json, std::string_view path) {
  std::string_view value = json;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    value = member(value, path.substr(0, dot));
    if (value.empty()) return "";
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (value == "null" || value.starts_with("{") || value.starts_with("[")) return "";
  if (!value.starts_with("\"")) return std::string(value);
  auto text = core::decode_json_string(value);
  return text.ok() ? *std::move(text) : "";
}

bool matches_fields(const core::FieldSelector& fields, const core::ObjectKey& key,
                    std::string_view json) {
  const auto& all = fields.requirements();
  return std::all_of(all.begin(), all.end(), [&](const core::FieldRequirement& one) {
    const auto known = matches_by_key(one, key);
    return known ? *known : (field_text(json, one.path) == one.value) == one.equal;
  });
}

std::optional<std::string> selected_json(const core::ReadState& state,
                                         const core::FieldSelector& fields,
                                         const core::ObjectKey& key, std::size_t& looks) {
  if (fields.empty()) return state.json(key);
  const auto& all = fields.requirements();
  const bool excluded = std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return !matches_by_key(one, key).value_or(true);
  });
  if (excluded) return std::nullopt;
  --looks;
  auto json = state.json(key);
  if (json && !matches_fields(fields, key, *json)) json.reset();
  return json;
}

}  // namespace kubewatch::apiserver

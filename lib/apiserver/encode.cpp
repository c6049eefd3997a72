#include "apiserver/encode.hpp"

#include <fmt/format.h>

#include <utility>

#include "apiserver/convert.hpp"
#include "apiserver/table.hpp"
#include "base/yaml.hpp"

namespace kubewatch::apiserver {

// Built-ins go out as the real server's Go structs do, custom resources with sorted keys.
std::string type_head(const Resource& resource, const std::string& kind) {
  const std::string version = resource.type.gvk.api_version();
  return resource.custom ? fmt::format("{{\"apiVersion\":\"{}\",\"kind\":\"{}\",", version, kind)
                         : fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", kind, version);
}

std::string table_head(const Representation& as, const std::string& metadata,
                       const std::string& columns) {
  return fmt::format(
      "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":{},"
      "\"columnDefinitions\":{},\"rows\":[",
      as.transform_version, metadata, columns);
}

namespace {

std::string plain_text(const Resource& resource, const Object& object) {
  const std::string front = type_head(resource, resource.type.gvk.kind);
  if (!is_converted(resource, object.api_version())) return front + object.body().substr(1);
  return front + Object(to_served(resource, object.json())).body().substr(1);
}

// The server's own form of a DaemonSet has a field where this annotation is.
std::string daemon_set_metadata(const Object& object) {
  Json metadata = object.json().at("metadata");
  if (Json* annotations = base::find(metadata, {"annotations"})) {
    if (annotations->is_object()) annotations->erase("deprecated.daemonset.template.generation");
    if (annotations->empty()) metadata.erase("annotations");
  }
  return "\"metadata\":" + base::dump_json(metadata) + "}";
}

std::string partial_text(const Resource& resource, const Representation& as, const Object& object) {
  const bool daemon_set = resource.storage_id == "daemonsets.apps";
  return fmt::format("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",{}",
                     as.transform_version,
                     daemon_set ? daemon_set_metadata(object) : object.metadata_body().substr(1));
}

std::string row_text(const Resource& resource, const Representation& as, const Object& object,
                     WallTime now) {
  std::string included = "null";
  if (as.include == IncludeObject::metadata) included = partial_text(resource, as, object);
  if (as.include == IncludeObject::object) included = plain_text(resource, object);
  // Columns of a definition look at what is served.
  const bool converted = resource.custom && is_converted(resource, object.api_version());
  const Json cells = converted ? table_cells(resource, to_served(resource, object.json()), now)
                               : table_cells(resource, object.json(), now);
  std::string conditions;
  if (resource.storage_id == "pods") {
    conditions = pod_row_conditions(base::string_at(object.json(), {"status", "phase"}));
  }
  return fmt::format("{{\"cells\":{},{}\"object\":{}}}", base::dump_json(cells), conditions,
                     included);
}

std::string one_row_table(const Resource& resource, const Representation& as, const Object& object,
                          bool with_columns, WallTime now) {
  return table_head(as, fmt::format("{{\"resourceVersion\":\"{}\"}}", object.version()),
                    with_columns ? base::dump_json(table_columns(resource)) : "null") +
         row_text(resource, as, object, now) + "]}";
}

// Only a custom kind's list of its own says that there is no more.
std::string list_metadata(const Resource& resource, const Representation& as,
                          const ListMeta& meta) {
  std::string out = "{";
  const bool always = resource.custom != nullptr && as.format == Format::object;
  if (!meta.continue_token.empty() || always) {
    out += fmt::format("\"continue\":\"{}\",", meta.continue_token);
  }
  if (meta.remaining) out += fmt::format("\"remainingItemCount\":{},", *meta.remaining);
  return out + fmt::format("\"resourceVersion\":\"{}\"}}", meta.version);
}

// Items of built-in lists carry no kind and apiVersion of their own.
std::string item_text(const Resource& resource, const Representation& as, const Object& object) {
  if (as.format == Format::partial) return partial_text(resource, as, object);
  if (resource.custom) return plain_text(resource, object);
  if (!resource.converted()) return object.body();
  return Object(to_served(resource, object.json())).body();
}

}  // namespace

std::string object_text(const Resource& resource, const Representation& as, const Object& object,
                        WallTime now) {
  switch (as.format) {
    case Format::table: return one_row_table(resource, as, object, true, now);
    case Format::partial: return partial_text(resource, as, object);
    case Format::object: break;
  }
  return plain_text(resource, object);
}

ListFrame list_frame(const Resource& resource, const Representation& as, const ListMeta& meta) {
  const std::string metadata = list_metadata(resource, as, meta);
  if (as.format == Format::table) {
    return {table_head(as, metadata, base::dump_json(table_columns(resource))), "]}"};
  }
  if (as.format == Format::partial) {
    return {
        fmt::format("{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/{}\","
                    "\"metadata\":{},\"items\":[",
                    as.transform_version, metadata),
        "]}"};
  }
  if (resource.custom) {
    return {fmt::format("{{\"apiVersion\":\"{}\",\"items\":[", resource.type.gvk.api_version()),
            fmt::format("],\"kind\":\"{}\",\"metadata\":{}}}", resource.list_kind, metadata)};
  }
  return {fmt::format("{}\"metadata\":{},\"items\":[", type_head(resource, resource.list_kind),
                      metadata),
          "]}"};
}

std::string list_text(const Resource& resource, const Representation& as,
                      const std::vector<ObjectPtr>& items, const ListMeta& meta, WallTime now) {
  ListFrame frame = list_frame(resource, as, meta);
  std::string out = std::move(frame.head);
  bool first = true;
  for (const auto& item : items) {
    const Glance glance(item.get());
    if (!std::exchange(first, false)) out += ',';
    out += as.format == Format::table ? row_text(resource, as, *item, now)
                                      : item_text(resource, as, *item);
  }
  return out + frame.tail;
}

std::string finish(const Representation& as, std::string json) {
  if (!as.yaml && !as.pretty) return json;
  base::JsonLimits limits;
  limits.max_bytes = std::size_t{1} << 31U;
  limits.max_depth = 10000;
  auto value = base::parse_json(json, limits);
  if (!value) return json;
  return as.yaml ? base::dump_yaml(value.value()) : base::dump_json_pretty(value.value());
}

std::string watch_line(const Resource& resource, const Representation& as, const char* type,
                       const Object& object, bool with_columns, WallTime now) {
  const std::string text = as.format == Format::table
                               ? one_row_table(resource, as, object, with_columns, now)
                               : object_text(resource, as, object, now);
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, text);
}

std::string bookmark_line(const Resource& resource, const Representation& as, std::uint64_t version,
                          bool initial_events_end) {
  const std::string metadata = fmt::format(
      "\"metadata\":{{{}\"resourceVersion\":\"{}\"}}}}",
      initial_events_end ? "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}," : "",
      version);
  const std::string partial =
      fmt::format("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",{}",
                  as.transform_version, metadata);
  std::string text = type_head(resource, resource.type.gvk.kind) + metadata;
  if (as.format == Format::partial) text = partial;
  if (as.format == Format::table) {
    const Json cells(std::vector<Json>(table_columns(resource).size(), Json("")));
    text = table_head(as, fmt::format("{{\"resourceVersion\":\"{}\"}}", version), "null") +
           fmt::format("{{\"cells\":{},\"object\":{}}}]}}", base::dump_json(cells), partial);
  }
  return fmt::format("{{\"type\":\"BOOKMARK\",\"object\":{}}}\n", text);
}

std::string error_line(const Error& error) {
  return "{\"type\":\"ERROR\",\"object\":" + base::dump_json(status_json(error)) + "}\n";
}

}  // namespace kubewatch::apiserver

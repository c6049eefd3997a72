// Metadata from bytes (simdjson's DOM, which validates all of the text, unlike On-Demand) and from
// values. Of duplicate keys the last wins, as in Go's decoder.
#include "core/meta.hpp"

#include <simdjson.h>

#include <algorithm>

#include "base/json.hpp"
#include "core/json_scan.hpp"
#include "core/wide_numbers.hpp"

namespace kubewatch::core {
namespace {

namespace dom = simdjson::dom;

// One object of many megabytes must not pin a parser of ten times its size for ever.
constexpr std::size_t kKeptCapacity = 4U << 20U;

// simdjson reads past the end of its input, so the text is copied into a padded buffer that is
// reused, as are the parser's own buffers. No threads in lib/, but thread_local costs nothing.
struct Scratch {
  std::string padded;
  dom::parser parser;

  simdjson::simdjson_result<dom::element> parse(std::string_view text) {
    const auto parsed = parse_exactly(text);
    // Of metadata no number is that wide, and nothing else is looked at.
    return parsed.error() != simdjson::SUCCESS ? parse_exactly(with_wide_numbers(text)) : parsed;
  }
  simdjson::simdjson_result<dom::element> parse_exactly(std::string_view text) {
    padded.assign(text);
    padded.append(simdjson::SIMDJSON_PADDING, '\0');
    return parser.parse(padded.data(), text.size(), false);
  }
  void trim() {
    if (padded.capacity() <= kKeptCapacity) return;
    padded = std::string();
    parser = dom::parser();
  }
};

Scratch& scratch() {
  thread_local Scratch instance;
  return instance;
}

Error wrong_type(std::string_view path, std::string_view wanted) {
  return Error(ErrorKind::invalid, std::string(path) + " is not " + std::string(wanted));
}

Result<void> read_text(dom::element value, std::string_view path, std::string& out) {
  if (value.is_null()) {
    out.clear();
    return {};
  }
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return wrong_type(path, "a string");
  out = text;
  return {};
}

Result<void> read_map(dom::element value, std::string_view path,
                      std::vector<std::pair<std::string, std::string>>& out) {
  out.clear();
  if (value.is_null()) return {};
  dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return wrong_type(path, "an object");
  out.reserve(object.size());
  for (dom::key_value_pair field : object) {
    std::string_view text;
    if (!field.value.is_null() && field.value.get_string().get(text) != simdjson::SUCCESS) {
      return wrong_type(std::string(path) + "." + std::string(field.key), "a string");
    }
    out.emplace_back(field.key, text);
  }
  return {};
}

bool is_true(dom::element value) {
  bool flag = false;
  return value.get_bool().get(flag) == simdjson::SUCCESS && flag;
}

Result<void> read_owner(dom::element value, OwnerReference& out) {
  constexpr std::string_view kPath = "metadata.ownerReferences";
  dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return wrong_type(kPath, "a list of objects");
  for (dom::key_value_pair field : object) {
    if (field.key == "apiVersion") {
      KW_TRY(read_text(field.value, kPath, out.api_version));
    } else if (field.key == "kind") {
      KW_TRY(read_text(field.value, kPath, out.kind));
    } else if (field.key == "name") {
      KW_TRY(read_text(field.value, kPath, out.name));
    } else if (field.key == "uid") {
      KW_TRY(read_text(field.value, kPath, out.uid));
    } else if (field.key == "controller") {
      out.controller = is_true(field.value);
    } else if (field.key == "blockOwnerDeletion") {
      out.blocks_deletion = is_true(field.value);
    }
  }
  return {};
}

Result<void> read_owners(dom::element value, std::vector<OwnerReference>& out) {
  out.clear();
  if (value.is_null()) return {};
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return wrong_type("metadata.ownerReferences", "a list");
  }
  for (dom::element item : array) KW_TRY(read_owner(item, out.emplace_back()));
  return {};
}

Result<void> read_finalizers(dom::element value, std::vector<std::string>& out) {
  out.clear();
  if (value.is_null()) return {};
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return wrong_type("metadata.finalizers", "a list");
  }
  for (dom::element item : array) {
    KW_TRY(read_text(item, "metadata.finalizers", out.emplace_back()));
  }
  return {};
}

Result<void> read_generation(dom::element value, std::int64_t& out) {
  out = 0;
  if (value.is_null()) return {};
  if (value.get_int64().get(out) == simdjson::SUCCESS) return {};
  return wrong_type("metadata.generation", "an integer");
}

Result<void> read_deletion(dom::element value, std::optional<std::string>& out) {
  out.reset();
  if (value.is_null()) return {};
  return read_text(value, "metadata.deletionTimestamp", out.emplace());
}

Result<void> read_metadata_field(std::string_view key, dom::element value, ObjectMeta& out) {
  if (key == "name") return read_text(value, "metadata.name", out.name);
  if (key == "namespace") return read_text(value, "metadata.namespace", out.namespace_);
  if (key == "uid") return read_text(value, "metadata.uid", out.uid);
  if (key == "resourceVersion") {
    return read_text(value, "metadata.resourceVersion", out.resource_version);
  }
  if (key == "generation") return read_generation(value, out.generation);
  if (key == "creationTimestamp") {
    return read_text(value, "metadata.creationTimestamp", out.creation_timestamp);
  }
  if (key == "deletionTimestamp") return read_deletion(value, out.deletion_timestamp);
  if (key == "labels") return read_map(value, "metadata.labels", out.labels);
  if (key == "annotations") return read_map(value, "metadata.annotations", out.annotations);
  if (key == "finalizers") return read_finalizers(value, out.finalizers);
  if (key == "ownerReferences") return read_owners(value, out.owners);
  return {};
}

Result<void> read_metadata(dom::element value, ObjectMeta& out) {
  if (value.is_null()) return {};
  dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return wrong_type("metadata", "an object");
  for (dom::key_value_pair field : object) KW_TRY(read_metadata_field(field.key, field.value, out));
  return {};
}

// A field of the object itself.
Result<void> read_field(std::string_view key, dom::element value, ObjectMeta& out) {
  if (key == "apiVersion") return read_text(value, "apiVersion", out.api_version);
  if (key == "kind") return read_text(value, "kind", out.kind);
  if (key == "metadata") return read_metadata(value, out);
  return {};
}

Error not_json(simdjson::error_code code) {
  return {ErrorKind::invalid,
          std::string("the object is not valid JSON: ") + simdjson::error_message(code)};
}

Result<ObjectMeta> read_object(simdjson::simdjson_result<dom::element> parsed) {
  dom::element root;
  if (const auto code = parsed.get(root); code != simdjson::SUCCESS) return not_json(code);
  dom::object object;
  if (root.get_object().get(object) != simdjson::SUCCESS)
    return wrong_type("the JSON value", "an object");
  ObjectMeta out;
  for (dom::key_value_pair field : object) KW_TRY(read_field(field.key, field.value, out));
  return out;
}

const std::string* lookup(const std::vector<std::pair<std::string, std::string>>& map,
                          std::string_view key) {
  for (const auto& [name, value] : map) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> map_of(const Json& metadata, const char* key) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* map = base::find(metadata, {key});
  if (map == nullptr || !map->is_object()) return out;
  for (const auto& [name, value] : map->items()) {
    if (value.is_string()) out.emplace_back(name, value.get<std::string>());
  }
  return out;
}

std::vector<OwnerReference> owners_of(const Json& metadata) {
  std::vector<OwnerReference> out;
  for (const Json& owner : base::items_at(metadata, {"ownerReferences"})) {
    out.push_back({base::string_at(owner, {"apiVersion"}), base::string_at(owner, {"kind"}),
                   base::string_at(owner, {"name"}), base::string_at(owner, {"uid"}),
                   base::bool_at(owner, {"controller"}),
                   base::bool_at(owner, {"blockOwnerDeletion"})});
  }
  return out;
}

}  // namespace

bool ObjectMeta::has_finalizer(std::string_view finalizer) const {
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

const std::string* ObjectMeta::label(std::string_view key) const {
  return lookup(labels, key);
}

const std::string* ObjectMeta::annotation(std::string_view key) const {
  return lookup(annotations, key);
}

Result<ObjectMeta> parse_meta(std::string_view object_json) {
  Scratch& space = scratch();
  Result<ObjectMeta> out = read_object(space.parse(object_json));
  space.trim();
  return out;
}

Result<ObjectMeta> parse_kept_meta(std::string_view object_json) {
  Scratch& space = scratch();
  ObjectMeta out;
  Result<void> read =
      JsonCursor(object_json)
          .each_field([&](std::string_view key, std::string_view value) -> Result<void> {
            if (key != "apiVersion" && key != "kind" && key != "metadata") return {};
            dom::element root;
            const auto code = space.parse(value).get(root);
            if (code != simdjson::SUCCESS) return not_json(code);
            return read_field(key, root, out);
          });
  space.trim();
  if (!read.ok()) return std::move(read).error();
  return out;
}

bool ends_initial_events(const ObjectMeta& bookmark) {
  const std::string* end = bookmark.annotation(kInitialEventsEnd);
  return end != nullptr && *end == "true";
}

bool ends_initial_events(const Json& bookmark) {
  return base::string_at(bookmark, {"metadata", "annotations", kInitialEventsEnd}) == "true";
}

ObjectMeta meta_of(const Json& object) {
  ObjectMeta out;
  out.api_version = base::string_at(object, {"apiVersion"});
  out.kind = base::string_at(object, {"kind"});
  const Json* metadata = base::find(object, {"metadata"});
  if (metadata == nullptr) return out;
  out.name = base::string_at(*metadata, {"name"});
  out.namespace_ = base::string_at(*metadata, {"namespace"});
  out.uid = base::string_at(*metadata, {"uid"});
  out.resource_version = base::string_at(*metadata, {"resourceVersion"});
  out.generation = base::int_at(*metadata, {"generation"}).value_or(0);
  out.creation_timestamp = base::string_at(*metadata, {"creationTimestamp"});
  const Json* deletion = base::find(*metadata, {"deletionTimestamp"});
  if (deletion != nullptr && deletion->is_string()) {
    out.deletion_timestamp = deletion->get<std::string>();
  }
  out.labels = map_of(*metadata, "labels");
  out.annotations = map_of(*metadata, "annotations");
  out.finalizers = base::strings_at(*metadata, {"finalizers"});
  out.owners = owners_of(*metadata);
  return out;
}

}  // namespace kubewatch::core

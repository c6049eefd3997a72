// Entries of managedFields: text in and out, order, identity.
#include "schema/managed_entries.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/server_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

constexpr std::size_t kMaxUpdaters = 10;
constexpr const char* kAncient = "ancient-changes";

std::int64_t seconds_of(const ManagedEntry& entry) {
  if (entry.time.empty()) return 0;
  const Result<WallTime> at = base::parse_rfc3339(entry.time);
  if (!at.ok()) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(at->time_since_epoch()).count();
}

Result<ManagedEntry> decode_entry(const Json& json, std::size_t index) {
  const auto invalid = [&](const std::string& what) { return Error(ErrorKind::invalid, what); };
  if (!json.is_object())
    return invalid("managed fields entry " + std::to_string(index) + " is no object");
  ManagedEntry entry;
  entry.original = &json;
  const std::string operation = base::string_at(json, {"operation"});
  if (operation != "Apply" && operation != "Update") {
    return invalid("operation must be `Apply` or `Update`");
  }
  entry.applied = operation == "Apply";
  entry.manager = base::string_at(json, {"manager"});
  entry.api_version = base::string_at(json, {"apiVersion"});
  entry.subresource = base::string_at(json, {"subresource"});
  entry.time = base::string_at(json, {"time"});
  if (entry.api_version.empty()) return invalid("apiVersion must not be empty");
  const std::string type = base::string_at(json, {"fieldsType"});
  if (type.empty()) {
    return invalid("missing fieldsType in managed fields entry " + std::to_string(index));
  }
  if (type != "FieldsV1") {
    return invalid("invalid fieldsType \"" + type + "\" in managed fields entry " +
                   std::to_string(index));
  }
  if (const Json* fields = base::find(json, {"fieldsV1"});
      fields != nullptr && !fields->is_null()) {
    KW_ASSIGN(entry.fields, FieldSet::from_fields_v1(*fields));
  }
  return entry;
}

Json encode_entry(const ManagedEntry& entry) {
  if (entry.original != nullptr) return *entry.original;
  Json out = {{"manager", entry.manager},
              {"operation", entry.applied ? "Apply" : "Update"},
              {"apiVersion", entry.api_version},
              {"fieldsType", "FieldsV1"},
              {"fieldsV1", entry.fields.to_fields_v1()}};
  if (!entry.time.empty()) out["time"] = entry.time;
  if (!entry.subresource.empty()) out["subresource"] = entry.subresource;
  return out;
}

FieldSet identity_fields() {
  FieldSet set;
  const auto field = [](const char* name) { return PathElement::of_field(name); };
  for (const char* name : {"apiVersion", "kind", "metadata"}) set.insert({field(name)});
  for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                           "clusterName", "generation", "managedFields", "resourceVersion"}) {
    set.insert({field("metadata"), field(name)});
  }
  return set;
}

}  // namespace

std::string ManagedEntry::identity() const {
  std::string out = "{\"manager\":" + base::json_quoted(manager) + ",\"operation\":";
  out += applied ? "\"Apply\"" : "\"Update\",\"apiVersion\":" + base::json_quoted(api_version);
  if (!subresource.empty()) out += ",\"subresource\":" + base::json_quoted(subresource);
  return out + "}";
}

std::string ManagedEntry::text() const {
  std::string out = base::json_quoted(manager);
  if (!subresource.empty()) out += " with subresource " + base::json_quoted(subresource);
  if (!applied) out += " using " + api_version;
  return out;
}

Result<Managed> decode_managed(const Json* managed_fields) {
  Managed out;
  if (managed_fields == nullptr || managed_fields->is_null()) return out;
  if (!managed_fields->is_array()) {
    return Error(ErrorKind::invalid, "metadata.managedFields is not a list");
  }
  for (std::size_t i = 0; i < managed_fields->size(); ++i) {
    KW_ASSIGN(ManagedEntry entry, decode_entry((*managed_fields)[i], i));
    std::string identity = entry.identity();
    out[std::move(identity)] = std::move(entry);
  }
  return out;
}

Json encode_managed(const Managed& managed) {
  struct Row {
    const ManagedEntry* entry;
    std::int64_t seconds;
  };
  std::vector<Row> rows;
  for (const auto& [identity, entry] : managed) rows.push_back({&entry, seconds_of(entry)});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const auto key = [](const Row& row) {
      return std::tie(row.seconds, row.entry->manager, row.entry->api_version,
                      row.entry->subresource);
    };
    if (a.entry->applied != b.entry->applied) return a.entry->applied;
    return key(a) < key(b);
  });
  Json out = Json::array();
  for (const Row& row : rows) out.push_back(encode_entry(*row.entry));
  return out.empty() ? Json() : out;
}

void set_managed(Json& object, const Managed& managed) {
  Json encoded = encode_managed(managed);
  if (!encoded.is_null()) {
    object["metadata"]["managedFields"] = std::move(encoded);
  } else {
    core::drop_metadata(object, {"managedFields"});
  }
}

const Json* managed_fields_of(const Json& object) {
  return base::find(object, {"metadata", "managedFields"});
}

namespace {

bool same_but_time(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return false;
  if (a.size() - a.count("time") != b.size() - b.count("time")) return false;
  for (const auto& [name, value] : a.items()) {
    if (name == "time") continue;
    const auto other = b.find(name);
    if (other == b.end() || *other != value) return false;
  }
  return true;
}

}  // namespace

bool same_owners(const Json* a, const Json* b) {
  const bool none_a = a == nullptr || !a->is_array() || a->empty();
  const bool none_b = b == nullptr || !b->is_array() || b->empty();
  if (none_a || none_b) return none_a == none_b;
  if (a->size() != b->size()) return false;
  return std::equal(a->begin(), a->end(), b->begin(), same_but_time);
}

void strip_identity_fields(FieldSet& fields) {
  static const FieldSet kStripped = identity_fields();
  fields.subtract(kStripped);
}

void cap_updaters(Managed& managed) {
  std::vector<std::pair<std::int64_t, std::string>> updaters;
  for (const auto& [identity, entry] : managed) {
    if (!entry.applied) updaters.emplace_back(seconds_of(entry), identity);
  }
  if (updaters.size() <= kMaxUpdaters) return;
  std::sort(updaters.begin(), updaters.end());
  std::map<std::string, std::string> first_of_version;
  std::size_t count = updaters.size();
  for (const auto& [seconds, identity] : updaters) {
    if (count <= kMaxUpdaters) break;
    const auto position = managed.find(identity);
    if (position == managed.end()) continue;
    const std::string version = position->second.api_version;
    const auto [first, is_first] = first_of_version.try_emplace(version, identity);
    if (is_first) continue;
    ManagedEntry ancient{kAncient, false, version, "", "", {}, nullptr};
    const std::string bucket = ancient.identity();
    if (identity == bucket) {
      // One without a time comes before it. As there (capManagersManager), it is merged into itself
      // and dropped.
      managed.erase(position);
      --count;
      continue;
    }
    if (managed.count(bucket) == 0) {
      ancient.fields = std::move(managed[first->second].fields);
      managed.erase(first->second);
      managed[bucket] = std::move(ancient);
    }
    ManagedEntry merged = std::move(managed[identity]);
    managed.erase(identity);
    ManagedEntry& all = managed[bucket];
    all.fields.merge_in(merged.fields);
    all.time = merged.time;  // the more recent of the two
    all.original = nullptr;
    --count;
  }
}

Json without_managed(const Json& object) {
  if (!object.is_object()) return object;
  Json out = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (key != "metadata" || !value.is_object()) {
      out[key] = value;
      continue;
    }
    Json& metadata = out[key] = Json::object();
    for (const auto& [name, below] : value.items()) {
      if (name != "managedFields") metadata[name] = below;
    }
  }
  return out;
}

void reconcile_entries(const MergeNode& schema, Managed& managed) {
  for (auto& [identity, entry] : managed) {
    if (reconcile_with_schema(schema, entry.fields)) entry.original = nullptr;
  }
}

void drop_empty(Managed& managed) {
  for (auto entry = managed.begin(); entry != managed.end();) {
    entry = entry->second.fields.empty() ? managed.erase(entry) : std::next(entry);
  }
}

std::string entry_time(const std::string& subresource, WallTime now) {
  return subresource == "scale" ? "" : base::format_rfc3339(now);
}

}  // namespace kubewatch::schema

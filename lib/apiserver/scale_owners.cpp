#include "apiserver/scale_owners.hpp"

#include "base/strings.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::apiserver {

namespace {

using schema::FieldSet;
using schema::Managed;
using schema::ManagedEntry;
using schema::Path;

constexpr const char* kVersionOfScales = "autoscaling/v1";

const Path& path_in_scale() {
  static const Path path = replica_path(".spec.replicas");
  return path;
}

FieldSet only(const Path& path) {
  FieldSet out;
  out.insert(path);
  return out;
}

ManagedEntry with_fields(ManagedEntry entry, FieldSet fields, const std::string& version) {
  entry.fields = std::move(fields);
  entry.api_version = version;
  entry.original = nullptr;
  return entry;
}

bool owns(const ManagedEntry& entry, const Path& path) {
  return !path.empty() && entry.fields.has(path);
}

}  // namespace

Path replica_path(const std::string& json_path) {
  Path out;
  for (const auto& name : base::split(json_path, '.')) {
    if (!name.empty()) out.push_back(schema::PathElement::of_field(name));
  }
  return out;
}

Result<Json> owners_of_scale(const Json* owners, const ReplicaPaths& paths) {
  KW_ASSIGN(const Managed managed, schema::decode_managed(owners));
  Managed out;
  for (const auto& [identity, entry] : managed) {
    const auto path = paths.find(entry.api_version);
    if (path == paths.end() || !owns(entry, path->second)) continue;
    out[identity] = with_fields(entry, only(path_in_scale()), kVersionOfScales);
  }
  return schema::encode_managed(out);
}

// As there, an updater of the object is never the same as one of its Scale, as their versions are
// others: it is left without the replicas, and stands a second time with nothing else.
Result<Json> owners_with_scale(const Json* owners, const Json* scale, const ReplicaPaths& paths,
                               const std::string& version) {
  KW_ASSIGN(const Managed managed, schema::decode_managed(owners));
  KW_ASSIGN(Managed of_scale, schema::decode_managed(scale));
  Managed out;
  for (const auto& [identity, entry] : managed) {
    const auto path = paths.find(entry.api_version);
    if (path == paths.end()) continue;  // a version that is no more
    if (!owns(entry, path->second) || of_scale.erase(identity) != 0) {
      out[identity] = entry;
      continue;
    }
    FieldSet left = entry.fields.difference(only(path->second));
    if (!left.empty()) out[identity] = with_fields(entry, std::move(left), entry.api_version);
  }
  for (const auto& [identity, entry] : of_scale) {
    if (!owns(entry, path_in_scale())) continue;
    ManagedEntry owner = with_fields(entry, only(paths.at(version)), version);
    owner.time.clear();
    out[identity] = std::move(owner);
  }
  return schema::encode_managed(out);
}

}  // namespace kubewatch::apiserver

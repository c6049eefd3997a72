#include "rehearsal/snapshot.hpp"

#include "base/time.hpp"
#include "core/server_fields.hpp"
#include "rehearsal/matcher.hpp"

namespace kubewatch::rehearsal {

namespace {

using Names = std::map<std::string, std::string>;

std::string snapshot_key(const Json& object) {
  return snapshot_name(base::string_at(object, {"kind"}),
                       {base::string_at(object, {"metadata", "namespace"}),
                        base::string_at(object, {"metadata", "name"})});
}

bool is_passing(const Json& object) {
  const std::string kind = base::string_at(object, {"kind"});
  return kind == "Event" || kind == "Lease";
}

// Uids become the names of their objects, times a word.
void normalize(Json& value, const Names& names) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto name = names.find(text);
    if (name != names.end()) {
      value = "uid of " + name->second;
    } else if (text.size() >= 20 && text.size() <= 35 && base::parse_rfc3339(text).ok()) {
      value = "a time";
    }
    return;
  }
  if (!value.is_structured()) return;  // a number would be gone through as its own item
  for (auto& item : value) normalize(item, names);
}

}  // namespace

std::string snapshot_name(const std::string& kind, const core::ObjectKey& key) {
  return kind + " " + key.str();
}

Snapshot snapshot_of(const std::vector<Json>& objects) {
  Names names;
  for (const Json& object : objects) {
    names[base::string_at(object, {"metadata", "uid"})] = snapshot_key(object);
  }
  names.erase("");
  Snapshot out;
  for (const Json& object : objects) {
    if (is_passing(object)) continue;
    Json kept = object;
    core::drop_metadata(kept, {"resourceVersion", "managedFields", "generation"});
    if (Json* status = base::find(kept, {"status"})) {
      if (Json* conditions = base::find(*status, {"conditions"});
          conditions && conditions->is_array()) {
        for (Json& condition : *conditions) {
          if (condition.is_object()) condition.erase("observedGeneration");
        }
      }
    }
    normalize(kept, names);
    out[snapshot_key(object)] = std::move(kept);
  }
  return out;
}

std::vector<std::string> snapshot_differences(const Snapshot& expected, const Snapshot& actual,
                                              const std::set<std::string>& only_there) {
  std::vector<std::string> out;
  for (const auto& [name, object] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) {
      out.push_back(name + " is missing");
      continue;
    }
    if (found->second == object || only_there.count(name) > 0) continue;
    auto differences = compare(object, found->second);
    // What is too much shows only the other way round.
    if (differences.empty()) {
      for (auto& one : compare(found->second, object)) {
        out.push_back(name + ": " + one.path + ": should not be there");
      }
      continue;
    }
    for (const auto& one : differences) out.push_back(name + ": " + one.path + ": " + one.message);
  }
  for (const auto& [name, object] : actual) {
    if (expected.count(name) == 0) out.push_back(name + " should not be there");
  }
  return out;
}

}  // namespace kubewatch::rehearsal

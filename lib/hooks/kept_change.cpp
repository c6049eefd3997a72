// The members are compared as they stand: one server writes the same in the same way, and what it
// wrote otherwise counts as a change.
#include "hooks/kept_change.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/json_scan.hpp"
#include "core/server_fields.hpp"

namespace kubewatch::hooks {
namespace {

using KeptMembers = std::map<std::string, std::string_view, std::less<>>;

std::optional<KeptMembers> kept_members(std::string_view text) {
  KeptMembers out;
  const auto in_metadata = [&out](std::string_view key, std::string_view value) -> Result<void> {
    const bool counts = key == "resourceVersion" || key == "generation" || key == "managedFields";
    if (!counts) out.emplace("metadata/" + std::string(key), value);
    return {};
  };
  const auto read =
      core::JsonCursor(text).each_field([&](std::string_view key, std::string_view value) {
        if (key == "metadata") return core::JsonCursor(value).each_field(in_metadata);
        out.emplace(key, value);
        return Result<void>();
      });
  if (!read.ok()) return std::nullopt;
  return out;
}

// By default nothing is stripped of which a hook would want to know.
bool is_stripped_anyway(const std::string& pointer) {
  return pointer == "/metadata/managedFields" || pointer == core::kLastAppliedPointer;
}

bool is_of_status(const std::string& pointer) {
  return pointer == "/status" || pointer.starts_with("/status/");
}

// As the server sent it: `strip` may drop labels, too, and children are found by theirs.
bool same_place(const core::ObjectMeta& before, const core::ObjectMeta& now) {
  return before.labels == now.labels && before.finalizers == now.finalizers &&
         before.deletion_timestamp == now.deletion_timestamp;
}

}  // namespace

bool same_but_for_counts(std::string_view before, std::string_view now) {
  const auto old = kept_members(before);
  return old && old == kept_members(now);
}

bool only_unkept_changed(const StreamRule& stream, const core::ResourceType& type,
                         const runtime::StoreChange& change, Relative relative) {
  if (change.type != runtime::ChangeType::modified || change.reduced || !change.previous_meta) {
    return false;
  }
  const auto& strip = stream.strip;
  const bool metadata = stream.list.content == core::Content::metadata;
  if (!metadata && std::ranges::all_of(strip, is_stripped_anyway)) return false;
  // 0: the kind has none, or not in this version of the server.
  const std::int64_t generation = change.meta.generation;
  const bool same_generation = change.previous_meta->generation == generation;
  const bool owned = relative == Relative::owned;
  // Of an object that is kept as metadata alone the generation tells of all but its status; where a
  // kind has no status, as a ConfigMap, or no generation, as a Node, any version does.
  const bool counts = generation != 0 && type.has_subresource("status");
  if (metadata && (!same_generation || !counts)) return false;
  // What others did to the rest of a child would not be undone.
  const bool status_alone = !metadata && std::ranges::all_of(strip, [](const std::string& pointer) {
    return is_stripped_anyway(pointer) || is_of_status(pointer);
  });
  if (owned && !status_alone && (!same_generation || generation == 0)) return false;
  return same_place(*change.previous_meta, change.meta) &&
         same_but_for_counts(change.previous_json, change.json);
}

}  // namespace kubewatch::hooks

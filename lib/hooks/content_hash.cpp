// Hashes of what matters in an object.
#include "hooks/content_hash.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/json.hpp"
#include "core/json_scan.hpp"
#include "hooks/ownership.hpp"

namespace kubewatch::hooks {
namespace {

void drop_our_marks(Json& object, const std::string& finalizer) {
  if (Json* finalizers = base::find(object, {"metadata", "finalizers"});
      finalizers != nullptr && finalizers->is_array()) {
    for (auto it = finalizers->begin(); it != finalizers->end();) {
      it = *it == finalizer ? finalizers->erase(it) : it + 1;
    }
    if (finalizers->empty()) object["metadata"].erase("finalizers");
  }
  Json* annotations = base::find(object, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  for (auto it = annotations->begin(); it != annotations->end();) {
    it = it.key().rfind(kDomain, 0) == 0 ? annotations->erase(it) : std::next(it);
  }
  if (annotations->empty()) object["metadata"].erase("annotations");
}

using NamedMembers = std::map<std::string, std::string_view, std::less<>>;

// Of an object's text, without those that are told apart by more than their values.
std::optional<NamedMembers> main_members(std::string_view text) {
  NamedMembers out;
  const auto read = core::JsonCursor(text).each_field([&](auto key, auto value) -> Result<void> {
    if (key != "metadata" && key != "status") out.emplace(key, value);
    return {};
  });
  if (!read.ok()) return std::nullopt;
  return out;
}

bool same_value(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto first = base::parse_json(a);
  const auto second = base::parse_json(b);
  return first.ok() && second.ok() && *first == *second;
}

// True only when it is certain; a difference elsewhere may count as well.
bool main_part_differs(std::string_view before, std::string_view after) {
  const auto old = main_members(before);
  const auto now = main_members(after);
  if (!old || !now) return false;
  return !std::equal(old->begin(), old->end(), now->begin(), now->end(),
                     [](const auto& a, const auto& b) {
                       return a.first == b.first && same_value(a.second, b.second);
                     });
}

}  // namespace

ContentHash::ContentHash(const Rule& rule)
    : finalizer_(rule.finalizer_name),
      metadata_only_(rule.for_.list.content == core::Content::metadata) {
  if (rule.changed.empty()) return;
  // The rule file was checked: a path that does not parse cannot come here.
  if (auto paths = jq::ChangeHash::parse(rule.changed); paths.ok()) paths_ = std::move(*paths);
}

std::uint64_t ContentHash::of(const Json& object) const {
  if (paths_) return paths_->of(object);
  std::vector<jq::Path> counted = {{"status"}, {"metadata", "managedFields"}};
  // Kinds without a generation have no status whose changes would have to be told apart.
  const bool has_generation = base::int_at(object, {"metadata", "generation"}).has_value();
  if (!metadata_only_) counted.push_back({"metadata", "generation"});
  if (!metadata_only_ || has_generation) counted.push_back({"metadata", "resourceVersion"});
  Json kept = jq::without_paths(object, counted);
  drop_our_marks(kept, finalizer_);
  static const jq::ChangeHash whole(std::vector<jq::Path>{{}});
  return whole.of(kept);
}

bool ContentHash::differs(std::string_view before, std::string_view after) const {
  if (!paths_ && main_part_differs(before, after)) return true;
  const auto old = base::parse_json(before);
  const auto now = base::parse_json(after);
  if (!old.ok() || !now.ok()) return true;
  return of(*old) != of(*now);
}

}  // namespace kubewatch::hooks

// Hashes of what matters in an object.
#include "hooks/content_hash.hpp"

#include "base/json.hpp"
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

}  // namespace kubewatch::hooks

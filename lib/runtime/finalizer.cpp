#include "runtime/finalizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"

namespace kubewatch::runtime {

namespace {

// A name can be reused by another object at any moment; the uid cannot.
void test_uid(Json& patch, const core::ObjectMeta& meta) {
  if (meta.uid.empty()) return;
  patch.push_back({{"op", "test"}, {"path", "/metadata/uid"}, {"value", meta.uid}});
}

}  // namespace

FinalizerStep finalizer_step(const core::ObjectMeta& meta, const std::string& name, bool wanted) {
  const bool has = meta.has_finalizer(name);
  if (meta.deleting()) return has ? FinalizerStep::clean_up : FinalizerStep::nothing;
  if (wanted) return has ? FinalizerStep::reconcile : FinalizerStep::add_first;
  return has ? FinalizerStep::remove : FinalizerStep::reconcile;
}

Json add_finalizer_patch(const core::ObjectMeta& meta, const std::string& name) {
  Json patch = Json::array();
  test_uid(patch, meta);
  const Json seen = meta.finalizers.empty() ? Json(nullptr) : Json(meta.finalizers);
  patch.push_back({{"op", "test"}, {"path", "/metadata/finalizers"}, {"value", seen}});
  if (meta.finalizers.empty()) {
    patch.push_back(
        {{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", Json::array({name})}});
  } else {
    patch.push_back({{"op", "add"}, {"path", "/metadata/finalizers/-"}, {"value", name}});
  }
  return patch;
}

Json remove_finalizer_patch(const core::ObjectMeta& meta, const std::string& name) {
  const auto at = std::find(meta.finalizers.begin(), meta.finalizers.end(), name);
  const std::string path =
      fmt::format("/metadata/finalizers/{}", std::distance(meta.finalizers.begin(), at));
  Json patch = Json::array();
  test_uid(patch, meta);
  patch.push_back({{"op", "test"}, {"path", path}, {"value", name}});
  patch.push_back({{"op", "remove"}, {"path", path}});
  return patch;
}

}  // namespace kubewatch::runtime

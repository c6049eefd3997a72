// Reads the CustomResourceDefinition of a kind for its status shape.
#include "hooks/status_shapes.hpp"

#include "base/json.hpp"
#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kKeep{300000};

}  // namespace

void StatusShapes::with(const core::ResourceType& type, const client::ResourceMap* resources,
                        std::function<void(const StatusShape&)> done) {
  const TimePoint now = client_.loop().now();
  if (shape_ && now - read_at_ < kKeep) return done(*shape_);
  if (StatusShape built_in = status_shape_of_builtin(type.gvk); built_in.known)
    return done(built_in);
  const core::ResourceType* crds =
      resources == nullptr
          ? nullptr
          : resources->find({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
  if (crds == nullptr) return done(unknown_status_shape());
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  requests_.run<Result<Json>>(
      [this, version = type.gvk.version](Result<Json> crd) {
        if (!crd.ok()) base::vlog(2, "no CRD to read: " + crd.error().render());
        answer(crd.ok() ? status_shape_of_crd(*crd, version) : unknown_status_shape());
      },
      [&](client::ObjectCallback callback) {
        return client_.get(*crds, {"", type.plural + "." + type.gvk.group}, std::move(callback));
      });
}

void StatusShapes::answer(const StatusShape& shape) {
  shape_ = shape;
  read_at_ = client_.loop().now();
  auto waiting = std::move(waiting_);
  waiting_.clear();
  for (auto& done : waiting) done(shape);
}

}  // namespace kubewatch::hooks

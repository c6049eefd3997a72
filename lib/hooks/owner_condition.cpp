// One condition.
#include "hooks/owner_condition.hpp"

#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "hooks/kind_schemas.hpp"
#include "hooks/plan.hpp"

namespace kubewatch::hooks {

OwnerCondition::OwnerCondition(WriteContext& context, Owner owner, const core::ObjectMeta& meta)
    : context_(context),
      owner_(std::move(owner)),
      status_(context, owner_, meta.generation, meta.resource_version) {}

void OwnerCondition::tell(std::string_view reason, const std::string& why, Done done) {
  reason_ = reason;
  why_ = why;
  done_ = std::move(done);
  if (!context_.owner_type().has_subresource("status")) return finish(false);
  context_.with_status_shape(context_.client().loop().now() - kSchemaAge,
                             [this](const StatusShape& shape) {
                               if (!shape.known) return look_for_conditions();
                               shape.conditions ? write() : finish(false);
                             });
}

// Without a schema only an object that has conditions tells that its kind has them.
void OwnerCondition::look_for_conditions() {
  requests_.run<Result<Json>>(
      [this](const Result<Json>& live) {
        const bool has = live.ok() && base::find(*live, {"status", "conditions"}) != nullptr;
        has ? write() : finish(false);
      },
      [&](client::ObjectCallback callback) {
        return context_.client().get(context_.owner_type(), owner_.key, std::move(callback));
      });
}

void OwnerCondition::write() {
  status_.start(std::nullopt, {error_condition(reason_, why_)},
                [this](const Result<bool>& written) {
                  if (!written.ok()) {
                    base::vlog(2, "a condition was not written: " + written.error().render());
                  }
                  finish(written.ok() && *written);
                });
}

void OwnerCondition::finish(bool written) {
  const Done done = std::exchange(done_, nullptr);
  done(written);
}

}  // namespace kubewatch::hooks

#include "runtime/applier.hpp"

#include <utility>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "core/meta.hpp"

namespace kubewatch::runtime {

Applier::Applier(client::Client& client, std::string field_manager, bool force)
    : client_(client), field_manager_(std::move(field_manager)), force_(force) {}

void Applier::apply(const core::ResourceType& type, const Json& object, Done done,
                    const std::string& subresource) {
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = field_manager_;
  params.force = force_;
  requests_.run<Result<client::ApplyResult>>(
      [done = std::move(done)](Result<client::ApplyResult> answer) {
        if (!answer.ok()) return done(std::move(answer).error());
        done(RunOutcome::await_change());
      },
      [&](auto ready) {
        return client_.patch(type, core::meta_of(object).key(), object, params, std::move(ready),
                             subresource);
      });
}

}  // namespace kubewatch::runtime

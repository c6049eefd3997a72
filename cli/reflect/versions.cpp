#include "cli/reflect/versions.hpp"

#include <utility>

#include "base/log.hpp"
#include "cli/resource_args.hpp"
#include "client/discovery.hpp"
#include "runtime/served_kind.hpp"

namespace kubewatch::cli {

void KindVersions::not_found(CachedKind& kind, const Error& error) {
  const bool asks = !waiting_.empty();
  waiting_.insert_or_assign(&kind, error);
  if (!asks) discover();
}

void KindVersions::discover() {
  using Answer = Result<std::shared_ptr<const client::ResourceMap>>;
  requests_.run<Answer>(
      [this](const Answer& answer) {
        const auto waiting = std::exchange(waiting_, {});
        for (const auto& [kind, error] : waiting) {
          // Of a server that does not answer the next failure asks again: whatever stands before it
          // may have said 404.
          if (answer.ok()) {
            judge(*kind, error, **answer);
          } else if (answer.error().is_forbidden()) {
            told_.refused(*kind, error);
          }
        }
      },
      [this](auto done) { return client::discover(client_, std::move(done)); });
}

void KindVersions::judge(CachedKind& kind, const Error& error, const client::ResourceMap& map) {
  // It may have come back meanwhile.
  if (!kind.reflector().failing_since() || going_.contains(&kind)) return;
  const auto served = runtime::served_kind(map, kind.type().gvk);
  if (served.state == runtime::ServedKind::State::unknown) return;
  if (served.state != runtime::ServedKind::State::another) return told_.refused(kind, error);
  const bool pinned = kind.plan().pinned;
  if (!pinned || said_.insert(&kind).second) {
    base::log_warn(served_as_text(*served.type, kind.type().gvk.version, pinned));
  }
  if (pinned) return told_.refused(kind, error);
  if (serving_ == nullptr) return go_on(kind, *served.type);
  going_.insert(&kind);
  serving_->find_resource(requests_, client_, *served.type,
                          [this, &kind, type = *served.type](apiserver::ResourcePtr resource) {
                            going_.erase(&kind);
                            if (!kind.reflector().failing_since()) return;
                            serving_->go_on_as(kind, std::move(resource));
                            go_on(kind, type);
                          });
}

void KindVersions::go_on(CachedKind& kind, const core::ResourceType& type) {
  const core::Gvk before = kind.type().gvk;
  kind.go_on_as(type);
  told_.goes_on(kind, before);
}

}  // namespace kubewatch::cli

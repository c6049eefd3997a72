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

bool KindVersions::is_lasting(CachedKind& kind, TimePoint failing_since,
                              runtime::ServedKind::State found) {
  Looks& looks = looks_[&kind];
  if (looks.failing_since != failing_since || looks.found != found) {
    looks = {failing_since, found, 0};
  }
  ++looks.count;
  // One version goes before the next one comes, and one of several servers may serve a new
  // definition some seconds before the next: asking again will do. For ever it does not: a
  // recording lacks what discovery has, and so may something in between.
  const int enough = found == runtime::ServedKind::State::gone ? 2 : 4;
  return looks.count >= enough;
}

void KindVersions::judge(CachedKind& kind, const Error& error, const client::ResourceMap& map) {
  using State = runtime::ServedKind::State;
  // It may have come back meanwhile.
  const auto since = kind.reflector().failing_since();
  if (!since || going_.contains(&kind)) return;
  const auto served = runtime::served_kind(map, kind.type());
  if (served.state == State::unknown) return;
  if (served.state == State::gone || served.state == State::served) {
    if (is_lasting(kind, *since, served.state)) told_.refused(kind, error);
    return;
  }
  looks_.erase(&kind);
  // It is no more what the cache was asked for.
  if (served.state == State::moved) return told_.refused(kind, error);
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

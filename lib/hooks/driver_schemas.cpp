// Driver, the part that tells its runs, while they judge and write what hooks print, of kinds and
// their schemas.
#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

void Driver::with_unwatched_places(const Owner& owner, bool stale, bool referring_too,
                                   std::function<void(Result<std::vector<Unwatched>>)> done) {
  auto answer = [this, owner, stale, referring_too,
                 done = std::move(done)](const Result<bool>& resolved) {
    if (!resolved.ok()) return done(resolved.error());
    done(caches_.unwatched_places(owner, stale, referring_too));
  };
  const auto known = services_.resources();
  const auto resolved = caches_.resolve_writes(*known);
  if (resolved.ok() && *resolved) return answer(resolved);
  services_.rediscover([this, answer = std::move(answer)] {
    answer(caches_.resolve_writes(*services_.resources()));
  });
}

void Driver::with_schemas(TimePoint oldest, std::function<void(const KindSchemas&)> done) {
  std::vector<core::Gvk> kinds;
  for (const OwnsRule& owns : rule_.owns) kinds.push_back(owns.stream.gvk);
  for (const WritesRule& writes : rule_.writes) kinds.push_back(writes.gvk);
  if (owner_type().has_subresource("status")) kinds.push_back(owner_type().gvk);
  const auto resources = services_.resources();
  schemas_.with(kinds, resources.get(), oldest, [this, done = std::move(done)] { done(schemas_); });
}

void Driver::warn_of_fields(const std::string& object, const std::string& what) {
  if (!told_.admit(object + what, services_.loop.now())) return;
  base::log_warn("the hook comes to own fields that it may not mean: " + what + "; leave them out",
                 {{"controller", rule_.name}, {"object", object}});
}

void Driver::with_status_shape(TimePoint oldest, std::function<void(const StatusShape&)> done) {
  const auto resources = services_.resources();
  schemas_.with({owner_type().gvk}, resources.get(), oldest,
                [this, done = std::move(done)] { done(schemas_.status_shape(owner_type().gvk)); });
}

}  // namespace kubewatch::hooks

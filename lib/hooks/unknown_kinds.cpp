#include "hooks/unknown_kinds.hpp"

#include "core/status.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kPatience{30000};
// Not asked for so long: what happens now is another story.
constexpr Duration kForgotten{600000};

}  // namespace

bool UnknownKinds::may_come(const core::Gvk& gvk, TimePoint now) {
  const auto [it, fresh] = seen_.try_emplace(gvk, Seen{now, now});
  Seen& seen = it->second;
  if (!fresh && now - seen.last >= kForgotten) seen.first = now;
  seen.last = now;
  return now - seen.first < kPatience;
}

Error UnknownKinds::explain(Error error, const core::Gvk& gvk, TimePoint now) {
  if (!core::is_unknown_path(error) || !may_come(gvk, now)) return error;
  return Error(ErrorKind::unavailable,
               "the server that answered does not know " + gvk.str() +
                   " yet, which is established on another: " + error.message(),
               *error.status());
}

}  // namespace kubewatch::hooks

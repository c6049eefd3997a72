// What becomes of a cache whose kind is answered with 404: where the server has another version in
// the place of the one that it lists, the cache goes on in that, and what serves it too; where that
// does not change from failure to failure, it is the end of it. Finds out and tells; what a refusal
// means is the verb's to say.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "cli/reflect/kinds.hpp"
#include "cli/reflect/serve.hpp"
#include "client/in_flight.hpp"
#include "runtime/served_kind.hpp"

namespace kubewatch::cli {

class KindVersions {
 public:
  struct Told {
    // After the cache has begun to be read in another version than `before`.
    std::function<void(CachedKind& kind, const core::Gvk& before)> goes_on;
    // There is no other way than to ask as before.
    std::function<void(CachedKind& kind, const Error& error)> refused;
  };
  // `serving` may be null. The client, the serving and all kinds must outlive it.
  KindVersions(client::Client& client, CacheServing* serving, Told told)
      : client_(client), serving_(serving), told_(std::move(told)) {}
  // Each failure of a kind that says so; one discovery is open at a time.
  void not_found(CachedKind& kind, const Error& error);

 private:
  void discover();
  // Whether it was found so often enough to believe it.
  bool is_lasting(CachedKind& kind, TimePoint failing_since, runtime::ServedKind::State found);
  void judge(CachedKind& kind, const Error& error, const client::ResourceMap& map);
  void go_on(CachedKind& kind, const core::ResourceType& type);

  client::Client& client_;
  CacheServing* serving_;
  Told told_;
  std::map<CachedKind*, Error> waiting_;  // for the discovery
  std::set<CachedKind*> said_;            // that a version that was asked for is waited for
  std::set<CachedKind*> going_;           // their definition is asked for
  // Looks in a row that found the same while the kind failed.
  struct Looks {
    TimePoint failing_since{};
    runtime::ServedKind::State found = runtime::ServedKind::State::unknown;
    int count = 0;
  };
  std::map<CachedKind*, Looks> looks_;
  client::InFlight requests_;
};

}  // namespace kubewatch::cli

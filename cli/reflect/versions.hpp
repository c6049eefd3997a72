// What becomes of a cache whose kind is answered with 404: where the server has another version in
// the place of the one that it lists, the cache goes on in that, and what serves it too; else that
// is the end of it. Finds out and tells; what a refusal means is the verb's to say.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "cli/reflect/kinds.hpp"
#include "cli/reflect/serve.hpp"
#include "client/in_flight.hpp"

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
  void judge(CachedKind& kind, const Error& error, const client::ResourceMap& map);
  void go_on(CachedKind& kind, const core::ResourceType& type);

  client::Client& client_;
  CacheServing* serving_;
  Told told_;
  std::map<CachedKind*, Error> waiting_;  // for the discovery
  std::set<CachedKind*> said_;            // that a version that was asked for is waited for
  std::set<CachedKind*> going_;           // their definition is asked for
  client::InFlight requests_;
};

}  // namespace kubewatch::cli

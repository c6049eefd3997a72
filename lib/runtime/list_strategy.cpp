#include "runtime/list_strategy.hpp"

namespace kubewatch::runtime {

namespace {

constexpr core::ServerVersion kConsistentReadsFromCache{1, 31};

}  // namespace

bool needs_server_version(const ListSituation& situation) {
  return situation.narrowed && !situation.from_cache && situation.page_size > 0;
}

ListForm choose_strategy(const ListSituation& situation) {
  if (!needs_server_version(situation)) return ListForm::unpaged;
  const bool from_etcd = situation.server && *situation.server < kConsistentReadsFromCache;
  return from_etcd ? ListForm::paged : ListForm::unpaged;
}

}  // namespace kubewatch::runtime

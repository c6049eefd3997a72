#include "runtime/list_strategy.hpp"

namespace kubewatch::runtime {

namespace {

constexpr ServerVersion kConsistentReadsFromCache{1, 31};
constexpr ServerVersion kStreamingOffAgain{1, 33};
constexpr ServerVersion kStreaming{1, 32};

}  // namespace

bool may_stream_lists(const std::optional<ServerVersion>& server) {
  if (!server) return true;
  const bool off_again = !(*server < kStreamingOffAgain) && !(kStreamingOffAgain < *server);
  return !(*server < kStreaming) && !off_again;
}

ListForm choose_strategy(const ListSituation& situation) {
  if (!situation.narrowed) return ListForm::unpaged;
  // One page holds it: one request, nothing to keep open meanwhile.
  if (situation.last_size > 0 && situation.last_size <= situation.page_size) {
    return ListForm::paged;
  }
  if (may_stream_lists(situation.server)) return ListForm::streaming;
  const bool cached = situation.from_cache || !(*situation.server < kConsistentReadsFromCache);
  return cached || situation.page_size == 0 ? ListForm::unpaged : ListForm::paged;
}

}  // namespace kubewatch::runtime

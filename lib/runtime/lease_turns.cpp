#include "runtime/lease_turns.hpp"

namespace kubewatch::runtime {

LeaseTurns::Turn LeaseTurns::ask(Of of, std::function<void()> go) {
  const Place place{of, ++last_};
  waiting_.emplace(place, std::move(go));
  fill();
  return {this, place};
}

void LeaseTurns::end(Place place) {
  if (waiting_.erase(place) > 0) return;
  --on_their_way_;
  fill();
}

void LeaseTurns::fill() {
  while (on_their_way_ < most_ && !waiting_.empty()) {
    const auto node = waiting_.extract(waiting_.begin());
    ++on_their_way_;
    node.mapped()();
  }
}

}  // namespace kubewatch::runtime

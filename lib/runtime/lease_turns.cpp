#include "runtime/lease_turns.hpp"

#include <algorithm>

namespace kubewatch::runtime {

LeaseTurns::Turn LeaseTurns::ask(Of of, std::function<void()> go) {
  const std::uint64_t id = ++last_;
  waiting_.emplace(Place{of, id}, std::move(go));
  fill();
  return {this, id};
}

void LeaseTurns::end(std::uint64_t id) {
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                  [id](const auto& one) { return one.first.id == id; });
  if (waits != waiting_.end()) {
    waiting_.erase(waits);
    return;
  }
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

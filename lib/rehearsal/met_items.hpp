// Which of what happened meets which item of an expectation. Where it fits several, none takes what
// another needs, in whatever order it happened. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace kubewatch::rehearsal {

struct ExpectedItem {
  std::size_t times = 1;
  bool exactly = false;  // and no more: what fits it meets it, or an item before it
};

// How many meet each item, where each of what happened meets one at most: `times` of all of them
// if that can be. More meet an exact one, where no item before it needs them.
std::vector<std::size_t> met_items(
    const std::vector<ExpectedItem>& items, std::size_t happened,
    const std::function<bool(std::size_t item, std::size_t one)>& fits);

}  // namespace kubewatch::rehearsal

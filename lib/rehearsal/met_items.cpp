// A bipartite matching by augmenting paths.
#include "rehearsal/met_items.hpp"

namespace kubewatch::rehearsal {

namespace {

struct Matching {
  const std::vector<ExpectedItem>& items;
  std::vector<std::vector<std::size_t>> fitting;  // of each that happened: the items
  std::vector<std::vector<std::size_t>> met_by;   // of each item: what happened

  // Where its items are met already, one of those by which they are goes to another item.
  bool place(std::size_t one, std::vector<bool>& tried) {
    for (const std::size_t item : fitting[one]) {
      if (tried[item]) continue;
      tried[item] = true;
      if (met_by[item].size() < items[item].times) {
        met_by[item].push_back(one);
        return true;
      }
      for (std::size_t& other : met_by[item]) {
        if (!place(other, tried)) continue;
        other = one;
        return true;
      }
    }
    return false;
  }
};

}  // namespace

std::vector<std::size_t> met_items(
    const std::vector<ExpectedItem>& items, std::size_t happened,
    const std::function<bool(std::size_t item, std::size_t one)>& fits) {
  Matching matching{items, {}, {}};
  matching.fitting.resize(happened);
  matching.met_by.resize(items.size());
  std::vector<bool> counts(happened, false);  // by an exact item, the last of those that it fits
  for (std::size_t one = 0; one < happened; ++one) {
    for (std::size_t item = 0; item < items.size() && !counts[one]; ++item) {
      if (!fits(item, one)) continue;
      matching.fitting[one].push_back(item);
      counts[one] = items[item].exactly;
    }
  }
  // What has a place keeps one: so first those that must have one.
  std::vector<std::size_t> out(items.size(), 0);
  for (const bool first : {true, false}) {
    for (std::size_t one = 0; one < happened; ++one) {
      if (counts[one] != first) continue;
      std::vector<bool> tried(items.size(), false);
      if (!matching.place(one, tried) && first) ++out[matching.fitting[one].back()];
    }
  }
  for (std::size_t item = 0; item < items.size(); ++item) out[item] += matching.met_by[item].size();
  return out;
}

}  // namespace kubewatch::rehearsal

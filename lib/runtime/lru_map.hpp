// A map by text that knows which entry was used longest ago. Addresses of values are stable.
#pragma once

#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace kubewatch::runtime {

template <class Value>
class LruMap {
 public:
  // Null when absent; a hit counts as use.
  Value* find(const std::string& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }
  // Precondition: absent.
  Value& insert(const std::string& key, Value value) {
    order_.emplace_front(key, std::move(value));
    index_[key] = order_.begin();
    return order_.front().second;
  }
  void erase(const std::string& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    order_.erase(found->second);
    index_.erase(found);
  }
  // The key used longest ago whose value `may_go`; null when there is none.
  template <class MayGo>
  const std::string* oldest(MayGo may_go) const {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (may_go(it->second)) return &it->first;
    }
    return nullptr;
  }
  // No use of any of them.
  template <class What>
  void each(What what) {
    for (auto& [key, value] : order_) what(value);
  }
  std::size_t size() const { return order_.size(); }

 private:
  std::list<std::pair<std::string, Value>> order_;  // used last first
  std::unordered_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator>
      index_;
};

}  // namespace kubewatch::runtime

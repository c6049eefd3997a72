#include "hooks/once_per.hpp"

#include <functional>

namespace kubewatch::hooks {

bool OncePer::admit(const std::string& key, TimePoint now) {
  const std::size_t hash = std::hash<std::string>{}(key);
  while (!admitted_.empty() && now - admitted_.front().at >= window_) {
    by_key_.erase(admitted_.front().key);
    admitted_.pop_front();
  }
  if (by_key_.count(hash) > 0) return false;
  if (admitted_.size() >= max_keys_) {
    by_key_.erase(admitted_.front().key);
    admitted_.pop_front();
  }
  by_key_[hash] = admitted_.insert(admitted_.end(), {hash, now});
  return true;
}

}  // namespace kubewatch::hooks

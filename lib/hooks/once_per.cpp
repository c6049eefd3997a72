#include "hooks/once_per.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxRemembered = 10000;

}  // namespace

bool OncePer::admit(const std::string& key, TimePoint now) {
  if (last_.size() > kMaxRemembered) {
    for (auto it = last_.begin(); it != last_.end();) {
      it = now - it->second >= window_ ? last_.erase(it) : std::next(it);
    }
  }
  auto [it, fresh] = last_.try_emplace(key, now);
  if (!fresh && now - it->second < window_) return false;
  it->second = now;
  return true;
}

}  // namespace kubewatch::hooks

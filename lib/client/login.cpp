#include "client/login.hpp"

#include <utility>

namespace kubewatch::client {
namespace {

// A request takes time to arrive.
constexpr std::chrono::seconds kBeforeExpiry{5};
// A server that refuses what the source gives anew would have it run for each of our requests.
constexpr Duration kPatience{10000};

}  // namespace

bool LoginState::usable(WallTime now) const {
  if (generation_ == 0 || refused_) return false;
  const auto before = kept_to_the_end_ ? WallTime::duration(0) : WallTime::duration(kBeforeExpiry);
  return !login_.expires || now + before < *login_.expires;
}

bool LoginState::still_good(WallTime now) const {
  if (generation_ == 0 || refused_) return false;
  return !login_.expires || now < *login_.expires;
}

bool LoginState::took(Login login, TimePoint now) {
  const bool other = generation_ == 0 || !login.same_as(login_);
  if (other) ++generation_;
  if (!other && refused_) same_again_at_ = now;
  kept_to_the_end_ = !other;
  login_ = std::move(login);
  refused_ = false;
  return other;
}

bool LoginState::refused(std::uint64_t generation, TimePoint now) {
  if (generation != generation_) return true;  // there is another one by now
  if (same_again_at_ && now - *same_again_at_ < kPatience) return false;
  refused_ = true;
  return true;
}

}  // namespace kubewatch::client

#include "http/stall.hpp"

namespace kubewatch::http {

bool Stall::stalled(std::size_t backlog, TimePoint now, std::uint64_t sent) {
  // Falls by what is taken, whatever comes to the backlog.
  const std::int64_t left = static_cast<std::int64_t>(backlog) - static_cast<std::int64_t>(sent);
  if (backlog == 0 || left < last_) since_ = now;
  last_ = left;
  return now - since_ > kLimit;
}

}  // namespace kubewatch::http

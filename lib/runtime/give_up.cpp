#include "runtime/give_up.hpp"

namespace kubewatch::runtime {
namespace {

// With the backoff of a watch about a quarter of a minute.
constexpr int kInARow = 5;

}  // namespace

bool time_does_not_mend(const base::Error& error) {
  return error.is_forbidden() || error.is_unauthorized() ||
         error.kind() == base::ErrorKind::invalid || error.kind() == base::ErrorKind::unsupported;
}

bool GiveUp::failed(const base::Error& error, Duration retry_in, bool worked_before) {
  // It goes another way at once: a list where a streaming list is refused.
  if (retry_in == Duration::zero()) return false;
  in_a_row_ = hopeless_(error) ? in_a_row_ + 1 : 0;
  return in_a_row_ >= (worked_before ? kInARow : 1);
}

}  // namespace kubewatch::runtime

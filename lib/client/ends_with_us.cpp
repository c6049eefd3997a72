#include "client/ends_with_us.hpp"

#include <signal.h>

#include <array>
#include <atomic>

#include "loop/ending_signals.hpp"

namespace kubewatch::client {
namespace {

constexpr std::size_t kMost = 16;

std::array<std::atomic<pid_t>, kMost> leaders{};
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler reads them");
std::size_t count = 0;

void replace_one(pid_t was, pid_t becomes) {
  for (auto& leader : leaders) {
    pid_t is = was;
    if (leader.compare_exchange_strong(is, becomes)) return;
  }
}

void end(int number) {
  for (const auto& leader : leaders) {
    if (const pid_t group = leader; group > 1) ::kill(-group, SIGKILL);
  }
  loop::end_by_signal(number);
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int number : loop::kEndingSignals) ::sigaddset(&held, number);
  ::pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

EndsWithUs::EndsWithUs(pid_t leader) : leader_(leader) {
  replace_one(0, leader_);
  if (count++ > 0) return;
  for (const int number : loop::kEndingSignals) {
    if (loop::is_default_handler(loop::handler_of(number))) ::signal(number, end);
  }
}

EndsWithUs::~EndsWithUs() {
  replace_one(leader_, 0);
  if (--count > 0) return;
  for (const int number : loop::kEndingSignals) {
    if (loop::handler_of(number) == end) loop::restore_default_handler(number);
  }
}

}  // namespace kubewatch::client

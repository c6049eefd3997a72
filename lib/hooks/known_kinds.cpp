// One question at a time; a failure is told once a minute.
#include "hooks/known_kinds.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kLongestKindPause{30000};

}  // namespace

KnownKinds::KnownKinds(loop::EventLoop& loop, client::Client& client, base::Random& random,
                       Options options, Callbacks callbacks)
    : loop_(loop),
      client_(client),
      random_(random),
      options_(options),
      callbacks_(std::move(callbacks)),
      patience_(options.give_up_start),
      missing_backoff_({options.missing, kLongestKindPause, 1.5, 0.1}) {}

void KnownKinds::ask() {
  if (asking_ || stopped_) return;
  asking_ = true;
  timer_.reset();
  requests_.run<Answer>([this](Answer answer) { on_answer(std::move(answer)); },
                        [&](auto done) { return client::discover(client_, std::move(done)); });
}

void KnownKinds::on_answer(Answer answer) {
  asking_ = false;
  answered_ = loop_.now();
  if (answer.ok()) {
    resources_ = *std::move(answer);
    unreachable_backoff_.succeed();
    callbacks_.on_known();
  } else if (!stopped_ && gives_up(answer.error())) {
    return;
  }
  for (auto& done : std::exchange(waiting_, {})) done();
}

// True when it may be gone.
bool KnownKinds::gives_up(const Error& error) {
  if (resources_ == nullptr && patience_.is_over(error, loop_.now())) {
    stop();
    callbacks_.on_given_up(error);
    return true;
  }
  const Duration wait = unreachable_backoff_.fail(random_);
  if (told_.admit(error.message(), loop_.now())) {
    base::log_warn(fmt::format("cannot ask {} what kinds it has; trying again in {}",
                               client_.config().server, base::format_duration(wait)),
                   {{"error", error.render()}});
  }
  timer_ = loop_.after(wait, [this] { ask(); });
  return false;
}

void KnownKinds::ask_again() {
  if (stopped_) return;
  timer_ = loop_.after(missing_backoff_.fail(random_), [this] { ask(); });
}

void KnownKinds::refresh(std::function<void()> done) {
  const bool fresh = !asking_ && answered_ && loop_.now() - *answered_ < options_.fresh;
  if (stopped_ || fresh) return done();
  waiting_.push_back(std::move(done));
  ask();
}

void KnownKinds::stop() {
  stopped_ = true;
  timer_.reset();
}

}  // namespace kubewatch::hooks

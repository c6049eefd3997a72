// The states of a worker: none, idle, busy, ending. A run stays with its worker until that one is
// gone: only then may its object run again.
#include "hooks/worker_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {

WorkerQueue::WorkerQueue(std::size_t slots, base::BackoffPolicy policy)
    : slots_(std::max<std::size_t>(slots, 1)), backoff_(policy) {}

std::deque<WorkerQueue::Waiting>::const_iterator WorkerQueue::place_of(
    const std::string& id) const {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [&id](const Waiting& one) { return one.id == id; });
}

bool WorkerQueue::withdraw(const std::string& id) {
  const auto at = place_of(id);
  if (at == waiting_.end()) return false;
  waiting_.erase(at);
  return true;
}

std::optional<WorkerQueue::Step> WorkerQueue::next(TimePoint now) {
  if (waiting_.empty()) return std::nullopt;
  std::optional<std::size_t> free;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.state == State::none && !free) free = i;
    if (slot.state != State::idle) continue;
    slot.state = State::busy;
    slot.run = std::move(waiting_.front().id);
    slot.anew = waiting_.front().anew;
    waiting_.pop_front();
    return Step{Step::Kind::send, i, slot.run};
  }
  if (!free || now < not_before_) return std::nullopt;
  slots_[*free] = {};
  slots_[*free].state = State::idle;
  slots_[*free].attempt = attempt_;
  return Step{Step::Kind::start, *free, {}};
}

std::optional<TimePoint> WorkerQueue::due() const {
  if (waiting_.empty()) return std::nullopt;
  const auto none = [](const Slot& slot) { return slot.state == State::none; };
  if (std::none_of(slots_.begin(), slots_.end(), none)) return std::nullopt;
  return not_before_;
}

std::optional<WorkerQueue::Hold> WorkerQueue::hold(TimePoint now) const {
  const auto until = due();
  if (!until || *until <= now) return std::nullopt;
  return Hold{*until, backoff_.failures(), waiting_.size()};
}

std::optional<WorkerQueue::Hold> WorkerQueue::would_hold(TimePoint now) const {
  const auto is = [this](State state) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [state](const Slot& slot) { return slot.state == state; });
  };
  if (not_before_ <= now || is(State::idle) || !is(State::none)) return std::nullopt;
  return Hold{not_before_, backoff_.failures(), waiting_.size()};
}

bool WorkerQueue::waits(const std::string& id) const {
  return place_of(id) != waiting_.end();
}

std::string WorkerQueue::on_start_failed(std::size_t slot, TimePoint now, base::Random& random) {
  failed(slots_[slot].attempt, now, random);
  slots_[slot] = {};
  if (waiting_.empty()) return "";
  std::string id = std::move(waiting_.front().id);
  waiting_.pop_front();
  return id;
}

void WorkerQueue::put_back(Slot& slot) {
  waiting_.push_front({std::exchange(slot.run, {}), slot.anew});
}

void WorkerQueue::on_not_sent(std::size_t index) {
  Slot& slot = slots_[index];
  slot.state = State::ending;
  if (!slot.answered.empty()) put_back(slot);
}

void WorkerQueue::on_outdated(std::size_t index) {
  put_back(slots_[index]);
  slots_[index].state = State::ending;
  slots_[index].stopped = true;
  slots_[index].outdated = true;
}

bool WorkerQueue::is_again(const Slot& slot, const Result<WorkerAnswer>& answer) {
  return answer.ok() && !slot.run.empty() && !slot.answered.empty() && answer->id == slot.answered;
}

// What is wrong with the line, "" = nothing.
std::string WorkerQueue::judge(const Slot& slot, const Result<WorkerAnswer>& answer,
                               bool more) const {
  if (slot.run.empty()) return "a line that nobody asked for";
  if (!answer.ok()) return "a line that is no answer: " + answer.error().message();
  if (answer->id != slot.run) {
    return fmt::format("an answer with {} id {} to the invocation with id {}",
                       is_again(slot, answer) ? "the earlier" : "the wrong", shown_part(answer->id),
                       shown_part(slot.run));
  }
  if (more) return "more than one line for one invocation";
  return "";
}

bool WorkerQueue::on_line(std::size_t index, const Result<WorkerAnswer>& answer, bool more) {
  Slot& slot = slots_[index];
  // Its fate is settled: what it still says changes nothing.
  if (slot.state == State::ending || slot.state == State::none) {
    on_bytes(index);
    return false;
  }
  slot.broken = judge(slot, answer, more);
  if (!slot.broken.empty()) {
    slot.state = State::ending;
    if (is_again(slot, answer)) slot.repeats = slot.answered;
    slot.gives_back = !slot.repeats.empty() && !more && !slot.anew;
    return false;
  }
  slot.state = State::idle;
  slot.answered = std::move(slot.run);
  slot.run.clear();
  backoff_.succeed();
  return true;
}

void WorkerQueue::on_overflow(std::size_t index, std::size_t limit) {
  Slot& slot = slots_[index];
  if (slot.state == State::ending || slot.state == State::none) return;
  slot.broken = fmt::format("a line of more than {} bytes (limits.output)", limit);
  slot.state = State::ending;
}

void WorkerQueue::on_stopped(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.state == State::none) return;
  if (slot.state != State::ending) slot.stopped = true;
  slot.state = State::ending;
}

WorkerQueue::Ended WorkerQueue::on_ended(std::size_t index, TimePoint now, base::Random& random) {
  Slot& slot = slots_[index];
  Ended out;
  out.broken = std::move(slot.broken);
  out.fault = !slot.stopped;
  if (slot.gives_back) {
    out.given = slot.run;
    slot.anew = true;
    put_back(slot);
  } else {
    out.id = std::move(slot.run);
  }
  if (!slot.outdated) failed(slot.attempt, now, random);
  slot = {};
  return out;
}

void WorkerQueue::failed(std::uint64_t attempt, TimePoint now, base::Random& random) {
  if (attempt != attempt_) return;
  ++attempt_;
  not_before_ = now + backoff_.fail(random);
}

std::optional<std::size_t> WorkerQueue::slot_of(const std::string& id) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!id.empty() && slots_[i].run == id) return i;
  }
  return std::nullopt;
}

}  // namespace kubewatch::hooks

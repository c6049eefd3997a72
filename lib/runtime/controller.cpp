#include "runtime/controller.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kubewatch::runtime {

namespace {

// Runs may end at once and ask to be run again at once, or take long to start, as where a filter is
// evaluated first: the loop must turn all the same.
constexpr int kMostStartsPerTurn = 1000;
constexpr std::chrono::milliseconds kLongestTurn{50};

// How much of a turn starts have taken. Of virtual time, which stands still meanwhile, they take
// none: simulations go the same way each time.
class StartsOfTurn {
 public:
  explicit StartsOfTurn(const loop::EventLoop& loop)
      : real_(loop.native() != nullptr), begin_(std::chrono::steady_clock::now()) {}
  void count() { ++started_; }
  bool enough() const {
    if (started_ == 0) return false;
    return started_ >= kMostStartsPerTurn ||
           (real_ && std::chrono::steady_clock::now() - begin_ >= kLongestTurn);
  }

 private:
  bool real_;
  std::chrono::steady_clock::time_point begin_;
  int started_ = 0;
};

}  // namespace

RunSlots::RunSlots(std::size_t limit, RunSlots* parent) : parent_(parent), limit_(limit) {
  if (parent_ != nullptr) place_ = parent_->add_waiter([this] { wake(); });
}

RunSlots::~RunSlots() {
  if (parent_ != nullptr) parent_->remove_waiter(place_);
}

std::size_t RunSlots::add_waiter(std::function<void()> waiter) {
  const auto free = std::find_if(waiters_.begin(), waiters_.end(),
                                 [](const auto& one) { return one == nullptr; });
  const auto place = static_cast<std::size_t>(free - waiters_.begin());
  if (free == waiters_.end()) waiters_.emplace_back();
  waiters_[place] = std::move(waiter);
  return place;
}

bool RunSlots::take() {
  if (limit_ != 0 && used_ >= limit_) return false;
  if (parent_ != nullptr && !parent_->take()) return false;
  ++used_;
  return true;
}

void RunSlots::give_back() {
  if (used_ > 0) --used_;
  if (parent_ != nullptr) parent_->give_back();
  wake();
}

// By turns: a controller with much to do must not take each slot that becomes free.
void RunSlots::wake() {
  const std::size_t count = waiters_.size();
  for (std::size_t i = 0; i < count; ++i) {
    next_ = (next_ + 1) % count;
    // A copy: what it starts may add waiters.
    if (const auto waiter = waiters_[next_]) waiter();
    if (limit_ != 0 && used_ >= limit_) return;
  }
}

// Shared with callbacks that may outlive the controller: posted pumps, timers, unfinished runs.
struct Controller::Impl : std::enable_shared_from_this<Controller::Impl> {
  loop::EventLoop& loop;
  Reconciler& reconciler;
  base::Random& random;
  RunSlots& slots;
  WorkQueue queue;

  std::size_t waiter = 0;  // our place among those of the slots
  bool alive = true;       // the Controller is there
  bool held = true;
  bool stopping = false;
  bool pump_posted = false;
  bool pumping = false;
  std::size_t running = 0;
  loop::Timer timer;
  std::function<void()> drained;
  std::function<void()> progress;

  Impl(loop::EventLoop& the_loop, Reconciler& the_reconciler, base::Random& the_random,
       RunSlots& the_slots, WorkQueueOptions options)
      : loop(the_loop),
        reconciler(the_reconciler),
        random(the_random),
        slots(the_slots),
        queue(options) {}

  void schedule_pump();
  void pump();
  void start(const Work& work);
  void finish(const core::ObjectKey& key, const RunOutcome& outcome);
  void settle(const core::ObjectKey& key, const RunOutcome& outcome);
  void check_drained();
};

// In the next turn: all changes of one turn are seen before the first run starts.
void Controller::Impl::schedule_pump() {
  if (pump_posted || !alive) return;
  pump_posted = true;
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pump_posted = false;
    self->pump();
  });
}

void Controller::Impl::pump() {
  if (pumping || !alive) return;
  pumping = true;
  const auto self = shared_from_this();
  timer.reset();
  for (StartsOfTurn starts(loop); alive && !held && !stopping; starts.count()) {
    const TimePoint now = loop.now();
    const auto due = queue.next_due(now);
    if (!due) break;
    if (*due > now) {
      timer = loop.after(*due - now, [weak = weak_from_this()] {
        if (const auto impl = weak.lock()) impl->pump();
      });
      break;
    }
    if (starts.enough()) {
      schedule_pump();
      break;
    }
    if (!slots.take()) break;
    const auto work = queue.take(now);
    if (!work) {
      slots.give_back();
      break;
    }
    start(*work);
  }
  pumping = false;
  if (alive && progress) progress();
}

void Controller::Impl::start(const Work& work) {
  ++running;
  // One flag for all copies: a timer and an answer may each have one.
  auto done = std::make_shared<bool>(false);
  reconciler.reconcile(work, [self = shared_from_this(), key = work.key,
                              done = std::move(done)](const RunOutcome& outcome) {
    if (std::exchange(*done, true)) return;
    self->finish(key, outcome);
  });
}

void Controller::Impl::settle(const core::ObjectKey& key, const RunOutcome& outcome) {
  const TimePoint now = loop.now();
  switch (outcome.verdict) {
    case RunOutcome::Verdict::done: queue.succeeded(now, key); break;
    case RunOutcome::Verdict::requeue:
      queue.requeue(now, key, outcome.after.value_or(Duration{0}));
      break;
    case RunOutcome::Verdict::not_yet: queue.not_yet(now, key, random, outcome.after); break;
    case RunOutcome::Verdict::failed:
      if (outcome.exactly && outcome.after) {
        queue.failed_for(now, key, *outcome.after);
      } else {
        queue.failed(now, key, random, outcome.after);
      }
      break;
    case RunOutcome::Verdict::parked: queue.park(now, key); break;
    case RunOutcome::Verdict::put_off: queue.put_off(now, key, outcome.until); break;
  }
}

void Controller::Impl::finish(const core::ObjectKey& key, const RunOutcome& outcome) {
  if (!alive) return;
  --running;
  settle(key, outcome);
  schedule_pump();
  slots.give_back();
  if (alive) check_drained();
}

void Controller::Impl::check_drained() {
  if (!stopping || running > 0 || !drained) return;
  loop.post(std::exchange(drained, nullptr));
}

Controller::Controller(loop::EventLoop& loop, Reconciler& reconciler, base::Random& random,
                       RunSlots& slots, WorkQueueOptions options)
    : impl_(std::make_shared<Impl>(loop, reconciler, random, slots, options)) {
  impl_->waiter = slots.add_waiter([weak = std::weak_ptr<Impl>(impl_)] {
    if (const auto impl = weak.lock()) impl->pump();
  });
}

Controller::~Controller() {
  impl_->alive = false;
  impl_->timer.reset();
  impl_->slots.remove_waiter(impl_->waiter);
  // Runs that never ended give their slots back with us.
  for (; impl_->running > 0; --impl_->running) impl_->slots.give_back();
}

void Controller::add(const core::ObjectKey& key, Reason reason, std::string reason_object,
                     Duration delay, Priority priority) {
  impl_->queue.add(impl_->loop.now(), key, reason, std::move(reason_object), delay, priority);
  impl_->schedule_pump();
}

void Controller::forget(const core::ObjectKey& key) {
  impl_->queue.forget(key);
  impl_->schedule_pump();
}

void Controller::park(const core::ObjectKey& key) {
  impl_->queue.park_unseen(key);
}

void Controller::hold() {
  impl_->held = true;
}

void Controller::release() {
  impl_->held = false;
  impl_->schedule_pump();
}

bool Controller::held() const {
  return impl_->held;
}

void Controller::shut_down(std::function<void()> drained) {
  impl_->stopping = true;
  impl_->queue.pause();
  impl_->drained = std::move(drained);
  impl_->check_drained();
}

const WorkQueue& Controller::queue() const {
  return impl_->queue;
}
std::size_t Controller::running() const {
  return impl_->running;
}
std::vector<core::ObjectKey> Controller::running_keys() const {
  return impl_->queue.held();
}
void Controller::on_progress(std::function<void()> callback) {
  impl_->progress = std::move(callback);
}

}  // namespace kubewatch::runtime

#include "runtime/shutdown.hpp"

#include <utility>

namespace kubewatch::runtime {

struct ShutdownSequence::Impl : std::enable_shared_from_this<Impl> {
  loop::EventLoop& loop;
  std::vector<std::pair<std::string, Step>> steps;
  std::size_t next = 0;  // the step that runs is the one before
  bool begun = false;
  bool ended = false;
  loop::Timer timer;
  std::function<void(const ShutdownReport&)> done;

  explicit Impl(loop::EventLoop& the_loop) : loop(the_loop) {}

  void advance();
  void end(ShutdownReport report);
  void cut_off();
};

void ShutdownSequence::Impl::advance() {
  if (ended) return;
  if (next == steps.size()) return end({});
  const std::size_t step = next++;
  steps[step].second([weak = weak_from_this(), step] {
    const auto self = weak.lock();
    // Once per step, and never from inside it.
    if (!self || self->next != step + 1) return;
    self->loop.post([weak, step] {
      const auto impl = weak.lock();
      if (impl && impl->next == step + 1) impl->advance();
    });
  });
}

void ShutdownSequence::Impl::cut_off() {
  if (!begun || ended) return;
  ShutdownReport report;
  report.clean = false;
  report.unfinished_step = next > 0 ? steps[next - 1].first : "";
  end(std::move(report));
}

void ShutdownSequence::Impl::end(ShutdownReport report) {
  ended = true;
  timer.reset();
  if (done)
    loop.post([callback = std::move(done), report = std::move(report)] { callback(report); });
}

ShutdownSequence::ShutdownSequence(loop::EventLoop& loop) : impl_(std::make_shared<Impl>(loop)) {}

ShutdownSequence::~ShutdownSequence() {
  impl_->ended = true;
  impl_->timer.reset();
}

void ShutdownSequence::add(std::string name, Step step) {
  impl_->steps.emplace_back(std::move(name), std::move(step));
}

void ShutdownSequence::begin(Duration deadline, std::function<void(const ShutdownReport&)> done) {
  if (std::exchange(impl_->begun, true)) return;
  impl_->done = std::move(done);
  impl_->timer = impl_->loop.after(deadline, [weak = std::weak_ptr(impl_)] {
    if (const auto impl = weak.lock()) impl->cut_off();
  });
  impl_->advance();
}

void ShutdownSequence::abort() {
  impl_->cut_off();
}

bool ShutdownSequence::begun() const {
  return impl_->begun;
}

}  // namespace kubewatch::runtime

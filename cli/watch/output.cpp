#include "cli/watch/output.hpp"

#include <ostream>
#include <utility>

namespace kubewatch::cli::watch {

namespace {

constexpr std::size_t kMostBuffered = 256U << 10U;

}  // namespace

Output::Output(loop::EventLoop& loop, std::ostream& out, View& view,
               std::function<void()> on_broken)
    : loop_(loop), out_(out), view_(view), on_broken_(std::move(on_broken)) {}

void Output::added() {
  if (waiting_++ == 0) first_ = loop_.now();
  if (buffer_.size() >= kMostBuffered) write();
  if (std::exchange(planned_, true)) return;
  loop_.post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) flush();
  });
}

void Output::flush() {
  planned_ = false;
  view_.flush(buffer_);
  write();
  if (!broken_) out_.flush();
  if (waiting_ > 0) lag_.add(loop_.now() - first_, std::exchange(waiting_, 0));
  if (!out_ && !std::exchange(broken_, true)) on_broken_();
}

void Output::write() {
  if (!broken_) out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

}  // namespace kubewatch::cli::watch

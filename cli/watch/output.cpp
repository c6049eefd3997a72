#include "cli/watch/output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <utility>

namespace kubewatch::cli::watch {

namespace {

constexpr std::size_t kMostBuffered = 256U << 10U;

}  // namespace

Output::Output(loop::EventLoop& loop, std::ostream& out, View& view,
               std::function<void()> on_broken, std::unique_ptr<StdoutWriter> writer)
    : loop_(loop),
      out_(out),
      view_(view),
      on_broken_(std::move(on_broken)),
      writer_(std::move(writer)) {}

void Output::end_at(TimePoint deadline) {
  if (writer_) writer_->patience().end_at(deadline);
}

void Output::ending() {
  if (writer_) writer_->patience().ending();
}

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

void Output::lose_reader() {
  if (std::exchange(broken_, true)) return;
  broken_by_ = EPIPE;
  on_broken_();
}

void Output::write() {
  std::string_view rest = buffer_;
  if (!broken_ && writer_ == nullptr) {
    out_.write(rest.data(), static_cast<std::streamsize>(rest.size()));
  } else if (!broken_ && !given_up_) {
    const auto began = std::chrono::steady_clock::now();
    const auto end = writer_->write(rest);
    loop_.note_waited(std::chrono::floor<Duration>(std::chrono::steady_clock::now() - began));
    written_ += buffer_.size() - rest.size();
    given_up_ = end == StdoutWriter::End::given_up;
    if (end == StdoutWriter::End::broken) {
      broken_by_ = writer_->error();
      out_.setstate(std::ios::badbit);
    }
  }
  // What follows would be the end of a line that has no beginning.
  if (given_up_) unwritten_ += static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n'));
  buffer_.clear();
}

}  // namespace kubewatch::cli::watch

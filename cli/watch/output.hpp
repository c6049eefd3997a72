// What is printed, gathered and written once per turn of the loop: one write for a burst of events,
// none kept back. Thin.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "cli/stdout_writer.hpp"
#include "cli/watch/views.hpp"
#include "cli/watch/watch_stats.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli::watch {

class Output {
 public:
  // All must outlive it. `on_broken` is called once, when nobody reads any more. `writer`: of the
  // descriptor behind `out`, where there is one.
  Output(loop::EventLoop& loop, std::ostream& out, View& view, std::function<void()> on_broken,
         std::unique_ptr<StdoutWriter> writer = nullptr);

  // To append to; whoever did calls added().
  std::string& buffer() { return buffer_; }
  void added();
  // Now.
  void flush();
  bool broken() const { return broken_; }
  // errno of that, 0: the stream knows it.
  int broken_by() const { return broken_by_; }
  // Nobody reads any more, which was seen without a write: as when one fails.
  void lose_reader();
  // Bytes, so far.
  std::uint64_t written() const { return written_; }
  // Of what --duration and the end of the command mean for a reader that does not read.
  void end_at(TimePoint deadline);
  void ending();
  // Lines that were given up, for the reader did not read while an end was asked for.
  std::size_t unwritten() const { return unwritten_; }
  const LagHistogram& lag() const { return lag_; }

 private:
  void write();

  loop::EventLoop& loop_;
  std::ostream& out_;
  View& view_;
  std::function<void()> on_broken_;
  std::string buffer_;
  TimePoint first_{};
  std::size_t waiting_ = 0;  // events since the last flush
  std::unique_ptr<StdoutWriter> writer_;
  std::uint64_t written_ = 0;
  std::size_t unwritten_ = 0;
  bool given_up_ = false;
  bool planned_ = false;
  bool broken_ = false;
  int broken_by_ = 0;
  LagHistogram lag_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::cli::watch

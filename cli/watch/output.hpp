// What is printed, gathered and written once per turn of the loop: one write for a burst of events,
// none kept back. Thin.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "cli/watch/views.hpp"
#include "cli/watch/watch_stats.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli::watch {

class Output {
 public:
  // All must outlive it. `on_broken` is called once, when nobody reads any more.
  Output(loop::EventLoop& loop, std::ostream& out, View& view, std::function<void()> on_broken);

  // To append to; whoever did calls added().
  std::string& buffer() { return buffer_; }
  void added();
  // Now.
  void flush();
  bool broken() const { return broken_; }
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
  bool planned_ = false;
  bool broken_ = false;
  LagHistogram lag_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::cli::watch

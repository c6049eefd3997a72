// Bytes into a pipe that may be full: what does not fit waits and follows as the reader reads. Not
// the pipe's owner's judgement of how much may wait: see waiting().
#pragma once

#include <string>
#include <string_view>

#include "loop/event_loop.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

class PipeWriter {
 public:
  // `loop` must outlive it; `fd` is made non-blocking.
  PipeWriter(EventLoop& loop, Fd fd);
  // Once the reader is gone, what is written is dropped.
  void write(std::string_view bytes);
  std::size_t waiting() const { return rest_.size() - sent_; }

 private:
  // How many bytes the pipe took; all of them when nobody will read them.
  std::size_t push(std::string_view bytes);
  void on_room();

  EventLoop& loop_;
  Fd fd_;
  std::string rest_;
  std::size_t sent_ = 0;  // of rest_
  FdWatch watch_;
};

}  // namespace kubewatch::loop

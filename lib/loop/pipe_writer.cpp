// write() until EAGAIN, then as the loop says.
#include "loop/pipe_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kubewatch::loop {

PipeWriter::PipeWriter(EventLoop& loop, Fd fd) : loop_(loop), fd_(std::move(fd)) {
  fcntl(fd_.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
}

std::size_t PipeWriter::push(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return done;
    if (got < 0) {  // EPIPE: its end is told by whoever watches the process
      watch_.reset();
      fd_.reset();
      return bytes.size();
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void PipeWriter::write(std::string_view bytes) {
  if (!fd_) return;
  if (waiting() > 0) {
    rest_.append(bytes);
    return;
  }
  const std::size_t taken = push(bytes);
  if (taken == bytes.size()) return;
  rest_.assign(bytes.substr(taken));
  sent_ = 0;
  watch_ = loop_.on_writable(fd_.get(), [this] { on_room(); });
}

void PipeWriter::on_room() {
  sent_ += push(std::string_view(rest_).substr(sent_));
  if (fd_ && waiting() > 0) return;
  watch_.reset();
  rest_ = {};
  sent_ = 0;
}

}  // namespace kubewatch::loop

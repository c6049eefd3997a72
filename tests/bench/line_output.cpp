#include "bench/line_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace kubewatch::bench {

void Output::borrow(std::string_view bytes) {
  if (!bytes.empty()) pieces_.push_back({const_cast<char*>(bytes.data()), bytes.size()});
}

void Output::own(std::string bytes) {
  owned_.push_back(std::move(bytes));
  borrow(owned_.back());
}

void Output::own_chunk(std::string_view bytes) {
  own(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

bool Output::fetch_more() {
  pieces_.clear();
  owned_.clear();
  next_ = 0;
  if (!more_) return false;
  if (!more_(*this)) more_ = nullptr;
  return next_ < pieces_.size();
}

void Output::advance(std::size_t sent) {
  while (sent > 0) {
    iovec& piece = pieces_[next_];
    const std::size_t part = std::min(sent, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    sent -= part;
    if (piece.iov_len == 0) ++next_;
  }
}

Output::Progress Output::send(int fd) {
  while (next_ < pieces_.size() || fetch_more()) {
    const std::size_t count = std::min<std::size_t>(pieces_.size() - next_, 1024);  // IOV_MAX
    const ssize_t sent = ::writev(fd, &pieces_[next_], static_cast<int>(count));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN ? Progress::blocked : Progress::broken;
    advance(static_cast<std::size_t>(sent));
  }
  return Progress::done;
}

}  // namespace kubewatch::bench

// What one connection still has to send: borrowed bytes and its own, in order, by writev.
#pragma once

#include <sys/uio.h>

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::bench {

class Output {
 public:
  // `bytes` must stay where they are until they are sent.
  void borrow(std::string_view bytes);
  void own(std::string bytes);
  // The same as one chunk of a chunked answer.
  void own_chunk(std::string_view bytes);
  // Called when all is sent: adds more, or returns false when there is no more.
  void refill(std::function<bool(Output&)> more) { more_ = std::move(more); }

  enum class Progress { done, blocked, broken };
  // Sends until nothing is left or the socket takes no more.
  Progress send(int fd);

 private:
  bool fetch_more();
  void advance(std::size_t sent);

  std::vector<iovec> pieces_;
  std::size_t next_ = 0;  // pieces before it are sent
  std::deque<std::string> owned_;
  std::function<bool(Output&)> more_;
};

}  // namespace kubewatch::bench

// Unix sockets for requests between processes of one user: a listener in a private folder, and
// lines over a connection. The only user of AF_UNIX; what the lines say is the caller's business.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "loop/event_loop.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

// Makes the folder with mode 0700 where it is missing. Errors: forbidden (it is another user's, a
// link, or open to others), invalid.
Result<void> make_private_folder(const std::string& path);

// Removes its socket when it goes. Connections of other users (but root) are closed at once.
class UnixListener {
 public:
  using OnConnection = std::function<void(Fd)>;
  // `path` is made with mode 0600; a socket that nobody listens on any more is replaced. Errors:
  // already_exists (somebody listens there, if too busy to answer, or it is no socket), invalid
  // (too long), forbidden.
  static Result<std::unique_ptr<UnixListener>> open(EventLoop& loop, const std::string& path,
                                                    OnConnection on_connection);
  ~UnixListener();
  const std::string& path() const { return path_; }

 private:
  UnixListener(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  void accept_all(const OnConnection& on_connection);

  Fd fd_;
  std::string path_;
  unsigned long long inode_ = 0;
  FdWatch watch_;
};

// Errors: not_found (no such socket), unreachable (nobody listens there), unavailable (somebody
// does, but has not taken those yet who wait already), forbidden (also when another user's process
// answers, unless we are root).
Result<Fd> connect_unix(const std::string& path);

struct LineLimits {
  std::size_t line = 1U << 20U;     // longest line that is taken
  std::size_t unsent = 16U << 20U;  // what may wait for a slow reader
};

// Lines both ways over one connected socket. Callbacks may destroy it.
class LineStream {
 public:
  using OnLine = std::function<void(std::string_view)>;
  // Once, when the peer is gone, has sent too much, or does not read: `why` is "" at a plain end.
  using OnEnd = std::function<void(const std::string& why)>;
  LineStream(EventLoop& loop, Fd fd, LineLimits limits, OnLine on_line, OnEnd on_end);
  ~LineStream();

  // A newline is added; `line` has none. False: it is over.
  bool send(std::string_view line);
  // Ends once everything is sent; on_end follows.
  void finish();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::loop

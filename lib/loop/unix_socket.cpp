#include "loop/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "loop/lines.hpp"

namespace kubewatch::loop {

namespace {

Error system_error(ErrorKind kind, const std::string& what, const std::string& path) {
  const int code = errno;
  return Error(kind, fmt::format("{} {}: {}", what, path, std::strerror(code))).as_no_room(code);
}

ErrorKind kind_of(int code) {
  switch (code) {
    case ENOENT: return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::forbidden;
    // Of connect(): as many wait as may.
    case EAGAIN: return ErrorKind::unavailable;
    default: return ErrorKind::unreachable;
  }
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error(ErrorKind::invalid,
                 fmt::format("the path of the socket is longer than {} bytes: {}",
                             sizeof address.sun_path - 1, path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Fd new_socket() {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool is_of_this_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

// A socket that nobody listens on is what a killed process leaves behind. Only ECONNREFUSED says
// so: one whose queue is full is somebody's who is busy, or was stopped.
Result<void> remove_stale(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return Error(ErrorKind::already_exists, path + " is there already and is no socket");
  }
  KW_ASSIGN(const sockaddr_un address, address_of(path));
  const Fd probe = new_socket();
  if (!probe) return system_error(ErrorKind::unavailable, "cannot make a socket for", path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return Error(ErrorKind::already_exists, "another process answers on " + path);
  }
  switch (errno) {
    case ECONNREFUSED: ::unlink(path.c_str()); return {};
    case ENOENT: return {};  // just removed by its owner
    case EAGAIN: return Error(ErrorKind::already_exists, "another process listens on " + path);
    default: return system_error(kind_of(errno), "cannot tell whose socket this is:", path);
  }
}

}  // namespace

Result<void> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error(kind_of(errno), "cannot make the folder", path);
  }
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return system_error(kind_of(errno), "cannot look at the folder", path);
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
    return Error(ErrorKind::forbidden, path + " is no folder of this user");
  }
  if ((info.st_mode & 077) != 0) {
    return Error(ErrorKind::forbidden, path + " is open to others; run: chmod 700 " + path);
  }
  return {};
}

Result<std::unique_ptr<UnixListener>> UnixListener::open(EventLoop& loop, const std::string& path,
                                                         OnConnection on_connection) {
  KW_ASSIGN(const sockaddr_un address, address_of(path));
  KW_TRY(remove_stale(path));
  Fd fd = new_socket();
  if (!fd) return system_error(ErrorKind::unavailable, "cannot make the socket", path);
  // Nobody can connect before listen(), and by then it is 0600.
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error(errno == EADDRINUSE ? ErrorKind::already_exists : kind_of(errno),
                        "cannot make the socket", path);
  }
  std::unique_ptr<UnixListener> self(new UnixListener(std::move(fd), path));
  struct stat info {};
  if (::chmod(path.c_str(), 0600) != 0 || ::lstat(path.c_str(), &info) != 0 ||
      ::listen(self->fd_.get(), 16) != 0) {
    return system_error(ErrorKind::unavailable, "cannot listen on", path);
  }
  self->inode_ = info.st_ino;
  self->watch_ = loop.on_readable(
      self->fd_.get(), [raw = self.get(), on_connection] { raw->accept_all(on_connection); });
  return self;
}

void UnixListener::accept_all(const OnConnection& on_connection) {
  // A few each turn; the loop comes back for more.
  for (int i = 0; i < 16; ++i) {
    Fd connection(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;
    if (is_of_this_user(connection.get())) on_connection(std::move(connection));
  }
}

UnixListener::~UnixListener() {
  struct stat info {};
  const bool ours = ::lstat(path_.c_str(), &info) == 0 && info.st_ino == inode_;
  if (ours) ::unlink(path_.c_str());
}

Result<Fd> connect_unix(const std::string& path) {
  KW_ASSIGN(const sockaddr_un address, address_of(path));
  Fd fd = new_socket();
  if (!fd) return system_error(ErrorKind::unavailable, "cannot make a socket for", path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error(kind_of(errno), "cannot connect to", path);
  }
  // What somebody else put there must not be taken for ours.
  if (::geteuid() != 0 && !is_of_this_user(fd.get())) {
    return Error(ErrorKind::forbidden, "another user's process answers on " + path);
  }
  return fd;
}

// Shared with what runs on the stack, so that a callback may destroy the stream.
struct LineStream::Impl : std::enable_shared_from_this<LineStream::Impl> {
  EventLoop& loop;
  Fd fd;
  LineLimits limits;
  OnLine on_line;
  OnEnd on_end;
  LineSplitter in;
  FdWatch readable;
  FdWatch writable;
  std::string out;
  bool finishing = false;

  Impl(EventLoop& the_loop, Fd the_fd, LineLimits the_limits, OnLine line, OnEnd end)
      : loop(the_loop),
        fd(std::move(the_fd)),
        limits(the_limits),
        on_line(std::move(line)),
        on_end(std::move(end)),
        in(the_limits.line, LineSplitter::Longer::refused) {}

  void end(const std::string& why) {
    if (!fd) return;
    readable.reset();
    writable.reset();
    fd.reset();
    if (const auto call = std::move(on_end)) call(why);
  }

  void read() {
    const auto self = shared_from_this();
    char buffer[16384];
    const ssize_t count = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) end(std::strerror(errno));
      return;
    }
    if (count == 0) return end(in.begun().empty() ? "" : "it ended in the middle of a line");
    const auto fed = in.feed({buffer, static_cast<std::size_t>(count)},
                             [this](std::string_view line, std::string_view) {
                               if (const auto call = on_line) call(line);
                               return static_cast<bool>(fd);
                             });
    if (fed == LineSplitter::Fed::too_long) end("a line is too long");
  }

  void flush() {
    const auto self = shared_from_this();
    while (!out.empty()) {
      const ssize_t count = ::send(fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count < 0) return end(std::strerror(errno));
      out.erase(0, static_cast<std::size_t>(count));
    }
    if (!out.empty()) {
      if (!writable) writable = loop.on_writable(fd.get(), [this] { flush(); });
      return;
    }
    writable.reset();
    if (finishing) end("");
  }
};

LineStream::LineStream(EventLoop& loop, Fd fd, LineLimits limits, OnLine on_line, OnEnd on_end)
    : impl_(std::make_shared<Impl>(loop, std::move(fd), limits, std::move(on_line),
                                   std::move(on_end))) {
  impl_->readable = loop.on_readable(impl_->fd.get(), [impl = impl_.get()] { impl->read(); });
}

LineStream::~LineStream() {
  impl_->on_line = nullptr;
  impl_->on_end = nullptr;
  impl_->readable.reset();
  impl_->writable.reset();
  impl_->fd.reset();
}

bool LineStream::send(std::string_view line) {
  const auto impl = impl_;
  if (!impl->fd || impl->finishing) return false;
  if (impl->out.size() + line.size() + 1 > impl->limits.unsent) {
    impl->end("the other side does not read");
    return false;
  }
  impl->out.append(line);
  impl->out += '\n';
  impl->flush();
  return static_cast<bool>(impl->fd);
}

void LineStream::finish() {
  const auto impl = impl_;
  if (!impl->fd) return;
  impl->finishing = true;
  impl->flush();
}

}  // namespace kubewatch::loop

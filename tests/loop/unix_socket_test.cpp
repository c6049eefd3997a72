// Lines over unix sockets, and the folder they stand in.
#include "loop/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::loop {
namespace {

struct Folder {
  Folder() {
    char pattern[] = "/tmp/kw-socket-XXXXXX";
    REQUIRE(::mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

std::array<Fd, 2> pair() {
  int fds[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

// Listens and takes nobody, as a process that is stopped.
Fd deaf_listener(const std::string& path) {
  Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(out.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(out.get(), 1) == 0);
  return out;
}

ino_t inode_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

TEST_CASE("a socket whose owner is too busy to answer is not taken away from it") {
  const Folder folder;
  const std::string path = folder.path + "/socket";
  EventLoop loop;
  Fd listener = deaf_listener(path);
  const ino_t inode = inode_of(path);
  std::vector<Fd> waiting;
  auto one = connect_unix(path);
  for (; one.ok() && waiting.size() < 100; one = connect_unix(path)) {
    waiting.push_back(std::move(*one));
  }
  REQUIRE_FALSE(one.ok());
  CHECK(one.error().kind() == ErrorKind::unavailable);
  const auto opened = UnixListener::open(loop, path, [](Fd) {});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().kind() == ErrorKind::already_exists);
  CHECK(inode_of(path) == inode);
  // Nobody listens any more: it is what a killed process leaves behind.
  waiting.clear();
  listener.reset();
  CHECK(UnixListener::open(loop, path, [](Fd) {}).ok());
}

TEST_CASE("a private folder is made, and one that is open, a link or a file is refused") {
  const Folder folder;
  const std::string path = folder.path + "/run";
  REQUIRE(make_private_folder(path).ok());
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(make_private_folder(path).ok());
  ::chmod(path.c_str(), 0750);
  CHECK_FALSE(make_private_folder(path).ok());
  ::chmod(path.c_str(), 0700);
  REQUIRE(::symlink(path.c_str(), (folder.path + "/link").c_str()) == 0);
  CHECK_FALSE(make_private_folder(folder.path + "/link").ok());
  CHECK_FALSE(make_private_folder(folder.path + "/none/run").ok());
}

TEST_CASE("lines arrive whole however they were cut, and an end in a line is told") {
  EventLoop loop;
  auto ends = pair();
  std::vector<std::string> lines;
  std::optional<std::string> why;
  LineStream stream(
      loop, std::move(ends[0]), {}, [&](std::string_view line) { lines.emplace_back(line); },
      [&](const std::string& text) { why = text; });
  for (const char c : std::string("one\ntwo\nthr")) {
    REQUIRE(::send(ends[1].get(), &c, 1, 0) == 1);
    loop.run_until([] { return false; }, Duration{1});
  }
  ends[1].reset();
  REQUIRE(loop.run_until([&] { return why.has_value(); }, kLimit));
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(*why == "it ended in the middle of a line");
}

TEST_CASE("a peer that sends too long a line or does not read is let go") {
  EventLoop loop;
  auto ends = pair();
  std::optional<std::string> why;
  LineStream stream(
      loop, std::move(ends[0]), {100, 1U << 20U}, [](std::string_view) {},
      [&](const std::string& text) { why = text; });
  const std::string much(2000, 'x');
  REQUIRE(::send(ends[1].get(), much.data(), much.size(), 0) > 0);
  REQUIRE(loop.run_until([&] { return why.has_value(); }, kLimit));
  CHECK(*why == "a line is too long");

  auto others = pair();
  why.reset();
  LineStream sender(
      loop, std::move(others[0]), {100, 1U << 20U}, [](std::string_view) {},
      [&](const std::string& text) { why = text; });
  const std::string line(1U << 16U, 'y');
  bool open = true;
  for (int i = 0; i < 100 && open; ++i) open = sender.send(line);
  CHECK_FALSE(open);
  CHECK(*why == "the other side does not read");
}

TEST_CASE("finish() sends what waits and then ends, a callback may destroy its stream") {
  EventLoop loop;
  auto ends = pair();
  std::optional<std::string> why;
  std::size_t received = 0;
  LineStream sender(
      loop, std::move(ends[0]), {100, 4U << 20U}, [](std::string_view) {},
      [&](const std::string& text) { why = text; });
  std::unique_ptr<LineStream> receiver;
  receiver = std::make_unique<LineStream>(
      loop, std::move(ends[1]), LineLimits{1U << 20U, 100},
      [&](std::string_view line) {
        received += line.size();
        if (received == 10U << 16U) receiver.reset();
      },
      [](const std::string&) {});
  const std::string line(1U << 16U, 'z');
  for (int i = 0; i < 10; ++i) REQUIRE(sender.send(line));
  sender.finish();
  CHECK_FALSE(sender.send("more"));
  REQUIRE(loop.run_until([&] { return why.has_value() && receiver == nullptr; }, kLimit));
  CHECK(received == 10U << 16U);
}

}  // namespace kubewatch::loop

// The control socket over a real socket: one request and its answers, limits, and who may ask.
#include "hooks/control.hpp"

#include <sys/stat.h>

#include "base/json.hpp"
#include "hooks/rule_folder.hpp"
#include "loop/unix_socket.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct Asked {
  std::vector<std::string> lines;
  bool ended = false;
};

// One client's lines until the server ends it.
Asked ask_raw(loop::EventLoop& loop, const std::string& path, const std::string& sent,
              Duration patience = kLimit) {
  Asked out;
  auto fd = loop::connect_unix(path);
  REQUIRE(fd.ok());
  loop::LineStream stream(
      loop, std::move(*fd), {}, [&](std::string_view line) { out.lines.emplace_back(line); },
      [&](const std::string&) { out.ended = true; });
  stream.send(sent);
  loop.run_until([&] { return out.ended; }, patience);
  return out;
}

struct Bench {
  loop::EventLoop loop;
  test::RuleFolder folder;
  std::string path = folder.file("c.sock");
  std::vector<std::string> seen;
  std::vector<ControlReplyPtr> kept;
  std::unique_ptr<ControlServer> server;

  Bench() {
    auto opened = ControlServer::open(
        loop, path, [this](const ControlRequest& request, const ControlReplyPtr& reply) {
          seen.push_back(request.name);
          if (request.name == "keep") {
            reply->more({{"n", 0}});
            return kept.push_back(reply);
          }
          if (request.name == "fail") return reply->fail(Error(ErrorKind::not_found, "no such"));
          reply->result({{"echo", *request.args}});
        });
    REQUIRE(opened.ok());
    server = std::move(*opened);
  }
};

}  // namespace

TEST_CASE("a request gets its result and the end, an error its kind and message") {
  Bench bench;
  const auto good = ask_raw(bench.loop, bench.path, control_request_line("echo", {{"a", 1}}));
  REQUIRE(good.lines.size() == 2);
  CHECK(good.ended);
  const auto answer = parse_control_answer(good.lines[0]);
  REQUIRE(answer.ok());
  CHECK((*answer->result)["echo"]["a"] == 1);
  CHECK(parse_control_answer(good.lines[1])->result == nullptr);
  const auto bad = ask_raw(bench.loop, bench.path, control_request_line("fail", Json::object()));
  REQUIRE(bad.lines.size() == 1);
  const auto error = parse_control_answer(bad.lines[0]);
  REQUIRE_FALSE(error.ok());
  CHECK(error.error().is_not_found());
  CHECK(error.error().message() == "no such");
}

TEST_CASE("an answer that is an error without words is told as one") {
  for (const std::string error :
       {"1", "null", "[]", "\"broken\"", "{}", R"({"message":""})", R"({"message":7})"}) {
    INFO(error);
    const auto answer = parse_control_answer("{\"version\":1,\"error\":" + error + "}");
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().message() == "the controller says that it failed, and not why");
  }
}

TEST_CASE("what is no request of this version is refused with words, and reaches nobody") {
  Bench bench;
  for (const std::string line :
       {"", "{", "[]", "{\"version\":1}", "{\"version\":2,\"request\":\"echo\"}",
        "{\"version\":1,\"request\":\"echo\",\"args\":[]}"}) {
    INFO(line);
    const auto out = ask_raw(bench.loop, bench.path, line);
    REQUIRE(out.lines.size() == 1);
    CHECK_FALSE(parse_control_answer(out.lines[0]).ok());
    CHECK(out.ended);
  }
  CHECK(bench.seen.empty());
}

TEST_CASE("a request that is too long is told so, or ends the connection, and never the server") {
  Bench bench;
  const auto told = ask_raw(bench.loop, bench.path,
                            control_request_line("echo", {{"reason", std::string(66'000, 'x')}}));
  REQUIRE(told.lines.size() == 1);
  CHECK(told.ended);
  const auto answer = parse_control_answer(told.lines[0]);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::invalid);
  CHECK(answer.error().message() == "the request is longer than 64 KiB");
  CHECK(bench.seen.empty());
  const auto out = ask_raw(bench.loop, bench.path, std::string(2'000'000, 'x'));
  CHECK(out.ended);
  CHECK(out.lines.empty());
  CHECK(
      ask_raw(bench.loop, bench.path, control_request_line("echo", Json::object())).lines.size() ==
      2);
}

TEST_CASE("answers go on until whoever asked is gone, and the server notices") {
  Bench bench;
  {
    auto fd = loop::connect_unix(bench.path);
    REQUIRE(fd.ok());
    std::size_t lines = 0;
    loop::LineStream stream(
        bench.loop, std::move(*fd), {}, [&](std::string_view) { ++lines; },
        [](const std::string&) {});
    stream.send(control_request_line("keep", Json::object()));
    REQUIRE(bench.loop.run_until([&] { return lines == 1; }, kLimit));
    CHECK(bench.kept[0]->more({{"n", 1}}));
    REQUIRE(bench.loop.run_until([&] { return lines == 2; }, kLimit));
  }
  CHECK(bench.loop.run_until([&] { return !bench.kept[0]->more({{"n", 2}}); }, kLimit));
  bench.server.reset();
  CHECK_FALSE(bench.kept[0]->more({{"n", 3}}));
}

TEST_CASE("the socket is of mode 0600 and goes with its server, a dead one is replaced") {
  Bench bench;
  struct stat info {};
  REQUIRE(::stat(bench.path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const auto second = loop::UnixListener::open(bench.loop, bench.path, [](loop::Fd) {});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message().find("another process answers") != std::string::npos);
  CHECK(live_control_sockets(bench.folder.path()) == std::vector<std::string>{bench.path});
  bench.server.reset();
  CHECK(::stat(bench.path.c_str(), &info) != 0);
  CHECK(live_control_sockets(bench.folder.path()).empty());

  // Of processes that are gone nothing stays; other files are not ours.
  bench.folder.write("999999999.sock", "");
  bench.folder.write("1.sock", "");
  bench.folder.write("notes.sock", "");
  remove_dead_control_sockets(bench.folder.path());
  CHECK(::stat(bench.folder.file("999999999.sock").c_str(), &info) != 0);
  CHECK(::stat(bench.folder.file("1.sock").c_str(), &info) == 0);
  CHECK(::stat(bench.folder.file("notes.sock").c_str(), &info) == 0);

  bench.folder.write("c.sock", "a file");
  CHECK_FALSE(loop::UnixListener::open(bench.loop, bench.path, [](loop::Fd) {}).ok());
}

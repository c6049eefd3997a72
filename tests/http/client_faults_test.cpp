// What a bad or hostile server can do to the client: every case ends in one named error.
#include "fixture.hpp"
#include "http/gzip.hpp"

namespace kubewatch::http {
namespace {

// The server says `text` and hangs up.
Result<Response> answer_of(const std::string& text, std::size_t max_body = 1U << 20U) {
  loop::EventLoop loop;
  RawServer server(loop, [&text](int fd, const std::string&) {
    RawServer::say(fd, text);
    RawServer::hang_up(fd);
  });
  const auto transport = make_transport(loop);
  Request request;
  request.url = server.url();
  request.max_body = max_body;
  return get(loop, *transport, std::move(request));
}

std::string with_length(const std::string& headers, const std::string& body) {
  return "HTTP/1.1 200 OK\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

TEST_CASE("a refused connection names the server") {
  loop::EventLoop loop;
  std::string host_port;
  std::string url;
  {
    const RawServer closed(loop, [](int, const std::string&) {});
    host_port = closed.host_port();
    url = closed.url();
  }
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, url);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::unreachable);
  CHECK(answer.error().is_disconnect());
  CHECK(answer.error().message() == "connection to " + host_port + " refused");
}

// As a load balancer does whose servers are all away.
TEST_CASE("a connection that is dropped in the handshake of TLS is lost, and not set up wrong") {
  loop::EventLoop loop;
  RawServer server(loop, [](int fd, const std::string&) { RawServer::hang_up(fd); });
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, "https://" + server.host_port() + "/");
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().is_disconnect());
  CHECK(answer.error().message().starts_with("TLS handshake with " + server.host_port()));
}

TEST_CASE("a host name that does not exist is named") {
  loop::EventLoop loop;
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, "http://does-not-exist.invalid:8080/");
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::unreachable);
  CHECK_FALSE(answer.error().is_disconnect());
  CHECK(answer.error().is_unresolved());
  CHECK(answer.error().message().find("does-not-exist.invalid:8080") != std::string::npos);
}

TEST_CASE("answers that break HTTP, gzip or a limit have the right kind of error") {
  const std::string many_headers(300U << 10U, 'h');
  const std::string bomb = gzip(std::string(32U << 20U, '\0'));
  const std::string packed = gzip("an answer, of a few words");
  std::string wrong_sum = packed;
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  struct Case {
    std::string name, text;
    ErrorKind kind;
  };
  const std::vector<Case> cases = {
      {"nothing", " ", ErrorKind::unreachable},
      {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", ErrorKind::unreachable},
      {"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", ErrorKind::unreachable},
      {"cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc",
       ErrorKind::unreachable},
      {"broken gzip", with_length("Content-Encoding: gzip\r\n", "this is not gzip at all"),
       ErrorKind::unreachable},
      {"gzip with a wrong checksum", with_length("Content-Encoding: gzip\r\n", wrong_sum),
       ErrorKind::unreachable},
      {"gzip that is cut off",
       with_length("Content-Encoding: gzip\r\n", packed.substr(0, packed.size() - 6)),
       ErrorKind::unreachable},
      {"gzip that is cut off in its head",
       with_length("Content-Encoding: gzip\r\n", packed.substr(0, 5)), ErrorKind::unreachable},
      {"bytes behind gzip", with_length("Content-Encoding: gzip\r\n", packed + "more"),
       ErrorKind::unreachable},
      {"brotli that nobody asked for", with_length("Content-Encoding: br\r\n", "\x0b\x02"),
       ErrorKind::unreachable},
      {"zstd that nobody asked for", with_length("Content-Encoding: zstd\r\n", "no frame"),
       ErrorKind::unreachable},
      {"huge header", "HTTP/1.1 200 OK\r\nX: " + many_headers + "\r\n\r\n", ErrorKind::too_large},
      {"huge body", with_length("", std::string(2U << 20U, 'x')), ErrorKind::too_large},
      {"gzip bomb", with_length("Content-Encoding: gzip\r\n", bomb), ErrorKind::too_large},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const auto answer = answer_of(c.text);
    REQUIRE_FALSE(answer.ok());
    INFO(answer.error().render());
    CHECK((answer.error().kind() == c.kind ||
           // libcurl limits a single header line before our sum does.
           (c.name == "huge header" && answer.error().kind() == ErrorKind::unreachable)));
    CHECK(answer.error().message().find("127.0.0.1:") != std::string::npos);
  }
}

TEST_CASE("an HTTP that is not spoken here is not taken for a wrong URL") {
  for (const char* text : {"HTTP/3 200 OK\r\n\r\n", "HTTP/1.1 000 X\r\n\r\n",
                           "HTTP/0.9 200\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n"}) {
    INFO(text);
    const auto answer = answer_of(text);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind() == ErrorKind::unreachable);
    CHECK(answer.error().message().find(" does not answer in HTTP/1.1") != std::string::npos);
  }
}

TEST_CASE("what is too long for libcurl is named, and is no lack of memory") {
  const auto header = answer_of("HTTP/1.1 200 OK\r\nX: " + std::string(150000, 'h') + "\r\n\r\n");
  REQUIRE_FALSE(header.ok());
  CHECK(header.error().kind() == ErrorKind::too_large);
  CHECK(header.error().message().starts_with("a header of the answer of 127.0.0.1:"));
  loop::EventLoop loop;
  const RawServer server(loop, [](int, const std::string&) {});
  const auto transport = make_transport(loop);
  const auto url = get(loop, *transport, server.url("/?continue=" + std::string(3000000, 'x')));
  REQUIRE_FALSE(url.ok());
  CHECK(url.error().kind() == ErrorKind::too_large);
  CHECK(url.error().message().starts_with("the URL and the headers of the request to 127.0.0.1:"));
}

TEST_CASE("many small headers stop at the limit") {
  std::string headers;
  for (int i = 0; headers.size() < (300U << 10U); ++i) {
    headers += "X-" + std::to_string(i) + ": " + std::string(1000, 'v') + "\r\n";
  }
  const auto answer = answer_of(with_length(headers, "x"));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::too_large);
}

TEST_CASE("a body of exactly the limit is taken, one byte more is not") {
  CHECK(answer_of(with_length("", std::string(1000, 'x')), 1000).ok());
  CHECK_FALSE(answer_of(with_length("", std::string(1001, 'x')), 1000).ok());
}

TEST_CASE("redirects are handed to the caller and not followed") {
  for (const char* status : {"301 Moved Permanently", "302 Found", "307 Temporary Redirect"}) {
    loop::EventLoop loop;
    const RawServer other(loop, [](int, const std::string&) { FAIL("the redirect was followed"); });
    const RawServer server(loop, [&](int fd, const std::string&) {
      RawServer::say(fd, std::string("HTTP/1.1 ") + status + "\r\nLocation: " + other.url() +
                             "\r\nContent-Length: 0\r\n\r\n");
    });
    const auto transport = make_transport(loop);
    const auto answer = get(loop, *transport, server.url());
    REQUIRE(answer.ok());
    CHECK(answer->status == std::stoi(status));
    CHECK(answer->headers.get("Location") == other.url());
    CHECK(other.accepted() == 0);
  }
}

TEST_CASE("100 Continue before the answer is not the answer") {
  const auto answer =
      answer_of("HTTP/1.1 100 Continue\r\nX-No: 1\r\n\r\n" + with_length("X-Yes: 1\r\n", "ok"));
  REQUIRE(answer.ok());
  CHECK(answer->status == 200);
  CHECK_FALSE(answer->headers.has("X-No"));
  CHECK(answer->headers.has("X-Yes"));
}

TEST_CASE("a request with an injected header never reaches the network") {
  loop::EventLoop loop;
  const RawServer server(loop, [](int, const std::string&) {});
  const auto transport = make_transport(loop);
  Request request;
  request.url = server.url();
  request.headers.add("X-A", "a\r\nX-B: b");
  const auto answer = get(loop, *transport, std::move(request));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::invalid);
  CHECK(server.accepted() == 0);
}

TEST_CASE("URLs that are not http are refused") {
  loop::EventLoop loop;
  const auto transport = make_transport(loop);
  for (const char* url : {"file:///etc/hostname", "ftp://127.0.0.1/", "127.0.0.1:80", ""}) {
    const auto answer = get(loop, *transport, url);
    INFO(url);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("a server that accepts and says nothing runs into the response limit") {
  loop::EventLoop loop;
  const RawServer server(loop, [](int, const std::string&) {});
  const auto transport = make_transport(loop);
  Request request;
  request.url = server.url();
  request.response_timeout = Duration{50};
  const auto answer = get(loop, *transport, std::move(request));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::timeout);
  CHECK(answer.error().message() ==
        "no complete answer from " + server.host_port() + " within 50ms");
}

TEST_CASE("where an answer has all the time there is, silence ends it") {
  loop::EventLoop loop;
  const RawServer server(loop, [](int fd, const std::string&) {
    RawServer::say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  });
  const auto transport = make_transport(loop);
  Request request;
  request.url = server.url();
  request.response_timeout = Duration{0};
  request.idle_timeout = Duration{50};
  const auto answer = get(loop, *transport, std::move(request));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::timeout);
  CHECK(answer.error().message() == "nothing came from " + server.host_port() + " for 50ms");
}

TEST_CASE("a silent stream ends after its idle time, counted from the last byte") {
  // A busy machine may say the byte too late: again with more time.
  for (const Duration idle : {Duration{1500}, Duration{6000}}) {
    loop::EventLoop loop;
    loop::Timer more;
    const RawServer server(loop, [&](int fd, const std::string&) {
      RawServer::say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      more = loop.after(Duration{300}, [fd] { RawServer::say(fd, "1\r\nx\r\n"); });
    });
    const auto transport = make_transport(loop);
    Request request = watch_request(server.url());
    request.idle_timeout = idle;
    request.response_timeout = Duration{1};
    const TimePoint begin = loop.now();
    Stream stream;
    stream.start(*transport, std::move(request));
    REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
    REQUIRE_FALSE(stream.end->ok());
    CHECK(stream.end->error().kind() == ErrorKind::timeout);
    if (stream.data.empty()) continue;
    CHECK(stream.data == "x");
    CHECK(loop.now() - begin >= Duration{300} + idle);
    return;
  }
  FAIL("no byte came");
}

TEST_CASE("an answer that trickles ends where so few bytes are no sign of life") {
  loop::EventLoop loop;
  loop::Timer more;
  std::size_t said = 0;
  std::function<void(int)> trickle = [&](int fd) {
    RawServer::say(fd, "1\r\nx\r\n");
    ++said;
    more = loop.after(Duration{10}, [&trickle, fd] { trickle(fd); });
  };
  const RawServer server(loop, [&](int fd, const std::string&) {
    RawServer::say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    trickle(fd);
  });
  const auto transport = make_transport(loop);
  const auto wants = [&](std::size_t bytes, Duration idle) {
    Request request = watch_request(server.url());
    request.idle_timeout = idle;
    request.idle_bytes = bytes;
    return request;
  };
  SECTION("many small pieces are as good as a big one") {
    // For longer than the idle time; a busy machine may be held up for one, and gets a longer one.
    const auto goes_on = [&](std::size_t pieces, Duration idle) {
      Stream stream;
      stream.start(*transport, wants(3, idle));
      REQUIRE(loop.run_until([&] { return stream.data.size() >= pieces || stream.end.has_value(); },
                             kLimit));
      more.reset();
      return !stream.end.has_value();
    };
    CHECK((goes_on(300, Duration{2000}) || goes_on(1000, Duration{8000})));
  }
  SECTION("it says how little came") {
    Stream stream;
    stream.start(*transport, wants(1000, Duration{600}));
    REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
    CHECK(said > 1);
    REQUIRE_FALSE(stream.end->ok());
    CHECK(stream.end->error().kind() == ErrorKind::timeout);
    CHECK(stream.end->error().message().find("the answer from " + server.host_port() +
                                             " trickles: ") == 0);
  }
  more.reset();
}

TEST_CASE("a kept connection that the server closed is replaced without an error") {
  loop::EventLoop loop;
  const RawServer server(loop, [](int fd, const std::string&) {
    RawServer::say(fd, with_length("", "ok"));
    RawServer::hang_up(fd);
  });
  const auto transport = make_transport(loop);
  for (int i = 0; i < 3; ++i) {
    const auto answer = get(loop, *transport, server.url());
    REQUIRE(answer.ok());
    CHECK(answer->body == "ok");
  }
  CHECK(server.accepted() == 3);
}

// As behind a load balancer whose server hangs: what it has is taken, and never answered.
TEST_CASE("once a kept connection gives no answer no other is used that was opened before") {
  loop::EventLoop loop;
  bool hangs = false;
  std::vector<int> hanging;
  std::vector<int> all;
  const RawServer server(loop, [&](int fd, const std::string&) {
    if (std::find(all.begin(), all.end(), fd) == all.end()) all.push_back(fd);
    if (!hangs) hanging = all;
    const bool old = std::find(hanging.begin(), hanging.end(), fd) != hanging.end();
    if (!hangs && all.size() < 3) return;
    if (!hangs) {
      for (const int one : all) RawServer::say(one, with_length("", "ok"));
    } else if (!old) {
      RawServer::say(fd, with_length("", "ok"));
    }
  });
  const auto transport = make_transport(loop);
  std::size_t answered = 0;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 3; ++i) {
    Request request;
    request.url = server.url();
    calls.push_back(fetch(*transport, std::move(request),
                          [&](const Result<Response>& answer) { answered += answer.ok(); }));
  }
  REQUIRE(loop.run_until([&] { return answered == 3; }, kLimit));
  REQUIRE(server.accepted() == 3);
  hangs = true;
  Request impatient;
  impatient.url = server.url();
  impatient.response_timeout = Duration{200};
  const auto first = get(loop, *transport, impatient);
  REQUIRE_FALSE(first.ok());
  CHECK(first.error().kind() == ErrorKind::timeout);
  CHECK(server.accepted() == 3);
  CHECK(get(loop, *transport, impatient).ok());
  CHECK(server.accepted() == 4);
}

// Takes requests whose body is "body" (or that have none), and hangs up on the second of them,
// once it has read it. Each of its answers says how many it has read.
struct LostAnswer {
  explicit LostAnswer(loop::EventLoop& loop, std::string end)
      : server(loop, [this, end = std::move(end)](int fd, const std::string& text) {
          read += text;
          if (!read.ends_with(end)) return;
          read.clear();
          ++received;
          if (received == 2) return RawServer::hang_up(fd);
          RawServer::say(fd, with_length("", std::to_string(received)));
        }) {}
  std::string read;
  int received = 0;
  RawServer server;
};

Request write_to(const RawServer& server, const std::string& method, const std::string& type,
                 const std::string& body = "body") {
  Request request;
  request.method = method;
  request.url = server.url();
  if (!type.empty()) request.headers.set("Content-Type", type);
  request.body = body;
  return request;
}

TEST_CASE("what counts each time is not sent again when its kept connection ends unanswered") {
  struct Case {
    const char* method;
    const char* type;
    const char* body;
    bool again;
  };
  const Case cases[] = {
      {"POST", "application/json", "body", false},
      {"POST", "", "", false},
      {"PATCH", "application/json-patch+json", "body", false},
      {"PATCH", "Application/JSON-Patch+JSON; charset=utf-8", "body", false},
      {"PATCH", "application/apply-patch+yaml", "body", true},
      {"PATCH", "application/merge-patch+json", "body", true},
      {"PUT", "application/json", "body", true},
  };
  for (const Case& c : cases) {
    INFO(c.method << " " << c.type << " " << c.body);
    loop::EventLoop loop;
    LostAnswer lost(loop, std::string("\r\n\r\n") + c.body);
    const auto transport = make_transport(loop);
    const auto send = [&] {
      return get(loop, *transport, write_to(lost.server, c.method, c.type, c.body));
    };
    REQUIRE(send().ok());
    const auto second = send();
    REQUIRE(second.ok() == c.again);
    CHECK(lost.received == (c.again ? 3 : 2));
    if (!c.again) {
      CHECK(second.error().kind() == ErrorKind::unreachable);
      CHECK(second.error().message() ==
            lost.server.host_port() + " closed the connection without an answer");
    }
    const int before = lost.received;
    const auto third = send();
    REQUIRE(third.ok());
    CHECK(third->body == std::to_string(before + 1));
  }
}

TEST_CASE("writes go over kept connections, and over others once the server has closed these") {
  for (const char* type : {"application/json", "application/json-patch+json"}) {
    INFO(type);
    const std::string method = std::string(type) == "application/json" ? "POST" : "PATCH";
    loop::EventLoop loop;
    bool closes = false;
    std::string read;
    const RawServer server(loop, [&](int fd, const std::string& text) {
      read += text;
      if (!read.ends_with("end")) return;
      const std::size_t size = read.size() - read.find("\r\n\r\n") - 4;
      read.clear();
      RawServer::say(fd, with_length("", std::to_string(size)));
      if (closes) RawServer::hang_up(fd);
    });
    const auto transport = make_transport(loop);
    for (const std::size_t size : {3U, 1000U, 300U << 10U, 3U}) {
      const auto answer =
          get(loop, *transport, write_to(server, method, type, std::string(size - 3, 'x') + "end"));
      REQUIRE(answer.ok());
      CHECK(answer->body == std::to_string(size));
    }
    CHECK(server.accepted() == 1);
    closes = true;
    for (int i = 0; i < 3; ++i) {
      const auto answer = get(loop, *transport, write_to(server, method, type, "end"));
      REQUIRE(answer.ok());
    }
    CHECK(server.accepted() == 3);
  }
}

TEST_CASE("the environment's proxy is not used") {
  loop::EventLoop loop;
  const RawServer proxy(loop, [](int, const std::string&) { FAIL("the proxy was asked"); });
  setenv("http_proxy", proxy.url().c_str(), 1);
  setenv("ALL_PROXY", proxy.url().c_str(), 1);
  const RawServer server(
      loop, [](int fd, const std::string&) { RawServer::say(fd, with_length("", "ok")); });
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, server.url());
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  CHECK(answer.ok());
  CHECK(proxy.accepted() == 0);
}

TEST_CASE("a configured proxy is used, except for what no_proxy names") {
  loop::EventLoop loop;
  std::string asked;
  const RawServer proxy(loop, [&asked](int fd, const std::string& text) {
    asked = text.substr(0, text.find('\r'));
    RawServer::say(fd, with_length("", "from the proxy"));
  });
  const RawServer direct(
      loop, [](int fd, const std::string&) { RawServer::say(fd, with_length("", "direct")); });
  TransportOptions options;
  options.user_agent = "test";
  options.proxy = proxy.url();
  options.no_proxy = "127.0.0.1";
  const auto transport = make_curl_transport(loop, options);
  REQUIRE(transport.ok());
  const auto answer = get(loop, **transport, "http://cluster.invalid/x");
  REQUIRE(answer.ok());
  CHECK(answer->body == "from the proxy");
  CHECK(asked == "GET http://cluster.invalid/x HTTP/1.1");
  CHECK(get(loop, **transport, direct.url())->body == "direct");
}

// The same proxy says the same the next time.
TEST_CASE("a proxy that wants to know who asks has answered, and no connection was lost") {
  loop::EventLoop loop;
  const RawServer proxy(loop, [](int fd, const std::string&) {
    RawServer::say(fd, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    RawServer::hang_up(fd);
  });
  TransportOptions options;
  options.user_agent = "test";
  options.proxy = proxy.url();
  const auto transport = make_curl_transport(loop, options);
  REQUIRE(transport.ok());
  const auto answer = get(loop, **transport, "https://cluster.invalid/x");
  REQUIRE_FALSE(answer.ok());
  INFO(answer.error().message());
  CHECK(answer.error().is_unreachable());
  CHECK_FALSE(answer.error().is_disconnect());
}

}  // namespace
}  // namespace kubewatch::http

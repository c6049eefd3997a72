// TLS between our client and our server: what is trusted, and what the refusals say; how much of it
// a stream costs.
#include <fcntl.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <map>

#include "base/random.hpp"
#include "fixture.hpp"

namespace kubewatch::http {
namespace {

WallTime today() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

GeneratedCertificate make_certificate(const std::vector<std::string>& names = {"localhost"},
                                      const std::vector<std::string>& ips = {"127.0.0.1", "::1"},
                                      WallTime now = today()) {
  auto made = generate_certificate(names, ips, now);
  REQUIRE(made.ok());
  return std::move(made).value();
}

struct TlsServer {
  explicit TlsServer(loop::EventLoop& loop, const GeneratedCertificate& certificate) {
    ServerOptions options;
    options.tls = ServerTls{certificate.certificate_pem, certificate.key_pem};
    server = serve(
        loop,
        [this, &loop](const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
          host = std::string(request.headers.get("Host"));
          // /ends/N/M: N pieces at once, and the end M turns of the loop later.
          if (request.path.starts_with("/ends/")) {
            responder->begin(200, {});
            for (char left = request.path.at(6); left > '0'; --left) responder->send("piece");
            return end_after(loop, responder, request.path.at(8) - '0');
          }
          if (request.path == "/big") return responder->respond(200, {}, big);
          if (request.path == "/stream") {
            held = responder;
            held->begin(200, {});
            held->send("first");
            return;
          }
          responder->respond(200, {}, "secret");
        },
        options);
  }
  static void end_after(loop::EventLoop& loop, std::shared_ptr<Responder> responder, int turns) {
    if (turns == 0) return;
    loop.post([&loop, responder = std::move(responder), turns]() mutable {
      end_after(loop, std::move(responder), turns - 1);
    });
  }
  std::string url(const std::string& path = "/") const { return url_of(*server, path, "https"); }
  std::string host_port() const { return "127.0.0.1:" + std::to_string(server->port()); }
  std::string host;
  std::string big;  // what /big answers
  std::shared_ptr<Responder> held;
  std::unique_ptr<Server> server;
};

// A server, and a transport that trusts its CA and nothing else.
struct Trusted {
  loop::EventLoop loop;
  const GeneratedCertificate certificate = make_certificate();
  TlsServer server{loop, certificate};
  std::unique_ptr<Transport> transport;

  Trusted() {
    TlsOptions tls;
    tls.ca_pem = certificate.ca_pem;
    transport = make_transport(loop, tls);
  }
};

std::string error_of(loop::EventLoop& loop, const TlsServer& server, TlsOptions tls) {
  const auto transport = make_transport(loop, std::move(tls));
  const auto answer = get(loop, *transport, server.url());
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().kind() == ErrorKind::unreachable);
  return answer.error().message();
}

TEST_CASE("the configured CA is enough, for answers, streams and many connections") {
  Trusted given;
  auto& loop = given.loop;
  const auto& server = given.server;
  const auto& transport = given.transport;
  CHECK(get(loop, *transport, server.url())->body == "secret");
  Stream stream;
  stream.start(*transport, watch_request(server.url("/stream")));
  REQUIRE(loop.run_until([&] { return stream.data == "first"; }, kLimit));
  CHECK(get(loop, *transport, server.url())->body == "secret");
}

TEST_CASE("a stream ends for its reader, however soon after what was sent last") {
  Trusted given;
  auto& loop = given.loop;
  const auto& server = given.server;
  const auto& transport = given.transport;
  for (int pieces = 0; pieces < 3; ++pieces) {
    for (int turns = 0; turns < 6; ++turns) {
      INFO(pieces << " pieces, the end after " << turns << " turns");
      Stream stream;
      stream.start(*transport, watch_request(server.url("/ends/" + std::to_string(pieces) + "/" +
                                                        std::to_string(turns))));
      REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
      CHECK(stream.end->ok());
      std::string all;
      for (int i = 0; i < pieces; ++i) all += "piece";
      CHECK(stream.data == all);
      CHECK(get(loop, *transport, server.url())->body == "secret");
    }
  }
}

TEST_CASE("a big answer that takes its reader long leaves the loop to others all the time") {
  Trusted given;
  auto& loop = given.loop;
  base::Random random{7};
  while (given.server.big.size() < (4U << 20U)) given.server.big += random.suffix(64);
  std::size_t turns = 0;
  std::size_t most = 0;  // pieces in one turn
  std::size_t pieces = 0;
  std::function<void()> next_turn = [&] {
    ++turns;
    most = std::max(most, std::exchange(pieces, 0));
    loop.post(next_turn);
  };
  loop.post(next_turn);
  std::string got;
  std::optional<Result<void>> end;
  CallHandlers handlers;
  handlers.on_data = [&](std::string_view bytes) {
    got.append(bytes);
    ++pieces;
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds{1}) {
    }
  };
  handlers.on_done = [&](Result<void> result) { end.emplace(std::move(result)); };
  Request request;
  request.url = given.server.url("/big");
  const auto call = given.transport->start(std::move(request), std::move(handlers));
  REQUIRE(loop.run_until([&] { return end.has_value(); }, kLimit));
  CHECK(end->ok());
  CHECK(got == given.server.big);
  CHECK(most < 9);
  CHECK(turns > 20);
}

TEST_CASE("a certificate of another CA is refused, and the error says which server and why") {
  loop::EventLoop loop;
  const TlsServer server(loop, make_certificate());
  TlsOptions other;
  other.ca_pem = make_certificate().ca_pem;
  CHECK(error_of(loop, server, other) ==
        "TLS: the certificate of " + server.host_port() + " is not signed by the configured CA");
  CHECK(error_of(loop, server, {}).find("is not signed by a CA that this system trusts") !=
        std::string::npos);
}

TEST_CASE("a certificate for another name or address is refused") {
  loop::EventLoop loop;
  const auto certificate = make_certificate({"other.example"}, {"10.0.0.1"});
  const TlsServer server(loop, certificate);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  CHECK(error_of(loop, server, tls).find("is for another host name") != std::string::npos);
}

TEST_CASE("an expired certificate and one of the future are refused") {
  loop::EventLoop loop;
  const auto old =
      make_certificate({"localhost"}, {"127.0.0.1"}, today() - std::chrono::hours(24 * 365 * 11));
  const TlsServer expired(loop, old);
  TlsOptions tls;
  tls.ca_pem = old.ca_pem;
  CHECK(error_of(loop, expired, tls).find("has expired") != std::string::npos);
  const auto next =
      make_certificate({"localhost"}, {"127.0.0.1"}, today() + std::chrono::hours(48));
  const TlsServer future(loop, next);
  tls.ca_pem = next.ca_pem;
  CHECK(error_of(loop, future, tls).find("is not valid yet") != std::string::npos);
}

TEST_CASE("tls server_name decides what is verified, and the Host header stays the server's") {
  loop::EventLoop loop;
  const auto certificate = make_certificate({"kubernetes.example"}, {});
  const TlsServer server(loop, certificate);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  tls.server_name = "kubernetes.example";
  {
    const auto transport = make_transport(loop, tls);
    const auto answer = get(loop, *transport, server.url("/x?y"));
    if (!answer.ok()) FAIL(answer.error().render());
    CHECK(answer->body == "secret");
    CHECK(server.host == server.host_port());
  }
  tls.server_name = "wrong.example";
  CHECK(error_of(loop, server, tls).find("is for another host name") != std::string::npos);
}

TEST_CASE("no_proxy is about the address that is reached, not about the tls server_name") {
  loop::EventLoop loop;
  const auto certificate = make_certificate({"kubernetes.example"}, {});
  const TlsServer server(loop, certificate);
  TransportOptions options;
  options.user_agent = "test";
  options.tls.ca_pem = certificate.ca_pem;
  options.tls.server_name = "kubernetes.example";
  options.proxy = "http://127.0.0.1:1";  // where nobody listens
  options.no_proxy = server.host_port();
  const auto past = make_curl_transport(loop, options);
  REQUIRE(past.ok());
  CHECK(get(loop, **past, server.url()).ok());
  options.no_proxy = "kubernetes.example";
  const auto through = make_curl_transport(loop, options);
  REQUIRE(through.ok());
  CHECK_FALSE(get(loop, **through, server.url()).ok());
}

TEST_CASE("insecure_skip_verify takes any certificate") {
  loop::EventLoop loop;
  const TlsServer server(loop, make_certificate({"other.example"}, {}));
  TlsOptions tls;
  tls.insecure_skip_verify = true;
  const auto transport = make_transport(loop, tls);
  CHECK(get(loop, *transport, server.url())->body == "secret");
}

TEST_CASE("TLS to a plain server, and plain HTTP to a TLS server, are errors and not hangs") {
  loop::EventLoop loop;
  const auto plain =
      serve(loop, [](const ServerRequest&, const std::shared_ptr<Responder>& responder) {
        responder->respond(200, {}, "x");
      });
  const TlsServer secure(loop, make_certificate());
  const auto transport = make_transport(loop);
  const auto one = get(loop, *transport, url_of(*plain, "/", "https"));
  REQUIRE_FALSE(one.ok());
  CHECK(one.error().message().find("TLS handshake with 127.0.0.1:") == 0);
  CHECK_FALSE(get(loop, *transport, url_of(*secure.server, "/", "http")).ok());
}

TEST_CASE("PEM that does not parse is refused before any connection") {
  loop::EventLoop loop;
  const auto certificate = make_certificate();
  const auto other = make_certificate();
  const auto error = [&loop](TlsOptions tls) {
    TransportOptions options;
    options.user_agent = "t";
    options.tls = std::move(tls);
    const auto made = make_curl_transport(loop, options);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind() == ErrorKind::invalid);
    return made.error().message();
  };
  TlsOptions tls;
  tls.ca_pem = "garbage";
  CHECK(error(tls).find("the configured CA holds no PEM certificate") == 0);
  tls = {};
  tls.client_cert_pem = certificate.certificate_pem;
  CHECK(error(tls) == "a client certificate is set without its key");
  tls.client_key_pem = other.key_pem;
  CHECK(error(tls) == "the client key does not belong to the certificate");
  tls.client_key_pem = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n";
  CHECK(error(tls).find("hunter2") == std::string::npos);
  tls = {};
  tls.server_name = "a/b";
  CHECK(error(tls) == "the TLS server name is not a host name");
}

TEST_CASE("a client certificate that fits its key is taken") {
  loop::EventLoop loop;
  const auto certificate = make_certificate();
  const TlsServer server(loop, certificate);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  tls.client_cert_pem = certificate.certificate_pem;
  tls.client_key_pem = certificate.key_pem;
  const auto transport = make_transport(loop, tls);
  CHECK(get(loop, *transport, server.url())->body == "secret");
}

TEST_CASE("a server certificate that does not fit its key is refused at once") {
  loop::EventLoop loop;
  ServerOptions options;
  options.tls = ServerTls{make_certificate().certificate_pem, make_certificate().key_pem};
  const auto server = Server::listen(loop, options, [](auto, auto) {});
  REQUIRE_FALSE(server.ok());
  CHECK(server.error().kind() == ErrorKind::invalid);
}

TEST_CASE("names that are no names get no certificate") {
  CHECK_FALSE(generate_certificate({"a,DNS:evil"}, {}, today()).ok());
  CHECK_FALSE(generate_certificate({}, {"127.0.0.1,IP:1.1.1.1"}, today()).ok());
  CHECK_FALSE(generate_certificate({}, {}, today()).ok());
}

TEST_CASE("what is sent at once does not wait for the loop, and all arrives in order") {
  const bool secure = GENERATE(false, true);
  INFO("TLS: " << secure);
  loop::EventLoop loop;
  const auto certificate = make_certificate();
  ServerOptions options;
  if (secure) options.tls = ServerTls{certificate.certificate_pem, certificate.key_pem};
  std::shared_ptr<Responder> held;
  const auto server = serve(
      loop,
      [&](const ServerRequest&, std::shared_ptr<Responder> responder) {
        held = std::move(responder);
        held->begin(200, {});
        held->send_now("first\n");
      },
      options);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  const auto transport = make_transport(loop, tls);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server, "/", secure ? "https" : "http")));
  std::string sent = "first\n";
  const auto arrived = [&] { return stream.data.size() == sent.size(); };
  REQUIRE(loop.run_until(arrived, kLimit));

  held->send_now("second\n");
  CHECK(held->backlog() == 0);
  held->send("third\n");
  CHECK(held->backlog() > 0);
  held->send_now("fourth\n");  // behind what waits
  sent += "second\nthird\nfourth\n";
  REQUIRE(loop.run_until(arrived, kLimit));
  // More than the kernel takes while nobody reads: begun by a write, ended by the loop.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 400 || (held->backlog() == 0 && i < 8000); ++i) {
      const std::string text = std::to_string(i) + std::string(i * 173 % 70000, 'x') + "\n";
      sent += text;
      held->send_now(text);
    }
    CHECK(held->backlog() > 0);
    REQUIRE(loop.run_until(arrived, kLimit));
    CHECK(stream.data == sent);
    CHECK(held->backlog() == 0);
  }
  held.reset();
  REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
  CHECK(stream.end->ok());
}

// Asks for /stream and keeps what comes, a TLS record each.
class RecordReader {
 public:
  RecordReader(loop::EventLoop& loop, std::uint16_t port)
      : tcp_(loop, port, ""), context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_)) {
    SSL_set_fd(ssl_, tcp_.fd());
    tcp_.stop_reading();
    REQUIRE(::fcntl(tcp_.fd(), F_SETFL, O_NONBLOCK) == 0);
    SSL_set_connect_state(ssl_);
    SSL_do_handshake(ssl_);
    readable_ = loop.on_readable(tcp_.fd(), [this] { read(); });
  }
  ~RecordReader() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  std::string cipher() const { return SSL_get_cipher_name(ssl_); }
  std::vector<std::string> records;

 private:
  void read() {
    if (SSL_do_handshake(ssl_) != 1) return;
    const std::string request = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (!asked_) asked_ = SSL_write(ssl_, request.data(), static_cast<int>(request.size())) > 0;
    std::array<char, 20000> bytes{};
    for (int got = 0; (got = SSL_read(ssl_, bytes.data(), bytes.size())) > 0;) {
      records.emplace_back(bytes.data(), static_cast<std::size_t>(got));
    }
  }

  RawClient tcp_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool asked_ = false;
  loop::FdWatch readable_;
};

TEST_CASE("an event that is sent to a watcher is one TLS record, framed as a chunk") {
  loop::EventLoop loop;
  const auto certificate = make_certificate();
  TlsServer server(loop, certificate);
  RecordReader reader(loop, server.server->port());
  const auto last = [&reader] { return reader.records.empty() ? "" : reader.records.back(); };
  REQUIRE(loop.run_until([&] { return last().ends_with("first\r\n"); }, kLimit));
  CHECK(reader.cipher() == "TLS_AES_128_GCM_SHA256");  // not what OpenSSL's clients ask for first
  const std::map<std::size_t, std::string> sizes = {
      {1, "1"}, {15, "f"}, {16, "10"}, {255, "ff"}, {256, "100"}, {4095, "fff"}, {6000, "1770"}};
  for (const auto& [size, digits] : sizes) {
    const std::string text(size, 'e');
    const std::size_t before = reader.records.size();
    server.held->send(text);
    REQUIRE(loop.run_until([&] { return last().ends_with(text + "\r\n"); }, kLimit));
    CHECK(reader.records.size() == before + 1);
    CHECK(last() == digits + "\r\n" + text + "\r\n");
  }
  server.held.reset();
  REQUIRE(loop.run_until([&] { return last() == "0\r\n\r\n"; }, kLimit));
}

TEST_CASE("the head of a stream is answered without its body") {
  loop::EventLoop loop;
  std::shared_ptr<Responder> held;
  const auto server = serve(loop, [&](const ServerRequest&, const std::shared_ptr<Responder>& to) {
    held = to;
    held->begin(200, {});
    held->send("one");
    held->send("two");
  });
  RawClient client(loop, server->port(), "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return client.received.ends_with("\r\n\r\n"); }, kLimit));
  CHECK(client.received.find("one") == std::string::npos);
  CHECK(client.received.find("two") == std::string::npos);
}

}  // namespace
}  // namespace kubewatch::http

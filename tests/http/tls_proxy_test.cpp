// A proxy that is reached by TLS: what it is trusted by, whom it is shown, and who is to blame.
#include <openssl/err.h>
#include <poll.h>

#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

#include "tls_peer.hpp"

namespace kubewatch::http {
namespace {

// Takes CONNECT 127.0.0.1:PORT and passes bytes on.
class TlsProxy {
 public:
  explicit TlsProxy(const GeneratedCertificate& certificate)
      : peer_(certificate, [this](SSL* ssl, int fd) {
          talk(ssl, fd);
          if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_NO_RENEGOTIATION) refused_ = true;
        }) {}
  std::string host_port() const { return peer_.host_port(); }
  std::string asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  bool was_shown_a_certificate() {
    const std::lock_guard lock(mutex_);
    return shown_;
  }
  void without_tls13() { SSL_CTX_set_max_proto_version(peer_.context(), TLS1_2_VERSION); }
  // Asks for it once, after what comes next.
  void renegotiate() { renegotiate_ = true; }
  bool was_refused_to() const { return refused_; }

 private:
  void talk(SSL* ssl, int fd) {
    char bytes[4096];
    const int size = SSL_read(ssl, bytes, sizeof bytes);
    if (size <= 0) return;
    const std::string_view head(bytes, static_cast<std::size_t>(size));
    {
      X509* certificate = SSL_get1_peer_certificate(ssl);
      const std::lock_guard lock(mutex_);
      asked_ = head.substr(0, head.find('\r'));
      shown_ = certificate != nullptr;
      X509_free(certificate);
    }
    constexpr std::string_view kConnect = "CONNECT 127.0.0.1:";
    if (!head.starts_with(kConnect)) return;
    const sockaddr_in address = loopback(std::stoi(std::string(head.substr(kConnect.size()))));
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::string_view yes = "HTTP/1.1 200 OK\r\n\r\n";
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        SSL_write(ssl, yes.data(), static_cast<int>(yes.size())) > 0) {
      pass_on(ssl, fd, server);
    }
    close(server);
  }
  void pass_on(SSL* ssl, int fd, int server) {
    char bytes[16384];
    for (;;) {
      pollfd ready[] = {{fd, POLLIN, 0}, {server, POLLIN, 0}};
      if (SSL_pending(ssl) == 0 && poll(ready, 2, -1) <= 0) return;
      if (SSL_pending(ssl) > 0 || ready[0].revents != 0) {
        const int got = SSL_read(ssl, bytes, sizeof bytes);
        if (got <= 0 || send(server, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL) != got)
          return;
        if (renegotiate_.exchange(false) && SSL_renegotiate(ssl) == 1) SSL_do_handshake(ssl);
      }
      if (ready[1].revents != 0) {
        const ssize_t got = recv(server, bytes, sizeof bytes, 0);
        if (got <= 0 || SSL_write(ssl, bytes, static_cast<int>(got)) <= 0) return;
      }
    }
  }

  std::mutex mutex_;
  std::string asked_;
  bool shown_ = false;
  std::atomic<bool> renegotiate_ = false;
  std::atomic<bool> refused_ = false;
  TlsPeer peer_;  // the first to go
};

// A server behind a proxy, each with a certificate.
struct Behind {
  explicit Behind(const GeneratedCertificate& of_proxy, const GeneratedCertificate& of_server)
      : proxy(of_proxy) {
    ServerOptions options;
    options.tls = ServerTls{of_server.certificate_pem, of_server.key_pem};
    server = serve(
        loop,
        [](const ServerRequest&, const std::shared_ptr<Responder>& responder) {
          responder->respond(200, {}, "behind the proxy");
        },
        options);
  }
  Result<Response> ask(const TlsOptions& tls) {
    return ask_through("https://" + proxy.host_port(), tls);
  }
  Result<Response> ask_through(const std::string& url, const TlsOptions& tls) {
    TransportOptions options;
    options.user_agent = "test";
    options.tls = tls;
    options.proxy = url;
    const auto transport = make_curl_transport(loop, options);
    REQUIRE(transport.ok());
    return get(loop, **transport, url_of(*server, "/", "https"));
  }
  std::string error(const TlsOptions& tls) {
    const auto answer = ask(tls);
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind() == ErrorKind::unreachable);
    return answer.error().message();
  }
  loop::EventLoop loop;
  TlsProxy proxy;
  std::unique_ptr<Server> server;
};

TEST_CASE(
    "the configured CA vouches for the proxy too, and the client certificate is shown to it") {
  const auto certificate = make_certificate();
  Behind given(certificate, certificate);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  tls.client_cert_pem = certificate.certificate_pem;
  tls.client_key_pem = certificate.key_pem;
  const auto answer = given.ask(tls);
  if (!answer.ok()) FAIL(answer.error().render());
  CHECK(answer->body == "behind the proxy");
  CHECK(given.proxy.asked() ==
        "CONNECT 127.0.0.1:" + std::to_string(given.server->port()) + " HTTP/1.1");
  CHECK(given.proxy.was_shown_a_certificate());
}

TEST_CASE("an error names whose certificate it is: the proxy's or that of the server behind it") {
  const auto one = make_certificate();
  const auto other = make_certificate();
  Behind given(one, other);
  TlsOptions tls;
  tls.ca_pem = other.ca_pem;
  CHECK(given.error(tls) == "TLS: the certificate of the proxy " + given.proxy.host_port() +
                                " is not signed by the configured CA");
  tls.ca_pem = one.ca_pem;
  CHECK(given.error(tls) ==
        "TLS: the certificate of 127.0.0.1:" + std::to_string(given.server->port()) +
            " is not signed by the configured CA");
  tls.ca_pem = one.ca_pem + other.ca_pem;
  CHECK(given.ask(tls).ok());
}

TEST_CASE("the name of a proxy is verified, whatever tls server_name says of the server") {
  const auto elsewhere = make_certificate({"10.0.0.1"});
  const auto certificate = make_certificate();
  Behind given(elsewhere, certificate);
  TlsOptions tls;
  tls.ca_pem = elsewhere.ca_pem + certificate.ca_pem;
  tls.server_name = "localhost";
  CHECK(given.error(tls).starts_with("TLS: the certificate of the proxy " +
                                     given.proxy.host_port() + " is for another host name"));
}

TEST_CASE("a connection that is kept is not negotiated again: who verified it is gone") {
  const auto certificate = make_certificate();
  Behind given(certificate, certificate);
  given.proxy.without_tls13();
  TransportOptions options;
  options.user_agent = "test";
  options.tls.ca_pem = certificate.ca_pem;
  options.proxy = "https://" + given.proxy.host_port();
  const auto transport = make_curl_transport(given.loop, options);
  REQUIRE(transport.ok());
  const std::string url = url_of(*given.server, "/", "https");
  CHECK(get(given.loop, **transport, url).ok());
  given.proxy.renegotiate();
  CHECK(get(given.loop, **transport, url).ok());  // on another one
  CHECK(given.loop.run_until([&] { return given.proxy.was_refused_to(); }, kLimit));
}

TEST_CASE("insecure_skip_verify takes any certificate of a proxy") {
  Behind given(make_certificate({"10.0.0.1"}), make_certificate());
  TlsOptions tls;
  tls.insecure_skip_verify = true;
  CHECK(given.ask(tls).ok());
}

TEST_CASE("a proxy that speaks no TLS is named") {
  const auto certificate = make_certificate();
  Behind given(certificate, certificate);
  const RawServer plain(given.loop, [](int fd, const std::string&) {
    RawServer::say(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    RawServer::hang_up(fd);
  });
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  const auto answer = given.ask_through("https://" + plain.host_port(), tls);
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message().starts_with("TLS handshake with the proxy " + plain.host_port()));
}

}  // namespace
}  // namespace kubewatch::http

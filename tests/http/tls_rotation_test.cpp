// New certificates on a running transport: new connections use them, open ones go on.
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <vector>

#include "tls_peer.hpp"

namespace kubewatch::http {
namespace {

struct TlsServer {
  TlsServer(loop::EventLoop& loop, const GeneratedCertificate& certificate) {
    ServerOptions options;
    options.tls = ServerTls{certificate.certificate_pem, certificate.key_pem};
    server = serve(
        loop,
        [this](const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
          if (request.path != "/stream") return responder->respond(200, {}, "answer");
          held = responder;
          held->begin(200, {});
          held->send("first");
        },
        options);
  }
  std::string url(const std::string& path = "/") const { return url_of(*server, path, "https"); }
  std::shared_ptr<Responder> held;
  std::unique_ptr<Server> server;
};

// Answers with the certificate that it was shown.
class CertificateEcho {
 public:
  explicit CertificateEcho(const GeneratedCertificate& certificate)
      : peer_(certificate, [this](SSL* ssl, int) { talk(ssl); }) {
    static const unsigned char kId[] = "echo";
    SSL_CTX_set_session_id_context(peer_.context(), kId, sizeof kId);
  }
  std::string url() const { return "https://" + peer_.host_port() + "/"; }
  // Requests for it are answered in pairs: a pair is on two connections, however fast an answer is.
  std::string pair_url() const { return url() + "pair"; }
  // Handshakes that took up an earlier session.
  long resumed() const { return SSL_CTX_sess_hits(peer_.context()); }

 private:
  // Keeps the connection open for as long as the client asks on it.
  void talk(SSL* ssl) {
    char bytes[4096];
    for (int size = 0; (size = SSL_read(ssl, bytes, sizeof bytes)) > 0;) {
      const std::string_view request(bytes, static_cast<std::size_t>(size));
      if (request.starts_with("GET /pair")) meet();
      const std::string body = shown(ssl);
      const std::string answer =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
      if (SSL_write(ssl, answer.data(), static_cast<int>(answer.size())) <= 0) return;
    }
  }
  void meet() {
    std::unique_lock lock(mutex_);
    const int place = ++arrived_;
    changed_.notify_all();
    changed_.wait_for(lock, kLimit, [&] { return arrived_ >= place + place % 2; });
  }
  static std::string shown(SSL* ssl) {
    X509* certificate = SSL_get1_peer_certificate(ssl);
    if (certificate == nullptr) return "none";
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string out(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    X509_free(certificate);
    return out;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;  // requests for a pair
  TlsPeer peer_;     // the first to go
};

// Who shows a server its certificate, and has a second one.
struct Client {
  loop::EventLoop loop;
  const GeneratedCertificate server_certificate = make_certificate();
  const CertificateEcho server{server_certificate};
  const GeneratedCertificate first = make_certificate();
  const GeneratedCertificate second = make_certificate();
  std::unique_ptr<Transport> transport = make_transport(loop, with(first));

  TlsOptions with(const GeneratedCertificate& certificate) const {
    TlsOptions tls;
    tls.ca_pem = server_certificate.ca_pem;
    tls.client_cert_pem = certificate.certificate_pem;
    tls.client_key_pem = certificate.key_pem;
    return tls;
  }
  void rotate() const { REQUIRE(transport->set_tls(with(second)).ok()); }
  std::string shown() { return get(loop, *transport, server.url())->body; }
};

TEST_CASE("after a rotated CA the next connection trusts the new one, and open streams go on") {
  loop::EventLoop loop;
  const auto before = make_certificate();
  const auto after = make_certificate();
  const TlsServer old_server(loop, before);
  const TlsServer new_server(loop, after);
  TlsOptions tls;
  tls.ca_pem = before.ca_pem;
  const auto transport = make_transport(loop, tls);
  Stream stream;
  stream.start(*transport, watch_request(old_server.url("/stream")));
  REQUIRE(loop.run_until([&] { return stream.data == "first"; }, kLimit));
  CHECK(get(loop, *transport, old_server.url())->body == "answer");
  CHECK_FALSE(get(loop, *transport, new_server.url()).ok());

  tls.ca_pem = after.ca_pem;
  REQUIRE(transport->set_tls(tls).ok());
  CHECK(get(loop, *transport, new_server.url())->body == "answer");
  old_server.held->send("second");
  REQUIRE(loop.run_until([&] { return stream.data == "firstsecond"; }, kLimit));
  CHECK_FALSE(stream.end.has_value());
  // The connection that is still open to the old server is not one of the new trust.
  CHECK_FALSE(get(loop, *transport, old_server.url()).ok());
}

TEST_CASE("after a rotated client certificate the next request shows the new one") {
  Client client;
  CHECK(client.shown() == client.first.certificate_pem);
  client.rotate();
  // The first connection is still open, and not used again.
  CHECK(client.shown() == client.second.certificate_pem);
}

TEST_CASE("a further connection takes up the session of the first, never one of other material") {
  Client client;
  CHECK(client.shown() == client.first.certificate_pem);
  CHECK(client.server.resumed() == 0);
  const auto two_at_once = [&] {
    Stream one;
    Stream other;
    one.start(*client.transport, watch_request(client.server.pair_url()));
    other.start(*client.transport, watch_request(client.server.pair_url()));
    REQUIRE(client.loop.run_until([&] { return one.end && other.end; }, kLimit));
    CHECK(one.data == other.data);
    return one.data;
  };
  CHECK(two_at_once() == client.first.certificate_pem);
  CHECK(client.server.resumed() == 1);

  client.rotate();
  CHECK(client.shown() == client.second.certificate_pem);
  CHECK(client.server.resumed() == 1);
  CHECK(two_at_once() == client.second.certificate_pem);
  CHECK(client.server.resumed() == 2);
}

TEST_CASE("material that cannot be used changes nothing") {
  loop::EventLoop loop;
  const auto certificate = make_certificate();
  const TlsServer server(loop, certificate);
  TlsOptions tls;
  tls.ca_pem = certificate.ca_pem;
  const auto transport = make_transport(loop, tls);
  TlsOptions half = tls;
  half.client_cert_pem = certificate.certificate_pem;
  CHECK(transport->set_tls(half).error().kind() == ErrorKind::invalid);
  half.client_key_pem = make_certificate().key_pem;
  CHECK(transport->set_tls(half).error().message() ==
        "the client key does not belong to the certificate");
  CHECK(get(loop, *transport, server.url())->body == "answer");
}

}  // namespace
}  // namespace kubewatch::http

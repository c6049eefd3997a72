// A TLS server over plain OpenSSL, for what ours never does. It asks for a client certificate and
// does not look at it. Blocking, a thread for each connection; they end with the client's
// transport.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace kubewatch::http {

inline GeneratedCertificate make_certificate(const std::vector<std::string>& ips = {"127.0.0.1"}) {
  const auto now =
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  auto made = generate_certificate({"localhost"}, ips, now);
  REQUIRE(made.ok());
  return std::move(made).value();
}

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class TlsPeer {
 public:
  // In a connection's thread, from the handshake on.
  using Talk = std::function<void(SSL*, int fd)>;

  TlsPeer(const GeneratedCertificate& certificate, Talk talk)
      : talk_(std::move(talk)), context_(SSL_CTX_new(TLS_server_method())) {
    use(certificate);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(fd_, 8) == 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~TlsPeer() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    for (std::thread& connection : connections_) connection.join();
    close(fd_);
    SSL_CTX_free(context_);
  }
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;
  std::string host_port() const { return "127.0.0.1:" + std::to_string(port_); }
  SSL_CTX* context() const { return context_; }

 private:
  void use(const GeneratedCertificate& certificate) {
    BIO* bio = BIO_new_mem_buf(certificate.certificate_pem.data(), -1);
    X509* parsed = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = BIO_new_mem_buf(certificate.key_pem.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    REQUIRE(SSL_CTX_use_certificate(context_, parsed) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context_, key) == 1);
    X509_free(parsed);
    EVP_PKEY_free(key);
  }
  void run() {
    for (;;) {
      const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      connections_.emplace_back([this, fd] {
        SSL* ssl = SSL_new(context_);
        SSL_set_fd(ssl, fd);
        if (SSL_accept(ssl) == 1) talk_(ssl, fd);
        SSL_free(ssl);
        close(fd);
      });
    }
  }

  Talk talk_;
  SSL_CTX* context_;
  int fd_ = -1;
  std::uint16_t port_ = 0;
  std::vector<std::thread> connections_;  // the accepting thread's, until that has ended
  std::thread thread_;
};

}  // namespace kubewatch::http

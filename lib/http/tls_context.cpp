// OpenSSL's server context from PEM in memory.
#include "http/tls_context.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "http/pem.hpp"

namespace kubewatch::http {

namespace {

// AES-128 first, as kube-apiserver: most of what a watcher costs in this process is encryption.
constexpr const char* kSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

// What follows the first certificate is the chain.
void add_chain(SSL_CTX* context, const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509_free(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  while (X509* link = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    if (SSL_CTX_add_extra_chain_cert(context, link) != 1) X509_free(link);
  }
  BIO_free(bio);
  ERR_clear_error();
}

}  // namespace

void SslContextFree::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<SslContextPtr> make_server_context(const ServerTls& tls) {
  KW_TRY(check_key_pair(tls.certificate_pem, tls.key_pem, "the server"));
  KW_ASSIGN(const CertificatePtr certificate,
            parse_certificate(tls.certificate_pem, "the server certificate"));
  KW_ASSIGN(const KeyPtr key, parse_private_key(tls.key_pem, "the server key"));
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Error(ErrorKind::internal, "TLS: " + take_openssl_error("no context"));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // A client that puts ChaCha20 first has no instructions for AES, and gets it.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_PRIORITIZE_CHACHA);
  if (SSL_CTX_set_ciphersuites(context.get(), kSuites) != 1) {
    return Error(ErrorKind::internal, "TLS: " + take_openssl_error("no cipher suites"));
  }
  // A thousand idle watchers would otherwise hold 34 KB of buffers each.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return Error(ErrorKind::invalid,
                 "the server certificate cannot be used: " + take_openssl_error("unknown error"));
  }
  add_chain(context.get(), tls.certificate_pem);
  return context;
}

}  // namespace kubewatch::http

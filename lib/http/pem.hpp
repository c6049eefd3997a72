// PEM at the door: what a kubeconfig calls a certificate or key is parsed before any connection is
// tried, so that the error names the field and not a TLS handshake.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

struct x509_st;
struct evp_pkey_st;

namespace kubewatch::http {

struct X509Free {
  void operator()(x509_st* certificate) const;
};
struct KeyFree {
  void operator()(evp_pkey_st* key) const;
};
using CertificatePtr = std::unique_ptr<x509_st, X509Free>;
using KeyPtr = std::unique_ptr<evp_pkey_st, KeyFree>;

// The first certificate of the text. Errors: invalid, beginning with `what`.
Result<CertificatePtr> parse_certificate(const std::string& pem, const std::string& what);
// An unencrypted private key. Errors: invalid, beginning with `what`; never with any of its bytes.
Result<KeyPtr> parse_private_key(const std::string& pem, const std::string& what);
// Both parse and belong together. Errors: invalid.
Result<void> check_key_pair(const std::string& certificate_pem, const std::string& key_pem,
                            const std::string& what);

// The newest OpenSSL error as text, or `otherwise`; clears the queue.
std::string take_openssl_error(const std::string& otherwise);

}  // namespace kubewatch::http

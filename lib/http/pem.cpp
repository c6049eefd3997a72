// Parsing with OpenSSL only; nothing here opens a file or a connection.
#include "http/pem.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace kubewatch::http {

namespace {

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioFree>;

BioPtr memory_bio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL would ask the terminal for a passphrase otherwise.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

void X509Free::operator()(x509_st* certificate) const {
  X509_free(certificate);
}
void KeyFree::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

Result<CertificatePtr> parse_certificate(const std::string& pem, const std::string& what) {
  const BioPtr bio = memory_bio(pem);
  CertificatePtr out(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!out) {
    return Error(ErrorKind::invalid, what + " holds no PEM certificate (\"BEGIN CERTIFICATE\")");
  }
  return out;
}

Result<KeyPtr> parse_private_key(const std::string& pem, const std::string& what) {
  const BioPtr bio = memory_bio(pem);
  KeyPtr out(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!out) {
    const bool encrypted = pem.find("ENCRYPTED") != std::string::npos;
    return Error(ErrorKind::invalid,
                 what + (encrypted ? " is an encrypted key; give one without a passphrase"
                                   : " holds no PEM private key (\"BEGIN PRIVATE KEY\")"));
  }
  return out;
}

Result<void> check_key_pair(const std::string& certificate_pem, const std::string& key_pem,
                            const std::string& what) {
  KW_ASSIGN(const CertificatePtr certificate,
            parse_certificate(certificate_pem, what + " certificate"));
  KW_ASSIGN(const KeyPtr key, parse_private_key(key_pem, what + " key"));
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!matches) {
    return Error(ErrorKind::invalid, what + " key does not belong to the certificate");
  }
  return {};
}

std::string take_openssl_error(const std::string& otherwise) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? otherwise : reason;
}

}  // namespace kubewatch::http

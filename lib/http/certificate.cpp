// Certificates for the sandbox and for tests: one CA and one server certificate, ECDSA P-256. Not a
// CA tool.
#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "base/ascii.hpp"
#include "http/pem.hpp"
#include "http/server.hpp"

namespace kubewatch::http {

namespace {

constexpr long kBackdateSeconds = 3600;
constexpr int kValidDays = 3650;
constexpr int kSerialBits = 127;

struct Fields {
  std::string common_name;
  bool is_ca = false;
  std::string alternative_names;  // X509V3 syntax
};

Error failed(const std::string& what) {
  return Error(ErrorKind::internal, "cannot generate a certificate: " + what + ": " +
                                        take_openssl_error("unknown error"));
}

bool is_dns_name(const std::string& name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return base::is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '*';
  });
}

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> buffer{};
  return inet_pton(AF_INET, text.c_str(), buffer.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), buffer.data()) == 1;
}

Result<std::string> alternative_names(const std::vector<std::string>& dns_names,
                                      const std::vector<std::string>& ip_addresses) {
  std::string out;
  const auto append = [&out](const char* prefix, const std::string& value) {
    out += out.empty() ? "" : ",";
    out += prefix + value;
  };
  for (const std::string& name : dns_names) {
    if (!is_dns_name(name)) {
      return Error(ErrorKind::invalid, "\"" + name + "\" is not a DNS name for a certificate");
    }
    append("DNS:", name);
  }
  for (const std::string& ip : ip_addresses) {
    if (!is_ip_address(ip)) {
      return Error(ErrorKind::invalid, "\"" + ip + "\" is not an IP address for a certificate");
    }
    append("IP:", ip);
  }
  if (out.empty()) return Error(ErrorKind::invalid, "a server certificate needs a name");
  return out;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool add_extensions(X509* certificate, X509* issuer, const Fields& fields) {
  const auto add = [&](int nid, const std::string& value) {
    return add_extension(certificate, issuer, nid, value);
  };
  if (!add(NID_subject_key_identifier, "hash")) return false;
  if (fields.is_ca) {
    return add(NID_basic_constraints, "critical,CA:TRUE") &&
           add(NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature");
  }
  return add(NID_authority_key_identifier, "keyid") &&
         add(NID_basic_constraints, "critical,CA:FALSE") &&
         add(NID_key_usage, "critical,digitalSignature") && add(NID_ext_key_usage, "serverAuth") &&
         add(NID_subject_alt_name, fields.alternative_names);
}

bool set_serial(X509* certificate) {
  BIGNUM* number = BN_new();
  const bool done = BN_rand(number, kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool set_validity(X509* certificate, WallTime now) {
  std::time_t at = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return X509_time_adj_ex(X509_getm_notBefore(certificate), 0, -kBackdateSeconds, &at) != nullptr &&
         X509_time_adj_ex(X509_getm_notAfter(certificate), kValidDays, 0, &at) != nullptr;
}

Result<CertificatePtr> sign(const Fields& fields, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key,
                            WallTime now) {
  CertificatePtr out(X509_new());
  X509* certificate = out.get();
  if (issuer == nullptr) issuer = certificate;
  X509_set_version(certificate, X509_VERSION_3);
  if (!set_serial(certificate) || !set_validity(certificate, now))
    return failed("serial, validity");
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(fields.common_name.c_str());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  X509_set_pubkey(certificate, key);
  if (!add_extensions(certificate, issuer, fields)) return failed("extensions");
  if (X509_sign(certificate, issuer_key, EVP_sha256()) == 0) return failed("signature");
  return out;
}

template <class Write>
std::string to_pem(Write&& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

std::string certificate_to_pem(X509* certificate) {
  return to_pem([certificate](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

Result<GeneratedCertificate> generate_certificate(const std::vector<std::string>& dns_names,
                                                  const std::vector<std::string>& ip_addresses,
                                                  WallTime now) {
  KW_ASSIGN(const std::string names, alternative_names(dns_names, ip_addresses));
  const KeyPtr ca_key(EVP_EC_gen("P-256"));
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (!ca_key || !key) return failed("keys");
  // A fresh name for each CA: clients that keep several would otherwise pick the wrong one.
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  const Fields ca_fields{"kubewatch-ca@" + std::to_string(seconds.count()), true, ""};
  KW_ASSIGN(const CertificatePtr ca, sign(ca_fields, ca_key.get(), nullptr, ca_key.get(), now));
  const Fields fields{"kubewatch", false, names};
  KW_ASSIGN(const CertificatePtr certificate, sign(fields, key.get(), ca.get(), ca_key.get(), now));
  GeneratedCertificate out;
  out.ca_pem = certificate_to_pem(ca.get());
  out.certificate_pem = certificate_to_pem(certificate.get());
  out.key_pem = to_pem([&key](BIO* bio) {
    PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return out;
}

Result<GeneratedCertificate> generate_certificate(const std::vector<std::string>& dns_names,
                                                  const std::vector<std::string>& ip_addresses) {
  const auto now = std::chrono::system_clock::now();
  return generate_certificate(dns_names, ip_addresses,
                              std::chrono::floor<std::chrono::microseconds>(now));
}

}  // namespace kubewatch::http

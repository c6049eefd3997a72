#include "client/tls_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "client/file_limits.hpp"

namespace kubewatch::client {
namespace {

constexpr Duration kLookAgain{60000};
constexpr Duration kLookSoon{5000};
// Many requests may fail at once.
constexpr Duration kLeastPause{1000};

bool refresh(const std::string& file, std::string& content) {
  if (file.empty()) return true;
  // A pipe gave it once only.
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  auto read = base::read_regular_file(file, kMaxCredentialFile);
  if (!read.ok() || base::trim(*read).empty()) return false;
  content = std::move(read).value();
  return true;
}

}  // namespace

http::TlsOptions tls_options_of(const ClientConfig& config) {
  http::TlsOptions out;
  out.ca_pem = config.ca_pem;
  out.client_cert_pem = config.client_cert_pem;
  out.client_key_pem = config.client_key_pem;
  out.server_name = config.tls_server_name;
  out.insecure_skip_verify = config.insecure_skip_tls_verify;
  return out;
}

std::optional<http::TlsOptions> read_tls_files(const ClientConfig& config, http::TlsOptions other) {
  if (!refresh(config.ca_file, other.ca_pem)) return std::nullopt;
  if (!refresh(config.client_cert_file, other.client_cert_pem)) return std::nullopt;
  if (!refresh(config.client_key_file, other.client_key_pem)) return std::nullopt;
  return other;
}

TlsFiles::TlsFiles(const ClientConfig& config) : config_(config), in_use_(tls_options_of(config)) {}

bool TlsFiles::any() const {
  return !config_.ca_file.empty() || !config_.client_cert_file.empty() ||
         !config_.client_key_file.empty();
}

std::optional<http::TlsOptions> TlsFiles::look(TimePoint now) {
  if (!any()) return std::nullopt;
  if (look_at_ && now < *look_at_) return std::nullopt;
  // The first look answers no failure: one that follows is looked into at once.
  if (look_at_) looked_at_ = now;
  const auto found = read_tls_files(config_, in_use_);
  look_at_ = now + (found ? kLookAgain : kLookSoon);
  if (!found || *found == in_use_ || found == rejected_) return std::nullopt;
  return found;
}

void TlsFiles::reject(http::TlsOptions tls, TimePoint now) {
  rejected_ = std::move(tls);
  look_at_ = now + kLookSoon;
}

void TlsFiles::suspect(TimePoint now) {
  const TimePoint soonest = looked_at_ ? *looked_at_ + kLeastPause : now;
  look_at_ = look_at_ ? std::min(*look_at_, soonest) : soonest;
}

}  // namespace kubewatch::client

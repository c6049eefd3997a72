// Authorization and impersonation headers. Tokens stand in no message.
#include "client/credentials.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/files.hpp"
#include "base/strings.hpp"
#include "client/file_limits.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::client {
namespace {

constexpr Duration kReadAgainAfter{60000};

// Through a proxy even 127.0.0.1 is another machine.
bool stays_here(const ClientConfig& config) {
  return config.proxy_url.empty() && http::is_loopback_host(host_of_url(config.server));
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// Extra keys are part of a header name: what cannot stand there is percent-encoded, as the server
// expects.
std::string header_name_part(const std::string& key) {
  std::string out;
  for (char c : key) {
    const bool token = base::is_alphanumeric(c) ||
                       std::string_view("!#$&'*+-.^_`|~").find(c) != std::string_view::npos;
    out += token ? std::string(1, c) : base::percent_encode(std::string_view(&c, 1));
  }
  return out;
}

}  // namespace

bool sends_credentials(const ClientConfig& config) {
  return config.server.starts_with("https://") || stays_here(config);
}

Result<void> check_token(const ClientConfig& config) {
  http::Headers unused;
  return Credentials(config).authorize(unused, TimePoint{});
}

Credentials::Credentials(const ClientConfig& config) : config_(config), token_(config.token) {
  const bool any = !config.token.empty() || !config.token_file.empty() || !config.username.empty();
  withheld_ = any && !sends_credentials(config);
}

Result<void> Credentials::refresh_token(TimePoint now) {
  if (config_.token_file.empty()) return {};
  if (read_at_ && now - *read_at_ < kReadAgainAfter) return {};
  auto content = base::read_regular_file(config_.token_file, kMaxCredentialFile);
  if (content.ok()) {
    if (const auto token = base::trim(*content); !token.empty()) {
      token_ = token;
      read_at_ = now;
      return {};
    }
  }
  if (!token_.empty()) {  // the file is being replaced: the last good token may still do
    read_at_ = now;
    return {};
  }
  // A missing file is a wrong configuration, not an object that was not found.
  if (!content.ok()) {
    return Error(ErrorKind::invalid, "token file: " + content.error().render());
  }
  return Error(ErrorKind::invalid, "token file " + config_.token_file + " is empty");
}

Result<void> Credentials::set_authorization(http::Headers& headers, TimePoint now) {
  KW_TRY(refresh_token(now));
  if (!printable(token_)) {
    return Error(ErrorKind::invalid, config_.source +
                                         ": the token holds spaces, control or "
                                         "non-ASCII characters");
  }
  if (!token_.empty()) {
    headers.set("Authorization", "Bearer " + token_);
  } else if (!config_.username.empty()) {
    headers.set("Authorization",
                "Basic " + base::base64_encode(config_.username + ":" + config_.password));
  }
  return {};
}

bool Credentials::renew(http::Headers& headers, TimePoint now) {
  if (withheld_ || config_.token_file.empty()) return false;
  // What this request carried: another one's 401 may have renewed token_ since.
  const std::string before(headers.get("Authorization"));
  refused();
  return set_authorization(headers, now).ok() && headers.get("Authorization") != before;
}

Result<void> Credentials::authorize(http::Headers& headers, TimePoint now) {
  if (!withheld_) KW_TRY(set_authorization(headers, now));
  const Impersonation& as = config_.impersonate;
  if (!as.user.empty()) headers.add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.add("Impersonate-Group", group);
  for (const auto& [key, value] : as.extra) {
    headers.add("Impersonate-Extra-" + header_name_part(key), value);
  }
  return {};
}

}  // namespace kubewatch::client

#include "http/proxy_url.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

constexpr std::string_view kScheme = "://";

// Where user, host and port stand.
struct Authority {
  std::size_t host = 0;
  std::size_t end = 0;
};

// A password may hold a slash, where somebody forgot to encode it.
Authority authority_of(std::string_view url) {
  const auto scheme = url.find(kScheme);
  const std::size_t begin = scheme == url.npos ? 0 : scheme + kScheme.size();
  const auto at = url.rfind('@');
  const std::size_t host = at == url.npos || at < begin ? begin : at + 1;
  return {host, std::min(url.find('/', host), url.size())};
}

}  // namespace

std::string proxy_for_curl(std::string_view url) {
  constexpr std::string_view kSocks = "socks5://";
  if (url.starts_with(kSocks)) return "socks5h://" + std::string(url.substr(kSocks.size()));
  std::string out(url);
  if (url.empty() || (url.find(kScheme) != url.npos && !url.starts_with("http://"))) return out;
  const Authority place = authority_of(url);
  const std::string_view host = url.substr(place.host, place.end - place.host);
  const auto colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
  if (!has_port) out.insert(place.end, ":80");
  return out;
}

std::string host_of_proxy(std::string_view url) {
  const Authority place = authority_of(url);
  return std::string(url.substr(place.host, place.end - place.host));
}

bool is_tls_proxy(std::string_view url) {
  const auto scheme = url.find(kScheme);
  return scheme != url.npos && base::to_lower(url.substr(0, scheme)) == "https";
}

}  // namespace kubewatch::http

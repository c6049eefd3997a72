// The little that we read from URLs ourselves.
#include "base/strings.hpp"
#include "client/config.hpp"
#include "client/url_scheme.hpp"

namespace kubewatch::client {

std::string host_of_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#\\"));
  if (const std::size_t user = url.rfind('@'); user != std::string_view::npos) {
    url.remove_prefix(user + 1);
  }
  if (!url.empty() && url.front() == '[') {
    const std::size_t close = url.find(']');
    return close == std::string_view::npos ? "" : std::string(url.substr(1, close - 1));
  }
  return std::string(url.substr(0, url.find(':')));
}

std::string with_lower_scheme(std::string url) {
  const std::size_t end = url.find("://");
  if (end != std::string::npos) url.replace(0, end, base::to_lower(url.substr(0, end)));
  return url;
}

}  // namespace kubewatch::client

#include "http/listen_address.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/strings.hpp"

namespace kubewatch::http {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto wrong = [text] {
    return Error(ErrorKind::invalid,
                 fmt::format("\"{}\" is no ADDRESS:PORT, such as 127.0.0.1:9090, "
                             "[::1]:9090 or :9090 for all addresses",
                             text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  ListenAddress out;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, out.port);
  if (error != std::errc() || stop != end) return wrong();
  std::string_view address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  } else if (address.find_first_of(":[]") != std::string_view::npos) {
    return wrong();
  }
  out.address = address.empty() ? "::" : address;
  return out;
}

std::string to_string(const ListenAddress& where) {
  const bool ipv6 = where.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", where.address, ipv6 ? "]" : "", where.port);
}

std::string reached_at(const std::string& address) {
  return address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address;
}

bool is_numeric_address(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_loopback_host(std::string_view host) {
  if (host == "::1" || base::to_lower(host) == "localhost") return true;
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<void> check_plain_http(bool plain, const std::string& address) {
  if (!plain || is_loopback_host(address)) return {};
  return Error(ErrorKind::invalid,
               fmt::format("plain HTTP is for loopback addresses only, not for {}: leave out the "
                           "option to serve TLS",
                           address));
}

}  // namespace kubewatch::http

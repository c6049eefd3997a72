// NO_PROXY entry by entry. Addresses are compared as 16 bytes, IPv4 ones mapped into IPv6.
#include "http/no_proxy.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/number_text.hpp"
#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

using Address = std::array<unsigned char, 16>;
constexpr std::size_t kMappedBytes = 12;
constexpr int kMappedBits = 96;
constexpr int kAllBits = 128;

bool is_v4(const Address& address) {
  constexpr Address prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.begin() + kMappedBytes, address.begin());
}

std::optional<Address> parse_address(const std::string& text) {
  Address out{};
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  out[kMappedBytes - 2] = out[kMappedBytes - 1] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), out.data() + kMappedBytes) == 1) return out;
  return std::nullopt;
}

struct Network {
  Address address{};
  int bits = 0;  // of all 128

  bool contains(const Address& other) const {
    // ::/0 is all of IPv6, which IPv4 is no part of.
    if (bits < kMappedBits && is_v4(other)) return false;
    for (int bit = 0; bit < bits; ++bit) {
      const auto byte = static_cast<std::size_t>(bit) / 8;
      const int mask = 0x80 >> (bit % 8);
      if (((address[byte] ^ other[byte]) & mask) != 0) return false;
    }
    return true;
  }
};

std::optional<Network> parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string start = text.substr(0, slash);
  const auto address = parse_address(start);
  const bool v6 = start.find(':') != std::string::npos;
  const auto bits = base::read_number<int>(std::string_view(text).substr(slash + 1));
  if (!address || !bits || *bits < 0 || *bits > (v6 ? kAllBits : kAllBits - kMappedBits)) {
    return std::nullopt;
  }
  return Network{*address, v6 ? *bits : *bits + kMappedBits};
}

struct Entry {
  std::string host;
  std::string port;  // "" = every one
};

// "a:80", "[fd00::1]:80"; a colon that separates no port belongs to the host.
Entry split_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, ""};
  std::string host = text.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string::npos) {
    return {text, ""};
  }
  return {std::move(host), text.substr(colon + 1)};
}

bool names_domain(std::string domain, const std::string& host) {
  if (domain.starts_with("*.")) domain.erase(0, 1);
  if (domain.empty()) return false;
  if (domain.front() == '.') return host.ends_with(domain);
  return host == domain || host.ends_with("." + domain);
}

bool names(const std::string& entry, const std::string& host, std::string_view port,
           const std::optional<Address>& address) {
  if (entry == "*") return true;
  if (const auto network = parse_network(entry)) return address && network->contains(*address);
  const Entry one = split_port(entry);
  if (!one.port.empty() && one.port != port) return false;
  if (const auto known = parse_address(one.host)) return address == known;
  return !address && names_domain(one.host, host);
}

}  // namespace

bool named_by_no_proxy(std::string_view list, std::string_view host, std::string_view port) {
  if (list.empty()) return false;  // asked for each request
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::string name = base::to_lower(host);
  // fe80::1%eth0: the interface is no part of the address.
  const auto address = parse_address(name.substr(0, name.find('%')));
  for (const std::string& entry : base::split(list, ',')) {
    if (names(base::to_lower(base::trim(entry)), name, port, address)) return true;
  }
  return false;
}

}  // namespace kubewatch::http

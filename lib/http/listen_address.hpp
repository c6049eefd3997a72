// ADDRESS:PORT, as every flag that says where to listen takes it, and who can reach it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::http {

struct ListenAddress {
  std::string address;     // without brackets
  std::uint16_t port = 0;  // 0 = the kernel picks
};

// "127.0.0.1:9090", "[::1]:9090", "localhost:9090" (both of these addresses), ":9090" (all
// addresses, of IPv4 and IPv6: "::"). Errors: invalid.
Result<ListenAddress> parse_listen_address(std::string_view text);

// As parse_listen_address() takes it: an address of IPv6 stands in brackets.
std::string to_string(const ListenAddress& where);

// Where this machine reaches who listens there: all addresses are IPv4's as well, and "::" leads
// nowhere where there is no IPv6.
std::string reached_at(const std::string& address);

// An address and no name, judged by its letters alone.
bool is_numeric_address(std::string_view host);
// Only this machine reaches it: ::1, localhost, 127.x.x.x in numbers (127.evil.example is a name).
bool is_loopback_host(std::string_view host);
// Errors: invalid: plain HTTP beyond loopback.
Result<void> check_plain_http(bool plain, const std::string& address);

}  // namespace kubewatch::http

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

// "127.0.0.1:9090", "[::1]:9090", ":9090" (all addresses). Errors: invalid.
Result<ListenAddress> parse_listen_address(std::string_view text);

// Only this machine reaches it: ::1, localhost, 127.x.x.x in numbers (127.evil.example is a name).
bool is_loopback_host(std::string_view host);

}  // namespace kubewatch::http

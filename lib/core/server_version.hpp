// What GET /version says of a server's age: some requests cost it more, or mean something else,
// before a release. No I/O.
#pragma once

#include <optional>
#include <string_view>

namespace kubewatch::core {

// minor without its suffix ("27+" is 27).
struct ServerVersion {
  int major = 1;
  int minor = 0;
  friend bool operator<(const ServerVersion& a, const ServerVersion& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

// From the answer's body; absent when it is none.
std::optional<ServerVersion> parse_server_version(std::string_view json);

}  // namespace kubewatch::core

// Which cluster a configuration leads to, as files remember it that keep what was read there: one
// that was made anew at the same URL has other objects, and what its resourceVersions were means
// nothing to it. Told by who signs its certificate; nothing is asked of the server.
#pragma once

#include <string>

#include "client/config.hpp"

namespace kubewatch::client {

struct ServerIdentity {
  std::string url;
  std::string mark;  // a hash of the URL and its certificate authority
  bool operator==(const ServerIdentity&) const = default;
};

ServerIdentity identity_of(const ClientConfig& config);

// What a file was `saved` from, where that is not what is `here`: "https://a, and this is
// https://b". "" where it is, as far as the file says: those of before have no mark, or nothing.
std::string why_other(const ServerIdentity& saved, const ServerIdentity& here);

}  // namespace kubewatch::client

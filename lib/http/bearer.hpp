// By what a request is let in: the token of its Authorization header (RFC 6750), and whether it is
// the right one. Who is let in where is the servers' business.
#pragma once

#include <string_view>

#include "http/message.hpp"

namespace kubewatch::http {

// "" where there is none, or another scheme.
std::string_view bearer_token(const Headers& headers);

// The same texts, in a time that does not tell how much of them is the same. Nothing is the same as
// "", which is no secret.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace kubewatch::http

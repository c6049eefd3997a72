// When to ask again, as an answer says it (RFC 9110, 10.2.3): in seconds, or as a time, which is
// taken against the answer's own Date, so that a clock that is wrong here does not count. Pure.
#pragma once

#include <string>

#include "http/message.hpp"

namespace kubewatch::http {

// In seconds, as text; "" where the answer says nothing that can be read.
std::string retry_after_seconds(const Headers& headers);

}  // namespace kubewatch::http

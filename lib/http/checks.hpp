// What may be written into an HTTP/1.1 message head: the guard against header and request
// injection.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "http/message.hpp"

namespace kubewatch::http {

// RFC 9110 token: methods and header names.
bool is_token(std::string_view text);
// No CR, LF, NUL or other control character but the tab.
bool is_header_value(std::string_view text);
// Visible ASCII and bytes above it: no space, no control character.
bool is_request_target(std::string_view text);

// What makes it doubtful where a request that came ends, or for whom it is, so that two who read it
// could take it for different ones (RFC 9112, 3.2, 5.1 and 6.3): a sentence. Absent: nothing.
std::optional<std::string_view> framing_fault(std::string_view method, const Headers& headers);

// Method, URL and headers. Errors: invalid, naming the header but never its value.
Result<void> check_request(const Request& request);

// "Host" and port of an absolute http or https URL, as the error messages and TLS need them.
struct Endpoint {
  std::string scheme;
  std::string authority;  // host[:port] as written, without credentials
  std::string host;       // IPv6 with brackets
  std::string port;
  std::string rest;  // path, query
  std::string host_port() const { return host + ":" + port; }
};
// Errors: invalid.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace kubewatch::http

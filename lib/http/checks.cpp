// Character classes of RFC 9110 and a small URL splitter; libcurl parses the URL again in full.
#include "http/checks.hpp"

#include <algorithm>
#include <string>

#include "base/ascii.hpp"

namespace kubewatch::http {

namespace {

bool is_token_char(char c) {
  if (base::is_alphanumeric(c)) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Error invalid_url(std::string why) {
  return Error(ErrorKind::invalid, "the URL of the request " + std::move(why));
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_header_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c != '\t' && base::is_control(c); });
}

bool is_request_target(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == ' ' || base::is_control(c); });
}

Result<void> check_request(const Request& request) {
  if (!is_token(request.method)) {
    return Error(ErrorKind::invalid, "the method of the request is not an HTTP method");
  }
  if (!is_request_target(request.url)) return invalid_url("holds a space or a control character");
  for (const auto& [name, value] : request.headers.all()) {
    if (!is_token(name)) {
      return Error(ErrorKind::invalid, "a header name of the request holds a forbidden character");
    }
    if (!is_header_value(value)) {
      return Error(ErrorKind::invalid, "the value of the header " + name +
                                           " holds a line break or another control character");
    }
  }
  return {};
}

Result<Endpoint> parse_endpoint(std::string_view url) {
  Endpoint out;
  const std::size_t scheme_end = url.find("://");
  if (scheme_end != std::string_view::npos) out.scheme = url.substr(0, scheme_end);
  if (out.scheme != "http" && out.scheme != "https") {
    return invalid_url("does not begin with http:// or https://");
  }
  url.remove_prefix(scheme_end + 3);
  const std::size_t end = std::min(url.find_first_of("/?#"), url.size());
  std::string_view authority = url.substr(0, end);
  out.rest = url.substr(end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  out.authority = authority;
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  out.host = authority.substr(0, has_port ? colon : authority.size());
  out.port = has_port ? std::string(authority.substr(colon + 1)) : "";
  if (out.port.empty()) out.port = out.scheme == "https" ? "443" : "80";
  if (out.host.empty()) return invalid_url("has no host");
  const bool digits = std::all_of(out.port.begin(), out.port.end(), base::is_digit);
  if (!digits || out.port.size() > 5) return invalid_url("has a port that is not a number");
  return out;
}

}  // namespace kubewatch::http

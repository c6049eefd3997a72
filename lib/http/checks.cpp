// Character classes of RFC 9110 and a small URL splitter; libcurl parses the URL again in full.
#include "http/checks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

bool is_token_char(char c) {
  if (base::is_alphanumeric(c)) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Of what fits into 64 bits.
bool is_length(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  return !text.empty() && text.size() <= kMostDigits &&
         std::all_of(text.begin(), text.end(), base::is_digit);
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

std::optional<std::string_view> framing_fault(std::string_view method, const Headers& headers) {
  std::size_t hosts = 0;
  std::vector<std::string_view> lengths;
  std::vector<std::string_view> encodings;
  for (const auto& [name, value] : headers.all()) {
    if (!is_token(name)) return "A header name holds a space or another forbidden character.";
    const std::string lower = base::to_lower(name);
    if (lower == "host") ++hosts;
    if (lower == "content-length") lengths.push_back(base::trim(value));
    // Not trimmed: evhttp takes " chunked" of a folded line, and a tab before it, for no chunks.
    if (lower == "transfer-encoding") encodings.push_back(value);
  }
  if (hosts > 1) return "There is more than one Host header.";
  if (lengths.size() + encodings.size() > 1) {
    return "Content-Length and Transfer-Encoding are given more than once, or both.";
  }
  if (!lengths.empty() && !is_length(lengths[0])) return "Content-Length is no number.";
  if (!encodings.empty() && base::to_lower(encodings[0]) != "chunked") {
    return "Of Transfer-Encoding only chunked is understood.";
  }
  // evhttp reads none.
  const bool has_body = !encodings.empty() || (!lengths.empty() && lengths[0] != "0");
  if (method == "HEAD" && has_body) return "HEAD has no body.";
  return std::nullopt;
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

#include "http/own_page.hpp"

#include <fmt/format.h>

#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

constexpr std::string_view kHeaderEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kTheirType = "Content-Type: text/html";
constexpr std::size_t kVersion = std::string_view("HTTP/1.1").size();
constexpr std::size_t kCode = 3;

// "HTTP/1.1 413 ...": 413; 0 of what is none.
int code_of(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.") || answer.size() < kVersion + 1 + kCode) return 0;
  int code = 0;
  for (const char digit : answer.substr(kVersion + 1, kCode)) {
    if (digit < '0' || digit > '9') return 0;
    code = code * 10 + (digit - '0');
  }
  return code;
}

std::string_view phrase_of_page(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 405: return "Method Not Allowed";
    case 413: return "Request Entity Too Large";
    case 417: return "Expectation Failed";
    case 501: return "Not Implemented";
    default: return "Error";
  }
}

bool is_of_body(std::string_view line) {
  return line.starts_with("Content-Type:") || line.starts_with("Content-Length:");
}

}  // namespace

OwnPage plain_page(int status) {
  const char* sentence = "This is no request that the server can read.\n";
  if (status == 413) sentence = "The request's body is longer than the server takes.\n";
  if (status == 417) sentence = "The server does not know what the request expects.\n";
  if (status == 501) sentence = "The server does not know the request's method.\n";
  return {status, "text/plain; charset=utf-8", sentence};
}

std::optional<std::string> with_own_page(std::string_view said, const PageMaker& page) {
  std::string out;
  if (code_of(said) == 100) {
    const std::size_t end = said.find(kHeadEnd);
    if (end == std::string_view::npos) return std::nullopt;
    out = said.substr(0, end + kHeadEnd.size());
    said.remove_prefix(out.size());
  }
  const int code = code_of(said);
  const std::size_t end = said.find(kHeadEnd);
  if (code < 400 || end == std::string_view::npos) return std::nullopt;
  const auto lines = base::split(said.substr(0, end), '\n');
  bool theirs = false;
  std::string kept;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    theirs = theirs || line == kTheirType;
    if (!is_of_body(line)) kept.append(line).append(kHeaderEnd);
  }
  if (!theirs) return std::nullopt;
  const OwnPage ours = page(code);
  out += fmt::format(
      "{} {} {}\r\n{}Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n"
      "Content-Length: {}\r\n\r\n{}",
      said.substr(0, kVersion), ours.status, phrase_of_page(ours.status), kept, ours.content_type,
      ours.body.size(), ours.body);
  return out;
}

}  // namespace kubewatch::http

// URLs as Go's net/url reads those of a request line: cel/opaque.hpp.
#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

Error broken(std::string_view text, const std::string& why) {
  return {ErrorKind::invalid, "parse \"" + std::string(text) + "\": " + why};
}

// The escape that is none, "" when all are.
std::string bad_escape(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !base::is_hex_digit(text[i + 1]) ||
        !base::is_hex_digit(text[i + 2])) {
      return std::string(text.substr(i, 3));
    }
  }
  return "";
}

// How long the scheme is; 0 when there is none, npos when it cannot be one.
std::size_t scheme_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (base::is_letter(c)) continue;
    if (base::is_digit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return 0;
      continue;
    }
    if (c != ':') return 0;
    return i == 0 ? std::string_view::npos : i;
  }
  return 0;
}

// Whether what follows the last colon of a host is a port.
bool valid_port(std::string_view text) {
  if (text.empty()) return true;
  if (text[0] != ':') return false;
  for (const char c : text.substr(1)) {
    if (!base::is_digit(c)) return false;
  }
  return true;
}

Result<void> check_host(std::string_view all, std::string_view host) {
  if (!host.empty() && host[0] == '[') {
    const auto end = host.rfind(']');
    if (end == std::string_view::npos) return broken(all, "missing ']' in host");
    if (!valid_port(host.substr(end + 1))) {
      return broken(all, "invalid port \"" + std::string(host.substr(end + 1)) + "\" after host");
    }
    return {};
  }
  if (const auto colon = host.rfind(':'); colon != std::string_view::npos) {
    if (!valid_port(host.substr(colon))) {
      return broken(all, "invalid port \"" + std::string(host.substr(colon)) + "\" after host");
    }
  }
  for (const char c : host) {
    if (c == ' ' || c == '^' || c == '`' || c == '{' || c == '}' || c == '|' || c == '\\') {
      return broken(all, "invalid character \"" + std::string(1, c) + "\" in host name");
    }
  }
  return {};
}

// What Go's EscapedPath gives: the path as written, other characters escaped.
std::string escaped_path(std::string_view path) {
  static constexpr std::string_view kPlain = "$&+,/:;=@!'()*%-_.~[]";
  static constexpr const char* kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (base::is_alphanumeric(c) || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

Result<void> read(std::string_view text, Url& out) {
  for (const char c : text) {
    if (base::is_control(c)) {
      return broken(text, "net/url: invalid control character in URL");
    }
  }
  if (text.empty()) return broken(text, "empty url");
  const auto scheme = scheme_length(text);
  if (scheme == std::string_view::npos) return broken(text, "missing protocol scheme");
  std::string_view rest = text;
  if (scheme > 0) {
    out.scheme = base::to_lower(text.substr(0, scheme));
    rest = text.substr(scheme + 1);
  }
  if (const auto question = rest.find('?'); question != std::string_view::npos) {
    out.query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  if (rest.empty() || rest[0] != '/') {
    if (!out.scheme.empty()) return {};  // opaque, as mailto:
    return broken(text, "invalid URI for request");
  }
  if (!out.scheme.empty() && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const auto slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
      authority = authority.substr(at + 1);
    }
    KW_TRY(check_host(text, authority));
    out.host = authority;
  }
  if (const auto bad = bad_escape(rest); !bad.empty()) {
    return broken(text, "invalid URL escape \"" + bad + "\"");
  }
  out.path = rest;
  return {};
}

}  // namespace

bool Url::valid(std::string_view text) {
  Url scratch;
  return read(text, scratch).ok();
}

Result<Url*> Url::parse(std::string_view text) {
  auto out = std::make_unique<Url>();
  KW_TRY(read(text, *out));
  // Only the second reading knows of fragments.
  if (const auto hash = text.find('#'); hash != std::string_view::npos) {
    const std::string whole(text.substr(0, hash));
    auto without = std::make_unique<Url>();
    if (read(whole, *without).ok()) out = std::move(without);
  }
  out->text = text;
  out->path = escaped_path(out->path);
  return out.release();
}

std::string Url::hostname() const {
  std::string_view name = host;
  const auto colon = name.rfind(':');
  if (colon != std::string_view::npos && name.find(']', colon) == std::string_view::npos) {
    name = name.substr(0, colon);
  }
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

std::string Url::port() const {
  const auto colon = host.rfind(':');
  if (colon == std::string::npos || host.find(']', colon) != std::string::npos) return "";
  return host.substr(colon + 1);
}

std::map<std::string, std::vector<std::string>> Url::parameters() const {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& part : base::split(query, '&')) {
    if (part.empty() || part.find(';') != std::string::npos) continue;
    const auto equals = part.find('=');
    const auto name = base::percent_decode(part.substr(0, equals), true);
    const auto value = base::percent_decode(
        equals == std::string::npos ? "" : std::string_view(part).substr(equals + 1), true);
    if (name.ok() && value.ok()) out[*name].push_back(*value);
  }
  return out;
}

}  // namespace kubewatch::cel

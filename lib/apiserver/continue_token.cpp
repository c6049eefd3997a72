// Messages as kube-apiserver 1.36 has them.
#include "apiserver/continue_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

#include "apiserver/go_json_text.hpp"
#include "apiserver/status.hpp"
#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

bool is_base64url(char c) {
  return base::is_alphanumeric(c) || c == '-' || c == '_';
}

// The place of the first byte that Go's RawURLEncoding takes offence at; it passes over line
// breaks.
std::variant<std::string, std::size_t> raw_url_bytes(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == '\r') continue;
    if (!is_base64url(text[at])) return at;
    kept += text[at];
  }
  if (kept.size() % 4 == 1) return text.size() - 1;
  return base::base64_decode(kept).value();
}

std::string misread_member(const Json& value, const char* key, const char* type) {
  const std::string found = schema::json_word(value);
  // Only a number that a number cannot be shows itself.
  const bool shown = value.is_number() && std::string_view(type) != "string";
  return schema::misread_field(shown ? found + " " + base::dump_json(value) : found,
                               fmt::format("continueToken.{}", key), type);
}

std::optional<std::string> why_misread(const Json& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_object()) {
    return schema::misread_value(schema::json_word(value), "storage.continueToken");
  }
  for (const char* key : {"v", "rv", "start"}) {
    const auto it = value.find(key);
    if (it == value.end() || it->is_null()) continue;
    const bool number = std::string_view(key) == "rv";
    const bool fits = number ? it->is_number_integer() &&
                                   !(it->is_number_unsigned() && it->get<std::uint64_t>() >> 63U)
                             : it->is_string();
    if (!fits) return misread_member(*it, key, number ? "int64" : "string");
  }
  return std::nullopt;
}

// As path.Clean leaves it.
bool is_clean(std::string_view start) {
  if (start.starts_with('/')) start.remove_prefix(1);
  if (start.empty()) return true;
  const auto parts = base::split(start, '/');
  return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.empty() || part == "." || part == "..";
  });
}

Error refused(const std::string& why) {
  return bad_request("invalid continue token: continue key is not valid: " + why);
}

}  // namespace

ContinueToken continue_after(std::int64_t version, const std::string& key) {
  return {version, key + '\0'};
}

std::string encode_continue(const ContinueToken& token, const std::string& prefix) {
  const Json value = {
      {"v", kTokenVersion}, {"rv", token.version}, {"start", token.start.substr(prefix.size())}};
  return base::base64url_encode(base::dump_json(value));
}

Error expired_token(const std::string& why, const ContinueToken& token, const std::string& prefix) {
  Json status = status_json(expired(why));
  status["metadata"]["continue"] = encode_continue({-1, token.start}, prefix);
  base::ApiStatus answer{410, "Expired", status["message"], std::nullopt, base::dump_json(status)};
  return Error(ErrorKind::gone, answer.message, answer);
}

Result<ContinueToken> decode_continue(const std::string& text, const std::string& prefix) {
  const auto bytes = raw_url_bytes(text);
  if (const auto* at = std::get_if<std::size_t>(&bytes)) {
    return refused(fmt::format("illegal base64 data at input byte {}", *at));
  }
  const auto value = parse_go_json(std::get<std::string>(bytes));
  if (!value) return refused(value.error().message());
  if (const auto why = why_misread(*value)) return refused(*why);
  const std::string version = base::string_at(*value, {"v"});
  if (version != kTokenVersion) {
    return refused("server does not recognize this encoded version " + version);
  }
  ContinueToken token;
  token.version = base::int_at(*value, {"rv"}).value_or(0);
  token.start = base::string_at(*value, {"start"});
  const std::string of_version = fmt::format(" (version {})", kTokenVersion);
  if (token.version == 0) {
    return refused("incorrect encoded start resourceVersion" + of_version);
  }
  if (token.start.empty()) return refused("encoded start key empty" + of_version);
  if (!is_clean(token.start)) return refused(token.start);
  if (token.start.starts_with('/')) token.start.erase(0, 1);
  token.start.insert(0, prefix);
  return token;
}

}  // namespace kubewatch::apiserver

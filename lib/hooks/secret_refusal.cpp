#include "hooks/secret_refusal.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kLeftOut = "(the rest is not shown: it may quote values of the Secret)";

// They quote names alone: of the object, of users, of managers, of fields that conflict.
bool quotes_names(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::already_exists:
    case ErrorKind::gone:
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
    case ErrorKind::rate_limited:
    case ErrorKind::unsupported: return true;
    default: return false;
  }
}

// What follows is a webhook's, or evaluated by the expression of a policy. npos: admission denies
// nothing here.
std::size_t end_of_denial(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kDenials = {
      {{"admission webhook \"", " denied the request"},
       {"ValidatingAdmissionPolicy '", " denied request"}}};
  for (const auto& [begin, end] : kDenials) {
    const std::size_t at = text.find(begin);
    const std::size_t behind = at == std::string_view::npos ? at : text.find(end, at);
    if (behind != std::string_view::npos) return behind + end.size();
  }
  return std::string_view::npos;
}

// Behind the closing quote of the Go text that begins at `at`.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

std::string without_quoted(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      const std::size_t end = end_of_quoted(text, at);
      const std::string_view quoted = text.substr(at, end - at);
      // A field that the patch has and the kind has not, and the "" of an object without a name.
      const bool shown = out.ends_with("unknown field ") || quoted == "\"\"";
      out += shown ? quoted : "\"***\"";
      at = end;
      continue;
    }
    out += text[at++];
    // A value that is no text, and one as server-side apply tells it: nobody knows where it ends.
    const bool other = at < text.size() && text[at] != '"';
    const bool value = out.ends_with("Invalid value: ") || out.ends_with(", got ");
    if (other && value) return out.append(kLeftOut);
  }
  return out;
}

}  // namespace

Error without_secret_values(Error error, const core::Gvk& gvk) {
  if (gvk != core::Gvk{"", "v1", "Secret"} || error.status() == nullptr) return error;
  const auto body = base::parse_json(error.status()->body);
  if (!body.ok() || base::string_at(*body, {"kind"}) != "Status") {
    // A proxy, which may quote what was sent or what it was answered.
    return {error.kind(), fmt::format("HTTP {} {}", error.status()->code, kLeftOut),
            *error.status()};
  }
  const std::string_view said = error.message();
  const std::size_t denial = end_of_denial(said);
  const bool denied = denial != std::string_view::npos;
  const std::string_view head = said.substr(0, denial);
  const bool names =
      quotes_names(error.kind()) || (denied && head.starts_with("admission webhook \""));
  std::string shown = names ? std::string(head) : without_quoted(head);
  if (denied) shown.append(" ").append(kLeftOut);
  return {error.kind(), std::move(shown), *error.status()};
}

}  // namespace kubewatch::hooks

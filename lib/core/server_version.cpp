#include "core/server_version.hpp"

#include <charconv>

#include "base/json.hpp"

namespace kubewatch::core {

namespace {

std::optional<int> leading_number(const std::string& text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data() || out < 0) return std::nullopt;
  return out;
}

}  // namespace

std::optional<ServerVersion> parse_server_version(std::string_view json) {
  const auto parsed = base::parse_json(json);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  const auto major = leading_number(base::string_at(*parsed, {"major"}));
  const auto minor = leading_number(base::string_at(*parsed, {"minor"}));
  if (!major || !minor) return std::nullopt;
  return ServerVersion{*major, *minor};
}

}  // namespace kubewatch::core

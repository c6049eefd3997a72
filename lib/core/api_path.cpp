#include "core/api_path.hpp"

#include "base/strings.hpp"

namespace kubewatch::core {

Result<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  for (const auto& raw : base::split(path, '/')) {
    if (raw.empty()) continue;
    auto decoded = base::percent_decode(raw);
    if (!decoded.ok()) return Error(ErrorKind::invalid, "invalid URL escape in the path");
    const std::string& text = *decoded;
    if (text == "." || text == ".." || text.find('/') != std::string::npos ||
        text.find('\0') != std::string::npos) {
      return Error(ErrorKind::invalid, "invalid path segment");
    }
    segments.push_back(text);
  }
  return segments;
}

std::optional<ApiPath> parse_api_path(const std::vector<std::string>& segments) {
  ApiPath out;
  std::size_t at = 0;
  if (segments.size() >= 3 && segments[0] == "api") {
    out.version = segments[1];
    at = 2;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    out.group = segments[1];
    out.version = segments[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  const auto left = [&] { return segments.size() - at; };
  if (segments[at] == "watch" && left() > 1) {
    out.watch = true;
    ++at;
  }
  // "namespaces/N", "namespaces/N/status" and "namespaces/N/finalize" are the Namespace itself.
  if (segments[at] == "namespaces" && left() >= 3 && segments[at + 2] != "status" &&
      segments[at + 2] != "finalize") {
    out.namespace_ = segments[at + 1];
    at += 2;
  }
  out.plural = segments[at++];
  if (left() > 0) out.name = segments[at++];
  if (left() > 0) out.subresource = segments[at++];
  while (left() > 0) out.subresource += "/" + segments[at++];
  return out;
}

Result<QueryValues> QueryValues::parse(std::string_view text) {
  QueryValues query;
  if (text.empty()) return query;
  for (const auto& part : base::split(text, '&')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    auto name = base::percent_decode(part.substr(0, equals), true);
    auto value = equals == std::string::npos ? Result<std::string>(std::string())
                                             : base::percent_decode(part.substr(equals + 1), true);
    if (!name.ok() || !value.ok()) {
      return Error(ErrorKind::invalid, "invalid URL escape in the query");
    }
    query.values_.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

std::string QueryValues::get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return "";
}

bool QueryValues::has(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return true;
  }
  return false;
}

std::vector<std::string> QueryValues::all(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

bool QueryValues::flag(std::string_view name) const {
  if (!has(name)) return false;
  const std::string value = base::to_lower(get(name));
  return value != "false" && value != "0";
}

}  // namespace kubewatch::core

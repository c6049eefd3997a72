#include "apiserver/request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "apiserver/go_duration.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

Caller acting(const ApiRequest& request) {
  const std::string_view user = request.headers.get("Impersonate-User");
  if (user.empty()) return request.caller;
  Caller out;
  out.name = std::string(user);
  out.uid = std::string(request.headers.get("Impersonate-Uid"));
  out.groups.clear();
  for (const auto& [name, value] : request.headers.all()) {
    if (base::to_lower(name) == "impersonate-group") out.groups.push_back(value);
  }
  out.groups.emplace_back("system:authenticated");
  return out;
}

Result<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end.ptr == text.data() + text.size();
  if (whole && end.ec == std::errc()) return value;
  const bool too_large = whole && end.ec == std::errc::result_out_of_range;
  return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": {}", text,
                                 too_large ? "value out of range" : "invalid syntax"));
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  if (text.empty()) return query;
  for (const auto& part : base::split(text, '&')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    auto name = base::percent_decode(part.substr(0, equals), true);
    auto value = equals == std::string::npos ? Result<std::string>(std::string())
                                             : base::percent_decode(part.substr(equals + 1), true);
    if (!name || !value) return bad_request("invalid URL escape in the query");
    query.values_.emplace_back(std::move(name).value(), std::move(value).value());
  }
  return query;
}

std::string Query::get(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return "";
}

bool Query::has(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return true;
  }
  return false;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : values_) {
    if (key == name) found.push_back(value);
  }
  return found;
}

bool Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  const std::string value = base::to_lower(get(name));
  return value != "false" && value != "0";
}

Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> segments;
  for (const auto& raw : base::split(path, '/')) {
    if (raw.empty()) continue;
    auto decoded = base::percent_decode(raw);
    if (!decoded) return bad_request("invalid URL escape in the path");
    const std::string& text = decoded.value();
    if (text == "." || text == ".." || text.find('/') != std::string::npos ||
        text.find('\0') != std::string::npos) {
      return bad_request("invalid path segment");
    }
    segments.push_back(text);
  }
  return segments;
}

std::optional<ResourcePath> parse_resource_path(const std::vector<std::string>& segments) {
  ResourcePath out;
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
  std::vector<std::string> rest(segments.begin() + static_cast<std::ptrdiff_t>(at), segments.end());
  if (rest[0] == "watch" && rest.size() > 1) {
    out.watch = true;
    rest.erase(rest.begin());
  }
  // "namespaces/N", "namespaces/N/status" and "namespaces/N/finalize" are the Namespace itself.
  if (rest[0] == "namespaces" && rest.size() >= 3 && rest[2] != "status" && rest[2] != "finalize") {
    out.namespace_ = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  if (rest.size() > 3) return std::nullopt;
  out.resource = rest[0];
  if (rest.size() > 1) out.name = rest[1];
  if (rest.size() > 2) out.subresource = rest[2];
  return out;
}

bool is_watch(const ResourcePath& path, const Query& query) {
  return path.watch || (path.name.empty() && query.flag("watch"));
}

Result<void> check_timeout(const std::string& method, const std::optional<ResourcePath>& path,
                           const Query& query) {
  static const std::set<std::string> open = {"attach", "exec", "log", "portforward", "proxy"};
  const std::string timeout = query.get("timeout");
  if (timeout.empty()) return {};
  if (path && method == "GET" && is_watch(*path, query)) return {};
  if (path && open.count(path->subresource) != 0) return {};
  const auto why = why_no_duration(timeout);
  if (!why) return {};
  return bad_request("invalid timeout specified in the request URL - " + *why);
}

}  // namespace kubewatch::apiserver

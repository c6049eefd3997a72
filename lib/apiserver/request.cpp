#include "apiserver/request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "apiserver/connections.hpp"
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

Result<Query> parse_query(std::string_view text) {
  auto query = Query::parse(text);
  if (!query.ok()) return bad_request(query.error().message());
  return query;
}

namespace {

// The slash at its end makes it another path than the one that is known: of what is no API.
bool is_beside(std::string_view path) {
  if (path.ends_with("//") && (path.find_first_not_of('/') == path.npos || path == "/apis//")) {
    return true;
  }
  if (!path.ends_with('/')) return false;
  for (const std::string_view known : {"/healthz/", "/livez/", "/openapi/", "/readyz/"}) {
    if (path.starts_with(known)) return true;
  }
  return false;
}

// As the server's router has it: slashes at the end do not count, and between two there is
// something, but for the namespace, without which all are meant. Absent: it knows no such path.
std::optional<std::string> without_gaps(std::string_view path) {
  if (is_beside(path)) return std::nullopt;
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.find("//") == std::string_view::npos) return std::string(path);
  std::vector<std::string> kept;
  const std::vector<std::string> parts = base::split(path.substr(1), '/');
  for (const std::string& part : parts) {
    if (!part.empty()) {
      kept.push_back(part);
      continue;
    }
    if (kept.empty() || kept.back() != "namespaces") return std::nullopt;
    kept.pop_back();
  }
  return "/" + base::join(kept, "/");
}

}  // namespace

Result<std::vector<std::string>> split_path(std::string_view path) {
  const auto routed = without_gaps(path);
  if (!routed) return no_such_resource();
  auto segments = core::path_segments(*routed);
  if (!segments.ok()) return bad_request(segments.error().message());
  return segments;
}

std::optional<ResourcePath> parse_resource_path(const std::vector<std::string>& segments) {
  static const std::set<std::string> proxies = {"nodes", "pods", "services"};
  auto path = core::parse_api_path(segments);
  if (path && path->subresource.starts_with("proxy/") && path->group.empty() &&
      proxies.count(path->plural) != 0) {
    path->subresource = "proxy";
  }
  if (path && path->subresource.find('/') != std::string::npos) return std::nullopt;
  return path;
}

bool is_watch(const ResourcePath& path, const Query& query) {
  return path.watch || (path.name.empty() && query.flag("watch"));
}

Result<void> check_timeout(const std::string& method, const std::optional<ResourcePath>& path,
                           const Query& query) {
  const std::string timeout = query.get("timeout");
  if (timeout.empty()) return {};
  if (path && method == "GET" && is_watch(*path, query)) return {};
  if (path && is_connection(path->subresource)) return {};
  const auto why = why_no_duration(timeout);
  if (!why) return {};
  return bad_request("invalid timeout specified in the request URL - " + *why);
}

}  // namespace kubewatch::apiserver

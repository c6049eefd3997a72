// A request as the API sees it: query parameters, and what its path names. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/status.hpp"
#include "base/result.hpp"
#include "http/message.hpp"

namespace kubewatch::apiserver {

// By whom a request is made.
struct Caller {
  std::string name = "kubernetes-admin";
  std::string uid;
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
};

struct ApiRequest {
  std::string method;
  std::string path;   // as sent
  std::string query;  // as sent, without '?'
  http::Headers headers;
  std::string body;
  Caller caller = {};
};

// As whom: whoever is let in may act as anybody.
Caller acting(const ApiRequest& request);

struct ApiResponse {
  int status = 200;
  std::string content_type = "application/json";
  http::Headers headers;  // further ones
  std::string body;
};

// Of a parameter. Errors: bad_request, as strconv words it.
Result<std::int64_t> parse_whole(std::string_view text);

class Query {
 public:
  // Errors: bad_request on a broken escape.
  static Result<Query> parse(std::string_view text);
  // The first value, or "".
  std::string get(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  // Whether it is there and says neither "false" nor "0".
  bool flag(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// "/apis/apps/v1/namespaces/shop/deployments/web/status" taken apart.
struct ResourcePath {
  std::string group;
  std::string version;
  std::string namespace_;
  std::string resource;
  std::string name;
  std::string subresource;
  bool watch = false;  // the old /watch/ prefix
};

// Segments between slashes, decoded. Errors: bad_request (broken escapes; a decoded segment that is
// "..", or has a slash or NUL).
Result<std::vector<std::string>> split_path(std::string_view path);
// Null when the path names no resource: discovery, /healthz and the like.
std::optional<ResourcePath> parse_resource_path(const std::vector<std::string>& segments);

// Whether a GET is a watch. One object is watched by the old prefix only.
bool is_watch(const ResourcePath& path, const Query& query);
// `timeout` of a request that does not stay open; null where the path names no resource. Errors:
// bad_request.
Result<void> check_timeout(const std::string& method, const std::optional<ResourcePath>& path,
                           const Query& query);

}  // namespace kubewatch::apiserver

// A request as the API sees it: by whom it is made, and what its path and query mean. No I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/status.hpp"
#include "base/result.hpp"
#include "core/api_path.hpp"
#include "http/message.hpp"

namespace kubewatch::apiserver {

// By whom a request is made.
struct Caller {
  std::string name = "kubernetes-admin";
  std::string uid;
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
  std::map<std::string, std::vector<std::string>> extra = {};  // what else is known of it
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

using Query = core::QueryValues;
// Errors: bad_request on a broken escape.
Result<Query> parse_query(std::string_view text);

using ResourcePath = core::ApiPath;
// As core::path_segments(), without "namespaces" where it names none. Errors: bad_request;
// no_such_resource, where a segment is empty.
Result<std::vector<std::string>> split_path(std::string_view path);
// Null when the path names no resource (discovery, /healthz and the like), or leads on behind a
// subresource. Behind a proxy there is the path that is meant for whom it leads to.
std::optional<ResourcePath> parse_resource_path(const std::vector<std::string>& segments);

// Whether a GET is a watch. One object is watched by the old prefix only.
bool is_watch(const ResourcePath& path, const Query& query);
// `timeout` of a request that does not stay open; null where the path names no resource. Errors:
// bad_request.
Result<void> check_timeout(const std::string& method, const std::optional<ResourcePath>& path,
                           const Query& query);

}  // namespace kubewatch::apiserver

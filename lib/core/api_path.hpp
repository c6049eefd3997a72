// What the path and the query of a request say, as kube-apiserver reads them (RequestInfo of
// k8s.io/apiserver): the inverse of core/url. One reader for the sandbox, for the gateway of hooks
// and for recordings: what one of them lets through must mean the same to the next. No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::core {

// "/apis/apps/v1/namespaces/shop/deployments/web/status" taken apart.
struct ApiPath {
  std::string group;
  std::string version;
  std::string namespace_;
  std::string plural;
  std::string name;
  std::string subresource;  // with what stands behind it: "proxy/a/b"
  bool watch = false;       // the old /watch/ prefix
};

// Segments between slashes, decoded; empty ones do not count. Errors: invalid (broken escapes; a
// segment that is "." or "..", or has a slash or NUL once it is decoded).
Result<std::vector<std::string>> path_segments(std::string_view path);
// Null when the path names no resource: discovery, /healthz and the like.
std::optional<ApiPath> parse_api_path(const std::vector<std::string>& segments);

class QueryValues {
 public:
  // `text`: without '?'. Errors: invalid on a broken escape.
  static Result<QueryValues> parse(std::string_view text);
  // The first value, or "".
  std::string get(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  // Whether it is there and says neither "false" nor "0", in any case.
  bool flag(std::string_view name) const;

  // Names and values, decoded, in their order.
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace kubewatch::core

#include "hooks/gateway_request.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

using How = GatewayPlan::How;

constexpr std::size_t kMaxTarget = 8192;

// Tunnels, and what would outlive the hook or lead to other hosts.
constexpr std::array<std::string_view, 5> kForbidden = {"proxy", "exec", "attach", "portforward",
                                                        "token"};

GatewayPlan refuse(int status, std::string message) {
  GatewayPlan out;
  out.status = status;
  out.message = std::move(message);
  return out;
}

// Only what names in paths are made of; %3A is the one escape that clients use for them.
bool is_plain(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    const bool word = base::is_alphanumeric(c);
    if (word || c == '-' || c == '_' || c == '.' || c == '/' || c == ':') continue;
    const std::string_view escape = path.substr(i, 3);
    if (escape != "%3A" && escape != "%3a") return false;
    i += 2;
  }
  return path.starts_with("/") && path.find("//") == std::string_view::npos &&
         path.find("/./") == std::string_view::npos &&
         path.find("/../") == std::string_view::npos && !path.ends_with("/.") &&
         !path.ends_with("/..");
}

bool is_below(const std::string& path, std::string_view root) {
  return path == root || path.starts_with(std::string(root) + "/");
}

// Absent: not a path of the API.
std::optional<ApiPath> take_apart(const std::string& path) {
  ApiPath out;
  if (path == "/version" || path == "/api" || path == "/apis" || is_below(path, "/openapi")) {
    return out;
  }
  std::vector<std::string> parts = base::split(path.substr(1), '/');
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  std::size_t at = 0;
  if (parts[0] == "api") {
    at = 1;
  } else if (parts[0] == "apis" && parts.size() >= 2) {
    out.group = parts[1];
    at = 2;
  } else {
    return std::nullopt;
  }
  if (at >= parts.size()) return out;  // the versions of a group
  out.version = parts[at++];
  const std::size_t left = parts.size() - at;
  // namespaces/NAME, /status and /finalize are of the Namespace itself.
  const bool of_namespace =
      left == 2 || (left == 3 && (parts[at + 2] == "status" || parts[at + 2] == "finalize"));
  if (left >= 3 && parts[at] == "namespaces" && !of_namespace) {
    out.namespace_ = parts[at + 1];
    at += 2;
  }
  if (at < parts.size()) out.plural = parts[at++];
  if (at < parts.size()) out.name = parts[at++];
  if (at < parts.size()) out.subresource = parts[at++];
  if (at < parts.size()) out.subresource += "/" + parts[at];
  return out;
}

std::string decoded(std::string_view text) {
  auto out = base::percent_decode(text, true);
  return out.ok() ? *std::move(out) : "";
}

// An escaped name means the same to the server.
std::string name_of(std::string_view pair) {
  return decoded(pair.substr(0, pair.find('=')));
}

std::vector<std::string> pairs_of(const std::string& query) {
  std::vector<std::string> out;
  for (std::string& pair : base::split(query, '&')) {
    if (!pair.empty()) out.push_back(std::move(pair));
  }
  return out;
}

std::string value_of(const std::vector<std::string>& pairs, std::string_view name) {
  for (const std::string& pair : pairs) {
    if (name_of(pair) != name) continue;
    const std::size_t equals = pair.find('=');
    return equals == std::string::npos ? "" : decoded(std::string_view(pair).substr(equals + 1));
  }
  return "";
}

bool is_true(const std::string& value) {
  return value == "true" || value == "1";
}

std::string with_manager(std::vector<std::string> pairs, std::string_view manager) {
  std::erase_if(pairs, [](const std::string& pair) { return name_of(pair) == "fieldManager"; });
  pairs.push_back("fieldManager=" + base::percent_encode(manager));
  return base::join(pairs, "&");
}

// Tables and protobuf are the server's to make.
bool takes_json(std::string_view accept) {
  if (accept.empty() || accept == "*/*") return true;
  return accept.find("application/json") != std::string_view::npos &&
         accept.find("as=") == std::string_view::npos;
}

// What a cache can say: the newest state, of everything that the labels choose.
bool can_be_cached(const std::vector<std::string>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const std::string& pair) {
    const std::string name = name_of(pair);
    const std::string value = value_of(pairs, name);
    if (name == "resourceVersion") return value.empty() || value == "0";
    if (name == "watch") return !is_true(value);
    return name == "labelSelector" || name == "limit" || name == "timeoutSeconds" ||
           name == "pretty" || (name == "fieldSelector" && value.empty()) ||
           (name == "continue" && value.empty());
  });
}

// Asking what one may do changes nothing.
bool is_review(const ApiPath& path) {
  return path.group == "authorization.k8s.io" && path.plural.starts_with("selfsubject") &&
         path.name.empty();
}

std::optional<GatewayPlan> check_write(const std::string& method, const ApiPath& path,
                                       const std::vector<core::ResourceType>& writable) {
  if (method == "POST" && is_review(path)) return std::nullopt;
  const auto found = std::find_if(writable.begin(), writable.end(), [&](const auto& type) {
    return type.gvk.group == path.group && type.plural == path.plural;
  });
  if (found == writable.end()) {
    return refuse(403, "the hook may write kinds of for, owns and writes only, and " +
                           (path.plural.empty() ? "this is none" : path.plural + " is none") +
                           ": list it in the rule");
  }
  if (method == "DELETE" && path.name.empty()) {
    return refuse(403, "whole collections are not deleted through credentials: cache");
  }
  return std::nullopt;
}

}  // namespace

GatewayPlan plan_gateway_request(const http::ServerRequest& request,
                                 const std::vector<core::ResourceType>& writable,
                                 std::string_view manager, bool read_only) {
  constexpr std::array<std::string_view, 5> kMethods = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(kMethods.begin(), kMethods.end(), request.method) == kMethods.end()) {
    return refuse(405, "method " + request.method + " is not passed on");
  }
  if (request.headers.has("Upgrade")) return refuse(403, "connections are not upgraded");
  if (request.path.size() + request.query.size() > kMaxTarget) return refuse(414, "too long");
  const auto path = is_plain(request.path) ? take_apart(request.path) : std::nullopt;
  if (!path) return refuse(403, "not a path of the Kubernetes API");
  const std::string first = path->subresource.substr(0, path->subresource.find('/'));
  if (std::find(kForbidden.begin(), kForbidden.end(), first) != kForbidden.end()) {
    return refuse(403, "subresource " + first + " is not passed on by credentials: cache");
  }
  GatewayPlan out;
  out.how = How::forward;
  out.path = *path;
  out.write = request.method != "GET";
  std::vector<std::string> pairs = pairs_of(request.query);
  if (out.write) {
    if (read_only) {
      return refuse(403,
                    "a dry run writes nothing, and a hook through `credentials: cache` neither");
    }
    if (auto refused = check_write(request.method, *path, writable)) return *std::move(refused);
    out.dry_run = !value_of(pairs, "dryRun").empty();
    const std::string query =
        request.method == "DELETE" ? request.query : with_manager(std::move(pairs), manager);
    out.target = request.path + (query.empty() ? "" : "?" + query);
    return out;
  }
  out.target = request.path + (request.query.empty() ? "" : "?" + request.query);
  out.streaming = is_true(value_of(pairs, "watch")) || is_true(value_of(pairs, "follow"));
  if (!path->plural.empty() && path->subresource.empty() && !path->version.empty() &&
      takes_json(request.headers.get("Accept")) && can_be_cached(pairs)) {
    out.how = How::cache;
    out.label_selector = value_of(pairs, "labelSelector");
  }
  return out;
}

}  // namespace kubewatch::hooks

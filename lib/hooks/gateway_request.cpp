#include "hooks/gateway_request.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "client/pass_through.hpp"

namespace kubewatch::hooks {
namespace {

using How = GatewayPlan::How;

constexpr std::size_t kMaxTarget = 8192;

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
std::optional<core::ApiPath> take_apart(const std::string& path) {
  if (path == "/version" || is_below(path, "/openapi")) return core::ApiPath{};
  const auto segments = core::path_segments(path);
  if (!segments.ok() || segments->empty()) return std::nullopt;
  if (segments->front() != "api" && segments->front() != "apis") return std::nullopt;
  auto named = core::parse_api_path(*segments);
  return named ? std::move(named) : core::ApiPath{};  // the groups, versions and kinds
}

// With the rule's field manager instead of the hook's.
std::string with_manager(const core::QueryValues& query, std::string_view manager) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : query) {
    if (name == "fieldManager") continue;
    pairs.push_back(base::percent_encode(name) + "=" + base::percent_encode(value));
  }
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
bool can_be_cached(const core::QueryValues& query) {
  if (query.flag("watch")) return false;
  return std::all_of(query.begin(), query.end(), [](const auto& pair) {
    const auto& [name, value] = pair;
    if (name == "resourceVersion") return value.empty() || value == "0";
    return name == "watch" || name == "labelSelector" || name == "limit" ||
           name == "timeoutSeconds" || name == "pretty" ||
           (name == "fieldSelector" && value.empty()) || (name == "continue" && value.empty());
  });
}

// Where the server may take more than the part that is named: annotations at least, but for the
// status of custom kinds (HookGateway knows which those are). With approval as well, but kubectl
// certificate approve knows no other way, and who applies such requests?
bool takes_whole_object(const std::string& subresource) {
  return subresource.empty() || subresource == "status" || subresource == "finalize";
}

// Asking who one is, or what one may do, changes nothing.
bool is_review(const core::ApiPath& path) {
  return (path.group == "authorization.k8s.io" || path.group == "authentication.k8s.io") &&
         path.plural.starts_with("selfsubject") && path.name.empty();
}

std::optional<GatewayPlan> check_write(const std::string& method, const core::ApiPath& path,
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
    GatewayPlan out = refuse(405, "method " + request.method + " is not passed on");
    out.allow = base::join({kMethods.begin(), kMethods.end()}, ", ");
    return out;
  }
  if (request.headers.has("Upgrade")) return refuse(403, "connections are not upgraded");
  if (request.path.size() + request.query.size() > kMaxTarget) return refuse(414, "too long");
  const auto path = is_plain(request.path) ? take_apart(request.path) : std::nullopt;
  if (!path) return refuse(403, "not a path of the Kubernetes API");
  const auto query = core::QueryValues::parse(request.query);
  if (!query.ok()) return refuse(400, query.error().message());
  const std::string first = path->subresource.substr(0, path->subresource.find('/'));
  if (client::is_tunnel(first)) {
    return refuse(403, "subresource " + first + " is not passed on by credentials: cache");
  }
  GatewayPlan out;
  out.how = How::forward;
  out.path = *path;
  out.write = request.method != "GET";
  if (out.write) {
    if (read_only) {
      return refuse(403,
                    "a dry run writes nothing, and a hook through `credentials: cache` neither");
    }
    if (auto refused = check_write(request.method, *path, writable)) return *std::move(refused);
    out.replaces = request.method == "PUT" && takes_whole_object(path->subresource);
    out.dry_run = !query->get("dryRun").empty();
    const std::string sent =
        request.method == "DELETE" ? request.query : with_manager(*query, manager);
    out.target = request.path + (sent.empty() ? "" : "?" + sent);
    return out;
  }
  out.target = request.path + (request.query.empty() ? "" : "?" + request.query);
  out.streaming = path->watch || query->flag("watch") || query->flag("follow");
  if (!path->plural.empty() && path->subresource.empty() && !path->watch &&
      takes_json(request.headers.get("Accept")) && can_be_cached(*query)) {
    out.how = How::cache;
    out.label_selector = query->get("labelSelector");
  }
  return out;
}

}  // namespace kubewatch::hooks

#include "apiserver/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "apiserver/negotiate.hpp"
#include "apiserver/openapi_v2.hpp"
#include "apiserver/tokens.hpp"
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"

namespace kubewatch::apiserver {

namespace {

using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Named groups with their versions, both in order of preference.
Groups named_groups(const Registry& registry) {
  Groups groups;
  for (const auto& resource : registry.all()) {
    const auto& gvk = resource->type.gvk;
    if (gvk.group.empty()) continue;
    auto it = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& g) { return g.first == gvk.group; });
    if (it == groups.end()) it = groups.insert(groups.end(), {gvk.group, {}});
    auto& versions = it->second;
    if (std::find(versions.begin(), versions.end(), gvk.version) == versions.end()) {
      versions.push_back(gvk.version);
    }
  }
  return groups;
}

// A built-in resource does not repeat the group version that it stands in; a custom one does.
Json response_kind(const Resource& resource, const core::Gvk& kind) {
  const core::Gvk& own = resource.type.gvk;
  if (!resource.custom && kind.group == own.group && kind.version == own.version) {
    return {{"group", ""}, {"version", ""}, {"kind", kind.kind}};
  }
  return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

// Of a definition that goes, objects are read and taken away; they may be changed as well, for
// their finalizers, and nobody is told so.
std::vector<std::string> told_verbs(const Resource& resource) {
  std::vector<std::string> verbs = resource.type.verbs;
  if (resource.custom && resource.custom->terminating) {
    std::erase_if(verbs, [](const std::string& verb) {
      return verb == "create" || verb == "patch" || verb == "update";
    });
  }
  return verbs;
}

Json aggregated_resource(const Resource& resource) {
  const auto& type = resource.type;
  Json out = {{"resource", type.plural},
              {"responseKind", response_kind(resource, type.gvk)},
              {"scope", type.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", type.singular},
              {"verbs", told_verbs(resource)}};
  if (!type.short_names.empty()) out["shortNames"] = type.short_names;
  if (!type.categories.empty()) out["categories"] = type.categories;
  for (const auto& sub : type.subresources) {
    out["subresources"].push_back({{"subresource", sub.name},
                                   {"responseKind", response_kind(resource, sub.kind)},
                                   {"verbs", sub.verbs}});
  }
  return out;
}

Json aggregated_group(const Registry& registry, const std::string& group,
                      const std::vector<std::string>& versions) {
  Json metadata = Json::object();
  if (!group.empty()) metadata["name"] = group;
  Json out = {{"metadata", metadata}, {"versions", Json::array()}};
  for (const auto& version : versions) {
    Json resources = Json::array();
    for (const auto& resource : registry.all()) {
      const auto& gvk = resource->type.gvk;
      if (gvk.group == group && gvk.version == version) {
        resources.push_back(aggregated_resource(*resource));
      }
    }
    out["versions"].push_back(
        {{"version", version}, {"resources", resources}, {"freshness", "Current"}});
  }
  return out;
}

Json plain_group(const std::string& group, const std::vector<std::string>& versions) {
  Json out = {{"name", group}, {"versions", Json::array()}};
  for (const auto& version : versions) {
    out["versions"].push_back({{"groupVersion", group + "/" + version}, {"version", version}});
  }
  out["preferredVersion"] = out["versions"][0];
  return out;
}

Json plain_resource(const std::string& name, const std::string& singular, bool namespaced,
                    const core::Gvk& kind, const std::vector<std::string>& verbs,
                    const core::Gvk& of) {
  Json out = {{"name", name},
              {"singularName", singular},
              {"namespaced", namespaced},
              {"kind", kind.kind},
              {"verbs", verbs}};
  if (kind.group != of.group || kind.version != of.version) {
    out["group"] = kind.group;
    out["version"] = kind.version;
  }
  return out;
}

// Changes when objects are stored in another version; nothing else is to be read out of it.
std::string storage_version_hash(const core::Gvk& stored) {
  const std::string text = stored.group + "/" + stored.version + "/" + stored.kind;
  return base::base64_encode(base::sha256(text).substr(0, 8));
}

Json resource_entry(const Resource& resource) {
  const auto& type = resource.type;
  Json entry = plain_resource(type.plural, type.singular, type.namespaced, type.gvk,
                              told_verbs(resource), type.gvk);
  if (!type.short_names.empty()) entry["shortNames"] = type.short_names;
  if (!type.categories.empty()) entry["categories"] = type.categories;
  if (type.has_verb("create") && type.has_verb("get")) {
    entry["storageVersionHash"] = storage_version_hash(resource.storage_gvk);
  }
  return entry;
}

Json resource_list(const Registry& registry, const std::string& group, const std::string& version) {
  Json resources = Json::array();
  for (const auto& resource : registry.all()) {
    const auto& type = resource->type;
    if (type.gvk.group != group || type.gvk.version != version) continue;
    resources.push_back(resource_entry(*resource));
    for (const auto& sub : type.subresources) {
      resources.push_back(plain_resource(type.plural + "/" + sub.name, "", type.namespaced,
                                         sub.kind, sub.verbs, type.gvk));
    }
  }
  Json out = {{"kind", "APIResourceList"},
              {"groupVersion", core::GroupVersion{group, version}.str()},
              {"resources", resources}};
  if (!group.empty()) out["apiVersion"] = "v1";  // of the first group it is older than the field
  return out;
}

ApiResponse json_response(const Json& value) {
  ApiResponse response;
  response.body = base::dump_json(value);
  return response;
}

ApiResponse failure(const Error& error) {
  ApiResponse response = json_response(status_json(error));
  response.status = status_code(error);
  return response;
}

ApiResponse aggregated(const Registry& registry, const std::string& format, bool core) {
  Json items = Json::array();
  if (core) {
    items.push_back(aggregated_group(registry, "", {"v1"}));
  } else {
    for (const auto& [group, versions] : named_groups(registry)) {
      items.push_back(aggregated_group(registry, group, versions));
    }
  }
  ApiResponse response = json_response({{"kind", "APIGroupDiscoveryList"},
                                        {"apiVersion", "apidiscovery.k8s.io/" + format},
                                        {"metadata", Json::object()},
                                        {"items", items}});
  response.content_type =
      fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", format);
  response.headers.add("Vary", "Accept");
  response.headers.add("Cache-Control", "public");
  return response;
}

// The answer has an entity tag; the same content again is 304.
ApiResponse with_tag(ApiResponse response, const ApiRequest& request) {
  const std::string tag =
      fmt::format("\"{:016X}{:X}\"", std::hash<std::string>()(response.body), response.body.size());
  response.headers.add("ETag", tag);
  if (request.headers.get("If-None-Match") == tag) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

// A document that has no aggregated form.
ApiResponse plain_document(const ApiRequest& request, const Json& document) {
  const auto form = negotiate_discovery(request.headers.get("Accept"), false);
  if (!form) return failure(form.error());
  ApiResponse response = json_response(document);
  if (form->yaml) {
    response.content_type = "application/yaml";
    response.body = base::dump_yaml(document);
  }
  return response;
}

ApiResponse root_document(const Registry& registry, const ApiRequest& request,
                          const std::string& address, bool core) {
  const auto form = negotiate_discovery(request.headers.get("Accept"), true);
  if (!form) return failure(form.error());
  if (!form->aggregated.empty()) {
    return with_tag(aggregated(registry, form->aggregated, core), request);
  }
  if (core) {
    return plain_document(
        request, {{"kind", "APIVersions"},
                  {"versions", Json::array({"v1"})},
                  {"serverAddressByClientCIDRs",
                   Json::array({{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}})}});
  }
  Json groups = Json::array();
  for (const auto& [group, versions] : named_groups(registry)) {
    groups.push_back(plain_group(group, versions));
  }
  return plain_document(request,
                        {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}});
}

ApiResponse version_document() {
  // kubectl wants a version of the API it speaks; the build part says whose server this is.
  return json_response({{"major", "1"},
                        {"minor", "36"},
                        {"emulationMajor", "1"},
                        {"emulationMinor", "36"},
                        {"minCompatibilityMajor", "1"},
                        {"minCompatibilityMinor", "35"},
                        {"gitVersion", "v1.36.3+kubewatch-sandbox"},
                        {"gitCommit", ""},
                        {"gitTreeState", "clean"},
                        {"buildDate", "1970-01-01T00:00:00Z"},
                        {"goVersion", "none"},
                        {"compiler", "g++"},
                        {"platform", "linux/amd64"}});
}

// Built-in groups know that they lack something; of others nobody is there to say so.
std::optional<ApiResponse> no_such_version(const Registry& registry, const std::string& group) {
  const auto& all = registry.all();
  const bool builtin = std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return one->type.gvk.group == group && !one->custom;
  });
  if (!builtin) return std::nullopt;
  Json status = status_json(api_error(
      404, "NotFound", "the server could not find the requested resource", Json::object()));
  ApiResponse response = json_response(status);
  response.status = 404;
  return response;
}

std::optional<ApiResponse> version_resources(const Registry& registry, const std::string& group,
                                             const std::string& version,
                                             const ApiRequest& request) {
  if (!registry.has_group_version(group, version)) return no_such_version(registry, group);
  return plain_document(request, resource_list(registry, group, version));
}

std::optional<ApiResponse> apis_document(const Registry& registry,
                                         const std::vector<std::string>& segments,
                                         const ApiRequest& request, const std::string& address) {
  if (segments.size() == 1) return root_document(registry, request, address, false);
  if (segments.size() == 3) return version_resources(registry, segments[1], segments[2], request);
  for (const auto& [group, versions] : named_groups(registry)) {
    if (segments.size() != 2 || group != segments[1]) continue;
    Json out = plain_group(group, versions);
    out["kind"] = "APIGroup";
    out["apiVersion"] = "v1";
    return plain_document(request, out);
  }
  return std::nullopt;
}

std::string openapi_path(const std::string& group, const std::string& version) {
  return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
}

std::optional<ApiResponse> openapi(const Registry& registry,
                                   const std::vector<std::string>& segments) {
  if (segments.size() == 2) {
    Json paths = Json::object();
    for (const auto& resource : registry.all()) {
      const auto& gvk = resource->type.gvk;
      const std::string path = openapi_path(gvk.group, gvk.version);
      paths[path] = {
          {"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", path, registry.revision())}};
    }
    return json_response({{"paths", paths}});
  }
  const bool core = segments.size() == 4 && segments[2] == "api";
  const bool named = segments.size() == 5 && segments[2] == "apis";
  if (!core && !named) return std::nullopt;
  const std::string group = core ? "" : segments[3];
  const std::string& version = segments.back();
  if (!registry.has_group_version(group, version)) return std::nullopt;
  return json_response(openapi_document(registry, group, version));
}

// Made anew for each who asks, as it is large and seldom read.
ApiResponse openapi_v2(const Registry& registry, const ApiRequest& request) {
  // As it is asked for, and as it is answered: the first is no media type by RFC 2045.
  constexpr std::string_view kAsked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  constexpr std::string_view kAnswered =
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const std::string_view accept = request.headers.get("Accept");
  const bool protobuf = accept.find(kAsked) != accept.npos || accept.find(kAnswered) != accept.npos;
  ApiResponse response;
  if (protobuf) response.content_type = kAnswered;
  response.body =
      openapi_v2_document(registry, protobuf ? OpenApiEncoding::protobuf : OpenApiEncoding::json);
  response.headers.add("Vary", "Accept");
  return with_tag(std::move(response), request);
}

// Where who is to read tokens of service accounts learns of their issuer. There are no keys: what
// the tokens are worth is asked of the server itself, by a TokenReview.
std::optional<ApiResponse> issuer_document(const std::vector<std::string>& segments,
                                           const std::string& address) {
  if (segments == std::vector<std::string>{".well-known", "openid-configuration"}) {
    return json_response({{"issuer", kApiAudience},
                          {"jwks_uri", "https://" + address + "/openid/v1/jwks"},
                          {"response_types_supported", Json::array({"id_token"})},
                          {"subject_types_supported", Json::array({"public"})},
                          {"id_token_signing_alg_values_supported", Json::array({"HS256"})}});
  }
  if (segments != std::vector<std::string>{"openid", "v1", "jwks"}) return std::nullopt;
  ApiResponse response = json_response({{"keys", Json::array()}});
  response.content_type = "application/jwk-set+json";
  return response;
}

// All that is served beside the resources.
ApiResponse served_paths(const Registry& registry) {
  std::set<std::string> paths = {"/.well-known/openid-configuration",
                                 "/api",
                                 "/apis",
                                 "/apis/",
                                 "/metrics",
                                 "/openapi/v2",
                                 "/openapi/v3",
                                 "/openapi/v3/",
                                 "/openid/v1/jwks",
                                 "/version"};
  for (const char* check : {"/healthz", "/livez", "/readyz"}) {
    paths.insert(check);
    paths.insert(check + std::string("/ping"));
  }
  for (const auto& resource : registry.all()) {
    const core::Gvk& gvk = resource->type.gvk;
    paths.insert("/" + openapi_path(gvk.group, gvk.version));
    if (!gvk.group.empty()) paths.insert("/apis/" + gvk.group);
  }
  return json_response({{"paths", paths}});
}

// In one process there is one check: that it answers.
std::optional<ApiResponse> health(const std::vector<std::string>& segments,
                                  const ApiRequest& request) {
  const bool one_check = segments.size() == 2 && segments[1] == "ping";
  if (segments.size() > 1 && !one_check) return std::nullopt;
  const auto query = parse_query(request.query);
  const bool verbose = query.ok() && query->has("verbose");
  ApiResponse response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = verbose && !one_check ? "[+]ping ok\n" + segments[0] + " check passed\n" : "ok";
  return response;
}

}  // namespace

std::optional<ApiResponse> answer_discovery(const Registry& registry,
                                            const std::vector<std::string>& segments,
                                            const ApiRequest& request, const std::string& address) {
  if (segments.empty() || segments == std::vector<std::string>{"index.html"}) {
    return served_paths(registry);
  }
  const std::string& first = segments[0];
  if (first == "healthz" || first == "livez" || first == "readyz") {
    return health(segments, request);
  }
  if (first == "version" && segments.size() == 1) return version_document();
  if (first == "api" && segments.size() == 1)
    return root_document(registry, request, address, true);
  if (first == "api" && segments.size() == 2) {
    return version_resources(registry, "", segments[1], request);
  }
  if (first == "apis" && segments.size() <= 3) {
    return apis_document(registry, segments, request, address);
  }
  if (first == "openapi" && segments.size() >= 2 && segments[1] == "v3") {
    return openapi(registry, segments);
  }
  if (first == "openapi" && segments.size() == 2 && segments[1] == "v2") {
    return openapi_v2(registry, request);
  }
  return issuer_document(segments, address);
}

}  // namespace kubewatch::apiserver

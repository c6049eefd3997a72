// One routed request, shared by the files that make up Api. Internal.
#pragma once

#include <string>
#include <vector>

#include "apiserver/api.hpp"
#include "apiserver/encode.hpp"
#include "builtin/pod_subresources.hpp"

namespace kubewatch::apiserver {

struct Api::Target {
  ResourcePtr resource;
  ResourcePath path;
  Query query;

  // Of the keys in question: "shop/", or "" for all.
  std::string prefix() const { return key_prefix(path.namespace_); }
  // Whether it is shown as a Table.
  bool tables() const { return !builtin::is_pod_part(path.subresource); }
};

// How the answer is to look. Errors: not_acceptable.
Result<Representation> representation_of(const ApiRequest& request, const Resource& resource,
                                         const Query& query, Endpoint endpoint, bool tables = true);
ApiResponse text_response(const Representation& as, std::string json, int status = 200);
ApiResponse status_response(const Json& status, int code);
// The same in the form that the client takes of a Status: JSON or YAML.
ApiResponse plain_response(const ApiRequest& request, const Json& status, int code);
// Each as a Warning header (RFC 7234), as the server does: once, none that is empty or has control
// characters; of too many, the beginnings of the first. All of a response in one call.
void add_warnings(const std::vector<std::string>& warnings, ApiResponse& response);

// fieldManager, fieldValidation, dryRun, force and the context they make. Errors: invalid_options.
Result<WriteContext> write_context(const ApiRequest& request, const ResourcePtr& resource,
                                   const ResourcePath& path, const Query& query, WallTime now);

// A JSON or YAML body. Errors: unsupported_media, bad_request. `faults`, if not null: sentences
// about fields that the text says twice.
Result<Json> parse_request_body(const ApiRequest& request, const Resource& resource,
                                std::vector<std::string>* faults = nullptr);

// The body of options, of any kind of objects; null where it says so. Errors: unsupported_media,
// bad_request.
Result<Json> parse_options_body(const ApiRequest& request);

// Whether the body says that it is YAML.
bool is_yaml(const ApiRequest& request);

// The body of a create or update, with the faults of its text in the context. Errors: as
// parse_request_body.
Result<Json> parse_object(WriteContext& context, const ApiRequest& request,
                          const Resource& resource);
// The body of a patch, likewise. Errors: bad_request.
Result<Json> parse_patch(WriteContext& context, const std::string& body, core::PatchType type);

// resourceVersion of a get: not newer than the newest. Errors: internal_error, version_too_large.
Result<void> check_read_version(const Query& query, std::uint64_t newest);

// The kind of patch, by Content-Type. Errors: unsupported_media.
Result<core::PatchType> patch_type(const ApiRequest& request, const Resource& resource);

}  // namespace kubewatch::apiserver

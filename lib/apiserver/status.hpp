// Failures as the API server words them: every function makes an Error whose ApiStatus body is the
// whole Status object. Not the client's reading of a Status: that is core/status.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// What a Status talks about: "deployments.apps "web"". `kind` is the plural, except in Invalid.
struct Subject {
  std::string group;
  std::string kind;
  std::string name;
};

// One cause of a 422: reason "FieldValueInvalid", message `Invalid value: "x": why`, field
// "metadata.name".
struct FieldError {
  std::string reason;
  std::string message;
  std::string field;
};
using FieldErrors = std::vector<FieldError>;

// The usual causes. `shown` is the bad value as JSON text.
FieldError field_required(std::string field, const std::string& detail = "");
FieldError field_invalid(std::string field, const std::string& shown, const std::string& detail);
FieldError field_type_invalid(std::string field, const std::string& shown,
                              const std::string& detail);
FieldError field_forbidden(std::string field, const std::string& detail);
FieldError field_not_supported(std::string field, const std::string& shown,
                               const std::vector<std::string>& supported);
FieldError field_duplicate(std::string field, const std::string& shown);

Error api_error(int code, const std::string& reason, const std::string& message,
                const std::optional<Json>& details);
Error not_found(const Subject& subject);
Error already_exists(const Subject& subject);
// 409 with our own sentence after "Operation cannot be fulfilled on ...: ".
Error conflict(const Subject& subject, const std::string& why);
Error modified(const Subject& subject);
Error invalid(const Subject& subject, const FieldErrors& errors);
// 422 on request options: "ListOptions.meta.k8s.io "" is invalid".
Error invalid_options(const std::string& kind, const FieldErrors& errors);
Error bad_request(const std::string& message);
Error forbidden(const Subject& subject, const std::string& why);
Error method_not_allowed();
Error no_such_resource();
Error not_acceptable(const std::string& message);
Error unsupported_media(const std::string& message);
Error internal_error(const std::string& message);
Error expired(const std::string& message);
Error version_too_large(std::uint64_t wanted, std::uint64_t current);

// The Status object of any Error; errors that are not ours become a 500.
Json status_json(const Error& error);
int status_code(const Error& error);

// "deployments.apps", "pods".
std::string qualified(const Subject& subject);

}  // namespace kubewatch::apiserver

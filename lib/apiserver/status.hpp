// Failures as the API server words them: every function makes an Error whose ApiStatus body is the
// whole Status object, as it is sent. The Errors hold their own texts and point at nothing, and
// nothing here fails. Their kind goes by the code, as core/status.hpp reads it from the answer, but
// for 5xx, which are `internal` here (504 is a `timeout`). Not the client's reading of a Status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"
#include "schema/field_error.hpp"

namespace kubewatch::apiserver {

// What a Status talks about: "deployments.apps "web"". `kind` is the plural, except in Invalid.
struct Subject {
  std::string group;
  std::string kind;
  std::string name;
};

// The causes of a 422.
using schema::field_duplicate;
using schema::field_forbidden;
using schema::field_invalid;
using schema::field_not_supported;
using schema::field_required;
using schema::field_too_long;
using schema::FieldError;
using schema::FieldErrors;

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
Error unauthorized();
// 400 of a body that is no object of its kind, and what is wrong with it; absent: another error.
Error undecodable(const core::Gvk& kind, const std::string& why);
std::optional<std::string> why_undecodable(const Error& error);
// 400 of an object that is not the one of the URL.
Error wrong_name(const std::string& name, const std::string& on_url);
Error wrong_namespace();
Error forbidden(const Subject& subject, const std::string& why);
Error method_not_allowed();
Error no_such_resource();
Error not_acceptable(const std::string& message);
Error unsupported_media(const std::string& message);
Error internal_error(const std::string& message);
// 500 of an object that etcd would not take.
Error request_too_large();
Error expired(const std::string& message);
Error version_too_large(std::uint64_t wanted, std::uint64_t current);

// What an answer holds that has no object.
Json success_status();
// The Status object of any Error; errors that are not ours become a 500.
Json status_json(const Error& error);
int status_code(const Error& error);

// "deployments.apps", "pods".
std::string qualified(const Subject& subject);

}  // namespace kubewatch::apiserver

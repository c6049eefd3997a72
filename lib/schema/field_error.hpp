// One thing wrong with an object or a definition, in the API server's words: the cause of a 422.
// The list that every check of this room and of apiserver/ adds to. Not a finding of a linter.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::schema {

// reason "FieldValueInvalid", message `Invalid value: "x": why`, field "spec.list[0].y".
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
FieldError field_too_long(std::string field, std::size_t most_bytes);
FieldError field_too_many(std::string field, std::int64_t actual, std::int64_t most);
FieldError field_internal(std::string field, const std::string& detail);

// `spec.x: Invalid value: "y": why`, as in the message of a Status.
std::string sentence(const FieldError& error);
// One sentence, or "[a, b]"; what is said twice is told once.
std::string sentences(const FieldErrors& errors);

}  // namespace kubewatch::schema

#include "schema/field_error.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

std::string detailed(const std::string& head, const std::string& detail) {
  return detail.empty() ? head : head + ": " + detail;
}

// What a text takes beside its bytes, about.
constexpr std::size_t kEach = 32;

}  // namespace

FieldErrors::FieldErrors(std::initializer_list<FieldError> errors) {
  for (const auto& error : errors) push_back(error);
}

void FieldErrors::push_back(FieldError error) {
  ++found_;
  if (full_) return;
  if (bytes_ > kMostTold) {
    error = field_invalid("<nil>", "\"\"", std::string(kMoreErrors));
    full_ = true;
  }
  bytes_ += error.field.size() + error.message.size() + kEach;
  errors_.push_back(std::move(error));
}

void FieldErrors::append(const FieldErrors& others) {
  for (const auto& error : others) push_back(error);
}

void ToldPaths::add(const ValuePlace& place) {
  if (bytes_ > kMostTold) return;
  paths_.push_back(place.text());
  bytes_ += paths_.back().size() + kEach;
}

FieldError field_required(std::string field, const std::string& detail) {
  return {"FieldValueRequired", detailed("Required value", detail), std::move(field)};
}

FieldError field_invalid(std::string field, const std::string& shown, const std::string& detail) {
  return {"FieldValueInvalid", detailed("Invalid value: " + shown, detail), std::move(field)};
}

FieldError field_type_invalid(std::string field, const std::string& shown,
                              const std::string& detail) {
  return {"FieldValueTypeInvalid", detailed("Invalid value: " + shown, detail), std::move(field)};
}

FieldError field_forbidden(std::string field, const std::string& detail) {
  return {"FieldValueForbidden", detailed("Forbidden", detail), std::move(field)};
}

FieldError field_not_supported(std::string field, const std::string& shown,
                               const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const auto& value : supported) quoted.push_back(go_quoted(value));
  std::string message = "Unsupported value: " + shown;
  if (!quoted.empty()) message += ": supported values: " + base::join(quoted, ", ");
  return {"FieldValueNotSupported", std::move(message), std::move(field)};
}

FieldError field_duplicate(std::string field, const std::string& shown) {
  return {"FieldValueDuplicate", "Duplicate value: " + shown, std::move(field)};
}

FieldError field_too_long(std::string field, std::size_t most_bytes) {
  return {"FieldValueTooLong",
          fmt::format("Too long: may not be more than {} {}", most_bytes,
                      most_bytes == 1 ? "byte" : "bytes"),
          std::move(field)};
}

FieldError field_too_many(std::string field, std::int64_t actual, std::int64_t most) {
  return {"FieldValueTooMany",
          fmt::format("Too many: {}: must have at most {} {}", actual, most,
                      most == 1 ? "item" : "items"),
          std::move(field)};
}

FieldError field_internal(std::string field, const std::string& detail) {
  return {"InternalError", detailed("Internal error", detail), std::move(field)};
}

std::string sentence(const FieldError& error) {
  return error.field + ": " + error.message;
}

std::string sentences(const FieldErrors& errors) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const auto& error : errors) {
    std::string one = sentence(error);
    if (seen.insert(one).second) all.push_back(std::move(one));
  }
  return all.size() == 1 ? all[0] : "[" + base::join(all, ", ") + "]";
}

}  // namespace kubewatch::schema

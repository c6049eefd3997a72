// One thing wrong with an object or a definition, in the API server's words: the cause of a 422.
// The list that every check of this room and of apiserver/ adds to. Not a finding of a linter.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

// reason "FieldValueInvalid", message `Invalid value: "x": why`, field "spec.list[0].y".
struct FieldError {
  std::string reason;
  std::string message;
  std::string field;
};

// How many bytes of text are told of one object, about: what is wrong with each of many values,
// each told with a long path, would take more memory than there is. The server itself knows no
// bound.
inline constexpr std::size_t kMostTold = 2U << 20U;
// What is told in place of the rest.
inline constexpr std::string_view kMoreErrors =
    "there are more errors; correct the existing errors to see them";

// In the order in which they were found; ends with kMoreErrors where kMostTold was not enough. The
// first is always told.
class FieldErrors {
 public:
  FieldErrors() = default;
  FieldErrors(std::initializer_list<FieldError> errors);

  void push_back(FieldError error);
  void append(const FieldErrors& others);
  // Nothing more is taken: who looks for errors may stop.
  bool full() const { return full_; }

  bool empty() const { return errors_.empty(); }
  // All that were found, also those that are not kept: a check that finds something makes it grow.
  std::size_t size() const { return found_; }
  const FieldError& operator[](std::size_t at) const { return errors_[at]; }
  const FieldError& front() const { return errors_.front(); }
  const FieldError& back() const { return errors_.back(); }
  auto begin() const { return errors_.begin(); }
  auto end() const { return errors_.end(); }
  auto begin() { return errors_.begin(); }
  auto end() { return errors_.end(); }

 private:
  std::vector<FieldError> errors_;
  std::size_t found_ = 0;
  std::size_t bytes_ = 0;
  bool full_ = false;
};

// Paths of fields that are told of, as many as kMostTold allows; the first always.
class ToldPaths {
 public:
  void add(const ValuePlace& place);
  std::vector<std::string> take() { return std::move(paths_); }

 private:
  std::vector<std::string> paths_;
  std::size_t bytes_ = 0;
};

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

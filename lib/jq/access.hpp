// Reading inside values: .a, .[i], slices, keys, has, contains. Errors: invalid, in jq's words.
#pragma once

#include <string>
#include <variant>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::jq {

// A value that is part of another one (not copied) or one that was made.
class Found {
 public:
  Found(const Json* inside) : state_(std::in_place_index<0>, inside) {}  // NOLINT: implicit
  Found(Json made) : state_(std::in_place_index<1>, std::move(made)) {}  // NOLINT: implicit
  const Json& get() const {
    return state_.index() == 0 ? *std::get<0>(state_) : std::get<1>(state_);
  }

 private:
  std::variant<const Json*, Json> state_;
};

// The one null that absent things point to.
const Json& null_value();

// Null when the key is absent. `value` must outlive the result.
Result<const Json*> get_field(const Json& value, const std::string& name);
Result<Found> get_index(const Json& value, const Json& key);
// `from` and `to` may be null.
Result<Found> get_slice(const Json& value, const Json& from, const Json& to);

Result<Json> keys_of(const Json& value);
Result<Json> has_key(const Json& value, const Json& key);
// too_large where it takes too many comparisons.
Result<Json> contains(const Json& value, const Json& part);
// An error unless it is an array or an object.
Result<void> check_iterable(const Json& value);
// Pieces between separators; characters when the separator is empty, nothing of an empty text.
Json split_text(const std::string& text, const std::string& separator);
std::size_t count_characters(const std::string& text);

}  // namespace kubewatch::jq

#include "builtin/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/go_json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

namespace {

const Json* or_absent(const Json* value) {
  return value != nullptr && value->is_null() ? nullptr : value;
}

}  // namespace

Field::Field(const Json& object, FieldErrors& errors) : Field(&object, "", errors) {}

Field::Field(const Json* value, std::string path, FieldErrors& errors)
    : value_(or_absent(value)), path_(std::move(path)), errors_(&errors) {}

std::string Field::join(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

Field Field::operator[](std::string_view key) const {
  const Json* found = nullptr;
  if (value_ != nullptr && value_->is_object()) {
    const auto it = value_->find(key);
    if (it != value_->end()) found = &*it;
  }
  return {found, join(key), *errors_};
}

std::vector<Field> Field::items() const {
  std::vector<Field> out;
  if (value_ == nullptr || !value_->is_array()) return out;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    out.emplace_back(&(*value_)[i], fmt::format("{}[{}]", path_, i), *errors_);
  }
  return out;
}

std::vector<std::pair<std::string, Field>> Field::entries() const {
  std::vector<std::pair<std::string, Field>> out;
  if (value_ == nullptr || !value_->is_object()) return out;
  for (const auto& [key, value] : value_->items()) {
    out.emplace_back(key, Field(&value, fmt::format("{}[{}]", path_, key), *errors_));
  }
  return out;
}

std::set<std::string> Field::texts() const {
  std::set<std::string> out;
  for (const Field& item : items()) out.insert(item.text());
  return out;
}

std::size_t Field::size() const {
  if (value_ == nullptr) return 0;
  return is_text() ? value_->get_ref<const std::string&>().size() : value_->size();
}

std::string Field::text() const {
  return is_text() ? value_->get<std::string>() : "";
}

bool Field::is(std::string_view text) const {
  return is_text() && value_->get_ref<const std::string&>() == text;
}

bool Field::is_true() const {
  return value_ != nullptr && value_->is_boolean() && value_->get<bool>();
}

bool Field::is_text() const {
  return value_ != nullptr && value_->is_string();
}

bool Field::is_map() const {
  return value_ != nullptr && value_->is_object();
}

std::optional<std::int64_t> Field::number() const {
  if (value_ == nullptr || !value_->is_number_integer()) return std::nullopt;
  return value_->get<std::int64_t>();
}

std::optional<base::Quantity> Field::quantity() const {
  if (value_ == nullptr) return std::nullopt;
  if (value_->is_number()) return base::Quantity::parse(base::dump_json(*value_));
  return is_text() ? base::Quantity::parse(value_->get_ref<const std::string&>()) : std::nullopt;
}

std::string Field::shown() const {
  return value_ == nullptr ? "null" : core::go_json(*value_);
}

std::string Field::told() const {
  return value_ == nullptr ? shown() : schema::shown_value(*value_);
}

void Field::required(const std::string& detail) const {
  errors_->push_back(field_required(path_, detail));
}

void Field::forbidden(const std::string& detail) const {
  errors_->push_back(field_forbidden(path_, detail));
}

void Field::invalid_text(const std::string& detail) const {
  invalid_as(go_quoted(text()), detail);
}

void Field::invalid_as(const std::string& shown, const std::string& detail) const {
  errors_->push_back(field_invalid(path_, shown, detail));
}

void Field::invalid_untold(const std::string& detail) const {
  errors_->push_back({"FieldValueInvalid", "Invalid value: " + detail, path_});
}

void Field::not_supported(const Values& supported) const {
  const std::string value = present() ? shown() : "\"\"";
  errors_->push_back(field_not_supported(path_, value, supported));
}

void Field::duplicate() const {
  errors_->push_back(field_duplicate(path_, present() ? told() : "\"\""));
}

void Field::not_found(const std::string& detail) const {
  const std::string more = detail.empty() ? "" : ": " + detail;
  errors_->push_back({"FieldValueNotFound", "Not found: " + go_quoted(text()) + more, path_});
}

void Field::too_long(std::size_t most) const {
  errors_->push_back(field_too_long(path_, most));
}

void Field::too_many(std::int64_t most) const {
  errors_->push_back(schema::field_too_many(path_, static_cast<std::int64_t>(size()), most));
}

void Field::invalid_each(const Problems& problems) const {
  for (const auto& problem : problems) invalid_text(problem);
}

void Field::one_of(const Values& supported) const {
  if (present() && !is_one(text(), supported)) not_supported(supported);
}

void Field::one_of_required(const Values& supported) const {
  if (present() && text().empty()) return required();
  one_of(supported);
}

void Field::not_negative() const {
  if (number_or(0) < 0) invalid("must be greater than or equal to 0");
}

void Field::in_range(std::int64_t least, std::int64_t most) const {
  const auto value = number();
  if (value && (*value < least || *value > most)) invalid(range_sentence(least, most));
}

void Field::immutable(const Field& live) const {
  if (!same_field(*this, live)) invalid("field is immutable");
}

bool is_one(const std::string& text, const Values& of) {
  return std::find(of.begin(), of.end(), text) != of.end();
}

std::string json_text(std::string_view text) {
  return core::go_json(Json(text));
}

std::string shape_sentence(const std::string& message, const Values& examples,
                           const std::string& regex) {
  std::string out = message + " (";
  for (std::size_t i = 0; i < examples.size(); ++i) {
    out += (i == 0 ? "e.g. '" : " or '") + examples[i] + "', ";
  }
  return out + "regex used for validation is '" + regex + "')";
}

std::string range_sentence(std::int64_t least, std::int64_t most) {
  return fmt::format("must be between {} and {}, inclusive", least, most);
}

}  // namespace kubewatch::builtin

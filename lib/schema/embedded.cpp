#include "schema/embedded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "core/resource.hpp"
#include "schema/go_words.hpp"
#include "schema/object_meta.hpp"
#include "schema/times.hpp"

namespace kubewatch::schema {

namespace {

// "" or what does not fit of a list of objects.
std::string misfit_item(const std::string& key, Json& list, const ValuePlace& place,
                        ToldPaths& unknown) {
  std::size_t index = 0;
  for (auto& item : list) {
    std::string why = read_meta_item(key, "", item, place.item(index++), unknown);
    if (!why.empty()) return why;
  }
  return "";
}

// "" or why a time cannot be read, which is then as the server writes it. Precondition: its value
// is of the right type.
std::string read_meta_time(const std::string& key, Json& value) {
  if (key != "creationTimestamp" && key != "deletionTimestamp") return "";
  auto time = written_time(MergeNode::Scalar::time, value.get_ref<const std::string&>());
  if (!time.ok()) return time.error().message();
  value = std::move(*time);
  return "";
}

// "" or why the metadata cannot be read.
std::string read_metadata(Json& metadata, const ValuePlace& place, ToldPaths& unknown) {
  if (!metadata.is_object()) {
    return misread_value(json_word(metadata), "v1.ObjectMeta");
  }
  for (auto it = metadata.begin(); it != metadata.end();) {
    const MetaField* known = meta_field(it.key());
    if (known == nullptr) {
      unknown.add(place.member(it.key()));
      it = metadata.erase(it);
      continue;
    }
    if (!it->is_null()) {
      if (std::string why = why_no_meta_value(*known, it.key(), *it); !why.empty()) return why;
      if (std::string why = read_meta_time(it.key(), *it); !why.empty()) return why;
    }
    const bool empty = it->is_null() || (it->is_structured() && it->empty()) || *it == "";
    if (known->shape == MetaField::Shape::objects && it->is_array()) {
      std::string why = misfit_item(it.key(), *it, place.member(it.key()), unknown);
      if (!why.empty()) return why;
    }
    it = empty ? metadata.erase(it) : std::next(it);
  }
  return "";
}

void check_api_version(const Json& value, const ValuePlace& place, FieldErrors& errors) {
  if (!value.is_string()) {
    errors.push_back(field_invalid(place.text(), shown_value(value), "must be a string"));
    return;
  }
  const std::string text = value.get<std::string>();
  if (text.empty()) {
    errors.push_back(field_invalid(place.text(), "\"\"", "must not be empty"));
  } else if (std::count(text.begin(), text.end(), '/') > 1) {
    errors.push_back(
        field_invalid(place.text(), go_quoted(text), "unexpected GroupVersion string: " + text));
  }
}

void check_kind(const Json& value, const ValuePlace& place, FieldErrors& errors) {
  if (!value.is_string()) {
    errors.push_back(field_invalid(place.text(), shown_value(value), "must be a string"));
    return;
  }
  const std::string text = value.get<std::string>();
  const std::string problem = check_dns1035_label(base::to_lower(text));
  if (text.empty()) {
    errors.push_back(field_invalid(place.text(), "\"\"", "must not be empty"));
  } else if (!problem.empty()) {
    errors.push_back(field_invalid(place.text(), go_quoted(text),
                                   "may have mixed case, but should otherwise match: " + problem));
  }
}

void check_path_segment(const Json& metadata, const char* key, const ValuePlace& place,
                        FieldErrors& errors) {
  const std::string text = base::string_at(metadata, {key});
  if (text.empty()) return;
  std::vector<std::string> problems;
  if (std::string_view(key) == "name" && (text == "." || text == "..")) {
    problems.push_back("may not be '" + text + "'");
  }
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string::npos)
      problems.push_back(fmt::format("may not contain '{}'", c));
  }
  for (const auto& problem : problems) {
    errors.push_back(field_invalid(place.property(key).text(), go_quoted(text), problem));
  }
}

void check_labels(const Json& metadata, const ValuePlace& place, FieldErrors& errors) {
  if (const Json* labels = base::find(metadata, {"labels"})) {
    for (const auto& [key, value] : labels->items()) {
      const std::string bad_key = core::check_label_key(key);
      if (!bad_key.empty()) {
        errors.push_back(field_invalid(place.property("labels").text(), go_quoted(key), bad_key));
      }
      const std::string bad = core::check_label_value(value.get<std::string>());
      if (!bad.empty()) {
        errors.push_back(field_invalid(place.property("labels").text(), shown_value(value), bad));
      }
    }
  }
  const Json* annotations = base::find(metadata, {"annotations"});
  if (annotations == nullptr) return;
  for (const auto& [key, value] : annotations->items()) {
    const std::string bad_key = core::check_label_key(base::to_lower(key));
    if (bad_key.empty()) continue;
    errors.push_back(field_invalid(place.property("annotations").text(), go_quoted(key), bad_key));
  }
}

void check_one(const Json& value, const ValuePlace& place, FieldErrors& errors) {
  for (const char* key : {"apiVersion", "kind"}) {
    if (!value.contains(key)) errors.push_back(field_required(place.property(key).text()));
  }
  if (const auto it = value.find("apiVersion"); it != value.end()) {
    check_api_version(*it, place.property("apiVersion"), errors);
  }
  if (const auto it = value.find("kind"); it != value.end()) {
    check_kind(*it, place.property("kind"), errors);
  }
  const auto metadata = value.find("metadata");
  if (metadata == value.end()) return;
  const ValuePlace at = place.property("metadata");
  Json copy = *metadata;
  ToldPaths unknown;
  if (const std::string why = read_metadata(copy, at, unknown); !why.empty()) {
    errors.push_back(field_invalid(at.text(), shown_value(*metadata), why));
    return;
  }
  check_path_segment(copy, "name", at, errors);
  check_path_segment(copy, "generateName", at, errors);
  const std::string ns = base::string_at(copy, {"namespace"});
  if (!ns.empty()) {
    const std::string problem = core::check_dns_label(ns);
    if (!problem.empty()) {
      errors.push_back(field_invalid(at.property("namespace").text(), go_quoted(ns), problem));
    }
  }
  check_labels(copy, at, errors);
}

}  // namespace

std::string check_dns1035_label(const std::string& name) {
  constexpr std::size_t kMost = 63;
  std::vector<std::string> problems;
  if (name.size() > kMost) problems.push_back("must be no more than 63 characters");
  const bool fits = !name.empty() && base::is_lower(name.front()) && name.back() != '-' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return base::is_lower(c) || base::is_digit(c) || c == '-';
                    });
  if (!fits) {
    problems.emplace_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
        "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  }
  return base::join(problems, ",");
}

namespace {

// As the server names a member of a value.
ValuePlace place_of(const Structural& schema, const ValuePlace& place, const std::string& key) {
  return schema.properties.count(key) != 0 ? place.property(key) : place.entry(key);
}

std::optional<FieldError> coerce(Json& value, const Structural& schema, bool root,
                                 const ValuePlace& place, ToldPaths& unknown) {
  if (value.is_array()) {
    if (!schema.items) return std::nullopt;
    std::size_t index = 0;
    for (auto& item : value) {
      auto wrong = coerce(item, *schema.items, false, place.item(index++), unknown);
      if (wrong) return wrong;
    }
    return std::nullopt;
  }
  if (!value.is_object()) return std::nullopt;
  const bool embedded = root || schema.embedded_resource;
  for (auto it = value.begin(); it != value.end(); ++it) {
    const bool type_meta = it.key() == "apiVersion" || it.key() == "kind";
    if (embedded && type_meta && !it->is_string()) {
      return field_invalid(place.property(it.key()).text(), shown_value(*it), "must be a string");
    }
    if (embedded && it.key() == "metadata") {
      const Json before = *it;
      const ValuePlace at = place.property("metadata");
      const std::string why = read_metadata(*it, at, unknown);
      if (!why.empty()) return field_invalid(at.text(), shown_value(before), why);
    }
    const Structural* member = schema.member(it.key());
    if (member == nullptr || !it->is_structured()) continue;
    auto wrong = coerce(*it, *member, false, place_of(schema, place, it.key()), unknown);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

void check_below(const Json& value, const Structural& schema, bool root, const ValuePlace& place,
                 FieldErrors& errors) {
  if (errors.full()) return;
  if (value.is_array()) {
    if (!schema.items) return;
    std::size_t index = 0;
    for (const auto& item : value) {
      check_below(item, *schema.items, false, place.item(index++), errors);
    }
    return;
  }
  if (!value.is_object()) return;
  if (root || schema.embedded_resource) check_one(value, place, errors);
  for (auto it = value.begin(); it != value.end(); ++it) {
    const Structural* member = schema.member(it.key());
    if (member == nullptr || !it->is_structured()) continue;
    check_below(*it, *member, false, place_of(schema, place, it.key()), errors);
  }
}

}  // namespace

std::optional<FieldError> coerce_embedded(Json& value, const Structural& schema, bool root,
                                          const std::string& base, ToldPaths& unknown) {
  return coerce(value, schema, root, ValuePlace::root(base), unknown);
}

void check_embedded(const Json& value, const Structural& schema, bool root, const std::string& base,
                    FieldErrors& errors) {
  check_below(value, schema, root, ValuePlace::root(base), errors);
}

}  // namespace kubewatch::schema

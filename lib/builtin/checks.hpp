// What the rules of built-in kinds are written with: a field of an object together with where it is
// and whom it is told to, and the checks that many kinds share. No kind's own rules: those are in
// validation_*.cpp. Pure; any JSON may come, a null is an absent field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "schema/field_error.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

using schema::field_duplicate;
using schema::field_forbidden;
using schema::field_invalid;
using schema::field_not_supported;
using schema::field_required;
using schema::field_too_long;
using schema::FieldError;
using schema::FieldErrors;
using schema::go_quoted;

inline constexpr std::int64_t kMostInt32 = 2147483647;
inline constexpr const char* kNoFinalizer =
    "name is neither a standard finalizer name nor is it fully qualified";

using Problems = std::vector<std::string>;
using Values = std::vector<std::string>;

// Of ports.
inline const Values kProtocols = {"SCTP", "TCP", "UDP"};

class Field {
 public:
  // The object itself.
  Field(const Json& object, FieldErrors& errors);
  Field(const Json* value, std::string path, FieldErrors& errors);

  Field operator[](std::string_view key) const;
  std::vector<Field> items() const;                            // of a list
  std::set<std::string> texts() const;                         // of a list of texts
  std::vector<std::pair<std::string, Field>> entries() const;  // of a map: path[key]
  // The same value, told of another place.
  Field at(std::string path) const { return {value_, std::move(path), *errors_}; }
  // The same place, told to somebody else.
  Field into(FieldErrors& errors) const { return {value_, path_, errors}; }

  const std::string& path() const { return path_; }
  FieldErrors& errors() const { return *errors_; }
  const Json* json() const { return value_; }  // null: absent
  bool present() const { return value_ != nullptr; }
  std::size_t size() const;
  bool empty() const { return size() == 0; }  // absent, or a text, list or map with nothing in it
  std::string text() const;
  bool is(std::string_view text) const;
  bool is_true() const;
  bool is_text() const;
  bool is_map() const;
  std::optional<std::int64_t> number() const;
  std::int64_t number_or(std::int64_t otherwise) const { return number().value_or(otherwise); }
  base::Quantity quantity_or_zero() const { return quantity().value_or(base::Quantity::of(0)); }
  std::optional<base::Quantity> quantity() const;
  // As JSON, in which the server shows all but plain strings: null where it is absent.
  std::string shown() const;

  void required(const std::string& detail = "") const;
  void forbidden(const std::string& detail) const;
  // A text is a plain string here.
  void invalid(const std::string& detail) const { invalid_as(told(), detail); }
  // Of a text, which is "" where it is absent.
  void invalid_text(const std::string& detail) const;
  void invalid_as(const std::string& shown, const std::string& detail) const;
  // Without what it is.
  void invalid_untold(const std::string& detail) const;
  // A text is of an enumeration.
  void not_supported(const Values& supported) const;
  void duplicate() const;  // a text is a plain string
  void not_found(const std::string& detail = "") const;
  void too_long(std::size_t most) const;
  void too_many(std::int64_t most) const;

  // All problems of a text.
  void invalid_each(const Problems& problems) const;
  void one_of(const Values& supported) const;           // where it is present
  void one_of_required(const Values& supported) const;  // "" is a required value
  void not_negative() const;
  void in_range(std::int64_t least, std::int64_t most) const;  // where it is present
  // Differs from `live`, a field of the same name.
  void immutable(const Field& live) const;

 private:
  std::string join(std::string_view key) const;
  std::string told() const;

  const Json* value_;
  std::string path_;
  FieldErrors* errors_;
};

// As JSON: where its type is made of string (an enumeration, the name of a resource), and within a
// struct. Others are go_quoted.
std::string json_text(std::string_view text);
bool is_one(const std::string& text, const Values& of);
// "msg (e.g. 'a',  or 'b', regex used for validation is 'r')".
std::string shape_sentence(const std::string& message, const Values& examples,
                           const std::string& regex);
std::string range_sentence(std::int64_t least, std::int64_t most);

// Whether the server takes both for the same: nothing, empty and absent are one, false and 0 where
// it keeps no more.
bool same_value(const Json* a, const Json* b);
bool same_field(const Field& a, const Field& b);
// The same of what is a pointer there: a structure or text with nothing in it is not none.
bool same_optional(const Field& a, const Field& b);

Problems label_problems(const std::string& text);      // of a DNS label
Problems subdomain_problems(const std::string& text);  // of most names
Problems dns1035_problems(const std::string& text);
// Letters, digits and `more` alone, and one of them at least.
bool is_word(std::string_view text, std::string_view more);
Problems wildcard_problems(const std::string& text);
Problems qualified_problems(const std::string& text);  // "a.b/c"
Problems label_value_problems(const std::string& text);
Problems path_segment_problems(const std::string& text);
Problems port_name_problems(const std::string& text);
Problems env_name_problems(const std::string& text);

// A port by number or name.
void check_port_or_name(const Field& port);
void check_port_number(const Field& port);
void check_labels(const Field& labels);
void check_annotations(const Field& annotations);
void check_label_selector(const Field& selector);
// Of a template in another object: labels and annotations, nothing else.
void check_template_metadata(const Field& metadata);
// Of the form that all newer kinds share.
void check_conditions(const Field& conditions);
// In, NotIn, Exists, DoesNotExist with the values that go with them. False: another operator.
bool check_set_operator(const Field& requirement);
// A selector in the form of the server's own type.
std::string selector_text(const Field& selector);
// Whether it selects them; absent where it is no selector.
std::optional<bool> selects(const Field& selector, const Field& labels);
// One that selects everything.
bool selects_all(const Field& selector);
// "acme.io/foo".
void check_domain_path(const Field& path);
// Relative, without "..".
void check_descending_path(const Field& path);
void check_no_backsteps(const Field& path);
void check_local_path(const Field& path);
// A whole number or "5%": not negative, at most 100 %.
void check_int_or_percent(const Field& value);
void check_not_above_all(const Field& value);
std::int64_t int_or_percent(const Field& value);
void check_not_negative_quantity(const Field& value);
void check_positive_quantity(const Field& value);
// Its one text, as it is shown.
std::string quantity_text(const base::Quantity& quantity);

// Addresses as old fields take them, unless the live object has the same.
void check_ip(const Field& address, const std::set<std::string>& known = {});
void check_cidr(const Field& range, const std::set<std::string>& known = {});
// The same as newer fields take them, each in its one form.
void check_canonical_ip(const Field& address);
void check_canonical_cidr(const Field& range);
bool is_ip(const std::string& text);
bool is_cidr(const std::string& text);  // as old fields take them, whatever else is wrong with it
bool is_ipv6(const std::string& text);
// Its one text; "" when it is none.
std::string canonical_ip(const std::string& text);
// Of what is_cidr() takes.
std::string canonical_cidr(const std::string& text);
// Whether the second lies within the first and is smaller.
bool is_strict_subset(const std::string& range, const std::string& part);
// What no endpoint has.
void check_endpoint_ip(const Field& address);

// Names of resources, and amounts of them.
bool is_huge_page(const std::string& resource);
bool is_native_resource(const std::string& resource);
bool is_extended_resource(const std::string& resource);
bool is_quota_resource(const std::string& resource);
bool may_overcommit(const std::string& resource);
void check_resource_name(const Field& place, const std::string& resource);
void check_container_resource_name(const Field& place, const std::string& resource);
void check_resource_amount(const std::string& resource, const Field& amount);

}  // namespace kubewatch::builtin

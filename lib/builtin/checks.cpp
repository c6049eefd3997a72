#include "builtin/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "core/go_json.hpp"
#include "core/object_rules.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

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
  if (value_ == nullptr) return "null";
  return value_->is_structured() ? core::go_json(*value_) : base::dump_json(*value_);
}

void Field::required(const std::string& detail) const {
  errors_->push_back(field_required(path_, detail));
}

void Field::forbidden(const std::string& detail) const {
  errors_->push_back(field_forbidden(path_, detail));
}

void Field::invalid_text(const std::string& detail) const {
  invalid_as(quoted_text(text()), detail);
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
  errors_->push_back(field_duplicate(path_, present() ? shown() : "\"\""));
}

void Field::not_found(const std::string& detail) const {
  const std::string more = detail.empty() ? "" : ": " + detail;
  errors_->push_back({"FieldValueNotFound", "Not found: " + quoted_text(text()) + more, path_});
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

std::string quoted_text(std::string_view text) {
  return base::dump_json(Json(text));
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

namespace {

// How the values of a map are to be compared: "1" and "1000m" may be the same, and of the labels of
// a selector an empty one is there.
enum class Compared { plain, amounts, exact };

Compared members_of(const std::string& key, Compared around) {
  static const std::set<std::string> amounts = {"limits",   "requests", "overhead",
                                                "capacity", "hard",     "sizeLimit"};
  static const std::set<std::string> exact = {"matchLabels", "labels",     "annotations",
                                              "selector",    "parameters", "nodeSelector"};
  if (amounts.count(key) != 0) return Compared::amounts;
  return exact.count(key) != 0 ? Compared::exact : around;
}

// Of what the server keeps as a plain truth or number: false and 0 are what absent is, as clients
// in Go leave them out. Of others (runAsUser, privileged) they are not.
bool is_zero(const std::string& key, const Json& value) {
  static const std::set<std::string> plain = {"chapAuthDiscovery",
                                              "chapAuthSession",
                                              "count",
                                              "hostIPC",
                                              "hostNetwork",
                                              "hostPID",
                                              "hostPort",
                                              "lun",
                                              "partition",
                                              "initialDelaySeconds",
                                              "readOnly",
                                              "seconds",
                                              "sslEnabled",
                                              "stdin",
                                              "stdinOnce",
                                              "tty"};
  return (value == false || value == 0) && plain.count(key) != 0;
}

bool is_nothing(const Json* value, Compared how) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_structured()) return value->empty();
  return how != Compared::exact && *value == "";
}

bool same_amount(const Json& a, const Json& b) {
  FieldErrors none;
  const auto one = Field(a, none).quantity();
  const auto other = Field(b, none).quantity();
  return one && other && one->compare(*other) == 0;
}

bool same_json(const Json* a, const Json* b, Compared how);

bool same_members(const Json& a, const Json& b, Compared how) {
  std::set<std::string> keys;
  for (const Json* side : {&a, &b}) {
    for (const auto& [key, value] : side->items()) keys.insert(key);
  }
  const auto member = [how](const Json& object, const std::string& key) {
    const auto it = object.find(key);
    const bool none = it == object.end() || (how != Compared::exact && is_zero(key, *it));
    return none ? nullptr : &*it;
  };
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const Compared below = how == Compared::exact ? how : members_of(key, how);
    return same_json(member(a, key), member(b, key), below);
  });
}

bool same_json(const Json* a, const Json* b, Compared how) {
  if (is_nothing(a, how) || is_nothing(b, how)) return is_nothing(a, how) && is_nothing(b, how);
  if (a->is_object() && b->is_object()) return same_members(*a, *b, how);
  if (!a->is_array() || !b->is_array()) {
    return *a == *b || (how == Compared::amounts && same_amount(*a, *b));
  }
  if (a->size() != b->size()) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (!same_json(&(*a)[i], &(*b)[i], how)) return false;
  }
  return true;
}

}  // namespace

bool same_value(const Json* a, const Json* b) {
  return same_json(a, b, Compared::plain);
}

bool same_field(const Field& a, const Field& b) {
  return same_value(a.json(), b.json());
}

bool same_optional(const Field& a, const Field& b) {
  return a.present() == b.present() && same_field(a, b);
}

Problems label_problems(const std::string& text) {
  return core::dns_label_problems(text);
}

Problems subdomain_problems(const std::string& text) {
  return core::dns_subdomain_problems(text);
}

namespace {

std::string longer_than(std::size_t most, const char* unit = "characters") {
  return fmt::format("must be no more than {} {}", most, unit);
}

bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return base::is_alphanumeric(c) || more.find(c) != std::string_view::npos;
  });
}

bool has_no_upper(std::string_view text) {
  return std::none_of(text.begin(), text.end(), base::is_upper);
}

bool is_qualified_name(std::string_view text) {
  return is_word(text, "-_.") && base::is_alphanumeric(text.front()) &&
         base::is_alphanumeric(text.back());
}

}  // namespace

Problems dns1035_problems(const std::string& text) {
  Problems out;
  if (text.size() > 63) out.push_back(longer_than(63));
  const bool good = is_word(text, "-") && has_no_upper(text) && base::is_lower(text.front()) &&
                    text.back() != '-';
  if (!good) {
    out.push_back(shape_sentence(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        {"my-name", "abc-123"}, "[a-z]([-a-z0-9]*[a-z0-9])?"));
  }
  return out;
}

Problems wildcard_problems(const std::string& text) {
  Problems out;
  if (text.size() > 253) out.push_back(longer_than(253));
  if (!text.starts_with("*.") || !core::check_dns_subdomain(text.substr(2)).empty()) {
    out.push_back(shape_sentence(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character",
        {"*.example.com"},
        "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"));
  }
  return out;
}

Problems qualified_problems(const std::string& text) {
  const auto parts = base::split(text, '/');
  if (parts.size() > 2) return {core::check_label_key(text)};
  Problems out;
  if (parts.size() == 2) {
    if (parts[0].empty()) out.emplace_back("prefix part must be non-empty");
    for (const auto& problem : core::dns_subdomain_problems(parts[0], "bytes")) {
      if (!parts[0].empty()) out.push_back("prefix part " + problem);
    }
  }
  const std::string& name = parts.empty() ? text : parts.back();
  if (name.empty()) out.emplace_back("name part must be non-empty");
  if (name.size() > 63) out.push_back("name part " + longer_than(63, "bytes"));
  if (!is_qualified_name(name)) out.push_back(core::check_label_key("-"));
  return out;
}

Problems label_value_problems(const std::string& text) {
  Problems out;
  if (text.size() > 63) out.push_back(longer_than(63, "bytes"));
  if (!text.empty() && !is_qualified_name(text)) out.push_back(core::check_label_value("-"));
  return out;
}

Problems path_segment_problems(const std::string& text) {
  if (text == "." || text == "..") return {core::check_path_segment(text)};
  Problems out;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string::npos) out.push_back(fmt::format("may not contain '{}'", c));
  }
  return out;
}

Problems port_name_problems(const std::string& text) {
  Problems out;
  if (text.size() > 15) out.push_back(longer_than(15));
  if (!is_word(text, "-") || !has_no_upper(text)) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), base::is_lower)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

Problems env_name_problems(const std::string& text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  const bool good = std::all_of(text.begin(), text.end(),
                                [](char c) { return c >= ' ' && c <= '~' && c != '='; });
  if (good) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

Problems data_key_problems(const std::string& text) {
  const std::string problem = core::check_data_key(text);
  return problem.empty() ? Problems{} : Problems{problem};
}

void check_port_number(const Field& port) {
  const std::int64_t number = port.number_or(0);
  if (number < 1 || number > 65535) {
    port.invalid_as(std::to_string(number), range_sentence(1, 65535));
  }
}

void check_port_or_name(const Field& port) {
  if (port.is_text()) return port.invalid_each(port_name_problems(port.text()));
  check_port_number(port);
}

void check_labels(const Field& labels) {
  for (const auto& [key, value] : labels.entries()) {
    for (const auto& problem : qualified_problems(key)) {
      labels.invalid_as(quoted_text(key), problem);
    }
    value.at(labels.path()).invalid_each(label_value_problems(value.text()));
  }
}

void check_annotations(const Field& annotations) {
  std::size_t total = 0;
  for (const auto& [key, value] : annotations.entries()) {
    for (const auto& problem : qualified_problems(base::to_lower(key))) {
      annotations.invalid_as(quoted_text(key), problem);
    }
    total += key.size() + value.size();
  }
  if (total > core::kMaxAnnotations) annotations.too_long(core::kMaxAnnotations);
}

void check_template_metadata(const Field& metadata) {
  check_annotations(metadata["annotations"]);
  check_labels(metadata["labels"]);
  // In the order of the server's structure. Of lists and times it counts that they are there.
  for (const char* key :
       {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences",
        "finalizers", "managedFields"}) {
    const Field field = metadata[key];
    const bool is_id = std::string_view(key) == "uid";
    const bool is_generation = std::string_view(key) == "generation";
    const bool nothing = field.is_text() ? field.empty() : is_generation && field.number_or(0) == 0;
    if (!field.present() || nothing) continue;
    field.at(metadata.path() + (is_id ? ".uID" : std::string(".") + key))
        .forbidden("cannot be set");
  }
}

bool check_set_operator(const Field& requirement) {
  const Field op = requirement["operator"];
  const Field values = requirement["values"];
  if (op.is("In") || op.is("NotIn")) {
    if (values.empty()) values.required("must be specified when `operator` is 'In' or 'NotIn'");
    return true;
  }
  if (!op.is("Exists") && !op.is("DoesNotExist")) return false;
  if (!values.empty()) {
    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  return true;
}

namespace {

void check_requirement(const Field& requirement) {
  const Field values = requirement["values"];
  if (!check_set_operator(requirement)) {
    requirement["operator"].invalid_text("not a valid selector operator");
  }
  const Field key = requirement["key"];
  key.invalid_each(qualified_problems(key.text()));
  for (const auto& value : values.items()) value.invalid_each(label_value_problems(value.text()));
}

}  // namespace

void check_label_selector(const Field& selector) {
  check_labels(selector["matchLabels"]);
  for (const auto& one : selector["matchExpressions"].items()) check_requirement(one);
}

std::string selector_text(const Field& selector) {
  return selector.present() ? go_value("metav1.LabelSelector", *selector.json()) : "null";
}

std::optional<bool> selects(const Field& selector, const Field& labels) {
  if (!selector.present()) return false;
  FieldErrors problems;
  check_label_selector(selector.into(problems));
  const auto parsed = core::LabelSelector::from_json(*selector.json());
  if (!problems.empty() || !parsed) return std::nullopt;
  core::Labels all;
  for (const auto& [key, value] : labels.entries()) all.emplace_back(key, value.text());
  return parsed.value().matches(all);
}

bool selects_all(const Field& selector) {
  return selector.present() && selector["matchLabels"].empty() &&
         selector["matchExpressions"].empty();
}

void check_domain_path(const Field& path) {
  const std::string text = path.text();
  if (text.empty()) return path.required();
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return path.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  const std::string host = text.substr(0, slash);
  for (const auto& problem : subdomain_problems(host)) {
    path.invalid_as(quoted_text(host), problem);
  }
  const std::string rest = text.substr(slash + 1);
  const bool good = is_word(rest, "/-._~%!$&'()*+,;=:");
  if (good) return;
  path.invalid_as(quoted_text(rest),
                  shape_sentence("Invalid path", {}, "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"));
}

void check_no_backsteps(const Field& path) {
  const auto parts = base::split(path.text(), '/');
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    path.invalid("must not contain '..'");
  }
}

void check_descending_path(const Field& path) {
  if (path.text().starts_with("/")) path.invalid("must be a relative path");
  check_no_backsteps(path);
}

void check_local_path(const Field& path) {
  check_descending_path(path);
  const std::string text = path.text();
  if (text.starts_with("..") && !text.starts_with("../")) path.invalid("must not start with '..'");
}

namespace {

// "5%", which may be any number of digits.
bool is_percent(const std::string& text) {
  return text.size() > 1 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, base::is_digit);
}

constexpr std::int64_t kManyPercent = 1000000;

std::int64_t percent_of(const std::string& text) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    value = std::min(kManyPercent, value * 10 + (text[i] - '0'));
  }
  return value;
}

}  // namespace

void check_int_or_percent(const Field& value) {
  if (!value.is_text()) return value.not_negative();
  if (is_percent(value.text())) return;
  value.invalid(
      shape_sentence("a valid percent string must be a numeric string followed by an ending '%'",
                     {"1%", "93%"}, "[0-9]+%"));
}

void check_not_above_all(const Field& value) {
  const std::string text = value.text();
  if (is_percent(text) && percent_of(text) > 100) value.invalid("must not be greater than 100%");
}

std::int64_t int_or_percent(const Field& value) {
  if (!value.is_text()) return value.number_or(0);
  const std::string text = value.text();
  if (is_percent(text)) return percent_of(text);
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
  return digits ? percent_of(text + "%") : 0;
}

std::string quantity_text(const base::Quantity& quantity) {
  return quantity.canonical().value_or("");
}

void check_not_negative_quantity(const Field& value) {
  const auto quantity = value.quantity();
  if (!quantity || quantity->sign() >= 0) return;
  value.invalid_as(quoted_text(quantity_text(*quantity)), "must be greater than or equal to 0");
}

void check_positive_quantity(const Field& value) {
  const auto quantity = value.quantity();
  if (!quantity || quantity->sign() > 0) return;
  value.invalid_as(quoted_text(quantity_text(*quantity)), "must be greater than zero");
}

}  // namespace kubewatch::builtin

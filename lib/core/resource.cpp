// Kinds, resource types and object names: parsing, printing and the API server's name checks.
// The sentences are those of the server, so that a refusal here reads like one from there.
#include "core/resource.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/table_hash.hpp"

namespace kubewatch::core {
namespace {

constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::size_t kMaxSubdomainBytes = 253;
constexpr std::string_view kQualifiedNameChars = "alphanumeric characters, '-', '_' or '.'";
constexpr std::string_view kQualifiedNameRegex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool is_lower_alnum(char c) {
  return base::is_lower(c) || base::is_digit(c);
}

// [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool is_label(std::string_view text) {
  if (text.empty() || !is_lower_alnum(text.front()) || !is_lower_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_qualified_part(std::string_view text) {
  if (text.empty() || !base::is_alphanumeric(text.front()) || !base::is_alphanumeric(text.back()))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return base::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

std::string too_long(std::size_t limit, const char* unit = "bytes") {
  return "must be no more than " + std::to_string(limit) + " " + unit;
}

std::string shape_error(std::string_view sentence, std::initializer_list<std::string_view> examples,
                        std::string_view regex) {
  std::string out(sentence);
  out += " (e.g. ";
  bool first = true;
  for (std::string_view example : examples) {
    if (!first) out += " or ";
    first = false;
    out += "'" + std::string(example) + "', ";
  }
  return out + "regex used for validation is '" + std::string(regex) + "')";
}

std::string qualified_error(std::string_view subject) {
  return shape_error(std::string(subject) + " must consist of " + std::string(kQualifiedNameChars) +
                         ", and must start and end with an alphanumeric character",
                     {"MyName", "my.name", "123-abc"}, kQualifiedNameRegex);
}

}  // namespace

std::string GroupVersion::str() const {
  return group.empty() ? version : group + "/" + version;
}

Result<GroupVersion> parse_group_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  const bool grouped = slash != std::string_view::npos;
  GroupVersion out;
  if (grouped) out.group = api_version.substr(0, slash);
  out.version = grouped ? api_version.substr(slash + 1) : api_version;
  if (out.version.empty() || out.version.find('/') != std::string::npos ||
      (grouped && out.group.empty())) {
    return Error(ErrorKind::invalid, "apiVersion \"" + std::string(api_version) +
                                         "\" is not VERSION or GROUP/VERSION, like v1 or apps/v1");
  }
  return out;
}

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

std::string Gvk::api_version() const {
  return GroupVersion{group, version}.str();
}
std::string Gvk::str() const {
  return api_version() + " " + kind;
}
std::string Gvk::group_kind() const {
  return group.empty() ? kind : kind + "." + group;
}

ObjectKey object_key(const Json& object) {
  return {base::string_at(object, {"metadata", "namespace"}),
          base::string_at(object, {"metadata", "name"})};
}

Result<Gvk> gvk_of(const Json& object) {
  if (!object.is_object()) return Error(ErrorKind::invalid, "the manifest is not an object");
  const std::string kind = base::string_at(object, {"kind"});
  const std::string api_version = base::string_at(object, {"apiVersion"});
  if (api_version.empty()) return Error(ErrorKind::invalid, "apiVersion is missing");
  if (kind.empty()) return Error(ErrorKind::invalid, "kind is missing");
  KW_ASSIGN(GroupVersion gv, parse_group_version(api_version));
  return Gvk{std::move(gv.group), std::move(gv.version), kind};
}

bool ResourceType::has_verb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

bool ResourceType::has_subresource(std::string_view name) const {
  return std::any_of(subresources.begin(), subresources.end(),
                     [&](const Subresource& sub) { return sub.name == name; });
}

std::string ResourceType::qualified_plural() const {
  return gvk.group.empty() ? plural : plural + "." + gvk.group;
}

Json to_json(const ResourceType& type) {
  return {{"group", type.gvk.group},        {"version", type.gvk.version},
          {"kind", type.gvk.kind},          {"plural", type.plural},
          {"singular", type.singular},      {"namespaced", type.namespaced},
          {"shortNames", type.short_names}, {"categories", type.categories}};
}

ResourceType resource_type_of(const Json& json) {
  ResourceType out;
  out.gvk = {base::string_at(json, {"group"}), base::string_at(json, {"version"}),
             base::string_at(json, {"kind"})};
  out.plural = base::string_at(json, {"plural"});
  out.singular = base::string_at(json, {"singular"});
  out.namespaced = base::bool_at(json, {"namespaced"});
  out.short_names = base::strings_at(json, {"shortNames"});
  out.categories = base::strings_at(json, {"categories"});
  return out;
}

std::string ObjectKey::str() const {
  return namespace_.empty() ? name : namespace_ + "/" + name;
}

std::size_t ObjectKeyHash::operator()(const ObjectKey& key) const noexcept {
  return base::table_hash(key.name, base::table_hash(key.namespace_));
}

namespace {

std::string first_of(const std::vector<std::string>& problems) {
  return problems.empty() ? "" : problems.front();
}

}  // namespace

std::vector<std::string> dns_subdomain_problems(std::string_view name, const char* unit) {
  std::vector<std::string> out;
  if (name.size() > kMaxSubdomainBytes) out.push_back(too_long(kMaxSubdomainBytes, unit));
  if (is_subdomain(name)) return out;
  out.push_back(shape_error(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character",
      {"example.com"}, "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"));
  return out;
}

std::vector<std::string> dns_label_problems(std::string_view name) {
  std::vector<std::string> out;
  if (name.size() > kMaxLabelBytes) out.push_back(too_long(kMaxLabelBytes, "characters"));
  if (is_label(name)) return out;
  if (is_subdomain(name)) {
    out.emplace_back("must not contain dots");
    return out;
  }
  out.push_back(shape_error(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character",
      {"my-name", "123-abc"}, "[a-z0-9]([-a-z0-9]*[a-z0-9])?"));
  return out;
}

std::string check_dns_subdomain(std::string_view name) {
  return first_of(dns_subdomain_problems(name));
}

std::string check_dns_label(std::string_view name) {
  return first_of(dns_label_problems(name));
}

std::string check_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  std::string_view name = key;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return qualified_error("a valid label key") +
             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    }
    if (prefix.empty()) return "prefix part must be non-empty";
    const std::string bad = first_of(dns_subdomain_problems(prefix, "bytes"));
    if (!bad.empty()) return "prefix part " + bad;
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > kMaxLabelBytes) return "name part " + too_long(kMaxLabelBytes);
  return is_qualified_part(name) ? "" : qualified_error("name part");
}

std::string check_label_value(std::string_view value) {
  if (value.size() > kMaxLabelBytes) return too_long(kMaxLabelBytes);
  if (value.empty() || is_qualified_part(value)) return "";
  return shape_error(
      "a valid label must be an empty string or consist of " + std::string(kQualifiedNameChars) +
          ", and must start and end with an alphanumeric character",
      {"MyValue", "my_value", "12345"}, "(" + std::string(kQualifiedNameRegex) + ")?");
}

}  // namespace kubewatch::core

// CRDs from C++ structs: one function per type says which member is which field, the types of the
// members say the rest. Header only; crd_of() makes the same TypeDefinitions document that a YAML
// file would hold and hands it to generate(), so that both yield the same CRD.
//
//   struct SiteSpec { std::int32_t replicas = 1; std::optional<std::string> host; };
//   template <> struct kubewatch::crdgen::Describe<SiteSpec> {
//     static void fields(Fields<SiteSpec>& f) {
//       f.field("replicas", &SiteSpec::replicas).minimum(0).default_value(1);
//       f.field("host", &SiteSpec::host).max_length(253);
//     }
//   };
//   auto crd = crd_of<SiteSpec>(KindDescription("demo.example.com", "v1", "Site"));
//
// std::optional members are optional, others required, unless they have a default. Checked by the
// compiler: names of fields, groups and kinds; that a member's type has such a limit; that keys of
// lists are members of their items. Checked when it runs, by crd_of(): everything that generate()
// checks, that the API server takes the CRD, that no field is described twice, and that numbers are
// such that members and JSON can hold them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/strings.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/untagged_union.hpp"

namespace kubewatch::crdgen {

// Specialised for each struct that is described.
template <class T>
struct Describe;
template <class T>
class Fields;

template <class T>
concept Described = requires(Fields<T>& fields) {
  Describe<T>::fields(fields);
};

namespace detail {

template <class T>
struct Optional : std::false_type {
  using Value = T;
};
template <class T>
struct Optional<std::optional<T>> : std::true_type {
  using Value = T;
};
template <class T>
struct List : std::false_type {
  using Item = void;
};
template <class T>
struct List<std::vector<T>> : std::true_type {
  using Item = T;
};
template <class T>
struct Map : std::false_type {
  using Value = void;
};
template <class T>
struct Map<std::map<std::string, T>> : std::true_type {
  using Value = T;
};
template <class T>
struct Variant : std::false_type {};
template <class... T>
struct Variant<std::variant<T...>> : std::true_type {};

template <class T>
inline constexpr bool kAlways = false;

// Problems are told as "FIELD: what is wrong with it".
using Problems = std::vector<std::string>;

template <class T>
Json type_of(Problems& problems);

template <class... T>
Json either_of(std::variant<T...>*, Problems& problems);

}  // namespace detail

// A name that the compiler has looked at: letters, digits, _, - and /, beginning with a letter.
struct FieldName {
  template <std::size_t N>
  consteval FieldName(const char (&name)[N]) : text(name, N - 1) {  // NOLINT: implicit
    if (text.empty() || !base::is_letter(text.front())) throw "a field begins with a letter";
    for (const char c : text) {
      const bool ok = base::is_alphanumeric(c) || c == '_' || c == '-';
      if (!ok) throw "a field has letters, digits, _ and - only";
    }
  }
  std::string_view text;
};
struct GroupName {
  template <std::size_t N>
  consteval GroupName(const char (&name)[N]) : text(name, N - 1) {  // NOLINT: implicit
    if (text.find('.') == std::string_view::npos) throw "a group has a domain";
  }
  std::string_view text;
};
struct KindName {
  template <std::size_t N>
  consteval KindName(const char (&name)[N]) : text(name, N - 1) {  // NOLINT: implicit
    if (text.empty() || text.front() < 'A' || text.front() > 'Z') throw "a kind begins with A to Z";
  }
  std::string_view text;
};

// One field while it is described; M is the type of the member. Valid until the next field().
template <class M>
class FieldDescription {
  using Value = typename detail::Optional<M>::Value;
  static constexpr bool kNumber = std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>;
  static constexpr bool kText = std::is_same_v<Value, std::string>;
  static constexpr bool kList = detail::List<Value>::value;
  static constexpr bool kMap = detail::Map<Value>::value;

 public:
  FieldDescription(Json& field, std::string_view name, detail::Problems& problems)
      : field_(field), name_(name), problems_(problems) {}

  FieldDescription& minimum(double value) requires kNumber { return limit("minimum", value); }
  FieldDescription& maximum(double value) requires kNumber { return limit("maximum", value); }
  FieldDescription& min_length(std::size_t n) requires kText { return set("minLength", n); }
  FieldDescription& max_length(std::size_t n) requires kText { return set("maxLength", n); }
  FieldDescription& pattern(std::string re2) requires kText {
    return set("pattern", std::move(re2));
  }
  FieldDescription& format(std::string name) requires(kText || kNumber) {
    return set("format", std::move(name));
  }
  FieldDescription& one_of(std::vector<std::string> values) requires kText {
    return set("enum", std::move(values));
  }
  FieldDescription& min_items(std::size_t n) requires kList { return set("minItems", n); }
  FieldDescription& max_items(std::size_t n) requires kList { return set("maxItems", n); }
  FieldDescription& set_list() requires kList { return set("listType", "set"); }
  FieldDescription& atomic_list() requires kList { return set("listType", "atomic"); }
  // The members of the items that tell them apart.
  template <class Item, class... Member>
  FieldDescription& keyed_list(Member Item::*... keys) requires kList
      && std::is_same_v<Item, typename detail::List<Value>::Item> && Described<Item> {
    Json names = Json::array();
    const Fields<Item> fields;
    (names.push_back(fields.name_of(keys)), ...);
    set("listType", "map");
    return set("listMapKeys", std::move(names));
  }
  FieldDescription& min_properties(std::size_t n) requires kMap { return set("minProperties", n); }
  FieldDescription& max_properties(std::size_t n) requires kMap { return set("maxProperties", n); }
  FieldDescription& atomic_map() requires(kMap || Described<Value>) {
    return set("mapType", "atomic");
  }

  template <class D>
  FieldDescription& default_value(D value) requires(std::is_convertible_v<D, Value> ||
                                                    std::is_same_v<D, Json>) {
    field_.erase("required");
    if constexpr (std::is_floating_point_v<D>) {
      if (!std::isfinite(value)) return wrong("default_value must be a number that JSON has");
    }
    return set("default", std::move(value));
  }
  FieldDescription& description(std::string text) { return set("description", std::move(text)); }
  FieldDescription& nullable() requires detail::Optional<M>::value { return set("nullable", true); }
  FieldDescription& immutable() { return set("immutable", true); }
  FieldDescription& optional() {
    field_.erase("required");
    return *this;
  }
  FieldDescription& rule(std::string cel, std::string message = "") {
    Json one = {{"rule", std::move(cel)}};
    if (!message.empty()) one["message"] = std::move(message);
    field_["validations"].push_back(std::move(one));
    return *this;
  }
  // Anything else, in OpenAPI's words.
  FieldDescription& raw(Json schema) { return set("raw", std::move(schema)); }

 private:
  template <class V>
  FieldDescription& set(const char* key, V value) {
    field_[key] = std::move(value);
    return *this;
  }
  // The server keeps limits as doubles; another one than the one written is worse than none.
  FieldDescription& limit(const char* key, double value) {
    using Limits = std::numeric_limits<Value>;
    if constexpr (std::is_integral_v<Value>) {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      const bool held = value >= std::max(-kExact, static_cast<double>(Limits::min())) &&
                        value <= std::min(kExact, static_cast<double>(Limits::max()));
      if (held && std::trunc(value) == value) return set(key, static_cast<std::int64_t>(value));
      return wrong(std::string(key) +
                   " must be a whole number that the member can hold, between -2^53 and 2^53");
    } else {
      if (std::abs(value) <= static_cast<double>(Limits::max())) return set(key, value);
      return wrong(std::string(key) + " must be a finite number that the member can hold");
    }
  }
  FieldDescription& wrong(const std::string& what) {
    problems_.push_back(name_ + ": " + what);
    return *this;
  }

  Json& field_;
  std::string name_;
  detail::Problems& problems_;
};

// The fields of T in the long form of TypeDefinitions. T must be default-constructible.
template <class T>
class Fields {
 public:
  Fields() { Describe<T>::fields(*this); }

  template <class M>
  FieldDescription<M> field(FieldName name, M T::*member) {
    const std::string text(name.text);
    names_[offset_of(member)] = text;
    detail::Problems below;
    Json field = detail::type_of<typename detail::Optional<M>::Value>(below);
    for (const std::string& one : below) problems_.push_back(text + "." + one);
    if (!detail::Optional<M>::value) field["required"] = true;
    if (object_["fields"].contains(text)) problems_.push_back(text + ": is described twice");
    Json& at = object_["fields"][text];
    at = std::move(field);
    return FieldDescription<M>(at, text, problems_);
  }
  // A rule about the object as a whole.
  Fields& rule(std::string cel, std::string message = "") {
    Json one = {{"rule", std::move(cel)}};
    if (!message.empty()) one["message"] = std::move(message);
    object_["validations"].push_back(std::move(one));
    return *this;
  }
  Fields& description(std::string text) {
    object_["description"] = std::move(text);
    return *this;
  }

  const Json& object() const { return object_; }
  // What cannot be said in object(), of the types of its fields too.
  const detail::Problems& problems() const { return problems_; }
  // "" for a member that is no field: generate() refuses it as a key.
  template <class M>
  std::string name_of(M T::*member) const {
    const auto it = names_.find(offset_of(member));
    return it == names_.end() ? "" : it->second;
  }

 private:
  template <class M>
  static std::ptrdiff_t offset_of(M T::*member) {
    static const T probe{};
    return reinterpret_cast<const char*>(&(probe.*member)) - reinterpret_cast<const char*>(&probe);
  }

  Json object_ = {{"fields", Json::object()}};
  std::map<std::ptrdiff_t, std::string> names_;
  detail::Problems problems_;
};

namespace detail {

template <class T>
Json object_of(Problems& problems) {
  const Fields<T> fields;
  problems.insert(problems.end(), fields.problems().begin(), fields.problems().end());
  return fields.object();
}

template <class... T>
Json either_of(std::variant<T...>*, Problems& problems) {
  // As "A or B" is in a text: each alternative expanded, then joined.
  std::vector<Json> schemas;
  for (Json one : {type_of<T>(problems)...}) {
    one.erase("minimum");  // of a short integer: int-or-string has no place for its range
    one.erase("maximum");
    const Json document = {
        {"apiVersion", "kubewatch.dev/v1"},
        {"kind", "TypeDefinitions"},
        {"spec",
         {{"group", "a.b"}, {"kind", "K"}, {"version", "v1"}, {"head", "none"}, {"spec", one}}}};
    const Generated made = generate(document, "a variant");
    for (const Remark& problem : made.problems) problems.push_back(problem.message);
    if (!made.crds.empty()) {
      schemas.push_back(made.crds.front()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
                                         ["properties"]["spec"]);
    }
  }
  return {{"raw", untagged_union(schemas).schema}};
}

template <class T>
Json type_of(Problems& problems) {
  if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, Json>) {
    return {{"type", "any"}};
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(std::is_signed_v<T>, "unsigned integers do not exist in CRDs: use minimum(0)");
    Json out = {{"type", sizeof(T) <= 4 ? "int32" : "int64"}};
    if constexpr (sizeof(T) < 4) {  // no format has its range
      out["minimum"] = std::int64_t{std::numeric_limits<T>::min()};
      out["maximum"] = std::int64_t{std::numeric_limits<T>::max()};
    }
    return out;
  } else if constexpr (std::is_floating_point_v<T>) {
    return {{"type", std::is_same_v<T, float> ? "float" : "double"}};
  } else if constexpr (List<T>::value) {
    return {{"items", type_of<typename List<T>::Item>(problems)}};
  } else if constexpr (Map<T>::value) {
    return {{"values", type_of<typename Map<T>::Value>(problems)}};
  } else if constexpr (Variant<T>::value) {
    return either_of(static_cast<T*>(nullptr), problems);
  } else if constexpr (Described<T>) {
    return object_of<T>(problems);
  } else {
    static_assert(kAlways<T>, "this type is no field of a CRD: specialise Describe for it");
  }
}

}  // namespace detail

// What stands around the schema; every function returns itself.
class KindDescription {
 public:
  KindDescription(GroupName group, std::string version, KindName kind) {
    spec_ = {{"group", group.text}, {"version", std::move(version)}, {"kind", kind.text}};
  }
  KindDescription& cluster_scoped() { return set("scope", "Cluster"); }
  KindDescription& plural(std::string name) { return set("plural", std::move(name)); }
  KindDescription& singular(std::string name) { return set("singular", std::move(name)); }
  KindDescription& short_names(std::vector<std::string> all) {
    return set("shortNames", std::move(all));
  }
  KindDescription& categories(std::vector<std::string> all) {
    return set("categories", std::move(all));
  }
  KindDescription& description(std::string text) { return set("description", std::move(text)); }
  KindDescription& annotation(const std::string& key, std::string value) {
    spec_["annotations"][key] = std::move(value);
    return *this;
  }
  KindDescription& label(const std::string& key, std::string value) {
    spec_["labels"][key] = std::move(value);
    return *this;
  }
  KindDescription& deprecated(std::string warning) { return set("deprecated", std::move(warning)); }
  KindDescription& column(const std::string& name, const std::string& type, const std::string& path,
                          int priority = 0) {
    Json one = {{"name", name}, {"type", type}, {"jsonPath", path}};
    if (priority != 0) one["priority"] = priority;
    spec_["columns"].push_back(std::move(one));
    return *this;
  }
  KindDescription& scale(const std::string& spec_path, const std::string& status_path,
                         const std::string& selector_path = "") {
    spec_["scale"] = {{"specReplicas", spec_path}, {"statusReplicas", status_path}};
    if (!selector_path.empty()) spec_["scale"]["labelSelector"] = selector_path;
    return *this;
  }
  KindDescription& selectable(std::vector<std::string> paths) {
    return set("selectable", std::move(paths));
  }
  KindDescription& rule(std::string cel, std::string message = "") {
    Json one = {{"rule", std::move(cel)}};
    if (!message.empty()) one["message"] = std::move(message);
    spec_["validations"].push_back(std::move(one));
    return *this;
  }
  const Json& spec() const { return spec_; }

 private:
  template <class V>
  KindDescription& set(const char* key, V value) {
    spec_[key] = std::move(value);
    return *this;
  }
  Json spec_;
};

namespace detail {

template <class Spec, class Status>
Json document_of(const KindDescription& kind, Problems& problems) {
  Json out = {
      {"apiVersion", "kubewatch.dev/v1"}, {"kind", "TypeDefinitions"}, {"spec", kind.spec()}};
  const auto add = [&out, &problems](const char* part, const auto& fields) {
    out["spec"][part] = fields.object();
    for (const std::string& one : fields.problems()) {
      problems.push_back(std::string(part) + "." + one);
    }
  };
  add("spec", Fields<Spec>());
  out["spec"]["spec"]["required"] = true;
  if constexpr (!std::is_void_v<Status>) add("status", Fields<Status>());
  return out;
}

}  // namespace detail

// The TypeDefinitions document of the kind. What only crd_of() can tell of a description is lost.
template <Described Spec, class Status = void>
Json document_of(const KindDescription& kind) {
  detail::Problems problems;
  return detail::document_of<Spec, Status>(kind, problems);
}

// Errors: invalid, with all that is wrong with the description, and all that generate() finds wrong
// or that the API server would refuse.
template <Described Spec, class Status = void>
Result<Json> crd_of(const KindDescription& kind) {
  detail::Problems problems;
  const Json document = detail::document_of<Spec, Status>(kind, problems);
  Generated made = generate(document, std::string(kind.spec()["kind"]), ServerCheck::run);
  for (const Remark& problem : made.problems) problems.push_back(problem.message);
  if (problems.empty()) return std::move(made.crds.front());
  return Error(ErrorKind::invalid, base::join(problems, "; "));
}

}  // namespace kubewatch::crdgen

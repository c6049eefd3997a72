// The text and its form are made and explained by tests/apiserver/openapi_builtin.py.
#include "apiserver/openapi_builtin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/openapi_types.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::string_view kPackageTable =
#include "apiserver/openapi_builtin.inc"
    ;
constexpr std::string_view kList = "List";

bool has(std::string_view marks, char mark) {
  return marks != kList && marks.find(mark) != std::string_view::npos;
}

Json gvk_of_kind(const std::string& api_version, const std::string& kind) {
  const auto slash = api_version.find('/');
  const bool core = slash == std::string::npos;
  return {{"group", core ? "" : api_version.substr(0, slash)},
          {"version", core ? api_version : api_version.substr(slash + 1)},
          {"kind", kind}};
}

// "(A|B)" in front of `text`, "_" for a space.
Json take_values(std::string_view& text) {
  std::string_view values = base::take_until(text, ')').substr(1);
  Json out = Json::array();
  for (std::string value : base::split(values, '|')) {
    std::replace(value.begin(), value.end(), '_', ' ');
    out.push_back(std::move(value));
  }
  return out;
}

Json default_of(char type, std::string_view text) {
  const bool zero = text == "0";
  const std::string value(zero ? std::string_view() : text.substr(1));
  switch (type) {
    case 's': return value;
    case 'b': return !zero;
    default: return zero ? 0 : std::stol(value);
  }
}

Json scalar(std::string_view text) {
  const char type = text.front();
  text.remove_prefix(1);
  Json out;
  switch (type) {
    case 's': out = {{"type", "string"}}; break;
    case 'y': out = {{"type", "string"}, {"format", "byte"}}; break;
    case 'e':
      out = {{"type", "string"}, {"format", "byte"}, {"x-kubernetes-list-type", "atomic"}};
      break;
    case 'b': out = {{"type", "boolean"}}; break;
    case 'i': out = {{"type", "integer"}, {"format", "int32"}}; break;
    case 'k': out = {{"type", "integer"}, {"format", "int64"}}; break;
    default: out = {{"type", "number"}, {"format", "double"}};
  }
  if (text.starts_with('(')) out["enum"] = take_values(text);
  if (!text.empty()) out["default"] = default_of(type, text);
  return out;
}

}  // namespace

// Makes the schemas of a type and of what it refers to.
class BuiltinTypes::Maker {
 public:
  Maker(const BuiltinTypes& types, Json& schemas) : types_(types), schemas_(schemas) {}

  void add(const std::string& name) {
    wanted_.push_back(name);
    while (!wanted_.empty()) {
      const std::string next = std::move(wanted_.back());
      wanted_.pop_back();
      const auto found = types_.definitions_.find(next);
      if (found == types_.definitions_.end() || schemas_.contains(next)) continue;
      home_ = found->second.package;
      schemas_[next] = schema_of(found->second);
    }
  }

 private:
  Json schema_of(const Definition& type) {
    Json out = type.raw.empty() ? Json::object() : Json::parse(type.raw);
    const bool list = type.marks == kList;
    if (list) add_fields(fmt::format("items*:P&{} metadata:&m.ListMeta", type.name), out);
    if (list || has(type.marks, '^')) {
      add_fields("apiVersion:s kind:s", out);
      out["x-kubernetes-group-version-kind"] = Json::array({gvk_of_kind(
          home_->api_version, std::string(type.name).append(list ? kList : std::string_view()))});
    }
    if (has(type.marks, '+')) add_fields("metadata:&m.ObjectMeta", out);
    if (has(type.marks, '!')) out["x-kubernetes-map-type"] = "atomic";
    add_fields(type.fields, out);
    return out;
  }

  void add_fields(std::string_view fields, Json& out) {
    while (!fields.empty()) {
      std::string_view field = base::take_until(fields, ' ');
      std::string name(base::take_until(field, ':'));
      if (name.back() == '*') {
        name.pop_back();
        out["required"].push_back(name);
      }
      out["type"] = "object";
      out["properties"][name] = property(field);
    }
  }

  Json property(std::string_view text) {
    std::string_view rule =
        text.starts_with('{') ? base::take_until(text, '}').substr(1) : std::string_view();
    const bool granular = text.starts_with('G');
    if (granular) text.remove_prefix(1);
    Json out = type(text, false);
    if (granular) out["x-kubernetes-map-type"] = "granular";
    const std::string_view merge_key = base::take_until(rule, ';');
    if (!merge_key.empty()) out["x-kubernetes-patch-merge-key"] = merge_key;
    if (!rule.empty()) out["x-kubernetes-patch-strategy"] = rule;
    return out;
  }

  // `inside`: of a list or a map, where a reference without more to say stands alone.
  Json type(std::string_view text, bool inside) {
    const std::string_view rest = text.substr(1);
    switch (text.front()) {
      case '$': return {{"$ref", reference(rest)}};
      case '@': return inside ? Json{{"$ref", reference(rest)}} : reference_schema(reference(rest));
      case '&': {
        Json out = reference_schema(reference(rest));
        out["default"] = Json::object();
        return out;
      }
      case 'M': return {{"type", "object"}, {"additionalProperties", type(rest, true)}};
      case 'A':
        return {{"type", "object"},
                {"additionalProperties", type(rest, true)},
                {"x-kubernetes-map-type", "atomic"}};
      case 'P': return list(rest, "");
      case 'L': return list(rest, "atomic");
      case 'S': return list(rest, "set");
      case 'K': return keyed_list(rest);
      default: return scalar(text);
    }
  }

  Json list(std::string_view element, std::string_view list_type) {
    Json out = {{"type", "array"}, {"items", type(element, true)}};
    if (!list_type.empty()) out["x-kubernetes-list-type"] = list_type;
    return out;
  }

  Json keyed_list(std::string_view text) {
    const std::string_view keys = base::take_until(text, ']').substr(1);
    Json out = list(text, "map");
    out["x-kubernetes-list-map-keys"] = base::split(keys, ',');
    return out;
  }

  // "PodSpec" of the same package, "c.PodSpec" of another.
  std::string reference(std::string_view text) {
    const Package* owner = home_;
    if (text.find('.') != std::string_view::npos)
      owner = types_.package(base::take_until(text, '.'));
    wanted_.push_back(fmt::format("{}.{}", owner->name, text));
    return reference_to(wanted_.back());
  }

  const BuiltinTypes& types_;
  Json& schemas_;
  const Package* home_ = nullptr;  // of the type at hand
  std::vector<std::string> wanted_;
};

BuiltinTypes::BuiltinTypes() {
  packages_.reserve(
      static_cast<std::size_t>(std::count(kPackageTable.begin(), kPackageTable.end(), '%')));
  for (std::string_view rest = kPackageTable; !rest.empty();)
    read_line(base::take_until(rest, '\n'));
}

void BuiltinTypes::read_line(std::string_view line) {
  if (line.empty()) return;
  if (line.front() == '%') {
    line.remove_prefix(1);
    const std::string handle(base::take_until(line, ' '));
    const std::string name(base::take_until(line, ' '));
    packages_.push_back({handle, name, std::string(line)});
    return;
  }
  Definition out;
  out.package = &packages_.back();
  if (const auto raw = line.find(" :"); raw != std::string_view::npos) {
    out.raw = line.substr(raw + 2);
    line = line.substr(0, raw);
  }
  out.name = base::take_until(line, ' ');
  out.fields = line;
  const auto marks = std::min(out.name.find_first_of("^+!"), out.name.size());
  out.marks = out.name.substr(marks);
  out.name = out.name.substr(0, marks);
  const std::string full = fmt::format("{}.{}", out.package->name, out.name);
  definitions_[full] = out;
  if (has(out.marks, 'l')) {
    definitions_[full + std::string(kList)] = {out.package, out.name, kList, {}, {}};
  }
}

const BuiltinTypes::Package* BuiltinTypes::package(std::string_view handle) const {
  return &*std::find_if(packages_.begin(), packages_.end(),
                        [&](const Package& one) { return one.handle == handle; });
}

std::string BuiltinTypes::name_of(const core::Gvk& gvk) const {
  const std::string api_version = gvk.api_version();
  for (const Package& package : packages_) {
    if (package.api_version != api_version) continue;
    std::string name = fmt::format("{}.{}", package.name, gvk.kind);
    const auto found = definitions_.find(name);
    if (found == definitions_.end()) continue;
    if (found->second.marks == kList || has(found->second.marks, '^')) return name;
  }
  return "";
}

void BuiltinTypes::add(const std::string& name, Json& schemas) const {
  Maker(*this, schemas).add(name);
}

}  // namespace kubewatch::apiserver

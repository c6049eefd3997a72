// Reads the compiled-in table of wire_types.hpp, once. The table is made and explained by
// tests/builtin/wire_types.py.
#include "builtin/wire_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::string_view kWireTable =
#include "builtin/wire_types.inc"
    ;

using WireTypes = std::map<std::string, WireType, std::less<>>;

// Takes what is behind the last `mark` off the end of `text`.
std::string take_tail(std::string& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return "";
  std::string tail = text.substr(at + 1);
  text.resize(at);
  return tail;
}

// "7env:rom=core/v1.EnvVar"; `types` has all of them, empty as yet.
WireField parse_wire_field(std::string text, const WireTypes& types) {
  WireField field;
  std::size_t at = 0;
  field.number = std::stoull(text, &at);
  text.erase(0, at);
  if (const std::string type = take_tail(text, '='); !type.empty()) {
    field.type = &types.find(type)->second;
  }
  field.map_named = take_tail(text, '^');
  std::string named = take_tail(text, '~');
  std::string of_values = take_tail(text, '~');
  std::string flags = take_tail(text, ':');
  field.name = std::move(text);
  field.kind = flags.back();
  flags.pop_back();
  if (is_map(field)) field.key_named = std::exchange(named, std::move(of_values));
  field.named = std::move(named);
  for (const char flag : flags) {
    field.repeated = field.repeated || flag == 'r';
    field.pointer = field.pointer || flag == 'p';
    field.omit_empty = field.omit_empty || flag == 'o';
    field.omit_zero = field.omit_zero || flag == 'z';
  }
  return field;
}

const WireTypes& wire_types() {
  static const WireTypes all = [] {
    WireTypes out;
    std::vector<std::vector<std::string>> lines;
    for (const auto& line : base::split(kWireTable, '\n')) {
      auto words = base::split(line, ' ');
      if (words.front().empty()) continue;
      out[words.front()].name = words.front();
      lines.push_back(std::move(words));
    }
    for (const auto& words : lines) {
      WireType& type = out.find(words.front())->second;
      for (std::size_t i = 1; i < words.size(); ++i) {
        type.fields.push_back(parse_wire_field(words[i], out));
      }
    }
    return out;
  }();
  return all;
}

// "rbac.authorization.k8s.io/v1" -> "rbac/v1", "v1" -> "core/v1".
std::string package_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return fmt::format("core/{}", api_version);
  const std::string_view group = api_version.substr(0, slash);
  return fmt::format("{}{}", group.substr(0, group.find('.')), api_version.substr(slash));
}

}  // namespace

std::string_view WireType::struct_name() const {
  return std::string_view(name).substr(name.rfind('.') + 1);
}

std::string_view WireType::go_name() const {
  return std::string_view(name).substr(name.find('/') + 1);
}

const WireField* form_of(const WireType& choice, const Json& value) {
  const auto found =
      std::find_if(choice.fields.begin(), choice.fields.end(), [&](const WireField& form) {
        if (form.repeated) return value.is_array();
        return form.kind == 'm' ? value.is_object() : value.is_boolean();
      });
  return found == choice.fields.end() ? nullptr : &*found;
}

bool is_map(const WireField& field) {
  return std::string_view("SYQMTE").find(field.kind) != std::string_view::npos;
}

const WireType* wire_type(std::string_view name) {
  const auto found = wire_types().find(name);
  return found == wire_types().end() ? nullptr : &found->second;
}

const WireType* wire_type_of(std::string_view api_version, std::string_view kind) {
  return wire_type(fmt::format("{}.{}", package_of(api_version), kind));
}

const WireType* wire_type_of(const Json& object) {
  return wire_type_of(base::string_at(object, {"apiVersion"}), base::string_at(object, {"kind"}));
}

}  // namespace kubewatch::builtin

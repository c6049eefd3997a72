#include "cel/type.hpp"

#include <algorithm>
#include <array>

namespace kubewatch::cel {

namespace {

using Kind = Type::Kind;

const char* simple_name(Kind kind) {
  switch (kind) {
    case Kind::error: return "!error!";
    case Kind::dyn: return "dyn";
    case Kind::null: return "null_type";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::uinteger: return "uint";
    case Kind::real: return "double";
    case Kind::string: return "string";
    case Kind::bytes: return "bytes";
    case Kind::timestamp: return "google.protobuf.Timestamp";
    case Kind::duration: return "google.protobuf.Duration";
    case Kind::list: return "list";
    case Kind::map: return "map";
    case Kind::type: return "type";
    case Kind::object:
    case Kind::opaque:
    case Kind::param: return "";
  }
  return "";
}

TypePtr make(Kind kind, std::string name, std::vector<TypePtr> params = {},
             const DataType* data = nullptr) {
  auto type = std::make_shared<Type>();
  type->kind = kind;
  type->name = std::move(name);
  type->params = std::move(params);
  type->parts = parts_of(type->params);
  type->data = data;
  return type;
}

std::string joined(const std::vector<TypePtr>& types, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < types.size(); ++i) {
    if (i != from) out += ", ";
    out += to_string(*types[i]);
  }
  return out;
}

}  // namespace

std::size_t parts_of(const std::vector<TypePtr>& params) {
  std::size_t parts = 1;
  for (const TypePtr& param : params) parts += param->parts;
  return std::min(parts, kMostTypeParts + 1);
}

bool same(const Type& left, const Type& right) {
  if (&left == &right) return true;
  if (left.kind != right.kind || left.name != right.name ||
      left.params.size() != right.params.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.params.size(); ++i) {
    if (!same(*left.params[i], *right.params[i])) return false;
  }
  return true;
}

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Kind::null: return "null";
    case Kind::timestamp: return "timestamp";
    case Kind::duration: return "duration";
    default: break;
  }
  if (type.params.empty()) return type.name;
  return type.name + "(" + joined(type.params, 0) + ")";
}

std::string signature(const std::vector<TypePtr>& arguments, bool on_value) {
  if (!on_value || arguments.empty()) return "(" + joined(arguments, 0) + ")";
  return to_string(*arguments[0]) + ".(" + joined(arguments, 1) + ")";
}

const TypePtr& simple(Kind kind) {
  static const auto kTypes = [] {
    std::array<TypePtr, static_cast<std::size_t>(Kind::param) + 1> types;
    for (std::size_t i = 0; i < types.size(); ++i) {
      types[i] = make(static_cast<Kind>(i), simple_name(static_cast<Kind>(i)));
    }
    return types;
  }();
  return kTypes[static_cast<std::size_t>(kind)];
}

TypePtr list_of(TypePtr element) {
  return make(Kind::list, "list", {std::move(element)});
}
TypePtr map_of(TypePtr key, TypePtr value) {
  return make(Kind::map, "map", {std::move(key), std::move(value)});
}
TypePtr type_of(TypePtr named) {
  return make(Kind::type, "type", {std::move(named)});
}
TypePtr optional_of(TypePtr value) {
  return make(Kind::opaque, "optional_type", {std::move(value)});
}
TypePtr object(std::string name, const DataType* data) {
  return make(Kind::object, std::move(name), {}, data);
}
TypePtr opaque(std::string name) {
  return make(Kind::opaque, std::move(name));
}
TypePtr param(std::string name) {
  return make(Kind::param, std::move(name));
}

}  // namespace kubewatch::cel

// The Go types of the built-in kinds: their fields by JSON name and by protobuf number, what is a
// pointer and what Go leaves out when it is empty. Not which values are allowed, and not how apply
// merges: validation*.cpp, schema/merge_schema. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::builtin {

struct WireType;

struct WireField {
  std::uint64_t number = 0;
  // "" = the fields of its type are fields of the one around it, "-" = a form of the whole value
  std::string name;
  // As tests/builtin/wire_types.py has them: 's' string, 'm' a type of its own, 'S' map of strings…
  char kind = 's';
  bool repeated = false;
  bool pointer = false;  // tells absent from zero
  bool omit_empty = false;
  bool omit_zero = false;
  std::string named;               // of a scalar with a name: "v1.RestartPolicy"
  std::string key_named;           // of a map whose keys have a name: "v1.QualifiedName"
  std::string map_named;           // of a map with a name: "v1.JSONSchemaDefinitions"
  const WireType* type = nullptr;  // of messages and maps of them
};

struct WireType {
  std::string name;               // "core/v1.PodSpec"
  std::vector<WireField> fields;  // in the order of Go's struct
  // "PodSpec", "v1.PodSpec": as Go's messages call it.
  std::string_view struct_name() const;
  std::string_view go_name() const;
  // Whether a value has one of several forms, which its fields are: a schema or a flag, a schema or
  // a list. Such a type reads itself, without telling of fields that it lacks.
  bool is_choice() const { return !fields.empty() && fields.front().name == "-"; }
};

// The form that the value has; null where it has none of them.
const WireField* form_of(const WireType& choice, const Json& value);

bool is_map(const WireField& field);

// Null where it is no built-in type; never goes away. "core/v1.PodSpec"; of an object by its
// apiVersion and kind.
const WireType* wire_type(std::string_view name);
const WireType* wire_type_of(std::string_view api_version, std::string_view kind);
const WireType* wire_type_of(const Json& object);

}  // namespace kubewatch::builtin

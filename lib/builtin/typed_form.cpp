#include "builtin/typed_form.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::builtin {

namespace {

void fill_typed(Json& object, const WireType& type, bool whole);

// What Go has where nothing was given: of a list that of its items.
Json zero_of(const WireField& field) {
  switch (field.kind) {
    case 's': return "";
    case 'b': return false;
    case 'i':
    case 'k':
    case 'x': return 0;
    case 'd': return 0.0;
    case 'q': return "0";
    case 'n': return "0s";
    case 'm': {
      if (field.type->is_choice()) return nullptr;
      Json made = Json::object();
      fill_typed(made, *field.type, false);
      return made;
    }
    default: return nullptr;  // times, bytes, raw JSON
  }
}

// The bits that are left, as in Go; what is no whole number is not converted.
void to_whole(Json& value, bool narrow) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number != std::trunc(number) || std::abs(number) >= 9.2e18) return;
    value = static_cast<std::int64_t>(number);
  }
  if (!narrow || !value.is_number_integer()) return;
  const auto bits = static_cast<std::uint32_t>(value.get<std::uint64_t>());
  value = static_cast<std::int64_t>(static_cast<std::int32_t>(bits));
}

void to_typed_member(Json& value, const WireField& field);

void drop_empty(Json& value, const WireField& field);

void drop_empty_in(Json& object, const WireType& type) {
  if (!object.is_object() || type.is_choice()) return;
  for (const WireField& field : type.fields) {
    const auto it = object.find(field.name);
    if (it == object.end()) continue;
    const bool many = field.repeated || is_map(field);
    if (many && it->empty() && field.omit_empty && field.name != "dependencies") {
      object.erase(it);
    } else {
      drop_empty(*it, field);
    }
  }
}

// Lists and maps with nothing in them, where no merge schema leads to: but for those that a rule
// asks for.
void drop_empty(Json& value, const WireField& field) {
  if (field.type == nullptr || !value.is_structured()) return;
  if (!field.repeated && !is_map(field)) return drop_empty_in(value, *field.type);
  for (Json& item : value) drop_empty_in(item, *field.type);
}

// What has none of the forms is nothing, and so is an empty list.
void to_typed_message(Json& value, const WireType& type) {
  if (!type.is_choice()) {
    if (value.is_object()) fill_typed(value, type, false);
    return;
  }
  const WireField* form = form_of(type, value);
  if (form == nullptr || (value.is_array() && value.empty())) {
    value = nullptr;
  } else {
    to_typed_member(value, *form);
    drop_empty(value, *form);
  }
}

void to_typed_value(Json& value, const WireField& field) {
  if (value.is_null()) {
    value = zero_of(field);
  } else if (field.kind == 'd' || field.kind == 'i' || field.kind == 'k') {
    to_whole(value, field.kind == 'i');
  } else if (field.kind == 'x' && value.is_number()) {
    to_whole(value, true);
  } else if (field.kind == 'y' && value.is_string()) {
    const auto bytes = core::decode_bytes(value.get_ref<const std::string&>());
    if (const auto* read = std::get_if<std::string>(&bytes)) value = base::base64_encode(*read);
  } else if (field.kind == 'm') {
    to_typed_message(value, *field.type);
  }
}

void to_typed_map(Json& map, const WireField& field) {
  for (Json& value : map) {
    if (field.kind == 'M') {
      if (value.is_null() && !field.type->is_choice()) value = Json::object();
      to_typed_message(value, *field.type);
    } else if (field.kind == 'E' && value.is_array()) {
      for (Json& item : value) {
        if (item.is_null()) item = "";
      }
    } else if (value.is_null() && field.kind != 'E') {
      value = field.kind == 'Q' ? Json("0") : field.kind == 'T' ? Json() : Json("");
    }
  }
}

void to_typed_member(Json& value, const WireField& field) {
  if (field.repeated) {
    if (!value.is_array()) return;
    for (Json& item : value) to_typed_value(item, field);
  } else if (is_map(field)) {
    if (value.is_object()) to_typed_map(value, field);
  } else {
    to_typed_value(value, field);
  }
}

// Whether Go does not write it; a struct, a time or a quantity that is no pointer is never empty.
// Lists and maps with nothing in them stay: rules may ask for them, and schema::as_written drops
// them.
bool leaves_out(const WireField& field, const Json& value) {
  // A text that is no time is told of.
  const bool time = field.kind == 't' || field.kind == 'u';
  if (field.omit_zero && (time ? value.is_null() : is_zero_value(value))) return true;
  if (!field.omit_empty || field.pointer || field.repeated || is_map(field)) return false;
  return std::string_view("sbikdy").find(field.kind) != std::string_view::npos &&
         is_zero_value(value);
}

// `whole`: it is the object itself, whose metadata others read.
void fill_typed(Json& object, const WireType& type, bool whole) {
  for (const WireField& field : type.fields) {
    if (field.name.empty()) {
      fill_typed(object, *field.type, false);
      continue;
    }
    if (whole && field.name == "metadata") continue;
    auto it = object.find(field.name);
    if (it != object.end() && it->is_null()) {
      object.erase(it);
      it = object.end();
    }
    if (it != object.end()) {
      to_typed_member(*it, field);
      if (leaves_out(field, *it)) object.erase(it);
    } else if (is_always_written(field)) {
      const bool list = field.pointer || field.repeated || is_map(field);
      object[field.name] = list ? Json() : zero_of(field);
    }
  }
}

// The server keeps definitions of kinds as JSON, which tells an empty list from none.
bool is_kept_as_json(const WireType& type) {
  return type.name == "apiextensions/v1.CustomResourceDefinition";
}

void hide_empty_in(Json& object, const WireType& type, bool whole);

void hide_empty_at(Json& value, const WireField& field) {
  const bool many = field.repeated || is_map(field);
  if (many && value.is_structured() && value.empty() && !field.omit_empty) value = nullptr;
  if (field.type == nullptr || !value.is_structured()) return;
  if (!many) return hide_empty_in(value, *field.type, false);
  for (Json& item : value) hide_empty_in(item, *field.type, false);
}

void hide_empty_in(Json& object, const WireType& type, bool whole) {
  if (!object.is_object()) return;
  for (const WireField& field : type.fields) {
    if (field.name.empty()) {
      hide_empty_in(object, *field.type, false);
      continue;
    }
    if (whole && field.name == "metadata") continue;
    const auto it = object.find(field.name);
    if (it != object.end()) hide_empty_at(*it, field);
  }
}

}  // namespace

bool is_zero_value(const Json& value) {
  return value.is_null() || value == "" || value == false || value == 0 ||
         (value.is_structured() && value.empty());
}

bool is_always_written(const WireField& field) {
  if (field.pointer || field.repeated || is_map(field)) return !field.omit_empty;
  return !field.omit_zero && !leaves_out(field, nullptr);
}

void to_typed_form(Json& object) {
  const WireType* type = wire_type_of(object);
  if (type != nullptr && object.is_object()) fill_typed(object, *type, true);
}

void hide_empty_lists(Json& object) {
  const WireType* type = wire_type_of(object);
  if (type != nullptr && !is_kept_as_json(*type)) hide_empty_in(object, *type, true);
}

Json empty_object(std::string_view api_version, std::string_view kind) {
  Json out = {{"apiVersion", api_version}, {"kind", kind}};
  to_typed_form(out);
  out.erase("kind");
  return out;
}

}  // namespace kubewatch::builtin

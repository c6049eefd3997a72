#include "builtin/misread.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/json.hpp"
#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "builtin/wire_types.hpp"
#include "core/object_rules.hpp"
#include "schema/field_error.hpp"
#include "schema/go_words.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::builtin {

namespace {

bool holds_number(const Json& value, bool narrow) {
  using Narrow = std::numeric_limits<std::int32_t>;
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  return !narrow || (number >= Narrow::min() && number <= Narrow::max());
}

bool is_quantity(const Json& value) {
  if (value.is_number()) return true;
  return value.is_string() &&
         base::Quantity::parse(base::trim(value.get_ref<const std::string&>())).has_value();
}

bool is_int_or_text(const Json& value) {
  return value.is_string() || holds_number(value, true);
}

// "number 1.5": a number that a number cannot be shows itself.
std::string word_for_number(const Json& value) {
  const std::string word = schema::json_word(value);
  return value.is_number() ? word + " " + base::dump_json(value) : word;
}

constexpr std::string_view kExtra = "v1.ExtraValue";  // a list of strings

// Of each value of a map of that kind.
char element_kind(char map) {
  switch (map) {
    case 'S': return 's';
    case 'Y': return 'y';
    case 'Q': return 'q';
    case 'M': return 'm';
    default: return 'w';
  }
}

std::string go_name_of_map(const WireField& field) {
  if (!field.map_named.empty()) return field.map_named;
  if (field.kind == 'Q' && field.key_named.empty()) return "v1.ResourceList";
  const auto value = [&field]() -> std::string {
    if (!field.named.empty()) return field.named;
    switch (field.kind) {
      case 'S': return "string";
      case 'Y': return "[]uint8";
      case 'Q': return "resource.Quantity";
      case 'M': return std::string(field.type->go_name());
      case 'E': return std::string(kExtra);
      default: return "interface {}";
    }
  };
  return fmt::format("map[{}]{}", field.key_named.empty() ? "string" : field.key_named, value());
}

// Of one value, or of each item.
std::string go_name_of(const WireField& field) {
  if (is_map(field)) return go_name_of_map(field);
  if (!field.named.empty()) return field.named;
  switch (field.kind) {
    case 's': return "string";
    case 'b': return "bool";
    case 'i': return "int32";
    case 'k': return "int64";
    case 'd': return "float64";
    case 'y': return "[]uint8";
    case 'm': return std::string(field.type->go_name());
    default: return "map[string]interface {}";
  }
}

// encoding/json: what a type reads by itself ends it at once, else the first misfit is told after
// all else was read.
class DecoderSearch {
  struct Place {
    std::string_view around;  // the struct
    std::string path;
    Place below(std::string_view name) const {
      return {around, path.empty() ? std::string(name) : fmt::format("{}.{}", path, name)};
    }
  };

 public:
  std::optional<std::string> run(const WireType& type, const Json& object) {
    members(type, object, {type.struct_name(), ""}, true);
    return ended_ ? ended_ : first_;
  }

  // Of a value that reads itself: what it says of a place is put behind its own.
  std::optional<std::string> run_choice(const WireType& type, const Json& value,
                                        const Place& place = {}) {
    around_ = place.around;
    const WireField* form = form_of(type, value);
    if (form == nullptr && type.fields.front().kind == 'b') {
      return "boolean or JSON schema expected";
    }
    if (form != nullptr) member(*form, value, place);
    return ended_ ? ended_ : first_;
  }

 private:
  void members(const WireType& type, const Json& object, const Place& place, bool whole) {
    for (const WireField& field : type.fields) {
      if (ended_) return;
      if (field.name.empty()) {
        members(*field.type, object, place.below(field.type->struct_name()), false);
        continue;
      }
      const auto it = object.find(field.name);
      if (it == object.end() || it->is_null() || (whole && field.name == "metadata")) continue;
      member(field, *it, place.below(field.name));
    }
  }

  void member(const WireField& field, const Json& value, const Place& place) {
    if (field.repeated) {
      if (!value.is_array()) return misfit(value, place, "[]" + go_name_of(field));
      for (const Json& item : value) one(field, item, place);
    } else if (is_map(field)) {
      if (!value.is_object()) return misfit(value, place, go_name_of(field));
      for (const Json& item : value) in_map(field, item, place);
    } else {
      one(field, value, place);
    }
  }

  void in_map(const WireField& field, const Json& value, const Place& place) {
    WireField item = field;
    if (field.kind == 'E') {
      item.kind = 's';
      if (value.is_null()) return;
      if (!value.is_array()) return misfit(value, place, std::string(kExtra));
      for (const Json& one_of : value) one(item, one_of, place);
      return;
    }
    item.kind = element_kind(field.kind);
    one(item, value, place);
  }

  void one(const WireField& field, const Json& value, const Place& place) {
    if (ended_ || value.is_null()) return;
    switch (field.kind) {
      case 's':
        if (!value.is_string()) misfit(value, place, go_name_of(field));
        break;
      case 'b':
        if (!value.is_boolean()) misfit(value, place, go_name_of(field));
        break;
      case 'i':
      case 'k':
        if (!holds_number(value, field.kind == 'i')) {
          misfit(word_for_number(value), place, go_name_of(field));
        }
        break;
      case 'd':
        if (!value.is_number()) misfit(value, place, go_name_of(field));
        break;
      case 'y': bytes(value, place); break;
      case 'q':
        if (!is_quantity(value)) ended_ = base::kNoQuantity;
        break;
      case 'x':
        if (!is_int_or_text(value)) ended_ = sentence(word_for_number(value), place, "int32");
        break;
      case 'm':
        if (field.type->is_choice()) {
          ended_ = DecoderSearch().run_choice(*field.type, value, {struct_at(place), place.path});
          break;
        }
        if (!value.is_object()) return misfit(value, place, go_name_of(field));
        members(*field.type, value, {field.type->struct_name(), place.path}, false);
        break;
      default: break;  // times, durations and raw JSON are read by others
    }
  }

  void bytes(const Json& value, const Place& place) {
    if (!value.is_string()) return misfit(value, place, "[]uint8");
    const auto read = core::decode_bytes(value.get_ref<const std::string&>());
    const auto* wrong = std::get_if<std::size_t>(&read);
    if (wrong != nullptr && !first_) {
      first_ = fmt::format("illegal base64 data at input byte {}", *wrong);
    }
  }

  // Around what reads itself, if it is told of at all, the struct is that.
  std::string_view struct_at(const Place& place) const {
    return around_.empty() ? place.around : around_;
  }

  std::string sentence(const std::string& word, const Place& place, const std::string& type) const {
    if (place.path.empty()) return schema::misread_value(word, type);
    return schema::misread_field(word, fmt::format("{}.{}", struct_at(place), place.path), type);
  }
  void misfit(const std::string& word, const Place& place, const std::string& type) {
    if (!first_) first_ = sentence(word, place, type);
  }
  void misfit(const Json& value, const Place& place, const std::string& type) {
    misfit(schema::json_word(value), place, type);
  }

  std::string_view around_;  // the struct around the value that reads itself
  std::optional<std::string> first_;
  std::optional<std::string> ended_;
};

// As Go's reflect calls a value that was decoded into no type.
std::string_view go_kind_of(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_number_float()) return "float64";
  if (value.is_number()) return "int64";
  return value.is_array() ? "slice" : "map";
}

// The converter of runtime.Unstructured: the first misfit ends it, fields in the order of the
// struct.
class ConverterSearch {
 public:
  using Why = std::optional<std::string>;

  Why members(const WireType& type, const Json& object) {
    for (const WireField& field : type.fields) {
      if (field.name.empty()) {
        if (Why why = members(*field.type, object)) return why;
        continue;
      }
      const auto it = object.find(field.name);
      if (it == object.end() || it->is_null()) continue;
      if (Why why = member(field, *it)) return why;
    }
    return std::nullopt;
  }

 private:
  Why member(const WireField& field, const Json& value) {
    if (field.repeated) {
      if (!value.is_array()) return fmt::format("cannot restore slice from {}", go_kind_of(value));
      return each(field, field.kind, value);
    }
    if (!is_map(field)) return one(field, field.kind, value);
    if (!value.is_object()) return fmt::format("cannot restore map from {}", go_kind_of(value));
    return each(field, element_kind(field.kind), value);
  }

  Why each(const WireField& field, char kind, const Json& values) {
    for (const Json& value : values) {
      if (Why why = one(field, kind, value)) return why;
    }
    return std::nullopt;
  }

  Why one(const WireField& field, char kind, const Json& value) {
    if (value.is_null()) return std::nullopt;
    const std::string_view found = go_kind_of(value);
    switch (kind) {
      case 's':
        if (value.is_string()) return std::nullopt;
        if (value.is_number_integer()) return unlike(found, field, "string");
        return "unrecognized type: string";
      case 'b':
        if (value.is_boolean()) return std::nullopt;
        return "unrecognized type: bool";
      case 'i':
      case 'k': {
        const char* type = kind == 'i' ? "int32" : "int64";
        if (value.is_number_integer()) return std::nullopt;
        if (!value.is_number()) return fmt::format("unrecognized type: {}", type);
        const double number = value.get<double>();
        if (number == std::trunc(number)) return std::nullopt;
        return unlike(found, field, type);
      }
      case 'd':
        if (value.is_number()) return std::nullopt;
        return "unrecognized type: float64";
      case 'q':
        if (is_quantity(value)) return std::nullopt;
        return std::string(base::kNoQuantity);
      case 'x':
        if (is_int_or_text(value)) return std::nullopt;
        return schema::misread_value(word_for_number(value), "int32");
      case 'm':
        if (field.type->is_choice()) return DecoderSearch().run_choice(*field.type, value);
        if (!value.is_object()) return fmt::format("cannot restore struct from: {}", found);
        return members(*field.type, value);
      default: return std::nullopt;
    }
  }

  static Why unlike(std::string_view found, const WireField& field, std::string_view type) {
    return fmt::format("cannot convert {} to {}", found,
                       field.named.empty() ? type : std::string_view(field.named));
  }
};

const WireField* field_named(const WireType& type, const std::string& name) {
  for (const WireField& field : type.fields) {
    if (field.name == name && !name.empty()) return &field;
    if (!field.name.empty()) continue;
    if (const WireField* below = field_named(*field.type, name)) return below;
  }
  return nullptr;
}

// The table leaves out what names the type itself; of those within others these may be named.
bool names_type(const WireType& type, std::string_view field, bool whole) {
  return (field == "apiVersion" || field == "kind") &&
         (whole || type.name == "meta/v1.DeleteOptions" ||
          type.name == "core/v1.PersistentVolumeClaim");
}

// `unknown` is null where nobody is told.
class UnknownFields {
 public:
  explicit UnknownFields(schema::ToldPaths* unknown) : unknown_(unknown) {}

  void drop_at(const WireType& type, Json& value, const schema::ValuePlace& place, bool whole) {
    if (type.is_choice()) return drop_in_choice(type, value);
    if (!value.is_object()) return;
    for (auto it = value.begin(); it != value.end();) {
      const schema::ValuePlace at = place.property(it.key());
      const WireField* field = field_named(type, it.key());
      if (field == nullptr && !names_type(type, it.key(), whole)) {
        if (unknown_ != nullptr) unknown_->add(at);
        it = value.erase(it);
        continue;
      }
      if (field != nullptr && !(whole && field->name == "metadata")) drop_in(*field, *it, at);
      ++it;
    }
  }

 private:
  void drop_in(const WireField& field, Json& value, const schema::ValuePlace& place) {
    if (field.type == nullptr) return;
    if (!field.repeated && !is_map(field)) return drop_at(*field.type, value, place, false);
    if (field.repeated ? !value.is_array() : !value.is_object()) return;
    std::size_t index = 0;
    for (auto& [key, item] : value.items()) {
      drop_at(*field.type, item, field.repeated ? place.item(index++) : place.property(key), false);
    }
  }

  static void drop_in_choice(const WireType& type, Json& value) {
    const WireField* form = form_of(type, value);
    if (form != nullptr) UnknownFields(nullptr).drop_in(*form, value, schema::ValuePlace::root());
  }

  schema::ToldPaths* unknown_;
};

}  // namespace

std::optional<std::string> why_undecoded(const WireType& type, const Json& object) {
  return DecoderSearch().run(type, object);
}

std::optional<std::string> why_undecoded(const Json& object) {
  const WireType* type = wire_type_of(object);
  if (type == nullptr || !object.is_object()) return std::nullopt;
  return why_undecoded(*type, object);
}

void drop_unknown(const WireType& type, Json& object, std::vector<std::string>& unknown) {
  schema::ToldPaths told;
  UnknownFields(&told).drop_at(type, object, schema::ValuePlace::root(), true);
  for (auto& path : told.take()) unknown.push_back(std::move(path));
}

void drop_unknown(Json& object, std::vector<std::string>& unknown) {
  if (const WireType* type = wire_type_of(object)) drop_unknown(*type, object, unknown);
}

std::optional<std::string> why_unconverted(const Json& object) {
  const WireType* type = wire_type_of(object);
  if (type == nullptr || !object.is_object()) return std::nullopt;
  return ConverterSearch().members(*type, object);
}

}  // namespace kubewatch::builtin

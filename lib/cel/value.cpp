#include "cel/value.hpp"

#include <bit>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

using Form = DataType::Form;

Value Value::boolean(bool value) {
  Value out;
  out.kind_ = Kind::boolean;
  out.number_ = value ? 1 : 0;
  return out;
}

Value Value::integer(std::int64_t value) {
  Value out;
  out.kind_ = Kind::integer;
  out.number_ = value;
  return out;
}

Value Value::uinteger(std::uint64_t value) {
  Value out;
  out.kind_ = Kind::uinteger;
  out.number_ = static_cast<std::int64_t>(value);
  return out;
}

Value Value::real(double value) {
  Value out;
  out.kind_ = Kind::real;
  out.number_ = std::bit_cast<std::int64_t>(value);
  return out;
}

double Value::as_real() const {
  return std::bit_cast<double>(number_);
}

Value Value::string(std::string text) {
  auto* object = new TextObject(std::move(text));
  Value out;
  out.object_ = Shared(object);
  out.kind_ = Kind::string;
  out.text_ = object->text.data();
  out.size_ = object->text.size();
  return out;
}

Value Value::bytes(std::string bytes) {
  Value out = string(std::move(bytes));
  out.kind_ = Kind::bytes;
  return out;
}

Value Value::error(std::string message) {
  Value out = string(std::move(message));
  out.kind_ = Kind::error;
  return out;
}

Value Value::type(std::string_view name) {
  Value out = string(std::string(name));
  out.kind_ = Kind::type;
  return out;
}

Value Value::no_such_overload() {
  return error("no such overload");
}

Value Value::cancelled() {
  return error("operation cancelled");
}

Value Value::borrowed_string(std::string_view text) {
  Value out;
  out.kind_ = Kind::string;
  out.text_ = text.data();
  out.size_ = text.size();
  return out;
}

Value Value::piece(const Value& whole, std::string_view text) {
  Value out = whole;
  out.text_ = text.data();
  out.size_ = text.size();
  return out;
}

Value Value::timestamp(std::int64_t seconds, std::uint32_t nanos) {
  Value out;
  out.kind_ = Kind::timestamp;
  out.number_ = seconds;
  out.nanos_ = nanos;
  return out;
}

Value Value::duration(std::int64_t nanos) {
  Value out;
  out.kind_ = Kind::duration;
  out.number_ = nanos;
  return out;
}

Value Value::with(Kind kind, Object* object) {
  Value out;
  out.kind_ = kind;
  out.object_ = Shared(object);
  return out;
}

Value Value::some(Value value) {
  auto* object = new OptionalObject;
  object->value = std::move(value);
  return with(Kind::optional, object);
}

Value Value::of_json(Kind kind, const Json& json, const DataType& type) {
  Value out;
  out.kind_ = kind;
  out.json_ = &json;
  out.data_ = &type;
  return out;
}

namespace {

Value integer_of(const Json& json) {
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    return Value::error("invalid data, expected int");
  }
  return Value::integer(json.get<std::int64_t>());
}

Value invalid_text(const char* what, const std::string& text) {
  return Value::error(std::string("Invalid ") + what + " formatted string " + text);
}

Value formatted(const std::string& text, Form form) {
  switch (form) {
    case Form::duration: {
      const auto nanos = parse_nanos(text, true);
      if (!nanos) return Value::error("Invalid duration " + text);
      return Value::duration(*nanos);
    }
    case Form::date: {
      const auto at = parse_timestamp(text + "T00:00:00Z", true);
      return at ? Value::timestamp(at->seconds, at->nanos) : invalid_text("date", text);
    }
    case Form::date_time: {
      const auto at = parse_timestamp(text, false);
      return at ? Value::timestamp(at->seconds, at->nanos) : invalid_text("date-time", text);
    }
    case Form::bytes: {
      auto bytes = base::base64_decode(text);
      return bytes.ok() ? Value::bytes(std::move(*bytes)) : invalid_text("byte", text);
    }
    default: return Value::borrowed_string(text);
  }
}

}  // namespace

Value Value::from_json(const Json& json, const DataType& type) {
  if (type.form == Form::undeclared) return of_json(Kind::undeclared, json, type);
  if (json.is_null()) {
    return type.nullable ? Value() : error("invalid data, got null for schema with nullable=false");
  }
  switch (type.form) {
    case Form::boolean:
      return json.is_boolean() ? boolean(json.get<bool>()) : error("invalid data, expected bool");
    case Form::integer:
      return json.is_number_integer() ? integer_of(json) : error("invalid data, expected int");
    case Form::number:
      return json.is_number() ? real(json.get<double>()) : error("invalid data, expected float");
    case Form::int_or_string:
      if (json.is_string()) return borrowed_string(json.get_ref<const std::string&>());
      if (json.is_number_integer()) return integer_of(json);
      return error("invalid data, expected XIntOrString value to be either a string or integer");
    case Form::list:
      if (json.is_array()) return of_json(Kind::list, json, type);
      return error("invalid data, expected an array for the provided schema with type=array");
    case Form::map:
    case Form::object:
      if (json.is_object()) return of_json(Kind::map, json, type);
      return error("invalid data, expected a map for the provided schema with type=object");
    default:
      if (!json.is_string()) return error("invalid data, expected string");
      return formatted(json.get_ref<const std::string&>(), type.form);
  }
}

std::string_view Value::type_name() const {
  switch (kind_) {
    case Kind::error: return "error";
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
    case Kind::optional: return "optional_type";
    case Kind::quantity: return "kubernetes.Quantity";
    case Kind::ip: return "net.IP";
    case Kind::cidr: return "net.CIDR";
    case Kind::url: return "kubernetes.URL";
    case Kind::semver: return "kubernetes.Semver";
    case Kind::format: return "kubernetes.NamedFormat";
    case Kind::undeclared: return "unknown";
  }
  return "unknown";
}

}  // namespace kubewatch::cel

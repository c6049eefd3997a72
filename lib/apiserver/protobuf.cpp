#include "apiserver/protobuf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "builtin/typed_form.hpp"
#include "builtin/wire_types.hpp"

namespace kubewatch::apiserver {

namespace {

using builtin::WireField;
using builtin::WireType;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr int kDeepestMessage = 64;

// One field of the wire: its number, and its bytes or its number.
struct Wire {
  std::uint64_t number = 0;
  std::uint64_t kind = 0;  // 0 varint, 1 fixed 64, 2 bytes, 5 fixed 32
  std::uint64_t value = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }

  // False when the bytes are cut off or not protobuf.
  bool next(Wire& out) {
    std::uint64_t tag = 0;
    if (!varint(tag)) return false;
    out.number = tag >> 3U;
    out.kind = tag & 7U;
    switch (out.kind) {
      case 0: return varint(out.value);
      case 1: return fixed(8, out.value);
      case 5: return fixed(4, out.value);
      case 2: {
        std::uint64_t size = 0;
        if (!varint(size) || size > bytes_.size()) return false;
        out.bytes = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return true;
      }
      default: return false;
    }
  }

 private:
  bool varint(std::uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return false;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return true;
    }
    return false;
  }
  bool fixed(std::size_t size, std::uint64_t& out) {
    if (bytes_.size() < size) return false;
    out = 0;
    for (std::size_t i = size; i-- > 0;) {
      out = (out << 8U) | static_cast<unsigned char>(bytes_[i]);
    }
    bytes_.remove_prefix(size);
    return true;
  }
  std::string_view bytes_;
};

Error broken(const std::string& what) {
  return Error(ErrorKind::invalid, "protobuf: " + what);
}

Result<std::map<std::uint64_t, Wire>> small_message(std::string_view bytes) {
  std::map<std::uint64_t, Wire> out;
  WireReader reader(bytes);
  while (!reader.done()) {
    Wire wire;
    if (!reader.next(wire)) return broken("a message is cut off");
    out[wire.number] = wire;
  }
  return out;
}

Json text_of(std::string_view bytes) {
  return base::is_valid_utf8(bytes) ? Json(std::string(bytes)) : Json("");
}

// Null for the zero time.
Result<Json> time_of(std::string_view bytes, bool micro) {
  KW_ASSIGN(auto fields, small_message(bytes));
  if (fields.empty()) return Json();
  const auto seconds = static_cast<std::int64_t>(fields[1].value);
  constexpr std::int64_t kFarthest = 253402300799;  // the end of year 9999
  if (seconds > kFarthest || seconds < -kFarthest) return broken("a time is out of range");
  const auto nanos = static_cast<std::int64_t>(fields[2].value);
  const WallTime at{std::chrono::microseconds(seconds * 1000000 + nanos / 1000)};
  return Json(micro ? base::format_rfc3339_micro(at) : base::format_rfc3339(at));
}

Result<Json> int_or_string(std::string_view bytes) {
  KW_ASSIGN(auto fields, small_message(bytes));
  if (fields[1].value == 1) return text_of(fields[3].bytes);
  return Json(static_cast<std::int64_t>(static_cast<std::int32_t>(fields[2].value)));
}

Result<Json> raw_json(std::string_view bytes) {
  KW_ASSIGN(auto fields, small_message(bytes));
  auto value = base::parse_json(fields[1].bytes);
  return value ? std::move(value).value() : Json();
}

Result<Json> special(char type, std::string_view bytes) {
  switch (type) {
    case 't': return time_of(bytes, false);
    case 'u': return time_of(bytes, true);
    case 'x': return int_or_string(bytes);
    case 'w': return raw_json(bytes);
    case 'q': {
      KW_ASSIGN(auto fields, small_message(bytes));
      return text_of(fields[1].bytes);
    }
    case 'n': {
      KW_ASSIGN(auto fields, small_message(bytes));
      const auto nanos = static_cast<std::int64_t>(fields[1].value);
      return Json(base::format_duration(Duration(std::max<std::int64_t>(nanos, 0) / 1000000)));
    }
    case 'l': {
      Json list = Json::array();
      WireReader reader(bytes);
      Wire wire;
      while (!reader.done()) {
        if (!reader.next(wire)) return broken("a list is cut off");
        list.push_back(text_of(wire.bytes));
      }
      return list;
    }
    default: return broken("an unknown type of field");
  }
}

Result<Json> decode(const WireType& type, std::string_view bytes, int depth);

Result<Json> map_value(const WireField& field, std::string_view wire, int depth) {
  switch (field.kind) {
    case 'S': return text_of(wire);
    case 'Y': return Json(base::base64_encode(wire));
    case 'Q': return special('q', wire);
    case 'T': return special('t', wire);
    case 'E': return special('l', wire);
    default: return decode(*field.type, wire, depth + 1);
  }
}

Result<void> add_map_entry(const WireField& field, std::string_view bytes, int depth,
                           Json& target) {
  KW_ASSIGN(auto entry, small_message(bytes));
  KW_ASSIGN(Json value, map_value(field, entry[2].bytes, depth));
  const Json key = text_of(entry[1].bytes);
  target[key.get<std::string>()] = std::move(value);
  return {};
}

Result<Json> value_of(const WireField& field, const Wire& wire, int depth) {
  switch (field.kind) {
    case 's': return text_of(wire.bytes);
    case 'y': return Json(base::base64_encode(wire.bytes));
    case 'b': return Json(wire.value != 0);
    case 'i':
    case 'k': return Json(static_cast<std::int64_t>(wire.value));
    case 'd': {
      double number = 0;
      std::memcpy(&number, &wire.value, sizeof number);
      return Json(number);
    }
    case 'm': return decode(*field.type, wire.bytes, depth + 1);
    default: return special(field.kind, wire.bytes);
  }
}

const WireField* field_numbered(const WireType& type, std::uint64_t number) {
  const auto found = std::find_if(type.fields.begin(), type.fields.end(),
                                  [&](const WireField& field) { return field.number == number; });
  return found == type.fields.end() ? nullptr : &*found;
}

// The form that something was written of: a list before a message before a flag.
Result<Json> decode_choice(const WireType& choice, std::string_view bytes, int depth) {
  Json list = Json::array();
  Json message;
  Json flag = choice.fields.front().kind == 'b' ? Json(false) : Json();
  WireReader reader(bytes);
  while (!reader.done()) {
    Wire wire;
    if (!reader.next(wire)) return broken(choice.name + " is cut off");
    const WireField* form = field_numbered(choice, wire.number);
    if (form == nullptr) continue;
    KW_ASSIGN(Json value, value_of(*form, wire, depth));
    if (form->repeated) {
      list.push_back(std::move(value));
    } else {
      (form->kind == 'm' ? message : flag) = std::move(value);
    }
  }
  if (!list.empty()) return list;
  return message.is_null() ? flag : message;
}

Result<Json> decode(const WireType& type, std::string_view bytes, int depth) {
  if (depth > kDeepestMessage) return broken("nested too deep");
  if (type.is_choice()) return decode_choice(type, bytes, depth);
  Json out = Json::object();
  WireReader reader(bytes);
  while (!reader.done()) {
    Wire wire;
    if (!reader.next(wire)) return broken(type.name + " is cut off");
    const WireField* field = field_numbered(type, wire.number);
    if (field == nullptr) continue;
    if (builtin::is_map(*field)) {
      KW_TRY(add_map_entry(*field, wire.bytes, depth, out[field->name]));
      continue;
    }
    KW_ASSIGN(Json value, value_of(*field, wire, depth));
    if (field->repeated) {
      out[field->name].push_back(std::move(value));
    } else if (field->name.empty()) {
      out.update(value);
    } else if (!value.is_null() &&
               (field->pointer || !field->omit_empty || !builtin::is_zero_value(value))) {
      out[field->name] = std::move(value);
    }
  }
  return out;
}

}  // namespace

bool is_protobuf(std::string_view body) {
  return body.substr(0, kMagic.size()) == kMagic;
}

Result<Json> decode_protobuf(std::string_view body) {
  if (!is_protobuf(body)) return broken("the body does not start with the magic bytes");
  KW_ASSIGN(auto envelope, small_message(body.substr(kMagic.size())));
  KW_ASSIGN(auto type, small_message(envelope[1].bytes));
  const std::string api_version(type[1].bytes);
  const std::string kind(type[2].bytes);
  const WireType* message = kind == "DeleteOptions" ? builtin::wire_type("meta/v1.DeleteOptions")
                                                    : builtin::wire_type_of(api_version, kind);
  if (message == nullptr) return broken(fmt::format("no message {} {}", api_version, kind));
  KW_ASSIGN(Json object, decode(*message, envelope[2].bytes, 0));
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  return object;
}

}  // namespace kubewatch::apiserver

// Numbers of fields are those of gnostic's OpenAPIv2.proto.
#include "apiserver/openapi_v2_protobuf.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace kubewatch::apiserver {

namespace {

// What is as it would be without being said is left out, unless it chooses a form.
class Message {
 public:
  Message& text(unsigned field, std::string_view value) {
    return value.empty() ? *this : bytes(field, value);
  }
  Message& flag(unsigned field, bool value) { return number(field, value ? 1 : 0); }
  Message& number(unsigned field, std::uint64_t value) {
    return value == 0 ? *this : choose(field, value);
  }
  Message& real(unsigned field, double value) {
    if (value == 0) return *this;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    varint(field << 3U | 1U);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      out_ += static_cast<char>(bits >> shift & 0xFFU);
    }
    return *this;
  }
  // A flag of a choice, written whatever it is.
  Message& choose(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  // A message, be it empty, or an item of a list.
  Message& bytes(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    out_ += value;
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return bytes(field, value.out_); }

  std::string take() { return std::move(out_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) out_ += static_cast<char>((value & 0x7FU) | 0x80U);
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

// A message of a name and what it names; of a map an entry.
Message named(const std::string& name, std::string_view value) {
  return Message().text(1, name).bytes(2, value);
}

// Any{yaml}, and JSON is YAML.
Message any(const Json& value) {
  return Message().text(2, base::dump_json(value) + "\n");
}

void add_extensions(const Json& of, unsigned field, Message& out) {
  for (const auto& [key, value] : of.items()) {
    if (!key.starts_with("x-")) continue;
    out.message(field, named(key, any(value).take()));
  }
}

Message schema_of(const Json& schema);

enum class Form { text, number, real, flag, texts, any, anys, schema_or_flag, type, items, fields };

struct SchemaField {
  const char* key;
  unsigned field;
  Form form;
};

constexpr SchemaField kSchemaFields[] = {{"$ref", 1, Form::text},
                                         {"format", 2, Form::text},
                                         {"title", 3, Form::text},
                                         {"description", 4, Form::text},
                                         {"multipleOf", 6, Form::real},
                                         {"maximum", 7, Form::real},
                                         {"exclusiveMaximum", 8, Form::flag},
                                         {"minimum", 9, Form::real},
                                         {"exclusiveMinimum", 10, Form::flag},
                                         {"maxLength", 11, Form::number},
                                         {"minLength", 12, Form::number},
                                         {"pattern", 13, Form::text},
                                         {"maxItems", 14, Form::number},
                                         {"minItems", 15, Form::number},
                                         {"uniqueItems", 16, Form::flag},
                                         {"maxProperties", 17, Form::number},
                                         {"minProperties", 18, Form::number},
                                         {"required", 19, Form::texts},
                                         {"enum", 20, Form::anys},
                                         {"additionalProperties", 21, Form::schema_or_flag},
                                         {"type", 22, Form::type},
                                         {"items", 23, Form::items},
                                         {"properties", 25, Form::fields},
                                         {"example", 30, Form::any}};
constexpr unsigned kSchemaExtensions = 31;

std::string_view text_of(const Json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>())
                           : std::string_view();
}

void add_texts(const Json& list, unsigned field, Message& out) {
  for (const Json& one : list) out.bytes(field, text_of(one));
}

void add_member(const SchemaField& member, const Json& value, Message& out) {
  const unsigned field = member.field;
  switch (member.form) {
    case Form::text: out.text(field, text_of(value)); break;
    case Form::number:
      if (value.is_number()) out.number(field, value.get<std::uint64_t>());
      break;
    case Form::real:
      if (value.is_number()) out.real(field, value.get<double>());
      break;
    case Form::flag: out.flag(field, value == true); break;
    case Form::texts: add_texts(value, field, out); break;
    case Form::any: out.message(field, any(value)); break;
    case Form::anys:
      for (const Json& one : value) out.message(field, any(one));
      break;
    case Form::schema_or_flag:
      out.message(field, value.is_boolean() ? Message().choose(2, value == true ? 1 : 0)
                                            : Message().message(1, schema_of(value)));
      break;
    case Form::type: out.message(field, Message().text(1, text_of(value))); break;
    case Form::items: out.message(field, Message().message(1, schema_of(value))); break;
    case Form::fields: {
      Message fields;
      for (const auto& [name, below] : value.items()) {
        fields.message(1, named(name, schema_of(below).take()));
      }
      out.message(field, fields);
    }
  }
}

Message schema_of(const Json& schema) {
  Message out;
  for (const SchemaField& member : kSchemaFields) {
    if (const auto it = schema.find(member.key); it != schema.end()) add_member(member, *it, out);
  }
  add_extensions(schema, kSchemaExtensions, out);
  return out;
}

// Of a body, or of the query or the path.
Message parameter_of(const Json& parameter) {
  const std::string in = base::string_at(parameter, {"in"});
  const std::string name = base::string_at(parameter, {"name"});
  const bool required = parameter.value("required", false);
  if (in == "body") {
    return Message().message(1, Message()
                                    .text(2, name)
                                    .text(3, in)
                                    .flag(4, required)
                                    .message(5, schema_of(parameter.at("schema"))));
  }
  const bool query = in == "query";
  Message out;
  out.flag(1, required).text(2, in).text(4, name);
  out.text(query ? 6 : 5, base::string_at(parameter, {"type"}));
  out.flag(query ? 20 : 19, parameter.value("uniqueItems", false));
  return Message().message(2, Message().message(query ? 3 : 4, out));
}

void add_parameters(const Json& of, unsigned field, Message& out) {
  const auto list = of.find("parameters");
  if (list == of.end()) return;
  for (const Json& one : *list) out.message(field, Message().message(1, parameter_of(one)));
}

Message operation_of(const Json& operation) {
  constexpr std::pair<const char*, unsigned> kLists[] = {{"produces", 6}, {"consumes", 7}};
  Message out;
  for (const auto& [key, field] : kLists) {
    if (const auto it = operation.find(key); it != operation.end()) add_texts(*it, field, out);
  }
  add_parameters(operation, 8, out);
  Message responses;
  for (const auto& [code, response] : operation.at("responses").items()) {
    Message told;
    told.text(1, base::string_at(response, {"description"}));
    if (const auto schema = response.find("schema"); schema != response.end()) {
      told.message(2, Message().message(1, schema_of(*schema)));
    }
    responses.message(1, named(code, Message().message(1, told).take()));
  }
  out.message(9, responses);
  add_texts(operation.at("schemes"), 10, out);
  add_extensions(operation, 13, out);
  return out;
}

}  // namespace

std::string schema_message(const Json& schema) {
  return schema_of(schema).take();
}

std::string path_message(const Json& path) {
  constexpr std::pair<const char*, unsigned> kMethods[] = {
      {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (const auto& [method, field] : kMethods) {
    if (const auto it = path.find(method); it != path.end()) out.message(field, operation_of(*it));
  }
  add_parameters(path, 9, out);
  return out.take();
}

std::string document_message(const Json& info, const std::map<std::string, std::string>& paths,
                             const std::map<std::string, std::string>& definitions) {
  Message all_paths;
  for (const auto& [name, path] : paths) all_paths.message(2, named(name, path));
  Message all_definitions;
  for (const auto& [name, schema] : definitions) all_definitions.message(1, named(name, schema));
  return Message()
      .text(1, "2.0")
      .message(2, Message()
                      .text(1, base::string_at(info, {"title"}))
                      .text(2, base::string_at(info, {"version"})))
      .message(8, all_paths)
      .message(9, all_definitions)
      .take();
}

}  // namespace kubewatch::apiserver

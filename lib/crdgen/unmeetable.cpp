#include "crdgen/unmeetable.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/document_words.hpp"
#include "base/strings.hpp"
#include "crdgen/schema_flag.hpp"
#include "crdgen/schema_walk.hpp"

namespace kubewatch::crdgen {

namespace {

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type != "integer") return true;
  const bool whole = value.is_number_float() && std::trunc(value.get<double>()) == value;
  return value.is_number_integer() || whole;
}

const Json* number_at(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && it->is_number() ? &*it : nullptr;
}

class UnmeetableSchema {
 public:
  UnmeetableSchema(const Json& schema, const std::string& pointer, std::vector<Unmeetable>& out)
      : schema_(schema), pointer_(pointer), out_(out) {}

  void look() {
    listed();
    limits("minLength", "maxLength");
    limits("minItems", "maxItems");
    limits("minProperties", "maxProperties");
    const bool open = flag(schema_, "exclusiveMinimum") || flag(schema_, "exclusiveMaximum");
    limits("minimum", "maximum", open);
  }

 private:
  void listed() {
    const std::string type = base::string_at(schema_, {"type"});
    const auto values = schema_.find("enum");
    if (values == schema_.end() || !values->is_array()) return;
    for (const Json& one : *values) {
      if (is_of_type(one, type) || (one.is_null() && flag(schema_, "nullable"))) continue;
      const std::string shown = base::shortened(base::dump_json(one), 80);
      add("enum-type", fmt::format("enum lists {}, which is no {}", shown, type),
          type == "string" ? "quote it: YAML reads it as another type" : "correct or remove it");
    }
  }

  void limits(const char* least, const char* most, bool open = false) {
    const Json* low = number_at(schema_, least);
    const Json* high = number_at(schema_, most);
    if (low == nullptr || high == nullptr || *low < *high || (!open && *low == *high)) return;
    add("limits",
        fmt::format("no value fits {}={} and {}={}", least, base::dump_json(*low), most,
                    base::dump_json(*high)),
        "correct one of them");
  }

  void add(const char* id, std::string message, std::string fix) {
    out_.push_back({id, pointer_, std::move(message), std::move(fix)});
  }

  const Json& schema_;
  const std::string& pointer_;
  std::vector<Unmeetable>& out_;
};

}  // namespace

std::vector<Unmeetable> unmeetable_in(const Json& root, const std::string& pointer) {
  std::vector<Unmeetable> out;
  walk_schemas(root, pointer, [&out](const Json& schema, const std::string& at) {
    UnmeetableSchema(schema, at, out).look();
  });
  return out;
}

}  // namespace kubewatch::crdgen

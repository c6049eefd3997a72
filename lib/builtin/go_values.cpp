#include "builtin/go_values.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"
#include "builtin/line_diff.hpp"
#include "core/go_json.hpp"

namespace kubewatch::builtin {

namespace {

// One line a type: its name and fields. A field is "GoName", "=jsonName" where that is not GoName
// with a small first letter ("=^jsonName": it stands in the object around), and ":type" where it is
// no text: i number, b truth, q amount, {} map, {q} map of amounts, [type list, ?type pointer, or
// the name of a type. "+Type" are the fields of another one; of ObjectMeta and types with small
// letters only what is there is shown.
const char* const kTypes =
#include "builtin/go_types.inc"
    ;

struct GoField {
  std::string name;
  std::string json;
  std::string type = "s";
  bool around = false;
  bool inlined = false;
};
using Types = std::map<std::string, std::vector<GoField>>;

GoField read_field(const std::string& text) {
  GoField field;
  if (text.front() == '+') {
    field.type = text.substr(1);
    field.inlined = true;
    return field;
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) field.type = text.substr(colon + 1);
  const std::string names = text.substr(0, colon);
  const std::size_t equals = names.find('=');
  field.name = names.substr(0, equals);
  field.json = equals == std::string::npos ? field.name : names.substr(equals + 1);
  if (equals == std::string::npos) field.json[0] = base::to_lower(field.json[0]);
  field.around = field.json.front() == '^';
  if (field.around) field.json.erase(0, 1);
  return field;
}

const Types& types() {
  static const Types all = [] {
    Types out;
    for (const auto& line : base::split(kTypes, '\n')) {
      const auto words = base::split(line, ' ');
      if (words.size() < 2) continue;
      auto& fields = out[words.front()];
      for (std::size_t i = 1; i < words.size(); ++i) fields.push_back(read_field(words[i]));
    }
    return out;
  }();
  return all;
}

class GoPrinter {
 public:
  // `alike`: a list or map with nothing in it is shown as none.
  explicit GoPrinter(bool pretty, bool alike = false) : pretty_(pretty), alike_(alike) {}

  std::string of_type(const std::string& type, const Json& value, const Json& around) {
    open('{');
    fields(type, value, around);
    close('}');
    return std::move(out_);
  }

 private:
  void fields(const std::string& type, const Json& value, const Json& around) {
    const auto found = types().find(type);
    if (found == types().end()) return;
    for (const GoField& field : found->second) {
      if (field.inlined && field.type == "ObjectMeta") {
        const Json* metadata = base::find(value, {"metadata"});
        if (metadata != nullptr) fields("ObjectMeta", *metadata, value);
        continue;
      }
      if (field.inlined) {
        fields(field.type, value, around);
        continue;
      }
      const Json* member = base::find(field.around ? around : value, {field.json});
      if (member != nullptr && member->is_null()) member = nullptr;
      const bool optional = base::is_lower(field.name.front());
      if (optional && (member == nullptr || is_left_out(field, *member))) continue;
      key(field.name);
      any(field.type, member, value);
    }
  }

  // A pointer to nothing much is shown.
  static bool is_left_out(const GoField& field, const Json& value) {
    return field.type.front() != '?' && value.is_structured() && value.empty();
  }

  void any(const std::string& type, const Json* value, const Json& around) {
    switch (type.front()) {
      case '?': return value == nullptr ? add("null") : pointed(type.substr(1), *value, around);
      case '[': return list(type.substr(1), value, around);
      case '{': return map(type, value);
      case 'i': return add(value == nullptr ? "0" : core::go_json(*value));
      case 'b': return add(value == nullptr ? "false" : core::go_json(*value));
      case 'q': return amount(value == nullptr ? Json("0") : *value);
      case 's': return add(value == nullptr ? "\"\"" : core::go_json(*value));
      default: return structure(type, value == nullptr ? Json::object() : *value, around);
    }
  }

  void pointed(const std::string& type, const Json& value, const Json& around) {
    if (type == "q") return amount(value);
    if (!type.empty()) return structure(type, value, around);
    raw(value);
  }

  // Of a type that is not listed, or a plain value.
  void raw(const Json& value) {
    if (!value.is_structured()) return add(core::go_json(value));
    const bool map = value.is_object();
    open(map ? '{' : '[');
    for (const auto& [name, member] : value.items()) {
      if (map) {
        key(name);
      } else {
        next();
      }
      raw(member);
    }
    close(map ? '}' : ']');
  }

  void structure(const std::string& type, const Json& value, const Json& around) {
    open('{');
    fields(type, value, around);
    close('}');
  }

  void list(const std::string& type, const Json* value, const Json& around) {
    if (value == nullptr || !value->is_array() || is_none(*value)) return add("null");
    open('[');
    for (const Json& item : *value) {
      next();
      if (type.empty()) {
        add(core::go_json(item));
      } else {
        structure(type, item, around);
      }
    }
    close(']');
  }

  void map(const std::string& type, const Json* value) {
    if (value == nullptr || !value->is_object() || is_none(*value)) return add("null");
    open('{');
    for (const auto& [name, member] : value->items()) {
      key(name);
      if (type == "{q}") {
        amount(member);
      } else {
        add(core::go_json(member));
      }
    }
    close('}');
  }

  bool is_none(const Json& value) const { return alike_ && value.empty(); }

  void amount(const Json& value) {
    FieldErrors none;
    const auto quantity = Field(value, none).quantity();
    add(quantity ? core::go_json(quantity_text(*quantity)) : core::go_json(value));
  }

  void add(const std::string& text) { out_ += text; }

  void open(char bracket) {
    out_ += bracket;
    empty_.push_back(true);
  }

  void next() {
    if (!empty_.back()) out_ += ',';
    empty_.back() = false;
    if (pretty_) out_ += "\n" + std::string(empty_.size(), ' ');
  }

  void key(const std::string& name) {
    next();
    out_ += core::go_json(name) + (pretty_ ? ": " : ":");
  }

  void close(char bracket) {
    const bool nothing = empty_.back();
    empty_.pop_back();
    if (pretty_ && !nothing) out_ += "\n" + std::string(empty_.size(), ' ');
    out_ += bracket;
  }

  bool pretty_;
  bool alike_;
  std::string out_;
  std::vector<bool> empty_;  // of each open bracket
};

}  // namespace

std::string go_value(const std::string& type, const Json& value) {
  return GoPrinter(false).of_type(type, value, value);
}

bool same_go_value(const std::string& type, const Json& a, const Json& b) {
  return a == b ||
         GoPrinter(false, true).of_type(type, a, a) == GoPrinter(false, true).of_type(type, b, b);
}

std::string go_difference(const std::string& type, const Json& before, const Json& after) {
  return line_diff(GoPrinter(true).of_type(type, before, before),
                   GoPrinter(true).of_type(type, after, after));
}

}  // namespace kubewatch::builtin

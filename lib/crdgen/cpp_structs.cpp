#include "crdgen/cpp_structs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "crdgen/schema_flag.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::size_t kMaxStructs = 5000;

std::string pascal(const std::string& name) {
  std::string out;
  bool up = true;
  for (const char c : name) {
    const bool word = base::is_alphanumeric(c);
    if (word) out += up ? base::to_upper(c) : c;
    up = !word;
  }
  return out.empty() || base::is_digit(out.front()) ? "X" + out : out;
}

// Letters, digits and underscores, no digit first.
bool is_identifier(const std::string& name) {
  const auto word = [](char c) { return base::is_alphanumeric(c) || c == '_'; };
  return !name.empty() && !base::is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), word);
}

bool is_keyword(const std::string& name) {
  static const std::vector<std::string> kWords = base::split(
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
      "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
      "const_cast consteval constexpr constinit continue decltype default delete do double "
      "dynamic_cast else enum explicit export extern false float for friend goto if inline "
      "int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
      "private protected public register reinterpret_cast requires return short signed "
      "sizeof static static_assert static_cast struct switch template this thread_local "
      "throw true try typedef typeid typename union unsigned using virtual void volatile "
      "wchar_t while xor xor_eq",
      ' ');
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

// Names that the header itself uses, and macros of the compiler and of what it includes.
bool is_taken(const std::string& name) {
  static const std::set<std::string> kNames = {"to_json", "from_json", "std",   "kubewatch",
                                               "detail",  "NULL",      "EOF",   "errno",
                                               "linux",   "unix",      "assert"};
  return kNames.count(name) != 0;
}

// The name of a field in C++, which may not be a keyword, or begin with a digit.
std::string member_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool word = base::is_alphanumeric(c);
    out += word ? c : '_';
  }
  while (!out.empty() && out.front() == '_') out.erase(0, 1);
  if (out.empty() || base::is_digit(out.front())) out = "f" + out;
  return is_keyword(out) || is_taken(out) ? out + "_" : out;
}

// What --cpp-namespace may say: the names of the header are found from inside of it.
Result<void> check_name_space(const std::string& name_space) {
  std::size_t from = 0;
  for (bool first = true; from <= name_space.size(); first = false) {
    const std::size_t to = std::min(name_space.find("::", from), name_space.size());
    const std::string part = name_space.substr(from, to - from);
    if (!is_identifier(part) || is_keyword(part) || part == "std" ||
        (part == "kubewatch" && !first)) {
      return Error(
          ErrorKind::invalid,
          fmt::format("\"{}\" can be no namespace of C++: write NAME or NAME::NAME", name_space));
    }
    from = to + 2;
  }
  return {};
}

// The first line of a text as the rest of a // comment: no backslash may end it, also not one
// with blanks behind, which compilers take for a line that goes on.
std::string comment_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() > 90) {
    line.resize(line.rfind(' ', 87) == std::string::npos ? 0 : line.rfind(' ', 87));
    if (!line.empty()) line += "...";
  }
  line = base::escape_for_terminal(line);
  line.resize(line.find_last_not_of("\\ \t\r\f\v") + 1);
  return line;
}

struct Member {
  std::string json;
  std::string cpp;
  std::string type;
  std::string text;
};

class Writer {
 public:
  // `components` holds what $ref points to; may be null.
  explicit Writer(const Json* components) : components_(components) {}

  // The struct of an object with properties, written before what uses it.
  std::string structure(const Json& schema, const std::string& wanted) {
    const std::string name = free_name(wanted);
    std::vector<Member> members = members_of(schema, name);
    std::string out;
    if (const std::string text = comment_line(base::string_at(schema, {"description"}));
        !text.empty()) {
      out += "// " + text + "\n";
    }
    out += fmt::format("struct {} {{\n", name) + fields(members) + "};\n" +
           conversions(name, members) + "\n";
    structs_ += out;
    ++count_;
    return name;
  }

  // `taken` are names that the struct has besides.
  std::vector<Member> members_of(const Json& schema, const std::string& owner,
                                 std::set<std::string> taken = {}) {
    std::vector<Member> out;
    taken.insert(owner);
    const Json* properties = base::find(schema, {"properties"});
    if (properties == nullptr || !properties->is_object()) return out;
    for (const auto& [name, property] : properties->items()) {
      std::string cpp = member_name(name);
      // Where a member has the name of a struct, the struct cannot be named any more.
      while (names_.count(cpp) != 0 || !taken.insert(cpp).second) cpp += "_";
      member_names_.insert(cpp);
      out.push_back({name, cpp, type_of(property, owner + pascal(name)),
                     comment_line(base::string_at(property, {"description"}))});
    }
    return out;
  }

  static std::string fields(const std::vector<Member>& members) {
    std::string out;
    for (const Member& one : members) {
      if (!one.text.empty()) out += "  // " + one.text + "\n";
      out += fmt::format("  std::optional<{}> {};\n", one.type, one.cpp);
    }
    return out;
  }

  static std::string writes(const std::vector<Member>& members, const std::string& from) {
    std::string out;
    for (const Member& one : members) {
      out += fmt::format("  if ({}{}) out[{}] = *{}{};\n", from, one.cpp, base::dump_json(one.json),
                         from, one.cpp);
    }
    return out;
  }

  static std::string reads(const std::vector<Member>& members, const std::string& into) {
    std::string out;
    for (const Member& one : members) {
      out += fmt::format("  kubewatch::client::read_field(in, {}, {}{});\n",
                         base::dump_json(one.json), into, one.cpp);
    }
    return out;
  }

  const std::string& structs() const { return structs_; }
  bool too_many() const { return count_ > kMaxStructs; }
  void reserve(const std::string& name) { names_.insert(name); }

 private:
  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; member_names_.count(name) != 0 || !names_.insert(name).second; ++i)
      name = wanted + std::to_string(i);
    return name;
  }

  static std::string conversions(const std::string& name, const std::vector<Member>& members) {
    const char* unused = members.empty() ? "[[maybe_unused]] " : "";
    return fmt::format(
               "inline void to_json(kubewatch::Json& out, {}const {}& from) {{\n"
               "  out = kubewatch::Json::object();\n",
               unused, name) +
           writes(members, "from.") + "}\n" +
           fmt::format(
               "inline void from_json(const kubewatch::Json& in, {}& into) {{\n"
               "  if (!in.is_object()) throw std::invalid_argument(\"must be an object\");\n"
               "  into = {{}};\n",
               name) +
           reads(members, "into.") + "}\n";
  }

  std::string type_of(const Json& schema, const std::string& wanted) {
    if (!schema.is_object() || too_many()) return "kubewatch::Json";
    if (const std::string target = reference_in(schema); !target.empty()) return referred(target);
    if (schema.value("x-kubernetes-int-or-string", Json()) == true) return "kubewatch::Json";
    const std::string type = base::string_at(schema, {"type"});
    if (type == "string") return "std::string";
    if (type == "boolean") return "bool";
    if (type == "number") return "double";
    if (type == "integer") {
      return base::string_at(schema, {"format"}) == "int32" ? "std::int32_t" : "std::int64_t";
    }
    if (type == "array" && schema.contains("items")) {
      return "std::vector<" + type_of(schema["items"], wanted + "Item") + ">";
    }
    const bool open = flag(schema, kPreserve);
    if (type != "object" || open) return "kubewatch::Json";
    if (const Json* values = base::find(schema, {"additionalProperties"});
        values && values->is_object()) {
      return "std::map<std::string, " + type_of(*values, wanted + "Value") + ">";
    }
    const Json* properties = base::find(schema, {"properties"});
    if (properties == nullptr || properties->empty()) return "kubewatch::Json";
    return structure(schema, wanted);
  }

  // The $ref of a schema, or of its only allOf, as the server writes fields with a default.
  static std::string reference_in(const Json& schema) {
    if (const std::string ref = base::string_at(schema, {"$ref"}); !ref.empty()) return ref;
    const Json* all = base::find(schema, {"allOf"});
    return all != nullptr && all->is_array() && all->size() == 1
               ? base::string_at(all->front(), {"$ref"})
               : "";
  }

  std::string referred(const std::string& ref) {
    const std::string id = ref.substr(ref.rfind('/') + 1);
    if (const auto it = referred_.find(id); it != referred_.end()) return it->second;
    const Json* schema = components_ == nullptr ? nullptr : base::find(*components_, {id});
    if (schema == nullptr || !under_way_.insert(id).second) return "kubewatch::Json";  // or a cycle
    const std::string type = type_of(*schema, pascal(id.substr(id.rfind('.') + 1)));
    under_way_.erase(id);
    return referred_[id] = type;
  }

  const Json* components_;
  std::string structs_;
  std::set<std::string> names_;         // of structs
  std::set<std::string> member_names_;  // of all structs
  std::set<std::string> under_way_;
  std::map<std::string, std::string> referred_;
  std::size_t count_ = 0;
};

// What the struct of a kind has besides its fields.
std::set<std::string> names_of_kind() {
  return {"kGroup", "kVersion", "kKind", "kPlural", "kScope"};
}

struct KindNames {
  std::string group, version, kind, plural;
  bool namespaced = true;
};

std::string kind_struct(const KindNames& names, const std::vector<Member>& members) {
  const std::string kind = pascal(names.kind);
  std::string out = fmt::format("struct {} {{\n", kind);
  for (const auto& [constant, value] : {std::pair("kGroup", names.group),
                                        {"kVersion", names.version},
                                        {"kKind", names.kind},
                                        {"kPlural", names.plural}}) {
    out +=
        fmt::format("  static constexpr const char* {} = {};\n", constant, base::dump_json(value));
  }
  out += fmt::format(
      "  static constexpr kubewatch::client::Scope kScope = kubewatch::client::Scope::{};\n\n",
      names.namespaced ? "namespaced" : "cluster");
  out += Writer::fields(members);
  out +=
      "\n  kubewatch::Json to_json() const;\n  // Errors: invalid, when a field has another type.\n"
      "  kubewatch::Result<void> from_json(const kubewatch::Json& in);\n};\n\n";
  out += fmt::format(
      "inline kubewatch::Json {}::to_json() const {{\n  kubewatch::Json out = "
      "kubewatch::Json::object();\n",
      kind);
  out += Writer::writes(members, "this->") + "  return out;\n}\n\n";
  out += fmt::format(
      "inline kubewatch::Result<void> {0}::from_json(const kubewatch::Json& in) try {{\n"
      "  *this = {{}};\n  if (!in.is_object()) throw std::invalid_argument(\"this is no "
      "object\");\n",
      kind);
  out += Writer::reads(members, "this->") + "  return {};\n}";
  out += fmt::format(
      " catch (const std::exception& problem) {{\n  return kubewatch::Error("
      "kubewatch::ErrorKind::invalid, std::string(kKind) + \": \" + problem.what());\n}}\n");
  return out;
}

std::string header_of(const KindNames& names, const std::string& structs, const std::string& kind,
                      const CppOptions& options) {
  const std::string name_space =
      options.name_space.empty()
          ? member_name(base::to_lower(names.kind) + "_" + member_name(names.version))
          : options.name_space;
  const std::string about = comment_line(
      fmt::format("{} of {}", names.kind,
                  names.group.empty() ? names.version : names.group + "/" + names.version));
  return fmt::format(
      "// {}: written by kubewatch crd-gen, which overwrites changes.\n"
      "// Every field is optional; what is not set is not written.\n"
      "#pragma once\n\n#include <cstdint>\n#include <exception>\n#include <map>\n#include "
      "<optional>\n"
      "#include <stdexcept>\n#include <string>\n"
      "#include <vector>\n\n#include \"base/json.hpp\"\n#include \"base/result.hpp\"\n#include "
      "\"client/read_field.hpp\"\n#include \"client/resource.hpp\"\n\n"
      "namespace {} {{\n\n"
      "{}{}\n}}  // namespace {}\n",
      about, name_space, structs, kind, name_space);
}

Json with_head(Json root) {
  if (!root.is_object()) root = Json::object();
  root["properties"]["apiVersion"] = {{"type", "string"}};
  root["properties"]["kind"] = {{"type", "string"}};
  root["properties"]["metadata"] = {{"type", "object"}};
  return root;
}

}  // namespace

Result<std::string> cpp_of_crd(const Json& crd, const CppOptions& options) {
  if (!options.name_space.empty()) KW_TRY(check_name_space(options.name_space));
  const Json& spec = crd["spec"];
  for (const Json& version : spec["versions"]) {
    const std::string name = base::string_at(version, {"name"});
    if (options.version.empty() ? version.value("storage", Json()) != true
                                : name != options.version)
      continue;
    const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
    const KindNames names{
        base::string_at(spec, {"group"}), name, base::string_at(spec, {"names", "kind"}),
        base::string_at(spec, {"names", "plural"}), base::string_at(spec, {"scope"}) != "Cluster"};
    Writer writer(nullptr);
    writer.reserve(pascal(names.kind));
    const auto members = writer.members_of(with_head(root == nullptr ? Json::object() : *root),
                                           pascal(names.kind), names_of_kind());
    return header_of(names, writer.structs(), kind_struct(names, members), options);
  }
  return Error(ErrorKind::not_found,
               fmt::format("{} has no version \"{}\"", base::string_at(crd, {"metadata", "name"}),
                           options.version));
}

namespace {

// Whether more is known of a kind than what all have.
bool tells_fields(const Json& schema) {
  const Json* properties = base::find(schema, {"properties"});
  if (properties == nullptr || !properties->is_object()) return schema.contains("allOf");
  for (const auto& [name, value] : properties->items()) {
    if (name != "apiVersion" && name != "kind" && name != "metadata") return true;
  }
  return false;
}

}  // namespace

Result<std::string> cpp_of_openapi(const Json& document, const std::string& group,
                                   const std::string& version, const std::string& kind,
                                   const CppOptions& options) {
  if (!options.name_space.empty()) KW_TRY(check_name_space(options.name_space));
  const Json* components = base::find(document, {"components", "schemas"});
  if (components == nullptr || !components->is_object())
    return Error(ErrorKind::invalid,
                 "this is no OpenAPI v3 document: it has no components.schemas");
  for (const auto& [id, schema] : components->items()) {
    for (const Json& gvk : schema.is_object()
                               ? schema.value("x-kubernetes-group-version-kind", Json::array())
                               : Json::array()) {
      if (base::string_at(gvk, {"group"}) != group ||
          base::string_at(gvk, {"version"}) != version || base::string_at(gvk, {"kind"}) != kind)
        continue;
      if (!tells_fields(schema)) {
        return Error(ErrorKind::unsupported,
                     fmt::format("the server tells no field of {} in {}/{}: ask one that does",
                                 kind, group.empty() ? "core" : group, version));
      }
      const KindNames names{group, version, kind, options.plural, options.namespaced};
      Writer writer(components);
      writer.reserve(pascal(kind));
      const auto members = writer.members_of(with_head(schema), pascal(kind), names_of_kind());
      return header_of(names, writer.structs(), kind_struct(names, members), options);
    }
  }
  return Error(ErrorKind::not_found,
               fmt::format("the OpenAPI document has no kind {} of {}/{}", kind, group, version));
}

}  // namespace kubewatch::crdgen

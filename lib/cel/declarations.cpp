#include "cel/declarations.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "cel/declaration_table.hpp"

namespace kubewatch::cel {

namespace {

// Types as the table writes them: "map(K, list(int))". One capital letter is a type variable.
class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : text_(text) {}

  TypePtr type() {
    skip();
    const auto end = text_.find_first_of("(,) ", at_);
    const std::string name(text_.substr(at_, end - at_));
    at_ = std::min(end, text_.size());
    std::vector<TypePtr> params;
    if (at_ < text_.size() && text_[at_] == '(') {
      do {
        ++at_;
        params.push_back(type());
        skip();
      } while (at_ < text_.size() && text_[at_] == ',');
      ++at_;
    }
    return make(name, std::move(params));
  }

  std::vector<TypePtr> types() {
    std::vector<TypePtr> out;
    skip();
    while (at_ < text_.size()) {
      out.push_back(type());
      skip();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  static TypePtr make(const std::string& name, std::vector<TypePtr> params) {
    using Kind = Type::Kind;
    static const std::map<std::string, Kind> kSimple = {
        {"dyn", Kind::dyn},       {"null", Kind::null},        {"bool", Kind::boolean},
        {"int", Kind::integer},   {"uint", Kind::uinteger},    {"double", Kind::real},
        {"string", Kind::string}, {"bytes", Kind::bytes},      {"timestamp", Kind::timestamp},
        {"type", Kind::type},     {"duration", Kind::duration}};
    if (name.size() == 1) return param(name);
    if (name == "list") return list_of(params[0]);
    if (name == "map") return map_of(params[0], params[1]);
    if (name == "optional") return optional_of(params[0]);
    if (name == "type" && !params.empty()) return type_of(params[0]);
    if (const auto found = kSimple.find(name); found != kSimple.end()) return simple(found->second);
    return name.starts_with("net.") ? opaque(name) : object(name);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void collect_variables(const Type& type, std::vector<std::string>& out) {
  if (type.is(Type::Kind::param) && std::find(out.begin(), out.end(), type.name) == out.end()) {
    out.push_back(type.name);
  }
  for (const auto& part : type.params) collect_variables(*part, out);
}

Overload read(const DeclarationRow& row) {
  Overload overload;
  overload.id = row.id;
  overload.on_value = row.arguments[0] == '.';
  overload.arguments = TypeReader(row.arguments + (overload.on_value ? 1 : 0)).types();
  overload.result = TypeReader(row.result).type();
  for (const auto& argument : overload.arguments) collect_variables(*argument, overload.variables);
  collect_variables(*overload.result, overload.variables);
  return overload;
}

void add(std::map<std::string, Function, std::less<>>& functions, const std::string& name,
         Overload overload) {
  Function& function = functions[name];
  function.name = name;
  function.overloads.push_back(std::move(overload));
}

// What exists once per type that can be compared or summed up.
void add_per_type(std::map<std::string, Function, std::less<>>& functions) {
  static constexpr std::array<const char*, 8> kTypes = {"int",      "uint",      "double", "bool",
                                                        "duration", "timestamp", "string", "bytes"};
  static const std::map<std::string, std::string> kLong = {
      {"duration", "google.protobuf.Duration"}, {"timestamp", "google.protobuf.Timestamp"}};
  for (const std::string type : kTypes) {
    const auto known = kLong.find(type);
    const std::string name = known == kLong.end() ? type : known->second;
    const std::string list = ".list(" + type + ")";
    const auto one = [&](const char* function, const std::string& id, const std::string& arguments,
                         const std::string& result) {
      add(functions, function, read({function, id.c_str(), arguments.c_str(), result.c_str()}));
    };
    one("isSorted", "list_" + type + "_is_sorted_bool", list, "bool");
    one("max", "list_" + type + "_max_" + type, list, type);
    one("min", "list_" + type + "_min_" + type, list, type);
    one("sort", "list_" + name + "_sort", list, "list(" + type + ")");
    one("@sortByAssociatedKeys", "list_" + name + "_sortByAssociatedKeys",
        ".list(T), list(" + type + ")", "list(T)");
    if (type == "int" || type == "uint" || type == "double" || type == "duration") {
      one("sum", "list_" + type + "_sum_" + type, list, type);
    }
  }
}

const std::map<std::string, Function, std::less<>>& functions() {
  static const auto kFunctions = [] {
    std::map<std::string, Function, std::less<>> all;
    for (const auto& row : declaration_rows()) add(all, row.function, read(row));
    add_per_type(all);
    return all;
  }();
  return kFunctions;
}

}  // namespace

const Function* find_function(std::string_view name) {
  if (!name.empty() && name[0] == '.') name.remove_prefix(1);
  const auto found = functions().find(name);
  return found == functions().end() ? nullptr : &found->second;
}

TypePtr find_type_name(std::string_view name) {
  using Kind = Type::Kind;
  static const std::map<std::string, TypePtr, std::less<>> kNames = [] {
    std::map<std::string, TypePtr, std::less<>> names;
    for (const Kind kind : {Kind::boolean, Kind::bytes, Kind::real, Kind::duration, Kind::integer,
                            Kind::null, Kind::string, Kind::timestamp, Kind::uinteger}) {
      names[simple(kind)->name] = type_of(simple(kind));
    }
    const auto& dyn = simple(Kind::dyn);
    names["list"] = type_of(list_of(dyn));
    names["map"] = type_of(map_of(dyn, dyn));
    names["type"] = type_of(simple(Kind::type));
    names["optional_type"] = type_of(optional_of(dyn));
    names["net.IP"] = type_of(opaque("net.IP"));
    names["net.CIDR"] = type_of(opaque("net.CIDR"));
    return names;
  }();
  if (!name.empty() && name[0] == '.') name.remove_prefix(1);
  const auto found = kNames.find(name);
  return found == kNames.end() ? nullptr : found->second;
}

}  // namespace kubewatch::cel

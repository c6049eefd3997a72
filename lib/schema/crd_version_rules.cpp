// What stands beside the schema in a version: deprecation, columns, scale, selectable fields. Rules
// of crd_check.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "schema/crd_report.hpp"
#include "schema/field_path.hpp"

namespace kubewatch::schema {

using base::string_at;

namespace {

bool is_one_of(const std::string& value, const std::vector<std::string>& allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

// "" or what is wrong with it as a simple path.
std::string simple_path_problem(const std::string& path) {
  return path[0] == '.' ? "" : "must be a simple json path starting with .";
}

void check_scale_path(const Json& scale, const char* key, const std::string& path,
                      const std::vector<std::string>& below, Report& report) {
  const std::string value = string_at(scale, {key});
  const std::string field = path + ".scale." + key;
  if (value.empty()) {
    if (below.size() == 1) report.add("scale", field_required(field));
    return;
  }
  std::string problem = simple_path_problem(value);
  if (problem.empty() && std::none_of(below.begin(), below.end(), [&](const std::string& one) {
        return value.starts_with(one + ".");
      })) {
    problem = "should be a json path under " +
              (below.size() == 1 ? below[0] : "either " + base::join(below, " or "));
  }
  if (!problem.empty()) report.add("scale", field_invalid(field, go_quoted(value), problem));
}

}  // namespace

void check_deprecation(const Json& version, const std::string& path, Report& report) {
  const auto it = version.find("deprecationWarning");
  if (it == version.end() || !it->is_string()) return;
  const std::string text = it->get<std::string>();
  const auto refuse = [&](const std::string& why) {
    report.add("deprecation", field_invalid(path + ".deprecationWarning", go_quoted(text), why));
  };
  const auto flag = version.find("deprecated");
  if (flag == version.end() || *flag != true) {
    refuse("can only be set for deprecated versions");
    return;
  }
  constexpr std::size_t kMost = 256;
  if (text.size() > kMost) refuse("must be <= 256 characters long");
  if (text.empty()) refuse("must not be an empty string");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // C1 controls are two bytes, 0xC2 and 0x80 to 0x9F; a no-break space (0xA0) is not printable.
    const bool c1 =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) <= 0xA0;
    if (c >= 0x20 && c != 0x7F && !c1) continue;
    refuse(
        fmt::format("must only contain printable UTF-8 characters; non-printable character "
                    "found at index {}",
                    i));
    break;
  }
}

void check_scale(const Json& subresources, const std::string& path, Report& report) {
  const Json* scale = base::find(subresources, {"scale"});
  if (scale == nullptr || !scale->is_object()) return;
  check_scale_path(*scale, "specReplicasPath", path, {".spec"}, report);
  check_scale_path(*scale, "statusReplicasPath", path, {".status"}, report);
  check_scale_path(*scale, "labelSelectorPath", path, {".spec", ".status"}, report);
}

void check_columns(const Json& columns, const std::string& path, Report& report) {
  static const std::vector<std::string> types = {"boolean", "date", "integer", "number", "string"};
  static const std::vector<std::string> formats = {"byte",  "date",  "date-time", "double",
                                                   "float", "int32", "int64",     "password"};
  constexpr const char* kId = "printer-column";
  std::size_t index = 0;
  for (const auto& column : columns) {
    const std::string at = fmt::format("{}[{}]", path, index++);
    if (string_at(column, {"name"}).empty()) report.add(kId, field_required(at + ".name"));
    const std::string type = string_at(column, {"type"});
    const std::string types_text = "must be one of " + base::join(types, ",");
    if (type.empty()) {
      report.add(kId, field_required(at + ".type", types_text));
    } else if (!is_one_of(type, types)) {
      report.add(kId, field_invalid(at + ".type", go_quoted(type), types_text));
    }
    const std::string format = string_at(column, {"format"});
    if (!format.empty() && !is_one_of(format, formats)) {
      report.add(kId, field_invalid(at + ".format", go_quoted(format),
                                    "must be one of " + base::join(formats, ",")));
    }
    const std::string json_path = string_at(column, {"jsonPath"});
    if (json_path.empty()) {
      report.add(kId, field_required(at + ".JSONPath"));
    } else if (const std::string why = simple_path_problem(json_path); !why.empty()) {
      report.add(kId, field_invalid(at + ".JSONPath", go_quoted(json_path), why));
    }
  }
}

void check_selectable_fields(const Json& fields, const Structural* schema, const std::string& path,
                             Report& report) {
  constexpr const char* kId = "selectable-field";
  constexpr std::size_t kMost = 8;
  std::set<std::string> seen;
  std::size_t index = 0;
  for (const auto& one : fields) {
    const std::string at = fmt::format("{}[{}].jsonPath", path, index++);
    const std::string value = string_at(one, {"jsonPath"});
    const auto refuse = [&](const std::string& why) {
      report.add(kId, field_invalid(at, go_quoted(value), why));
    };
    if (value.empty()) {
      report.add(kId, field_required(at));
      continue;
    }
    if (schema == nullptr) continue;
    const auto found = find_field(value, *schema, false);
    if (!found) {
      refuse("is an invalid path: " + found.error().message());
      continue;
    }
    if (found->root == "metadata") refuse("must not point to fields in metadata");
    const std::string& type = found->schema->type;
    if (type != "string" && type != "boolean" && type != "integer") {
      refuse(
          "must point to a field of type string, boolean or integer. Enum string fields and "
          "strings with formats are allowed.");
    }
    if (!seen.insert(found->path).second) report.add(kId, field_duplicate(at, go_quoted(value)));
  }
  if (seen.size() > kMost) {
    report.add(kId, field_too_many(path, static_cast<std::int64_t>(seen.size()), kMost));
  }
}

}  // namespace kubewatch::schema

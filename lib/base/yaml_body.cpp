#include "base/yaml_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "base/yaml_stream.hpp"

namespace kubewatch::base {

namespace {

// Not printable in YAML 1.1 (5.1), or a line break there (5.4); all fit into \uXXXX, which stands
// for nothing else, as characters that are not ASCII stand in strings only.
bool changed_by_yaml(char32_t c) {
  return (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe ||
         c == 0xffff;
}

}  // namespace

std::string dump_json_for_yaml(const Json& value) {
  std::string json = dump_json(value);
  const auto first = std::find_if(json.begin(), json.end(),
                                  [](char c) { return (c & '\x80') != 0 || c == '\x7f'; });
  if (first == json.end()) return json;
  std::string out(json.begin(), first);
  for (auto at = static_cast<std::size_t>(first - json.begin()); at < json.size();) {
    const Utf8Char c = next_utf8(json, at);
    if (changed_by_yaml(c.code)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(c.code));
    } else {
      out.append(json, at, c.size);
    }
    at += c.size;
  }
  return out;
}

Result<YamlBody> parse_yaml_body(std::string_view text, const YamlLimits& limits) {
  KW_TRY(check_yaml_text(text, limits));
  std::vector<YamlRepeat> repeated;
  YamlBody body;
  KW_ASSIGN(body.value, read_first_yaml_document(text, limits, repeated));
  for (const YamlRepeat& one : repeated) {
    body.repeated.push_back(
        fmt::format("line {}: key {} already set in map", one.line, json_quoted(one.key)));
  }
  return body;
}

}  // namespace kubewatch::base

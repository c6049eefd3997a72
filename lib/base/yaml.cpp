// Reads whole texts: as JSON or as YAML. Writing is in yaml_dump.cpp.
#include "base/yaml.hpp"

#include <optional>

#include "base/json_stream.hpp"
#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "base/yaml_parser.hpp"
#include "base/yaml_stream.hpp"

namespace kubewatch::base {

namespace {

bool starts_like_json(std::string_view text) {
  std::string_view body = trim(text);
  if (body.starts_with("---")) body = trim(body.substr(3));
  return body.starts_with('{') || body.starts_with('[');
}

std::vector<YamlDocument> documents_of(std::vector<JsonAt> values, std::string_view text,
                                       bool with_marks) {
  std::vector<YamlDocument> out;
  out.reserve(values.size());
  YamlMarkWalk walk(text);
  for (JsonAt& found : values) {
    YamlMarks marks;
    if (with_marks) marks.set_value("", walk.at(found.offset));
    out.push_back(YamlDocument{std::move(found.value), std::move(marks)});
  }
  return out;
}

// What is JSON is read as JSON, as kubectl does: YAML 1.1 lacks documents one after the other, as
// jq prints them, and \ud83d\ude00 escapes, it takes U+0085 and U+2028 in a string for the end of a
// line, and it takes five times as long. Positions of values only the YAML reader has, so with them
// it comes first. Of two errors the YAML one is better, unless the JSON is too large or follows
// another document as only JSON can.
Result<std::vector<YamlDocument>> read(std::string_view text, const YamlLimits& limits,
                                       bool with_marks) {
  KW_TRY(check_yaml_text(text, limits));
  const bool like_json = starts_like_json(text);
  std::optional<Error> no_json;
  bool only_json = false;
  const auto read_json = [&]() -> std::optional<std::vector<YamlDocument>> {
    auto values = parse_json_stream(text, limits, only_json);
    if (values.ok()) return documents_of(std::move(*values), text, with_marks);
    no_json = std::move(values).error();
    return std::nullopt;
  };
  if (like_json && !with_marks) {
    if (auto documents = read_json()) return *std::move(documents);
  }
  bool scanner_failed = false;
  auto documents = read_yaml_stream(text, limits, with_marks, scanner_failed);
  if (documents.ok() || !scanner_failed || !like_json) return documents;
  if (!no_json) {
    if (auto found = read_json()) return *std::move(found);
  }
  return no_json->kind() == ErrorKind::too_large || only_json ? *std::move(no_json)
                                                              : std::move(documents).error();
}

// Editors of some systems begin files with it, and of such files put together each document may
// begin with one (YAML 1.2.2, 5.2), which libyaml does not know.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view behind_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// At the beginning of a line, behind a line of --- or before one.
std::size_t next_mark(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(kByteOrderMark, from); at != std::string_view::npos;
       at = text.find(kByteOrderMark, at + 1)) {
    if (at == 0 || text[at - 1] != '\n') continue;
    const std::size_t before = at < 2 ? std::string_view::npos : text.rfind('\n', at - 2);
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    if (behind_mark(text.substr(line)).starts_with("---")) return at;
    if (behind_mark(text.substr(at)).starts_with("---")) return at;
  }
  return std::string_view::npos;
}

Result<std::vector<YamlDocument>> read_without_marks(std::string_view text,
                                                     const YamlLimits& limits, bool with_marks) {
  text = behind_mark(text);
  std::size_t at = next_mark(text, 0);
  if (at == std::string_view::npos) return read(text, limits, with_marks);
  std::string out;
  std::size_t from = 0;
  for (; at != std::string_view::npos; at = next_mark(text, from)) {
    out += text.substr(from, at - from);
    from = at + kByteOrderMark.size();
  }
  out += text.substr(from);
  return read(out, limits, with_marks);
}

std::string parent_of(const std::string& pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string::npos ? std::string() : pointer.substr(0, slash);
}

}  // namespace

YamlMark YamlMarks::value_at(const std::string& pointer) const {
  std::string at = pointer;
  while (true) {
    if (const auto it = values_.find(at); it != values_.end()) return it->second;
    if (at.empty()) return {};
    at = parent_of(at);
  }
}

YamlMark YamlMarks::key_at(const std::string& pointer) const {
  const auto it = keys_.find(pointer);
  return it != keys_.end() ? it->second : value_at(pointer);
}

bool YamlMarks::key_is_text(const std::string& pointer) const {
  if (keys_.empty()) return true;
  return keys_.count(pointer) != 0 && boolean_keys_.count(pointer) == 0;
}

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, const YamlLimits& limits) {
  return read_without_marks(text, limits, true);
}

Result<std::vector<Json>> parse_yaml_values(std::string_view text, const YamlLimits& limits) {
  KW_ASSIGN(auto documents, read_without_marks(text, limits, false));
  std::vector<Json> values;
  values.reserve(documents.size());
  for (YamlDocument& document : documents) values.push_back(std::move(document.value));
  return values;
}

}  // namespace kubewatch::base

#include "cli/printers/custom_columns.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/caret.hpp"
#include "core/json_template.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostOwnColumns = 1000;

// Columns end at commas outside of brackets, quotes and braces: unions hold commas of their own.
std::vector<std::pair<std::size_t, std::string>> split_columns(const std::string& spec) {
  std::vector<std::pair<std::size_t, std::string>> out;
  std::size_t begin = 0;
  int depth = 0;
  char quote = '\0';
  for (std::size_t at = 0; at <= spec.size(); ++at) {
    const char c = at < spec.size() ? spec[at] : ',';
    if (at < spec.size() && c == '\\') {
      ++at;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if ((c == '\'' || c == '"') && depth > 0) {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    }
    const bool end = at >= spec.size() || (c == ',' && depth <= 0 && quote == '\0');
    if (!end) continue;
    out.emplace_back(begin, spec.substr(begin, std::min(at, spec.size()) - begin));
    begin = at + 1;
  }
  return out;
}

Error wrong(const std::string& what, const std::string& spec, std::size_t at) {
  return {ErrorKind::invalid, with_caret("-o custom-columns: " + what, spec, at)};
}

Result<core::JsonPath> path_of(const std::string& text, const std::string& spec,
                               std::size_t offset) {
  std::size_t at = 0;
  const auto relaxed = core::relaxed_path(text, &at);
  if (!relaxed.ok()) return wrong(relaxed.error().message(), spec, offset + at);
  return core::JsonPath::parse(*relaxed);
}

std::vector<std::string> blank_separated(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

}  // namespace

Result<CustomColumns> CustomColumns::parse(const std::string& spec) {
  CustomColumns out;
  for (const auto& [begin, column] : split_columns(spec)) {
    const std::size_t colon = column.find(':');
    if (colon == std::string::npos || colon + 1 == column.size()) {
      return wrong("a column is HEADER:PATH", spec, begin);
    }
    if (out.paths_.size() >= kMostOwnColumns) return wrong("too many columns", spec, begin);
    KW_ASSIGN(auto path, path_of(column.substr(colon + 1), spec, begin + colon + 1));
    out.headers_.push_back(column.substr(0, colon));
    out.path_texts_.push_back(column.substr(colon + 1));
    out.paths_.push_back(std::move(path));
  }
  return out;
}

Result<CustomColumns> CustomColumns::parse_file(const std::string& text) {
  const auto lines = base::split(text, '\n');
  CustomColumns out;
  out.headers_ = blank_separated(lines[0]);
  auto paths = lines.size() > 1 ? blank_separated(lines[1]) : std::vector<std::string>();
  if (out.headers_.empty() || out.headers_.size() != paths.size() ||
      paths.size() > kMostOwnColumns) {
    return Error(ErrorKind::invalid,
                 fmt::format("-o custom-columns-file: the first line has {} headers, the second {} "
                             "paths; each header needs one path below it",
                             out.headers_.size(), paths.size()));
  }
  for (const auto& path : paths) {
    KW_ASSIGN(auto parsed, path_of(path, path, 0));
    out.paths_.push_back(std::move(parsed));
  }
  out.path_texts_ = std::move(paths);
  return out;
}

Result<CustomColumns> CustomColumns::of_format(const std::string& text) {
  return text.find('\n') != std::string::npos ? parse_file(text) : parse(text);
}

std::vector<std::string> CustomColumns::cells(const Json& object) const {
  std::vector<std::string> out;
  for (const auto& path : paths_) {
    std::string text;
    bool first = true;
    for (const Json* one : path.find(object)) {
      if (!std::exchange(first, false)) text += ',';
      text += one->is_null() ? "<none>" : core::scalar_text(*one);
    }
    out.push_back(first ? "<none>" : std::move(text));
  }
  return out;
}

}  // namespace kubewatch::cli

#include "cli/printers/output_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "cli/terminal.hpp"

namespace kubewatch::cli {

namespace {

using Kind = OutputFormat::Kind;
constexpr std::size_t kMaxTemplateFile = 1U << 20U;

struct Word {
  const char* word;
  Kind kind;
};
constexpr Word kPlain[] = {
    {"json", Kind::json}, {"yaml", Kind::yaml},   {"name", Kind::name},
    {"wide", Kind::wide}, {"table", Kind::table},
};
constexpr Word kWithText[] = {
    {"jsonpath", Kind::jsonpath},
    {"custom-columns", Kind::custom_columns},
    {"jq", Kind::jq},
};

Error no_text(const std::string& word) {
  const std::string example = word.starts_with("jsonpath") ? "jsonpath='{.metadata.name}'"
                              : word.starts_with("custom-columns")
                                  ? "custom-columns=NAME:.metadata.name"
                                  : "jq=.metadata.name";
  return {ErrorKind::invalid, fmt::format("-o {} needs what to print, as in -o {}", word,
                                          word.ends_with("-file") ? word + "=FILE" : example)};
}

Result<OutputFormat> from_file(Kind kind, const std::string& word, const std::string& path) {
  auto text = base::read_file(path, kMaxTemplateFile);
  if (!text.ok()) {
    // A file that is not there is wrong usage: nothing was started.
    return Error(ErrorKind::invalid, text.error().render()).with_context("-o " + word);
  }
  return OutputFormat{kind, std::move(text).value()};
}

bool is_go_template(const std::string& word) {
  return word == "go-template" || word == "go-template-file" || word == "template" ||
         word == "templatefile";
}

}  // namespace

std::string format_words(const std::vector<std::string>& own) {
  std::vector<std::string> words = own;
  for (const auto* one : {"table", "wide", "json", "yaml", "name", "jsonpath=", "jsonpath-file=",
                          "custom-columns=", "custom-columns-file=", "jq="}) {
    if (std::find(words.begin(), words.end(), one) == words.end()) words.emplace_back(one);
  }
  return base::join(words, ", ");
}

Result<OutputFormat> parse_output_format(const std::string& output,
                                         const std::vector<std::string>& own) {
  if (std::find(own.begin(), own.end(), output) != own.end()) {
    return OutputFormat{Kind::own, output};
  }
  for (const auto& one : kPlain) {
    if (output == one.word) return OutputFormat{one.kind, ""};
  }
  const std::size_t equals = output.find('=');
  const std::string word = output.substr(0, equals);
  const std::string text = equals == std::string::npos ? "" : output.substr(equals + 1);
  for (const auto& one : kWithText) {
    const bool file = word == std::string(one.word) + "-file" && one.kind != Kind::jq;
    if (word != one.word && !file) continue;
    if (text.empty()) return no_text(word);
    return file ? from_file(one.kind, word, text) : OutputFormat{one.kind, text};
  }
  if (is_go_template(word)) {
    return Error(ErrorKind::invalid,
                 "-o " + word +
                     ": Go templates are not supported; write -o "
                     "jsonpath='{...}', -o jq='...' or -o custom-columns=... instead");
  }
  return Error(
      ErrorKind::invalid,
      fmt::format("unable to match a printer suitable for the output format \"{}\", allowed "
                  "formats are: {}",
                  output, format_words(own)));
}

std::string with_caret(const std::string& what, std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
  begin = begin == std::string_view::npos || begin >= at ? 0 : begin + 1;
  const std::string_view line = text.substr(begin, text.find('\n', at) - begin);
  // A long line is shown around the place.
  constexpr std::size_t kAround = 60;
  std::size_t shown = at - begin > kAround ? at - begin - kAround : 0;
  while (shown > 0 && (static_cast<unsigned char>(line[shown]) & 0xc0U) == 0x80U) --shown;
  std::size_t end = std::min(line.size(), shown + 2 * kAround);
  while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) ++end;
  const auto visible = [](std::string_view part) {
    std::string out = base::escape_for_terminal(part);
    std::replace(out.begin(), out.end(), '\t', ' ');  // so that the caret stands right
    return out;
  };
  const std::string before = visible(line.substr(shown, at - begin - shown));
  const std::string after = visible(line.substr(at - begin, end - (at - begin)));
  return fmt::format("{}\n  {}{}\n  {}^", what, before, after,
                     std::string(display_width(before), ' '));
}

}  // namespace kubewatch::cli

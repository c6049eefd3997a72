#include "cli/printers/output_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/strings.hpp"

namespace kubewatch::cli {

namespace {

using Kind = OutputFormat::Kind;
constexpr std::size_t kMaxTemplateFile = 1U << 20U;

struct Word {
  const char* word;
  Kind kind;
};
constexpr Word kPlain[] = {
    {"table", Kind::table}, {"wide", Kind::wide}, {"json", Kind::json},
    {"yaml", Kind::yaml},   {"name", Kind::name},
};

struct WordWithText {
  const char* word;
  Kind kind;
  bool has_file;  // WORD-file=FILE is one, too
  const char* example;
};
constexpr WordWithText kWithText[] = {
    {"jsonpath", Kind::jsonpath, true, "jsonpath='{.metadata.name}'"},
    {"custom-columns", Kind::custom_columns, true, "custom-columns=NAME:.metadata.name"},
    {"jq", Kind::jq, false, "jq=.metadata.name"},
};

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
  const auto add = [&words](std::string word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      words.push_back(std::move(word));
    }
  };
  for (const auto& one : kPlain) add(one.word);
  for (const auto& one : kWithText) {
    add(fmt::format("{}=", one.word));
    if (one.has_file) add(fmt::format("{}-file=", one.word));
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
    const bool file = one.has_file && word == std::string(one.word) + "-file";
    if (word != one.word && !file) continue;
    if (text.empty()) {
      return Error(ErrorKind::invalid, fmt::format("-o {} needs what to print, as in -o {}", word,
                                                   file ? word + "=FILE" : one.example));
    }
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

}  // namespace kubewatch::cli

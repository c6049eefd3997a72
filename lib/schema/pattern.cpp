#include "schema/pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

namespace kubewatch::schema {

namespace {

const char* words_of(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape: return "invalid escape sequence";
    case RE2::ErrorBadCharClass: return "invalid character class";
    case RE2::ErrorBadCharRange: return "invalid character class range";
    case RE2::ErrorMissingBracket: return "missing closing ]";
    case RE2::ErrorMissingParen: return "missing closing )";
    case RE2::ErrorUnexpectedParen: return "unexpected )";
    case RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize: return "invalid repeat count";
    case RE2::ErrorRepeatOp: return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8: return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture: return "invalid named capture";
    case RE2::ErrorPatternTooLarge: return "expression too large";
    default: return "regexp/syntax: internal error";
  }
}

// Go takes (?<name>...) for (?P<name>...); our RE2 does not yet. Also finds \C, which only RE2 has.
std::string as_re2(const std::string& text, bool& refused) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] == 'Q') {
        const std::size_t end = text.find("\\E", i + 2);
        const std::size_t stop = end == std::string::npos ? text.size() : end + 2;
        out.append(text, i, stop - i);
        i = stop - 1;
        continue;
      }
      refused = refused || text[i + 1] == 'C';
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '[' && !in_class) {
      in_class = true;
      out += c;
      if (i + 1 < text.size() && text[i + 1] == '^') out += text[++i];
      if (i + 1 < text.size() && text[i + 1] == ']') out += text[++i];
      continue;
    }
    if (c == ']') in_class = false;
    const bool named = !in_class && text.compare(i, 3, "(?<") == 0 && i + 3 < text.size() &&
                       text[i + 3] != '=' && text[i + 3] != '!';
    out += c;
    if (named) {
      out += "?P";
      ++i;
    }
  }
  return out;
}

}  // namespace

struct Pattern::Impl {
  explicit Impl(const std::string& text, const RE2::Options& options) : re(text, options) {}
  RE2 re;
};

Result<Pattern> Pattern::compile(const std::string& text) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(16 << 20);
  bool refused = false;
  auto impl = std::make_unique<const Impl>(as_re2(text, refused), options);
  if (refused) {
    return Error(ErrorKind::invalid, "error parsing regexp: invalid escape sequence: `\\C`");
  }
  if (impl->re.ok()) return Pattern(std::move(impl));
  const auto code = impl->re.error_code();
  // Of these Go shows the whole expression, RE2 a part of it or nothing.
  const bool whole = code == RE2::ErrorMissingParen || code == RE2::ErrorUnexpectedParen ||
                     impl->re.error_arg().empty();
  const std::string shown = code == RE2::ErrorTrailingBackslash ? std::string()
                            : whole                             ? text
                                                                : impl->re.error_arg();
  return Error(ErrorKind::invalid,
               fmt::format("error parsing regexp: {}: `{}`", words_of(code), shown));
}

Pattern::Pattern(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), impl_->re);
}

}  // namespace kubewatch::schema

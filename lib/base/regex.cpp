#include "base/regex.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.hpp"

namespace kubewatch::base {

namespace {

constexpr std::size_t kMaxPattern = 64U << 10U;
constexpr std::int64_t kMaxMemory = 8 << 20;
// Of one whose program is kept: what RE2 adds to it while it is used counts as well.
constexpr std::int64_t kKeptMemory = 512 << 10;
constexpr std::size_t kLongestKept = 512;

// What Go calls the error that RE2 has found.
const char* go_wording(RE2::ErrorCode code) {
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
    case RE2::ErrorPatternTooLarge: return "expression nests too deeply or is too large";
    default: return "regexp/syntax: internal error";
  }
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

// A pattern of Go's in RE2's syntax, and what Go refuses of what RE2 takes. The pattern may be
// broken: what both refuse is left to RE2.
class Translation {
 public:
  explicit Translation(std::string_view pattern) {
    if (const auto last = pattern.rfind(":]"); last != std::string_view::npos) {
      class_name_size_ = pattern.size() - last;
    }
    out_.reserve(pattern.size());
    while (!pattern.empty()) {
      const std::size_t length = std::min(next(pattern), pattern.size());
      pattern.remove_prefix(length);
    }
  }

  const std::string& re2() const { return out_; }
  // "(?<1-2>" where a group is named as none can be, as Go shows it; "" if there is none.
  const std::string& bad_name() const { return bad_name_; }
  bool any_byte() const { return any_byte_; }  // has \C
  // Go allows trees of height 1000. Concatenations and repetitions add to it as well, but as Go
  // rewrites them; groups are what it certainly has.
  bool too_deep() const { return deepest_ >= 1000; }

 private:
  // Takes over what stands first, and says how long it is.
  std::size_t next(std::string_view rest) {
    std::size_t length = 1;
    if (rest.front() == '\\') {
      length = escape(rest);
    } else if (rest.front() == '[') {
      length = char_class(rest);
    } else if (rest.front() == '(') {
      return group(rest);
    } else if (rest.front() == ')' && !groups_.empty()) {
      depth_ -= groups_.back() ? 1 : 0;
      groups_.pop_back();
    }
    out_ += rest.substr(0, length);
    return length;
  }

  std::size_t escape(std::string_view rest) {
    if (rest.starts_with("\\Q")) return past(rest, rest.find("\\E"), 2);
    any_byte_ = any_byte_ || rest.starts_with("\\C");
    return 2;
  }

  std::size_t char_class(std::string_view rest) const {
    std::size_t at = rest.substr(1, 1) == "^" ? 2 : 1;
    const std::size_t first = at;
    while (at < rest.size() && (rest[at] != ']' || at == first)) {
      if (rest[at] == '\\') {
        at += 2;
      } else {
        // Looked for only where it is: one that is missing would be looked for again and again.
        const bool named = rest.substr(at, 2) == "[:" && rest.size() - at >= class_name_size_ + 2;
        const auto end = named ? rest.find(":]", at + 2) : std::string_view::npos;
        at = end == std::string_view::npos ? at + 1 : end + 2;
      }
    }
    return at + 1;
  }

  std::size_t group(std::string_view rest) {
    std::size_t name = 0;
    if (rest.starts_with("(?P<")) name = 4;
    if (rest.starts_with("(?<")) name = 3;
    if (name > 0 && rest.size() > name) return named_group(rest, name);
    std::size_t length = 1;
    if (rest.starts_with("(?")) {
      const auto end = rest.find_first_of(":)");
      length = past(rest, end, 1);
      // "(?i)" is no group.
      if (end != std::string_view::npos && rest[end] == ':') groups_.push_back(false);
    } else {
      open();
    }
    out_ += rest.substr(0, length);
    return length;
  }

  std::size_t named_group(std::string_view rest, std::size_t name) {
    const auto end = rest.find('>');
    const bool closed = end != std::string_view::npos;
    if (!closed || !is_name(rest.substr(name, end - name))) {
      bad_name_ = rest.substr(0, closed ? end + 1 : rest.size());
      out_ += rest;
      return rest.size();
    }
    open();
    out_ += "(?P<";
    out_ += rest.substr(name, end + 1 - name);
    return end + 1;
  }

  static bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return is_alphanumeric(c) || c == '_'; });
  }

  static std::size_t past(std::string_view rest, std::size_t found, std::size_t length) {
    return found == std::string_view::npos ? rest.size() : found + length;
  }

  void open() {
    groups_.push_back(true);
    deepest_ = std::max(deepest_, ++depth_);
  }

  std::string out_;
  std::string bad_name_;
  std::size_t class_name_size_ = kMaxPattern;  // from the last ":]" to the end
  bool any_byte_ = false;
  std::vector<bool> groups_;  // those that are open: whether they capture
  std::size_t depth_ = 0;
  std::size_t deepest_ = 0;
};

Error parse_error(ErrorKind kind, std::string_view what, std::string_view where) {
  return Error(kind,
               "error parsing regexp: " + std::string(what) + ": `" + std::string(where) + "`");
}

}  // namespace

struct Regex::Program {
  explicit Program(std::string_view pattern, const RE2::Options& options)
      : re2(piece(pattern), options) {}
  RE2 re2;
};

// The programs that were made last: the schemas of a project repeat a handful of patterns, and the
// check of a CRD, its defaults and its validator each ask for all of them. Making a program takes
// longer than all else that is checked of its field. At most 16 MiB in all, whatever the patterns
// and the texts are.
class Regex::Recent {
 public:
  std::shared_ptr<const Program> find(std::string_view pattern) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, program] : programs_) {
      if (known == pattern) return program;
    }
    return nullptr;
  }
  void add(std::string_view pattern, std::shared_ptr<const Program> program) {
    const std::lock_guard lock(mutex_);
    if (programs_.size() == kMost) programs_.pop_front();
    programs_.emplace_back(pattern, std::move(program));
  }

 private:
  static constexpr std::size_t kMost = 32;
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::shared_ptr<const Program>>> programs_;
};

Regex::Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) {
    return Error(ErrorKind::too_large, "the regular expression is longer than 64 KiB");
  }
  static Recent recent;
  if (auto known = recent.find(pattern)) return Regex(std::move(known));
  const Translation translation(pattern);
  const auto make = [&translation](std::int64_t memory) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(memory);
    return std::make_shared<const Program>(translation.re2(), options);
  };
  bool kept = pattern.size() <= kLongestKept;
  auto program = make(kept ? kKeptMemory : kMaxMemory);
  if (kept && program->re2.error_code() == RE2::ErrorPatternTooLarge) {
    kept = false;
    program = make(kMaxMemory);
  }
  const auto code = program->re2.error_code();
  std::string argument = program->re2.error_arg();
  const bool at_bad_name = program->re2.ok() || (code == RE2::ErrorBadPerlOp && argument == "(?<");
  if (at_bad_name && !translation.bad_name().empty()) {
    return parse_error(ErrorKind::invalid, go_wording(RE2::ErrorBadNamedCapture),
                       translation.bad_name());
  }
  if (program->re2.ok()) {
    if (translation.any_byte()) {
      return parse_error(ErrorKind::invalid, go_wording(RE2::ErrorBadEscape), "\\C");
    }
    if (translation.too_deep()) {
      return parse_error(ErrorKind::invalid, "expression nests too deeply", pattern);
    }
    if (kept) recent.add(pattern, program);
    return Regex(std::move(program));
  }
  if (code == RE2::ErrorTrailingBackslash) argument.clear();
  if (argument == translation.re2()) argument = pattern;
  const auto kind = code == RE2::ErrorPatternTooLarge ? ErrorKind::too_large : ErrorKind::invalid;
  return parse_error(kind, go_wording(code), argument);
}

bool Regex::search(std::string_view text) const {
  return program_->re2.Match(piece(text), 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

std::optional<Regex::Match> Regex::find(std::string_view text, std::size_t from) const {
  std::array<re2::StringPiece, 1> found;
  if (from > text.size() ||
      !program_->re2.Match(piece(text), from, text.size(), RE2::UNANCHORED, found.data(), 1)) {
    return std::nullopt;
  }
  const auto begin = static_cast<std::size_t>(found[0].data() - text.data());
  return Match{begin, begin + found[0].size()};
}

}  // namespace kubewatch::base

#include "base/regex.hpp"

#include <re2/re2.h>

#include <array>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

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
  const auto make = [pattern](std::int64_t memory) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(memory);
    return std::make_shared<const Program>(pattern, options);
  };
  bool kept = pattern.size() <= kLongestKept;
  auto program = make(kept ? kKeptMemory : kMaxMemory);
  if (kept && program->re2.error_code() == RE2::ErrorPatternTooLarge) {
    kept = false;
    program = make(kMaxMemory);
  }
  if (program->re2.ok()) {
    if (kept) recent.add(pattern, program);
    return Regex(std::move(program));
  }
  const auto code = program->re2.error_code();
  std::string argument = program->re2.error_arg();
  if (code == RE2::ErrorTrailingBackslash) argument.clear();
  const auto kind = code == RE2::ErrorPatternTooLarge ? ErrorKind::too_large : ErrorKind::invalid;
  return Error(kind,
               std::string("error parsing regexp: ") + go_wording(code) + ": `" + argument + "`");
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

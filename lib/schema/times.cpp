#include "schema/times.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

using Scalar = MergeNode::Scalar;

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && base::is_digit(text[at]);
}

// As Go's package time quotes, which is not how fmt does.
std::string in_time_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte >= 0x80) {
      out += fmt::format("\\x{:02x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

struct Clock {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t micros = 0;
  int zone = 0;  // seconds east of UTC
};

std::chrono::year_month_day date_of(const Clock& clock) {
  return {std::chrono::year(clock.year), std::chrono::month(static_cast<unsigned>(clock.month)),
          std::chrono::day(static_cast<unsigned>(clock.day))};
}

WallTime wall_time(const Clock& clock) {
  const std::chrono::seconds seconds(clock.hour * 3600 + clock.minute * 60 + clock.second -
                                     clock.zone);
  return WallTime(std::chrono::sys_days(date_of(clock)).time_since_epoch() + seconds +
                  std::chrono::microseconds(clock.micros));
}

// Reads from the front as Go does, and remembers the first thing that is wrong.
class TimeParser {
 public:
  TimeParser(Scalar kind, std::string_view text) : kind_(kind), text_(text), rest_(text) {}

  Result<WallTime> run();

 private:
  // Exactly so many digits; an hour may have one less.
  int number(std::size_t digits, const char* element, bool one_will_do = false) {
    if (why_) return 0;
    std::size_t count = 0;
    while (count < digits && is_digit_at(rest_, count)) ++count;
    if (count < digits && !(one_will_do && count == 1)) return fail(element);
    int value = 0;
    for (const char c : rest_.substr(0, count)) value = value * 10 + (c - '0');
    rest_.remove_prefix(count);
    return value;
  }
  int in_range(int value, int least, int most, const char* what) {
    if (!why_ && (value < least || value > most)) out_of_range(what);
    return value;
  }
  void letter(char wanted) {
    if (why_) return;
    if (rest_.empty() || rest_[0] != wanted) {
      fail(std::string(1, wanted));
      return;
    }
    rest_.remove_prefix(1);
  }
  std::int64_t fraction();
  int zone();
  int fail(const std::string& element) {
    why_ =
        fmt::format("parsing time {} as \"2006-01-02T15:04:05{}Z07:00\": cannot parse {} as \"{}\"",
                    in_time_quotes(text_), kind_ == Scalar::micro_time ? kMicros : "",
                    in_time_quotes(rest_), element);
    return 0;
  }
  void out_of_range(const char* what) {
    why_ = fmt::format("parsing time {}: {} out of range", in_time_quotes(text_), what);
  }

  static constexpr const char* kMicros = ".000000";
  static constexpr std::size_t kMicroDigits = 6;

  Scalar kind_;
  std::string_view text_;
  std::string_view rest_;
  std::optional<std::string> why_;
};

// Any number of digits or none; of a MicroTime six.
std::int64_t TimeParser::fraction() {
  if (why_) return 0;
  const bool point = !rest_.empty() && (rest_[0] == '.' || rest_[0] == ',');
  std::size_t digits = 0;
  while (point && is_digit_at(rest_, digits + 1)) ++digits;
  if (kind_ == Scalar::micro_time) {
    if (digits < kMicroDigits) return fail(kMicros);
    digits = kMicroDigits;
  }
  if (digits == 0) return 0;
  std::int64_t micros = 0;
  for (std::size_t i = 1; i <= kMicroDigits; ++i) {
    micros = micros * 10 + (i <= digits ? rest_[i] - '0' : 0);
  }
  rest_.remove_prefix(digits + 1);
  return micros;
}

// "Z" or "+01:00". What is out of range is told even where something else is wrong.
int TimeParser::zone() {
  constexpr std::size_t kLength = 6;
  if (why_) return 0;
  if (!rest_.empty() && rest_[0] == 'Z') {
    rest_.remove_prefix(1);
    return 0;
  }
  if (rest_.size() < kLength || rest_[3] != ':') return fail("Z07:00");
  const auto two = [&](std::size_t at) -> std::optional<int> {
    if (!is_digit_at(rest_, at) || !is_digit_at(rest_, at + 1)) return std::nullopt;
    return (rest_[at] - '0') * 10 + (rest_[at + 1] - '0');
  };
  const auto hours = two(1);
  const auto minutes = hours ? two(4) : std::nullopt;
  in_range(minutes.value_or(0), 0, 60, "time zone offset minute");
  in_range(hours.value_or(0), 0, 24, "time zone offset hour");
  if (why_) return 0;
  if (!minutes || (rest_[0] != '+' && rest_[0] != '-')) return fail("Z07:00");
  const int offset = *hours * 3600 + *minutes * 60;
  const int east = rest_[0] == '-' ? -offset : offset;
  rest_.remove_prefix(kLength);
  return east;
}

Result<WallTime> TimeParser::run() {
  Clock clock;
  clock.year = number(4, "2006");
  letter('-');
  clock.month = in_range(number(2, "01"), 1, 12, "month");
  letter('-');
  clock.day = number(2, "02");
  letter('T');
  clock.hour = in_range(number(2, "15", true), 0, 23, "hour");
  letter(':');
  clock.minute = in_range(number(2, "04"), 0, 59, "minute");
  letter(':');
  clock.second = in_range(number(2, "05"), 0, 59, "second");
  clock.micros = fraction();
  clock.zone = zone();
  if (!why_ && !rest_.empty()) {
    why_ = fmt::format("parsing time {}: extra text: {}", in_time_quotes(text_),
                       in_time_quotes(rest_));
  }
  if (!why_ && !date_of(clock).ok()) out_of_range("day");
  if (why_) return Error(ErrorKind::invalid, *why_);
  return wall_time(clock);
}

struct BadTime {
  std::string why;
  std::string word;   // what it is, where it is no text
  std::string field;  // "status.startTime"
  std::string type;   // whose field it is
};

std::optional<BadTime> first_bad(const MergeNode& node, const Json& value) {
  if (is_time(node)) {
    if (value.is_null()) return std::nullopt;
    if (!value.is_string()) return BadTime{"", json_word(value), "", ""};
    auto read = written_time(node.scalar, value.get_ref<const std::string&>());
    return read ? std::nullopt : std::optional(BadTime{read.error().message(), "", "", ""});
  }
  if (node.kind == MergeNode::Kind::scalar || !value.is_structured()) return std::nullopt;
  for (auto it = value.begin(); it != value.end(); ++it) {
    const MergeNode* below = value.is_array() ? node.element.get() : node.child(it.key());
    if (below == nullptr || below->kind == MergeNode::Kind::deduced) continue;
    auto bad = first_bad(*below, *it);
    if (!bad) continue;
    if (node.is_struct && value.is_object()) {
      bad->field = bad->field.empty() ? it.key() : it.key() + "." + bad->field;
      if (bad->type.empty()) bad->type = node.go_type;
    }
    return bad;
  }
  return std::nullopt;
}

}  // namespace

bool is_time(const MergeNode& node) {
  return node.kind == MergeNode::Kind::scalar &&
         (node.scalar == Scalar::time || node.scalar == Scalar::micro_time);
}

Result<Json> written_time(Scalar kind, std::string_view text) {
  KW_ASSIGN(const WallTime at, TimeParser(kind, text).run());
  static const WallTime kZero = wall_time({1, 1, 1});
  if (at == kZero) return Json();
  return Json(kind == Scalar::micro_time ? base::format_rfc3339_micro(at)
                                         : base::format_rfc3339(at));
}

std::optional<std::string> why_no_times(const MergeNode& node, const Json& object,
                                        TimeReader reader) {
  const auto bad = first_bad(node, object);
  if (!bad) return std::nullopt;
  if (bad->word.empty()) return bad->why;
  if (reader == TimeReader::converter) return misread_value(bad->word, "string");
  return misread_field(bad->word, fmt::format("{}.{}", bad->type, bad->field), "string");
}

}  // namespace kubewatch::schema

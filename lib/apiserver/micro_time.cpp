#include "apiserver/micro_time.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::string_view kLayout = "2006-01-02T15:04:05.000000Z07:00";

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

int days_in(int month, int year) {
  using std::chrono::last;
  const auto end =
      std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month)) / last;
  return static_cast<int>(static_cast<unsigned>(end.day()));
}

// Reads from the front as Go does, and remembers the first thing that is wrong.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text), rest_(text) {}

  // Exactly so many digits; an hour may have one less.
  int number(std::size_t digits, const char* element, bool one_will_do = false) {
    if (why_) return 0;
    std::size_t count = 0;
    while (count < digits && is_digit(rest_, count)) ++count;
    if (count < digits && !(one_will_do && count == 1)) return fail(element);
    int value = 0;
    for (const char c : rest_.substr(0, count)) value = value * 10 + (c - '0');
    rest_.remove_prefix(count);
    return value;
  }
  void in_range(int value, int least, int most, const char* what) {
    if (!why_ && (value < least || value > most)) out_of_range(what);
  }
  void letter(char wanted) {
    if (why_) return;
    if (rest_.empty() || rest_[0] != wanted) {
      fail(std::string(1, wanted));
      return;
    }
    rest_.remove_prefix(1);
  }
  void fraction() {
    constexpr std::size_t kDigits = 6;
    if (why_) return;
    bool fits = !rest_.empty() && (rest_[0] == '.' || rest_[0] == ',');
    for (std::size_t i = 1; i <= kDigits; ++i) fits = fits && is_digit(rest_, i);
    if (!fits) {
      fail(".000000");
      return;
    }
    rest_.remove_prefix(kDigits + 1);
  }
  void zone() {
    if (why_) return;
    if (!rest_.empty() && rest_[0] == 'Z') return rest_.remove_prefix(1);
    constexpr std::size_t kLength = 6;  // +01:00
    bool fits = rest_.size() >= kLength && (rest_[0] == '+' || rest_[0] == '-') && rest_[3] == ':';
    for (const std::size_t i : {1U, 2U, 4U, 5U}) fits = fits && is_digit(rest_, i);
    if (!fits) {
      fail("Z07:00");
      return;
    }
    const auto two = [&](std::size_t at) { return (rest_[at] - '0') * 10 + (rest_[at + 1] - '0'); };
    in_range(two(1), 0, 24, "time zone offset hour");
    in_range(two(4), 0, 60, "time zone offset minute");
    rest_.remove_prefix(kLength);
  }
  std::optional<std::string> why() const {
    if (why_ || rest_.empty()) return why_;
    return fmt::format("parsing time {}: extra text: {}", schema::in_quotes(text_),
                       schema::in_quotes(rest_));
  }

 private:
  int fail(const std::string& element) {
    why_ = fmt::format("parsing time {} as \"{}\": cannot parse {} as \"{}\"",
                       schema::in_quotes(text_), kLayout, schema::in_quotes(rest_), element);
    return 0;
  }
  void out_of_range(const char* what) {
    why_ = fmt::format("parsing time {}: {} out of range", schema::in_quotes(text_), what);
  }

  std::string_view text_;
  std::string_view rest_;
  std::optional<std::string> why_;
};

}  // namespace

std::optional<std::string> why_no_micro_time(const std::string& text) {
  Reader reader(text);
  const int year = reader.number(4, "2006");
  reader.letter('-');
  const int month = reader.number(2, "01");
  reader.in_range(month, 1, 12, "month");
  reader.letter('-');
  const int day = reader.number(2, "02");
  reader.letter('T');
  reader.in_range(reader.number(2, "15", true), 0, 23, "hour");
  reader.letter(':');
  reader.in_range(reader.number(2, "04"), 0, 59, "minute");
  reader.letter(':');
  reader.in_range(reader.number(2, "05"), 0, 59, "second");
  reader.fraction();
  reader.zone();
  if (!reader.why()) reader.in_range(day, 1, days_in(month, year), "day");
  return reader.why();
}

std::optional<std::string> why_no_micro_times(const std::string& storage_id, const Json& object) {
  using Path = std::vector<std::string>;
  static const std::map<std::string, std::vector<Path>> table = {
      {"leases.coordination.k8s.io", {{"spec", "acquireTime"}, {"spec", "renewTime"}}},
      {"leasecandidates.coordination.k8s.io", {{"spec", "pingTime"}, {"spec", "renewTime"}}},
      {"events", {{"eventTime"}, {"series", "lastObservedTime"}}},
  };
  const auto kind = table.find(storage_id);
  if (kind == table.end()) return std::nullopt;
  for (const Path& path : kind->second) {
    const Json* at = &object;
    for (const std::string& name : path) {
      if (at != nullptr) at = base::find(*at, {name});
    }
    if (at == nullptr || at->is_null()) continue;
    if (!at->is_string()) {
      return fmt::format("json: cannot unmarshal {} into Go value of type string",
                         schema::json_word(*at));
    }
    if (auto why = why_no_micro_time(at->get<std::string>())) return why;
  }
  return std::nullopt;
}

}  // namespace kubewatch::apiserver

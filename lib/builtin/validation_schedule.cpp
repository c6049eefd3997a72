// The schedules of CronJobs: five fields or a word like @daily, and what the server's parser says
// of what is neither. Whether, not when: hooks/ has a crontab that counts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::vector<std::string> names;  // the first stands for `least`
};

const std::array<Bounds, 5>& all_bounds() {
  static const std::array<Bounds, 5> bounds = {
      Bounds{0, 59, {}}, Bounds{0, 23, {}}, Bounds{1, 31, {}},
      Bounds{1,
             12,
             {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
      Bounds{0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};
  return bounds;
}

struct Number {
  std::uint64_t value = 0;
  std::string problem;
};

Number read_number(const std::string& text) {
  const bool signed_text = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string digits = text.substr(signed_text ? 1 : 0);
  const std::string failed =
      fmt::format("failed to parse int from {}: strconv.Atoi: parsing {}: ", text, go_quoted(text));
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), base::is_digit)) {
    return {0, failed + "invalid syntax"};
  }
  constexpr std::size_t most_digits = 18;
  if (digits.size() > most_digits) return {0, failed + "value out of range"};
  const std::uint64_t value = std::stoull(digits);
  if (text[0] == '-' && value > 0) {
    return {0, fmt::format("negative number (-{}) not allowed: {}", value, text)};
  }
  return {value, ""};
}

Number read_value(const std::string& text, const Bounds& bounds) {
  const auto found = std::find(bounds.names.begin(), bounds.names.end(), base::to_lower(text));
  if (found == bounds.names.end()) return read_number(text);
  return {bounds.least + static_cast<std::uint64_t>(found - bounds.names.begin()), ""};
}

std::string check_range(const std::string& text, const Bounds& bounds) {
  const auto by_step = base::split(text, '/');
  const auto ends = base::split(by_step[0], '-');
  Number first{bounds.least, ""};
  Number last{bounds.most, ""};
  if (ends[0] != "*" && ends[0] != "?") {
    first = read_value(ends[0], bounds);
    if (!first.problem.empty()) return first.problem;
    last = first;
    if (ends.size() == 2) last = read_value(ends[1], bounds);
    if (!last.problem.empty()) return last.problem;
    if (ends.size() > 2) return "too many hyphens: " + text;
  }
  Number step{1, ""};
  if (by_step.size() > 2) return "too many slashes: " + text;
  if (by_step.size() == 2) {
    step = read_number(by_step[1]);
    if (!step.problem.empty()) return step.problem;
    if (ends.size() == 1) last.value = bounds.most;
  }
  if (first.value < bounds.least) {
    return fmt::format("beginning of range ({}) below minimum ({}): {}", first.value, bounds.least,
                       text);
  }
  if (last.value > bounds.most) {
    return fmt::format("end of range ({}) above maximum ({}): {}", last.value, bounds.most, text);
  }
  if (first.value > last.value) {
    return fmt::format("beginning of range ({}) beyond end of range ({}): {}", first.value,
                       last.value, text);
  }
  return step.value == 0 ? "step of range should be a positive number: " + text : "";
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, ""));
    }
  }
  return out;
}

// "1h30m", as Go reads it.
bool is_duration(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || text == "0") return !text.empty();
  static const Values units = {"ns", "us", "µs", "μs", "ms", "s", "m", "h"};
  while (!text.empty()) {
    const std::size_t number = text.find_first_not_of("0123456789.");
    if (number == 0 || number == std::string_view::npos) return false;
    const std::string_view digits = text.substr(0, number);
    if (digits == "." || std::count(digits.begin(), digits.end(), '.') > 1) return false;
    text.remove_prefix(number);
    const std::size_t end = std::min(text.find_first_of("0123456789."), text.size());
    if (std::find(units.begin(), units.end(), text.substr(0, end)) == units.end()) return false;
    text.remove_prefix(end);
  }
  return true;
}

}  // namespace

std::string check_schedule(const std::string& schedule) {
  std::string text = schedule;
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const std::size_t space = text.find(' ');
    text = space == std::string::npos ? "" : std::string(base::trim(text.substr(space)));
  }
  if (text.starts_with("@")) {
    static const Values words = {"@yearly", "@annually", "@monthly", "@weekly",
                                 "@daily",  "@midnight", "@hourly"};
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    constexpr std::string_view every = "@every ";
    if (!text.starts_with(every)) return "unrecognized descriptor: " + text;
    const std::string duration = text.substr(every.size());
    if (is_duration(duration)) return "";
    return fmt::format("failed to parse duration {}: time: invalid duration {}", text,
                       go_quoted(duration));
  }
  const auto words = words_of(text);
  if (words.size() != all_bounds().size()) {
    return fmt::format("expected exactly 5 fields, found {}: [{}]", words.size(),
                       base::join(words, " "));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const auto& range : base::split(words[i], ',')) {
      if (range.empty()) continue;
      const std::string problem = check_range(range, all_bounds().at(i));
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace kubewatch::builtin

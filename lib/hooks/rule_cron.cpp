#include "hooks/rule_cron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::hooks {

namespace {

struct Field {
  std::string_view name;
  int min;
  int max;
  std::vector<std::string> words;  // words[0] stands for `min`
};

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {"minute", 0, 59, {}},
      {"hour", 0, 23, {}},
      {"day of month", 1, 31, {}},
      {"month",
       1,
       12,
       {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
      // 7 is Sunday too.
      {"day of week", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};
  return kFields;
}

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<int> parse_point(const Field& field, std::string_view text) {
  const auto word = std::find(field.words.begin(), field.words.end(), base::to_lower(text));
  if (word != field.words.end()) return field.min + static_cast<int>(word - field.words.begin());
  const auto value = parse_number(text);
  if (!value || *value < field.min || *value > field.max) return std::nullopt;
  return value;
}

// "*", "5", "1-5", each with "/STEP".
bool valid_range(const Field& field, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto step = parse_number(text.substr(slash + 1));
    if (!step || *step == 0 || *step > field.max) return false;
    text = text.substr(0, slash);
  }
  if (text == "*") return true;
  const std::size_t dash = text.find('-');
  const auto from = parse_point(field, text.substr(0, dash));
  if (dash == std::string_view::npos) return from.has_value();
  const auto to = parse_point(field, text.substr(dash + 1));
  return from && to && *from <= *to;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::string& word : base::split(text, ' ')) {
    if (!word.empty()) out.push_back(std::move(word));
  }
  return out;
}

}  // namespace

std::string check_cron(std::string_view text) {
  std::vector<std::string> parts = words_of(text);
  if (!parts.empty() && (parts[0].starts_with("TZ=") || parts[0].starts_with("CRON_TZ="))) {
    const bool named = parts[0].find('=') + 1 < parts[0].size();
    if (!named || parts[0].find("..") != std::string::npos) return "the time zone is missing";
    parts.erase(parts.begin());
  }
  if (parts.size() != fields().size()) {
    return fmt::format("must have 5 fields (minute hour day-of-month month day-of-week), not {}",
                       parts.size());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& range : base::split(parts[i], ',')) {
      if (!valid_range(fields()[i], range)) {
        return fmt::format("\"{}\" is not valid as {} ({} to {})",
                           base::escape_for_terminal(range.substr(0, 40)), fields()[i].name,
                           fields()[i].min, fields()[i].max);
      }
    }
  }
  return "";
}

}  // namespace kubewatch::hooks

// Words, seconds and intervals.
#include "compat/crontab.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::compat {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kShortestInterval{1000};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {
    {{"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"},
     {"@monthly", "0 0 1 * *"},
     {"@weekly", "0 0 * * 0"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@hourly", "0 * * * *"}}};

// "0,30," is 0,30; of what has nothing else is left for the parser to refuse.
std::string without_empty_items(const std::string& word) {
  std::vector<std::string> items = base::split(word, ',');
  std::erase(items, "");
  return items.empty() ? word : base::join(items, ",");
}

// "TZ=Europe/Rome @daily" keeps its zone.
std::vector<std::string> spelled_out(std::string_view text) {
  std::vector<std::string> out;
  for (std::string& word : base::split_at_blanks(text)) {
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [&](const auto& entry) { return entry.first == word; });
    if (known != kWords.end()) {
      for (std::string& part : base::split(known->second, ' ')) out.push_back(std::move(part));
    } else {
      out.push_back(word == "?" ? "*" : without_empty_items(word));
    }
  }
  return out;
}

// They are written as minutes are: the minutes of one hour are asked for.
Result<std::bitset<60>> parse_seconds(const std::string& field) {
  auto schedule = hooks::CronSchedule::parse(field + " * * * *", base::TimeZone());
  if (!schedule.ok()) {
    return Error(ErrorKind::invalid,
                 "the seconds, the first of 6 fields: " + schedule.error().message());
  }
  std::bitset<60> out;
  const WallTime hour{};
  WallTime at = hour - seconds{1};
  while (const auto next = schedule->next(at)) {
    if (*next >= hour + minutes{60}) break;
    out.set(static_cast<std::size_t>(std::chrono::duration_cast<minutes>(*next - hour).count()));
    at = *next;
  }
  return out;
}

}  // namespace

Result<Crontab> Crontab::parse(std::string_view text) {
  constexpr std::string_view kEvery = "@every ";
  Crontab out;
  const std::string_view trimmed = base::trim(text);
  if (trimmed.starts_with(kEvery)) {
    KW_ASSIGN(out.every_, base::parse_duration(base::trim(trimmed.substr(kEvery.size()))));
    if (out.every_ < kShortestInterval) {
      return Error(ErrorKind::invalid, "@every takes an interval of at least 1s");
    }
    return out;
  }
  std::vector<std::string> words = spelled_out(trimmed);
  const std::size_t zone = !words.empty() && words[0].find("TZ=") != std::string::npos ? 1 : 0;
  if (words.size() == zone + 6) {
    KW_ASSIGN(out.seconds_, parse_seconds(words[zone]));
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(zone));
  } else if (words.size() != zone + 5) {
    return Error(ErrorKind::invalid,
                 "must have 5 fields (minute hour day-of-month month day-of-week), or 6 with "
                 "seconds in front, not " +
                     std::to_string(words.size() - zone));
  }
  KW_ASSIGN(out.minutes_, hooks::CronSchedule::parse(base::join(words, " ")));
  return out;
}

std::optional<WallTime> Crontab::next(WallTime after) const {
  if (!minutes_) return after + every_;
  auto minute = minutes_->next(std::chrono::floor<minutes>(after) - seconds{1});
  while (minute) {
    for (std::size_t second = 0; second < seconds_.size(); ++second) {
      const WallTime at = *minute + seconds{static_cast<int>(second)};
      if (seconds_.test(second) && at > after) return at;
    }
    minute = minutes_->next(*minute);
  }
  return std::nullopt;
}

}  // namespace kubewatch::compat

#include "hooks/loop_alarm.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "hooks/changed_paths.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostPaths = 10;
constexpr Duration kFirstDelay{2000};
constexpr Duration kLongestDelay{60000};

Duration put_off(std::size_t slowed) {
  Duration out = kFirstDelay;
  for (std::size_t i = 1; i < slowed && out < kLongestDelay; ++i) out *= 2;
  return std::min(out, kLongestDelay);
}

}  // namespace

std::vector<std::string> changes_of(const Printed& before, const Printed& after, std::size_t most) {
  std::vector<std::string> out;
  const auto note = [&](const std::string& id, const std::string& path) {
    if (out.size() < most) out.push_back(id + ": " + path);
  };
  for (const auto& [id, object] : after) {
    const auto old = before.find(id);
    if (old == before.end()) {
      note(id, "(new)");
      continue;
    }
    const auto paths = changed_paths(base::dump_json(old->second), base::dump_json(object), most);
    for (const std::string& path : paths) note(id, path);
  }
  for (const auto& [id, object] : before) {
    if (after.count(id) == 0) note(id, "(gone)");
  }
  return out;
}

std::string LoopReport::text() const {
  if (!compared) {
    return "its runs cause each other: what they write runs it again, or another program undoes "
           "it; it is slowed down";
  }
  if (paths.empty()) {
    return "its runs cause each other, though its hook prints the same each time: another program "
           "changes what it writes, or it writes what it watches; it is slowed down";
  }
  return "its runs cause each other, for its hook writes something else each time: " +
         base::join(paths, ", ") +
         " (a time, a random value, an unsorted list?); it is slowed down";
}

std::optional<LoopReport> LoopAlarm::note(const core::ObjectKey& key, TimePoint now, Woken woken,
                                          bool changed, Printed printed) {
  if (!changed) {
    const auto known = objects_.find(key);
    const bool fights =
        known != objects_.end() && known->second.last_woken == Woken::perhaps_by_itself;
    if (woken != Woken::by_itself || !fights) objects_.erase(key);
    return std::nullopt;
  }
  if (woken == Woken::by_others || woken == Woken::by_rule) return std::nullopt;
  const auto [it, fresh] = objects_.try_emplace(key);
  Entry& entry = it->second;
  const bool slowed = loops(entry, now);
  if (fresh || (!slowed && (entry.looping || now - entry.since >= window_))) {
    entry = Entry();
    entry.since = now;
  }
  entry.last = now;
  entry.last_woken = woken;
  if (slowed) {
    ++entry.slowed;
    return std::nullopt;
  }
  ++entry.runs;
  if (wants_printed(key) && !printed.empty()) {
    if (entry.printed) {
      entry.compared = true;
      for (std::string& path : changes_of(*entry.printed, printed, kMostPaths)) {
        ++entry.paths[std::move(path)];
      }
    }
    entry.printed = std::move(printed);
  }
  if (entry.runs <= limit_) return std::nullopt;
  entry.looping = true;
  entry.slowed = 1;
  LoopReport report;
  report.compared = std::exchange(entry.compared, false);
  for (const auto& [path, times] : entry.paths) report.paths.push_back(path);
  std::stable_sort(report.paths.begin(), report.paths.end(),
                   [&](const std::string& a, const std::string& b) {
                     return entry.paths.at(a) > entry.paths.at(b);
                   });
  if (report.paths.size() > kMostPaths) report.paths.resize(kMostPaths);
  entry.paths.clear();
  entry.printed.reset();
  entry.report = report;
  return report;
}

// It is over when nothing has happened for a window, the time apart that we put it off for.
bool LoopAlarm::loops(const Entry& entry, TimePoint now) const {
  return entry.looping && now - entry.last < put_off(entry.slowed) + window_;
}

bool LoopAlarm::wants_printed(const core::ObjectKey& key) const {
  const auto it = objects_.find(key);
  return it != objects_.end() && !it->second.looping && it->second.runs * 2 >= limit_;
}

std::optional<LoopReport> LoopAlarm::found(const core::ObjectKey& key, TimePoint now) const {
  const auto it = objects_.find(key);
  if (it == objects_.end() || !loops(it->second, now)) return std::nullopt;
  return it->second.report;
}

Duration LoopAlarm::delay(const core::ObjectKey& key, TimePoint now) const {
  const auto it = objects_.find(key);
  if (it == objects_.end() || !loops(it->second, now)) return Duration{0};
  return put_off(it->second.slowed);
}

}  // namespace kubewatch::hooks

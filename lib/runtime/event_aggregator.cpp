#include "runtime/event_aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "base/fnv.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "core/status.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxWord = 128;
constexpr std::size_t kMaxObjectName = 230;  // room for the suffix within 253
constexpr std::size_t kSuffix = 16;

// At most `limit` bytes, whole characters; what is no UTF-8 becomes '?'.
std::string cut(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char next = base::next_utf8(text, at);
    const std::string_view bytes = next.valid ? text.substr(at, next.size) : "?";
    if (out.size() + bytes.size() > limit) break;
    out += bytes;
    at += next.size;
  }
  return out;
}

Error invalid(const std::string& what) {
  return Error(ErrorKind::invalid, "Event: " + what);
}

Result<void> check_word(const char* field, const std::string& value) {
  if (value.empty()) return invalid(std::string(field) + " is missing");
  if (value.size() > kMaxWord) {
    return invalid(fmt::format("{} is longer than {} bytes", field, kMaxWord));
  }
  return {};
}

Result<void> check(const EventReporter& reporter, const Happening& what) {
  KW_TRY(check_word("reason", what.reason));
  KW_TRY(check_word("action", what.action));
  KW_TRY(check_word("reportingInstance", reporter.instance));
  if (const auto problem = core::check_label_key(reporter.controller); !problem.empty()) {
    return invalid("reportingController \"" + reporter.controller + "\": " + problem);
  }
  if (what.regarding.kind.empty() || what.regarding.name.empty()) {
    return invalid("regarding has no kind or no name");
  }
  return {};
}

std::string text_of(const core::ObjectRef& object) {
  return base::join({object.api_version, object.kind, object.namespace_, object.name, object.uid},
                    "\n");
}

std::string key_of(const EventReporter& reporter, const Happening& what) {
  return base::join(
      {what.type == EventType::normal ? "n" : "w", what.reason, what.action, reporter.controller,
       reporter.instance, text_of(what.regarding), what.related ? text_of(*what.related) : ""},
      "\n");
}

bool namespace_terminates(const Error& error) {
  for (const core::StatusCause& cause : core::causes_of(error)) {
    if (cause.reason == "NamespaceTerminating") return true;
  }
  return false;
}

}  // namespace

struct EventAggregator::Series {
  std::string key;
  std::string same;        // the key of its Reported
  std::uint64_t note = 0;  // hash of the note, which the API keeps as the Event was created
  EventReporter reporter;
  Happening first;
  core::ObjectKey event;  // namespace and name
  WallTime first_wall{};
  WallTime last_wall{};
  TimePoint last_seen{};
  std::uint64_t count = 1;
  bool hurried = false;  // its last repetition is news and is written at once

  // What the server knows.
  bool created = false;
  std::uint64_t written = 0;  // count
  TimePoint written_at{};

  std::uint64_t in_flight = 0;  // the id of its write, 0 = none
  std::uint64_t sent = 0;       // the count in it
  int tries = 0;
  std::optional<TimePoint> retry_at;
  std::optional<TimePoint> given_up;
  bool refused = false;  // given up for what no other note would mend
  std::optional<TimePoint> due;
};

EventAggregator::EventAggregator(EventLimits limits, base::Random& random)
    : limits_(limits), random_(random), beyond_{{limits.burst_beyond, limits.one_beyond_per}, 0} {}

EventAggregator::~EventAggregator() = default;

Result<void> EventAggregator::observe(const EventReporter& reporter, const Happening& what,
                                      TimePoint now, WallTime wall) {
  KW_TRY(check(reporter, what));
  const std::string same = key_of(reporter, what);
  const std::uint64_t note = base::fnv1a64(cut(what.note, kMaxNote));
  const auto found = reported_.find(same);
  if (found == reported_.end()) return begin(same, note, reporter, what, now, wall);
  Reported& reported = found->second;
  const auto known = std::find_if(reported.live.begin(), reported.live.end(),
                                  [note](const Series* one) { return one->note == note; });
  Series* series = known == reported.live.end() ? nullptr : *known;
  const bool changes = series != reported.current && may_change(reported, what.regarding, now);
  if (series == nullptr && changes) return begin(same, note, reporter, what, now, wall);
  Series& one = series == nullptr ? *reported.current : *series;
  if (changes) {
    reported.changes.push_back(now);
    reported.current = &one;
  }
  repeat(one, changes, now, wall);
  return {};
}

// Whether another note than that of the current series is worth a write. A note that is another
// each time, because it holds a time or an identifier, would be an Event each time.
bool EventAggregator::may_change(Reported& reported, const core::ObjectRef& object, TimePoint now) {
  // What was given up only because nothing came through, or for its own words, says nothing about
  // another.
  if (reported.current->given_up && reported.current->refused) return false;
  std::erase_if(reported.changes,
                [&](TimePoint change) { return change + limits_.refresh <= now; });
  return reported.changes.size() < limits_.notes && bucket_of(object, now).tokens.level(now) >= 1;
}

EventAggregator::Bucket& EventAggregator::bucket_of(const core::ObjectRef& object, TimePoint now) {
  const std::string key = text_of(object);
  Bucket* bucket = buckets_.find(key);
  if (bucket == nullptr) {
    if (buckets_.size() >= limits_.remembered) {
      if (beyond_.tokens.level(now) < 1) return beyond_;
      beyond_.tokens.take(now);
      const std::string oldest = *buckets_.oldest([](const Bucket&) { return true; });
      buckets_.erase(oldest);
    }
    return buckets_.insert(key, Bucket{{limits_.burst, limits_.one_write_per}, 0});
  }
  return *bucket;
}

Result<void> EventAggregator::begin(const std::string& same, std::uint64_t note,
                                    const EventReporter& reporter, const Happening& what,
                                    TimePoint now, WallTime wall) {
  Bucket& bucket = bucket_of(what.regarding, now);
  if (bucket.tokens.level(now) < 1) {
    ++bucket.suppressed;
    ++stats_.suppressed;
    return {};
  }
  bucket.tokens.take(now);
  if (series_.size() >= limits_.remembered && !forget_oldest()) {
    ++stats_.dropped;
    return {};
  }
  Series series;
  series.key = same + "\n" + std::to_string(++last_series_);
  series.same = same;
  series.note = note;
  series.reporter = reporter;
  series.first = what;
  std::string tail;
  if (bucket.suppressed > 0) {
    tail =
        fmt::format(" ({} more Events on this object were too many to write)", bucket.suppressed);
    bucket.suppressed = 0;
  }
  series.first.note = cut(what.note, kMaxNote - tail.size()) + tail;
  const std::string& place = what.regarding.namespace_;
  series.event = {place.empty() ? "default" : place, new_name(what.regarding.name)};
  series.first_wall = series.last_wall = wall;
  series.last_seen = now;
  const std::string key = series.key;
  Series& begun = series_.insert(key, std::move(series));
  // After forget_oldest(), with which the last of those reported before may have gone.
  Reported& reported = reported_[same];
  if (reported.current != nullptr) reported.changes.push_back(now);
  reported.live.push_back(&begun);
  reported.current = &begun;
  schedule(begun);
  return {};
}

// `changes`: another note was the last one.
void EventAggregator::repeat(Series& series, bool changes, TimePoint now, WallTime wall) {
  ++stats_.repeated;
  if (++series.count == 2 || changes) {
    // The first repetition is news and costs a write; the rest wait for the refresh or the end.
    Bucket& bucket = bucket_of(series.first.regarding, now);
    series.hurried = bucket.tokens.level(now) >= 1;
    if (series.hurried) bucket.tokens.take(now);
  }
  series_.find(series.key);  // used just now
  series.last_seen = now;
  series.last_wall = wall;
  schedule(series);
}

// Object names that are no DNS names (system:node) still make a valid Event name.
std::string EventAggregator::new_name(const std::string& object) {
  std::string out = base::to_lower(object).substr(0, kMaxObjectName);
  for (char& c : out) {
    const bool fine = base::is_lower(c) || base::is_digit(c) || c == '-' || c == '.';
    if (!fine) c = '-';
  }
  if (!core::check_dns_subdomain(out).empty()) {
    std::replace(out.begin(), out.end(), '.', '-');
    out = "x" + out + "x";
  }
  return out + "." + random_.suffix(kSuffix);
}

std::optional<TimePoint> EventAggregator::due_of(const Series& series) const {
  const TimePoint end = series.last_seen + limits_.series_end;
  if (series.in_flight != 0) return std::nullopt;
  // Forgotten then, and tried afresh when it happens again.
  if (series.given_up) return std::min(end, *series.given_up + limits_.refresh);
  if (series.retry_at) return series.retry_at;
  if (!series.created) return series.last_seen;
  if (series.count > series.written) {
    return hurries_ || series.hurried ? series.last_seen
                                      : std::min(end, series.written_at + limits_.refresh);
  }
  return end;
}

void EventAggregator::schedule(Series& series) {
  if (series.due) due_.erase({*series.due, &series});
  series.due = due_of(series);
  if (series.due) due_.insert({*series.due, &series});
}

void EventAggregator::hurry(bool on) {
  if (std::exchange(hurries_, on) == on) return;
  series_.each([this](Series& series) { schedule(series); });
}

void EventAggregator::forget(const std::string& key) {
  Series* series = series_.find(key);
  if (series->due) due_.erase({*series->due, series});
  const auto found = reported_.find(series->same);
  Reported& reported = found->second;
  std::erase(reported.live, series);
  if (reported.live.empty()) {
    reported_.erase(found);
  } else if (reported.current == series) {
    reported.current = reported.live.back();
  }
  series_.erase(key);
}

bool EventAggregator::forget_oldest() {
  const std::string* oldest = series_.oldest([](const Series& one) { return one.in_flight == 0; });
  if (oldest == nullptr) return false;
  const std::string key = *oldest;
  const Series& series = *series_.find(key);
  if (!series.given_up && series.count > series.written) ++stats_.dropped;
  forget(key);
  return true;
}

std::optional<TimePoint> EventAggregator::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

std::optional<EventWrite> EventAggregator::take(TimePoint now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    Series& series = *due_.begin()->second;
    const bool ended = series.given_up || (series.created && series.count == series.written);
    if (!ended) return write_of(series);
    forget(std::string(series.key));
  }
  return std::nullopt;
}

EventWrite EventAggregator::write_of(Series& series) {
  const Happening& what = series.first;
  EventWrite out;
  out.id = series.in_flight = ++last_id_;
  out.create = !series.created;
  out.key = series.event;
  series.sent = series.count;
  series.hurried = false;
  if (out.create) {
    out.body = {{"apiVersion", "events.k8s.io/v1"},
                {"kind", "Event"},
                {"metadata", {{"name", out.key.name}, {"namespace", out.key.namespace_}}},
                {"eventTime", base::format_rfc3339_micro(series.first_wall)},
                {"reportingController", series.reporter.controller},
                {"reportingInstance", series.reporter.instance},
                {"action", what.action},
                {"reason", what.reason},
                {"regarding", what.regarding.to_json()},
                {"note", what.note},
                {"type", what.type == EventType::normal ? "Normal" : "Warning"}};
    if (what.related) out.body["related"] = what.related->to_json();
  }
  if (series.count >= 2) {
    out.body["series"] = {{"count", series.count},
                          {"lastObservedTime", base::format_rfc3339_micro(series.last_wall)}};
  }
  in_flight_[out.id] = &series;
  schedule(series);
  return out;
}

std::optional<std::string> EventAggregator::on_result(std::uint64_t id, const Error* error,
                                                      TimePoint now) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return std::nullopt;
  Series& series = *found->second;
  in_flight_.erase(found);
  series.in_flight = 0;
  series.retry_at.reset();
  std::optional<std::string> tell;
  // A create that got through although its answer did not, and was sent again.
  const bool there = error != nullptr && !series.created && error->is_already_exists();
  if (error == nullptr || there) {
    if (!series.created) ++stats_.created;
    series.created = true;
    series.written = series.sent;
    series.written_at = now;
    series.tries = 0;
  } else {
    tell = on_error(series, *error, now);
  }
  schedule(series);
  return tell;
}

std::optional<std::string> EventAggregator::on_error(Series& series, const Error& error,
                                                     TimePoint now) {
  if (series.created && error.is_not_found()) {
    // Events expire (an hour by default): what is left of the series is a new one.
    series.created = false;
    series.written = 0;
    series.event.name = new_name(series.first.regarding.name);
    retry(series, error, now);
    if (!series.given_up) series.retry_at = now;
    return std::nullopt;
  }
  if (error.is_retryable() || error.is_unauthorized()) {
    retry(series, error, now);
    return std::nullopt;
  }
  give_up(series, now);
  series.refused = error.is_forbidden() || error.is_not_found();
  if (namespace_terminates(error) || error.is_not_found()) return std::nullopt;
  return tell_once(error);
}

void EventAggregator::retry(Series& series, const Error& error, TimePoint now) {
  if (++series.tries >= limits_.tries) return give_up(series, now);
  Duration wait =
      base::backoff_delay(limits_.backoff, static_cast<std::uint32_t>(series.tries), random_);
  if (error.status() != nullptr && error.status()->retry_after_seconds) {
    wait = std::max(wait, Duration{*error.status()->retry_after_seconds * 1000LL});
  }
  series.retry_at = now + wait;
}

void EventAggregator::give_up(Series& series, TimePoint now) {
  ++stats_.dropped;
  series.given_up = now;
}

std::optional<std::string> EventAggregator::tell_once(const Error& error) {
  if (!told_.insert(error.kind()).second) return std::nullopt;
  std::string out = "Events cannot be written: " + error.render();
  if (error.is_forbidden()) out += "; allow create and patch of events in events.k8s.io";
  return out;
}

}  // namespace kubewatch::runtime

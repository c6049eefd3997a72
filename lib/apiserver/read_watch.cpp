#include "apiserver/read_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kubewatch::apiserver {

namespace {

void hand_over(WatchSink& sink, std::string_view line, bool at_once) {
  at_once ? sink.send_now(line) : sink.send(line);
}

}  // namespace

void ReadWatch::start_with_state(Listing listing, std::uint64_t version, bool end,
                                 const ReadHistory& history) {
  listing_ = std::move(listing);
  state_version_ = after_ = version;
  end_marker_ = end;
  epoch_ = history.epoch();
  place_ = history.after(version);
}

Result<void> ReadWatch::start_after(std::uint64_t version, const ReadHistory& history) {
  if (!history.reaches(version)) {
    return expired(fmt::format("too old resource version: {} ({})", version, history.oldest()));
  }
  after_ = version;
  epoch_ = history.epoch();
  place_ = history.after(version);
  return {};
}

bool ReadWatch::sees(const core::ObjectKey& key, const core::Labels& labels,
                     std::string_view json) const {
  return (spec_.namespace_.empty() || key.namespace_ == spec_.namespace_) &&
         spec_.labels.matches(labels) &&
         (spec_.fields.empty() || matches_fields(spec_.fields, key, json));
}

// True once all of it is sent.
bool ReadWatch::send_state(WatchSink& sink, const ReadTurn& turn) {
  const Keys& keys = *listing_.keys;
  std::size_t all = keys.size();
  std::size_t& looks = turn.looks == nullptr ? all : *turn.looks;
  while (listed_ < keys.size() && sink.backlog() < kSinkBytes) {
    starved_ = looks == 0 && !spec_.fields.empty();
    if (starved_) return false;
    const auto json = selected_json(*listing_.state, spec_.fields, keys[listed_++], looks);
    if (!json) continue;
    const bool columns = !std::exchange(columns_sent_, true);
    sink.send(text_.line(spec_.as, "ADDED", *json, columns, turn.now));
  }
  if (listed_ < keys.size()) return false;
  if (end_marker_ && spec_.bookmarks) {
    sink.send(bookmark_line(text_.resource(), spec_.as, state_version_, true));
  }
  listing_ = {};
  return true;
}

void ReadWatch::send_line(WatchSink& sink, const ReadEvent& event, ReadEventType type,
                          const LineUse& use) {
  const char* word = to_string(type);
  const std::string& json = event.change.json;
  if (spec_.as.format == Format::table && !columns_sent_) {
    columns_sent_ = true;
    return hand_over(sink, text_.line(spec_.as, word, json, true, use.now), use.at_once);
  }
  const std::string as =
      fmt::format("{}|{}|{}|{}", word, static_cast<int>(spec_.as.format),
                  spec_.as.transform_version, static_cast<int>(spec_.as.include));
  for (const auto& [known, text] : event.lines) {
    if (known == as) return hand_over(sink, *text, use.at_once);
  }
  auto line = std::make_shared<const std::string>(text_.line(spec_.as, word, json, false, use.now));
  hand_over(sink, *line, use.at_once);
  if (use.share) event.lines.emplace_back(as, std::move(line));
}

void ReadWatch::send_event(WatchSink& sink, const ReadEvent& event, const LineUse& use) {
  const ReadChange& change = event.change;
  if (change.version <= after_) return;
  const bool before = change.type != ReadEventType::added &&
                      sees(change.key, change.previous_labels, change.previous_json);
  const bool after = sees(change.key, change.labels, change.json);
  if (change.type == ReadEventType::deleted) {
    if (before || after) send_line(sink, event, ReadEventType::deleted, use);
  } else if (after) {
    send_line(sink, event, before ? ReadEventType::modified : ReadEventType::added, use);
  } else if (before) {
    // It left the selection: the last state that matched, under this event's resourceVersion.
    const std::string last = with_version(change.previous_json, change.version);
    const bool columns = !std::exchange(columns_sent_, true);
    hand_over(sink, text_.line(spec_.as, "DELETED", last, columns, use.now), use.at_once);
  }
}

bool ReadWatch::end(WatchSink& sink) {
  sink.send(error_line(*error_));
  return false;
}

bool ReadWatch::pump(WatchSink& sink, const ReadHistory& history, const ReadTurn& turn) {
  if (!error_ && epoch_ != history.epoch()) {
    error_ = expired("the cache was read anew from the server: start again with a list");
  }
  if (!error_ && place_ < history.first()) {
    error_ =
        expired(fmt::format("too old resource version: {} ({}): this watch was read too slowly",
                            after_, history.oldest()));
  }
  starved_ = false;
  if (error_) return end(sink);
  if (listing_.state && !send_state(sink, turn)) return true;
  while (place_ < history.end() && sink.backlog() < kSinkBytes) {
    const std::uint64_t at = place_++;
    const bool newest = place_ == history.end();
    const ReadChange& change = history.at(at)->change;
    if (change.reduced && spec_.as.format != Format::partial) {
      error_ =
          expired(fmt::format("{} could not be cached as a whole: start again with a list, which "
                              "the API server answers",
                              change.key.str()));
      return end(sink);
    }
    send_event(sink, *history.at(at), {at >= turn.share_from, turn.at_once && newest, turn.now});
  }
  return true;
}

void ReadWatch::bookmark(WatchSink& sink, const ReadHistory& history) {
  if (!spec_.bookmarks || waiting(history)) return;
  sink.send(bookmark_line(text_.resource(), spec_.as, std::max(after_, history.version()), false));
}

}  // namespace kubewatch::apiserver

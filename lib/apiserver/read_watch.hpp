// One watch of a cached kind: what its client sees, and where in the history it stands. It keeps no
// events of its own: a client that does not read falls out of the history and is told so. Decides
// and encodes; the sink sends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/read_history.hpp"
#include "apiserver/read_pages.hpp"
#include "apiserver/read_text.hpp"
#include "apiserver/watch.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

struct ReadWatchSpec {
  std::string namespace_;  // "" = all
  core::LabelSelector labels;
  core::FieldSelector fields;
  Representation as;
  bool bookmarks = false;
  Duration timeout{0};
};

// One round of all watches.
struct ReadTurn {
  WallTime now{};
  // Lines of events from here on are kept with the event for the other watches; nobody takes away
  // those of earlier ones.
  std::uint64_t share_from = 0;
  // The newest event does not wait for the loop's next turn. For the first round of a turn: the
  // others of a burst go together.
  bool at_once = false;
  // How many objects may still be looked into for selections by fields; null: as many as there are.
  std::size_t* looks = nullptr;
};

class ReadWatch {
 public:
  // `text` must outlive it.
  ReadWatch(ReadWatchSpec spec, const ReadText& text) : spec_(std::move(spec)), text_(text) {}

  // Once, before the first pump, one of these. From a state: its objects as ADDED, then what
  // happened since; `end`: an annotated bookmark between the two.
  void start_with_state(Listing listing, std::uint64_t version, bool end,
                        const ReadHistory& history);
  // What is newer than `version`. Errors: expired, when the history does not reach back so far.
  Result<void> start_after(std::uint64_t version, const ReadHistory& history);
  // The stream says this one ERROR and ends.
  void start_with_error(Error error) { error_ = std::move(error); }

  // Sends what the sink takes. False: the stream is over.
  bool pump(WatchSink& sink, const ReadHistory& history, const ReadTurn& turn);
  // It would have gone on with more looks.
  bool starved() const { return starved_; }
  // A bookmark at the history's version, when wanted and nothing waits before it.
  void bookmark(WatchSink& sink, const ReadHistory& history);
  bool waiting(const ReadHistory& history) const {
    return error_ || listing_.state || place_ < history.end();
  }
  const ReadWatchSpec& spec() const { return spec_; }

 private:
  bool sees(const core::ObjectKey& key, const core::Labels& labels, std::string_view json) const;
  bool send_state(WatchSink& sink, const ReadTurn& turn);
  // What becomes of one event's line: kept for others, sent at once.
  struct LineUse {
    bool share = false;
    bool at_once = false;
    WallTime now{};
  };
  void send_event(WatchSink& sink, const ReadEvent& event, const LineUse& use);
  void send_line(WatchSink& sink, const ReadEvent& event, ReadEventType type, const LineUse& use);
  bool end(WatchSink& sink);

  ReadWatchSpec spec_;
  const ReadText& text_;
  Listing listing_;
  std::size_t listed_ = 0;
  std::uint64_t state_version_ = 0;
  bool end_marker_ = false;
  std::uint64_t place_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t after_ = 0;
  std::optional<Error> error_;
  bool columns_sent_ = false;
  bool starved_ = false;
};

}  // namespace kubewatch::apiserver

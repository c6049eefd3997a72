// The watcher state machine: decides what to list, watch and wait for, and turns pages and events
// into Init, InitApply, InitDone, Apply, Delete. No I/O, no clock: inputs come with `now`, outputs
// are actions. It does not keep objects (store does) and does not start requests (reflector does).
// Rules: Kubernetes API concepts ("Efficient detection of changes"), KEP-956 bookmarks, KEP-3157
// WatchList.
//
//   empty         --list-------------> init_page
//   empty         --streaming list---> initial_watch
//   init_page     --last page--------> init_listed
//   initial_watch --end bookmark-----> watching
//   init_listed   --watch opens------> watching
//   watching      --end, error-------> init_listed
//   watching      --410, no version--> empty
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/backoff.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "core/list_splitter.hpp"
#include "core/params.hpp"
#include "core/watch_event.hpp"
#include "runtime/list_strategy.hpp"

namespace kubewatch::runtime {

// automatic: what choose_strategy() (list_strategy.hpp) takes for the cheapest. streaming, and
// automatic where it streams, fall back to a paged LIST where the server refuses it or never ends
// it; automatic falls back to pages when the whole answer is too much. paged and unpaged never
// change.
enum class ListStrategy { automatic, paged, unpaged, streaming };
// recent: a consistent read. any: whatever the server's cache has (resourceVersion=0), but never
// older than what was seen before. not_older_than: what was seen last, or newer.
enum class ListSemantics { recent, any, not_older_than };

struct WatcherOptions {
  ListStrategy strategy = ListStrategy::automatic;
  ListSemantics semantics = ListSemantics::recent;
  std::uint32_t page_size = 500;
  Duration timeout{290000};  // timeoutSeconds asked of the server; < 295 s
  bool bookmarks = true;
  std::string label_selector;
  std::string field_selector;
  core::Content content = core::Content::full;
  std::optional<core::ServerVersion> server;  // for the choice of strategy; absent: not known
  base::BackoffPolicy backoff{Duration{800}, Duration{30000}, 2.0, 0.5};
  Duration backoff_reset{
      120000};  // a watch that lived so long, delivered anything, or ended in order starts afresh
  Duration idle{240000};  // reopen at the same resourceVersion before load balancers drop the flow
  Duration initial_end{60000};  // silence after which a streaming list's end is not waited for
  Duration short_watch{1000};   // an answered watch that ends sooner without an event counts as
                                // failed; watches are never started more often than this
  Duration open{30000};  // a watch that the server does not answer for so long counts as failed
};

enum class WatcherState { empty, init_page, initial_watch, init_listed, watching };
// Where it failed, for counters and messages (never only at debug level).
enum class WatcherFailure { initial_list, watch_start, stream, server_error, no_resource_version };
inline constexpr std::size_t kWatcherFailures = 5;
// "initial list", "watch start", ...
std::string_view to_string(WatcherFailure where);

// Actions. The driver executes them in order.
struct StartList {
  core::ListParams params;
};
struct StartWatch {
  core::WatchParams params;
};
struct StopRequest {};  // drop the open list or watch
struct SetTimer {
  TimePoint at;
};  // one timer; replaces the last; on_timer then
// A new full state begins; an unfinished one is void. rewound: the server's data may have been
// restored from a backup, so an equal resourceVersion does not mean an equal object.
struct EmitInit {
  bool rewound = false;
};
struct EmitInitApply {};  // the current list item's or event's object
struct EmitInitDone {
  std::string resource_version;
  bool gap;
};                    // gap: events may have been missed
struct EmitApply {};  // the current event's object
// The current event's object. Between Init and InitDone: it is not part of the new state after all.
struct EmitDelete {};
struct EmitBookmark {
  std::string resource_version;
};
// The server's resourceVersion went back: what other watches hold of it is in doubt as well.
struct EmitRewound {};
struct EmitFailure {
  WatcherFailure where;
  base::Error error;
  Duration retry_in;
};
using WatcherAction =
    std::variant<StartList, StartWatch, StopRequest, SetTimer, EmitInit, EmitInitApply,
                 EmitInitDone, EmitApply, EmitDelete, EmitBookmark, EmitRewound, EmitFailure>;
using WatcherActions = std::vector<WatcherAction>;

// What the machine needs to know of one event's object; the driver extracts it.
struct EventFacts {
  core::WatchEventType type = core::WatchEventType::unknown;
  std::string resource_version;      // "" when absent
  bool initial_events_end = false;   // annotation k8s.io/initial-events-end: "true"
  bool broken = false;               // the object does not parse: skipped, the stream goes on
  std::optional<base::Error> error;  // type error only
};

class Watcher {
 public:
  // `random` must outlive it.
  Watcher(WatcherOptions options, base::Random& random);

  // The choice of strategy would depend on it: ask, and call know_server(), before start().
  bool wants_server_version() const;
  void know_server(core::ServerVersion version) { options_.server = version; }
  // `known`: the resourceVersion of what is held already, or "": the list is never older.
  WatcherActions start(TimePoint now, const std::string& known = "");
  // Starts at a known point instead (a snapshot, a checkpoint): no list, but of one object, unless
  // the server says 410 or is at an older version.
  WatcherActions resume(TimePoint now, std::string resource_version);
  // Each item of the open list, as it comes: whether its list ends well is known only afterwards,
  // so a list that breaks off leaves items behind, which the next Init voids or the same page
  // repeats.
  WatcherActions on_list_item();
  // Items are those of a full state: a look at the server's version lists an object as well, which
  // may be none of this watch.
  bool lists() const { return request_ == Request::list; }
  // The item at hand stood in this list before.
  void on_repeated_item();
  // The end of the page whose items came before.
  WatcherActions on_page(TimePoint now, const core::ListPage& page);
  WatcherActions on_list_error(TimePoint now, const base::Error& error);
  WatcherActions on_watch_open(TimePoint now);
  WatcherActions on_event(TimePoint now, const EventFacts& event);
  // No error: the server closed the stream.
  WatcherActions on_watch_end(TimePoint now, const std::optional<base::Error>& error);
  // `awaits_login`: requests wait for a login, and the server may not have been asked.
  WatcherActions on_timer(TimePoint now, bool awaits_login = false);
  // Another watch of this server saw its data go back. Whether the version of this one is of the
  // past that was undone cannot be told any more: it lists anew, at once unless the server asked it
  // to wait, or it waits to list anew already, and every object is compared.
  WatcherActions on_rewound_elsewhere(TimePoint now);
  // Requests to this server get no answer since then: an open watch that has told nothing since is
  // opened anew, after a look at the server, so that it fails where the server is away. Nothing is
  // wrong yet, and no progress either.
  WatcherActions on_server_silent(TimePoint now, TimePoint since);
  // What is held is of another version of the kind: a list, and every object is compared. `known`:
  // as start() has it.
  WatcherActions list_anew(TimePoint now, const std::string& known);
  // The server's data went back, and no full state came since: what is held is of a past that the
  // server does not have.
  bool outdated() const { return round_.outdated; }

  WatcherState state() const { return state_; }
  const std::string& resource_version() const { return resource_version_; }
  // Consecutive failures; 0 while all is well.
  std::uint32_t failures() const {
    return backoff_.failures() + page_backoff_.failures() + gone_backoff_.failures();
  }
  // Events of a type that we do not know, and events whose object did not parse.
  std::uint64_t skipped_events() const { return skipped_events_; }

 private:
  enum class Request { none, list, version, watch_opening, watch_open };
  enum class TimerUse { none, retry, open, idle };

  // From one InitDone, or resume, to the next InitDone.
  struct Round {
    bool force_recent = false;        // a consistent read, whatever the semantics
    bool rewound = false;             // the server's resourceVersion went back, or may have
    bool rewind_told = false;         // it went back, and EmitRewound said so
    bool outdated = false;            // it went back, as seen here or elsewhere
    bool force_unpaged = false;       // continue tokens expire faster than we read
    std::uint32_t doubted_lists = 0;  // begun anew because pages may be of two histories
    std::uint32_t streaming_interrupted = 0;
    // The server was away, or silent for longer than it should be, or it is another process's
    // version that is resumed: it may be at an older one by now.
    bool doubtful = false;
    std::uint32_t looks_failed = 0;  // in a row
    bool watch_in_doubt = false;     // the next watch starts without a look
    // Answers and streams in a row that failed at this resourceVersion without any progress.
    std::uint32_t refused = 0;
  };
  // One list from its first page to its last; a streaming list, too, begins with none of it.
  struct ListAttempt {
    bool init_emitted = false;
    std::string continue_token;
    std::string first_page_version;
    std::size_t empty_pages = 0;
    std::size_t page_items = 0;  // of the page at hand, those that pages before did not have
    bool page_again = false;     // it broke off before, so its items may have been there
    TimePoint page_answered{};   // the last one
    bool page_doubtful = false;  // the server was away since
  };

  ListSituation situation() const;
  ListForm chosen_form() const;
  bool wants_streaming() const;
  std::uint32_t page_limit() const;
  bool consistent() const;
  std::string list_version() const;

  void begin(TimePoint now, WatcherActions& out);
  void start_list(WatcherActions& out);
  void start_watch(TimePoint now, WatcherActions& out);
  void look_at_version(WatcherActions& out);
  void version_is(TimePoint now, const std::string& version, WatcherActions& out);
  void look_failed(TimePoint now, const base::Error& error, WatcherActions& out);
  void retry_at(TimePoint at, WatcherActions& out);
  void stop(WatcherActions& out);
  void init_done(std::string resource_version, WatcherActions& out);
  // Counts, tells, and waits; what happens then follows from the state.
  void fail(TimePoint now, WatcherFailure where, const base::Error& error, WatcherActions& out);
  void note_progress();
  void tell_failure(WatcherFailure where, const base::Error& error, WatcherActions& out);
  void relist(TimePoint now, WatcherFailure where, const base::Error& error, WatcherActions& out);
  bool change_form_after(const base::Error& error);
  void emit_init(WatcherActions& out);
  void last_page(TimePoint now, const core::ListPage& page, WatcherActions& out);
  void initial_event(TimePoint now, const EventFacts& event, WatcherActions& out);
  void initial_bookmark(TimePoint now, const EventFacts& event, WatcherActions& out);
  void initial_failed(TimePoint now, const std::optional<base::Error>& error, bool hopeless,
                      WatcherFailure where, WatcherActions& out);
  void watch_event(TimePoint now, const EventFacts& event, WatcherActions& out);
  void watch_refused(TimePoint now, WatcherFailure where, const base::Error& error,
                     WatcherActions& out);
  void stream_failed(TimePoint now, const base::Error& error, WatcherActions& out);
  bool went_back(const std::string& resource_version) const;
  void note_rewind(WatcherActions& out);
  void relist_rewound(TimePoint now, WatcherFailure where, const std::string& version,
                      WatcherActions& out);
  bool page_may_be_of_another_past(TimePoint now) const;
  void begin_again_in_doubt(TimePoint now, WatcherActions& out);
  bool begin_again_if_back(TimePoint now, const std::string& resource_version, WatcherActions& out);
  void open_again(TimePoint now, WatcherActions& out);
  Duration silence_limit() const;
  Duration watch_timeout() const;

  WatcherOptions options_;
  base::Random& random_;
  base::Backoff backoff_;
  base::Backoff page_backoff_;  // of a page that is asked for again, which begins no list anew
  // Of versions that the server has no more: it is there, whatever was before.
  base::Backoff gone_backoff_;
  WatcherState state_ = WatcherState::empty;
  std::string resource_version_;
  std::uint64_t skipped_events_ = 0;

  Request request_ = Request::none;
  TimerUse timer_ = TimerUse::none;
  bool told_to_wait_ = false;            // the last failure had a Retry-After
  bool synced_ = false;                  // an InitDone was emitted, or it resumed
  std::optional<TimePoint> rewound_at_;  // when it listed anew at once because of that
  bool streaming_off_ = false;           // the server cannot do it
  bool paged_after_all_ = false;         // automatic: the whole list was too much for one answer
  Round round_;
  ListAttempt attempt_;

  // Of the current watch:
  bool has_started_watch_ = false;
  TimePoint watch_started_{};
  TimePoint watch_opened_{};
  TimePoint last_activity_{};
  std::uint64_t watch_events_ = 0;
  bool bookmarks_seen_ = false;  // in any watch
};

}  // namespace kubewatch::runtime

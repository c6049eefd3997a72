// The watcher's state, its watches (streaming lists among them), failures and time. Lists page by
// page: watcher_list.cpp.
#include "runtime/watcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/retry.hpp"
#include "core/resource_version.hpp"
#include "core/selector.hpp"
#include "runtime/watcher_answers.hpp"

namespace kubewatch::runtime {

namespace {

// Servers send bookmarks about once a minute: one that did so before and is silent now is gone.
constexpr Duration kBookmarkSilence{150000};
// What a server and whatever is in between may take to end a watch in order.
constexpr Duration kBeforeSilence{15000};
// Answers in a row that refuse to watch at one resourceVersion, before that version is given up.
constexpr std::uint32_t kMaxRefused = 5;
// Looks at the server's version in a row that fail, before it is watched without.
constexpr std::uint32_t kMaxLooks = 2;
constexpr Duration kDoubtfulWatch{60000};
// After so long a stream did not break at the first thing that it told.
constexpr Duration kNotTheFirst{20000};

// What a field selector says of metadata.name, alone.
std::string name_of(const std::string& field_selector) {
  const auto parsed = core::FieldSelector::parse(field_selector);
  if (!parsed.ok()) return "";
  for (const core::FieldRequirement& one : parsed->requirements()) {
    if (one.path == "metadata.name" && one.equal) return core::with_name("", one.value);
  }
  return "";
}

base::Error rewound(const std::string& before, const std::string& now) {
  return {ErrorKind::gone,
          fmt::format("the server's resourceVersion went back from {} to {}: its data was restored "
                      "from a backup; listing again",
                      before, now)};
}

}  // namespace

std::string_view to_string(WatcherFailure where) {
  switch (where) {
    case WatcherFailure::initial_list: return "initial list";
    case WatcherFailure::watch_start: return "watch start";
    case WatcherFailure::stream: return "watch stream";
    case WatcherFailure::server_error: return "server error event";
    case WatcherFailure::no_resource_version: return "no resourceVersion";
  }
  return "unknown";
}

Watcher::Watcher(WatcherOptions options, base::Random& random)
    : options_(std::move(options)),
      random_(random),
      backoff_(options_.backoff),
      page_backoff_(options_.backoff),
      gone_backoff_(options_.backoff) {}

bool Watcher::went_back(const std::string& resource_version) const {
  return synced_ && core::older_version(resource_version, resource_version_);
}

void Watcher::note_rewind(WatcherActions& out) {
  round_.force_recent = true;
  round_.rewound = true;
  round_.outdated = true;
  if (!std::exchange(round_.rewind_told, true)) out.emplace_back(EmitRewound{});
}

// The server is well and nothing that is held is worth anything: no waiting, unless it goes back
// and forth.
void Watcher::relist_rewound(TimePoint now, WatcherFailure where, const std::string& version,
                             WatcherActions& out) {
  const base::Error error = rewound(resource_version_, version);
  note_rewind(out);
  if (rewound_at_ && now < *rewound_at_ + options_.backoff.max) {
    return relist(now, where, error, out);
  }
  rewound_at_ = now;
  stop(out);
  round_.refused = 0;
  tell_failure(where, error, out);
  begin(now, out);
}

// A full state older than what was seen: of a lagging cache, then a consistent read helps; or of a
// server whose data was restored, then it is the truth, but to be compared object by object, and
// taken only when all others were told.
bool Watcher::begin_again_if_back(TimePoint now, const std::string& resource_version,
                                  WatcherActions& out) {
  if (!went_back(resource_version)) return false;
  const bool true_state = consistent();
  const bool others_know = round_.rewind_told;
  round_.rewound = true;
  if (true_state) note_rewind(out);
  if (true_state && others_know) return false;
  stop(out);
  round_.force_recent = true;
  begin(now, out);
  return true;
}

Duration Watcher::silence_limit() const {
  if (state_ == WatcherState::initial_watch) return options_.initial_end;
  return bookmarks_seen_ ? std::min(options_.idle, kBookmarkSilence) : options_.idle;
}

// ---------------------------------------------------------------- starting requests

WatcherActions Watcher::start(TimePoint now, const std::string& known) {
  WatcherActions out;
  if (usable_version(known)) {
    synced_ = true;
    resource_version_ = known;
  }
  begin(now, out);
  return out;
}

WatcherActions Watcher::resume(TimePoint now, std::string resource_version) {
  if (!usable_version(resource_version)) return start(now);
  if (round_.rewound) return start(now, resource_version);  // it was told before it began
  WatcherActions out;
  synced_ = true;
  round_.doubtful = true;
  resource_version_ = std::move(resource_version);
  state_ = WatcherState::init_listed;
  start_watch(now, out);
  return out;
}

void Watcher::begin(TimePoint now, WatcherActions& out) {
  attempt_ = {};
  page_backoff_.succeed();
  if (wants_streaming()) {
    state_ = WatcherState::initial_watch;
    start_watch(now, out);
    return;
  }
  state_ = WatcherState::init_page;
  start_list(out);
}

// A server accepts a watch from a version that it does not have yet and says nothing until it has:
// one whose data was restored from a backup would be silent for long, and then tell half. A list of
// one object says which version it is at. Any object does: a selector would only let the server
// search for one. The name goes along, for rights may be for it alone.
void Watcher::look_at_version(WatcherActions& out) {
  core::ListParams params;
  params.field_selector = name_of(options_.field_selector);
  params.limit = 1;
  params.content = options_.content;
  request_ = Request::version;
  timer_ = TimerUse::none;
  out.emplace_back(StartList{std::move(params)});
}

void Watcher::version_is(TimePoint now, const std::string& version, WatcherActions& out) {
  request_ = Request::none;
  round_.doubtful = false;
  round_.looks_failed = 0;
  if (!went_back(version)) return start_watch(now, out);
  relist_rewound(now, WatcherFailure::watch_start, version, out);
}

// Lists may fail where watches work: throttled alone, too slow, or in the way of an object that
// cannot be read. Then it is watched in doubt, and looked for again soon.
void Watcher::look_failed(TimePoint now, const base::Error& error, WatcherActions& out) {
  request_ = Request::none;
  state_ = WatcherState::init_listed;
  if (error.is_forbidden()) {  // who may only watch is not asked for more
    round_.doubtful = false;
    return start_watch(now, out);
  }
  if (version_is_useless(error)) {
    return watch_refused(now, WatcherFailure::watch_start, error, out);
  }
  if (!error.is_unreachable()) round_.watch_in_doubt = ++round_.looks_failed >= kMaxLooks;
  fail(now, WatcherFailure::watch_start, error, out);
}

void Watcher::start_watch(TimePoint now, WatcherActions& out) {
  const bool in_doubt = round_.doubtful && state_ != WatcherState::initial_watch;
  if (in_doubt && !round_.watch_in_doubt) return look_at_version(out);
  if (has_started_watch_ && now < watch_started_ + options_.short_watch) {
    retry_at(watch_started_ + options_.short_watch, out);
    return;
  }
  round_.watch_in_doubt = false;
  core::WatchParams params;
  params.label_selector = options_.label_selector;
  params.field_selector = options_.field_selector;
  params.timeout = in_doubt ? std::min(kDoubtfulWatch, watch_timeout()) : watch_timeout();
  params.content = options_.content;
  const bool initial = state_ == WatcherState::initial_watch;
  params.send_initial_events = initial;
  params.bookmarks = options_.bookmarks || initial;  // the end of the initial events is a bookmark
  params.resource_version = initial ? list_version() : resource_version_;
  has_started_watch_ = true;
  watch_started_ = now;
  watch_events_ = 0;
  request_ = Request::watch_opening;
  timer_ = TimerUse::open;
  out.emplace_back(StartWatch{std::move(params)});
  out.emplace_back(SetTimer{now + options_.open});
}

// A proxy may hold everything back until the server ends the watch: while nothing has shown that
// the flow passes, the server's end comes before the silence that we end it for, or nothing ever
// would.
Duration Watcher::watch_timeout() const {
  if (bookmarks_seen_) return options_.timeout;
  return std::min(options_.timeout, std::max(options_.idle - kBeforeSilence, options_.idle / 2));
}

void Watcher::retry_at(TimePoint at, WatcherActions& out) {
  timer_ = TimerUse::retry;
  out.emplace_back(SetTimer{at});
}

void Watcher::stop(WatcherActions& out) {
  if (request_ == Request::none) return;
  request_ = Request::none;
  out.emplace_back(StopRequest{});
}

void Watcher::init_done(std::string resource_version, WatcherActions& out) {
  out.emplace_back(EmitInitDone{resource_version, synced_});
  synced_ = true;
  resource_version_ = std::move(resource_version);
  state_ = WatcherState::init_listed;
  round_ = {};
  attempt_ = {};
}

// ---------------------------------------------------------------- failing

void Watcher::fail(TimePoint now, WatcherFailure where, const base::Error& error,
                   WatcherActions& out) {
  request_ = Request::none;
  const bool same_page = state_ == WatcherState::init_page && !attempt_.continue_token.empty();
  const bool too_old = error.is_gone() && where != WatcherFailure::initial_list;
  base::Backoff& backoff = same_page ? page_backoff_ : too_old ? gone_backoff_ : backoff_;
  const Duration delay = client::pause_before_next(error, backoff, random_);
  told_to_wait_ = client::is_told_to_wait(error);
  out.emplace_back(EmitFailure{where, error, delay});
  retry_at(now + delay, out);
}

void Watcher::note_progress() {
  backoff_.succeed();
  gone_backoff_.succeed();
}

// For failures with another way out that is taken at once; each is taken once per round at most.
void Watcher::tell_failure(WatcherFailure where, const base::Error& error, WatcherActions& out) {
  request_ = Request::none;
  out.emplace_back(EmitFailure{where, error, Duration{0}});
}

void Watcher::relist(TimePoint now, WatcherFailure where, const base::Error& error,
                     WatcherActions& out) {
  stop(out);
  state_ = WatcherState::empty;
  round_.refused = 0;
  fail(now, where, error, out);
}

// A watch that cannot go on at this resourceVersion now; perhaps later, perhaps never.
void Watcher::watch_refused(TimePoint now, WatcherFailure where, const base::Error& error,
                            WatcherActions& out) {
  if (version_is_useless(error)) {
    // A version of the future: the server may have been restored to a past before it.
    round_.rewound = round_.rewound || !error.is_gone();
    round_.force_recent = round_.force_recent || round_.rewound;
    return relist(now, where, error, out);
  }
  stop(out);
  state_ = WatcherState::init_listed;
  round_.doubtful = round_.doubtful || (where == WatcherFailure::watch_start && is_away(error));
  if (may_be_of_version(error)) ++round_.refused;
  if (round_.refused >= kMaxRefused) return relist(now, where, error, out);
  fail(now, where, error, out);
}

// A stream that breaks without having told anything may break for ever at this resourceVersion: an
// event that is too large, or not JSON, is the first one each time.
void Watcher::stream_failed(TimePoint now, const base::Error& error, WatcherActions& out) {
  // What cannot be read comes first.
  const bool progress = watch_events_ > 0 || now - watch_opened_ >= kNotTheFirst;
  // What ended it may have been the end of the server, which may come back with older data.
  round_.doubtful = true;
  round_.refused = progress ? 0 : round_.refused + 1;
  if (round_.refused >= kMaxRefused) return relist(now, WatcherFailure::stream, error, out);
  fail(now, WatcherFailure::stream, error, out);
}

WatcherActions Watcher::on_rewound_elsewhere(TimePoint now) {
  WatcherActions out;
  round_.force_recent = true;
  round_.rewound = true;
  round_.rewind_told = true;  // whoever told this one told all
  const bool news = synced_ && !round_.outdated;
  round_.outdated = true;
  const bool asks = request_ != Request::none;
  const bool waits_by_itself = news && timer_ == TimerUse::retry && !told_to_wait_;
  stop(out);
  state_ = WatcherState::empty;
  round_.refused = 0;
  if (asks || waits_by_itself) begin(now, out);  // else when it is started, or may ask again
  return out;
}

// Of a streaming list its own limit is as short.
WatcherActions Watcher::on_server_silent(TimePoint now, TimePoint since) {
  WatcherActions out;
  const bool is_open = request_ == Request::watch_open && state_ == WatcherState::watching;
  if (!is_open || last_activity_ >= since) return out;
  round_.doubtful = true;
  open_again(now, out);
  return out;
}

void Watcher::open_again(TimePoint now, WatcherActions& out) {
  stop(out);
  state_ = WatcherState::init_listed;
  round_.doubtful = round_.doubtful || bookmarks_seen_;
  start_watch(now, out);
}

WatcherActions Watcher::list_anew(TimePoint now, const std::string& known) {
  WatcherActions out;
  if (usable_version(known)) {
    synced_ = true;
    resource_version_ = known;
  }
  round_.force_recent = true;
  round_.rewound = true;
  stop(out);
  round_.refused = 0;
  begin(now, out);
  return out;
}

// ---------------------------------------------------------------- watches

WatcherActions Watcher::on_watch_open(TimePoint now) {
  WatcherActions out;
  if (request_ != Request::watch_opening) return out;
  request_ = Request::watch_open;
  watch_opened_ = now;
  last_activity_ = now;
  if (state_ == WatcherState::initial_watch) {
    // Every time: what an interrupted stream had delivered must not survive into this one.
    out.emplace_back(EmitInit{round_.rewound});
  } else {
    state_ = WatcherState::watching;
  }
  timer_ = TimerUse::idle;
  out.emplace_back(SetTimer{now + silence_limit()});
  return out;
}

WatcherActions Watcher::on_event(TimePoint now, const EventFacts& event) {
  WatcherActions out = on_watch_open(now);  // nothing when it is open
  if (request_ != Request::watch_open) return out;
  // Of a streaming list only its objects count: changes and bookmarks may come for ever without its
  // end.
  if (state_ != WatcherState::initial_watch || event.type == core::WatchEventType::added) {
    last_activity_ = now;
  }
  if (event.type == core::WatchEventType::unknown ||
      (event.broken && event.type != core::WatchEventType::error)) {
    ++skipped_events_;
  } else if (state_ == WatcherState::initial_watch) {
    initial_event(now, event, out);
  } else {
    watch_event(now, event, out);
  }
  return out;
}

void Watcher::initial_event(TimePoint now, const EventFacts& event, WatcherActions& out) {
  switch (event.type) {
    case core::WatchEventType::added:
    case core::WatchEventType::modified: out.emplace_back(EmitInitApply{}); return;
    // Legal: the server catches up before it sends the end.
    case core::WatchEventType::deleted: out.emplace_back(EmitDelete{}); return;
    case core::WatchEventType::bookmark:
      if (event.initial_events_end) initial_bookmark(now, event, out);
      return;
    case core::WatchEventType::error:
      initial_failed(now, event.error, false, WatcherFailure::server_error, out);
      return;
    case core::WatchEventType::unknown: return;
  }
}

void Watcher::initial_bookmark(TimePoint now, const EventFacts& event, WatcherActions& out) {
  if (!usable_version(event.resource_version)) {
    ++round_.streaming_interrupted;
    relist(now, WatcherFailure::no_resource_version,
           Error(ErrorKind::unavailable, "the end of the initial events has no resourceVersion"),
           out);
    return;
  }
  if (begin_again_if_back(now, event.resource_version, out)) return;
  init_done(event.resource_version, out);
  state_ = WatcherState::watching;
}

// `hopeless`: this server does not end its streaming lists.
void Watcher::initial_failed(TimePoint now, const std::optional<base::Error>& error, bool hopeless,
                             WatcherFailure where, WatcherActions& out) {
  stop(out);
  state_ = WatcherState::empty;
  const base::Error reason = error.value_or(
      Error(ErrorKind::unreachable, "the server ended the streaming list before its end")
          .as_disconnect());
  if (refuses_request(reason) || hopeless) {
    streaming_off_ = true;
    tell_failure(where, reason, out);
    begin(now, out);
    return;
  }
  if (version_is_useless(reason)) round_.force_recent = true;
  ++round_.streaming_interrupted;
  fail(now, where, reason, out);
}

void Watcher::watch_event(TimePoint now, const EventFacts& event, WatcherActions& out) {
  if (event.type == core::WatchEventType::error) {
    watch_refused(now, WatcherFailure::server_error,
                  event.error.value_or(Error(ErrorKind::internal, "an ERROR event")), out);
    return;
  }
  const bool is_bookmark = event.type == core::WatchEventType::bookmark;
  if (!usable_version(event.resource_version)) {
    if (is_bookmark) {
      ++skipped_events_;  // says nothing, harms nothing
    } else {
      relist(now, WatcherFailure::no_resource_version,
             Error(ErrorKind::unavailable, "an event without resourceVersion"), out);
    }
    return;
  }
  if (went_back(event.resource_version)) {
    return relist_rewound(now, WatcherFailure::stream, event.resource_version, out);
  }
  // An event that a server tells again after a reconnect is no progress.
  if (is_bookmark || event.resource_version != resource_version_) {
    ++watch_events_;
    round_.refused = 0;
    note_progress();
  }
  resource_version_ = event.resource_version;
  if (is_bookmark) {
    bookmarks_seen_ = true;
    out.emplace_back(EmitBookmark{resource_version_});
  } else if (event.type == core::WatchEventType::deleted) {
    out.emplace_back(EmitDelete{});
  } else {
    out.emplace_back(EmitApply{});
  }
}

WatcherActions Watcher::on_watch_end(TimePoint now, const std::optional<base::Error>& error) {
  WatcherActions out;
  if (request_ != Request::watch_opening && request_ != Request::watch_open) return out;
  const bool opened = request_ == Request::watch_open;
  request_ = Request::none;
  const Duration lived = opened ? now - watch_opened_ : Duration{0};
  if (lived >= options_.backoff_reset) note_progress();
  if (state_ == WatcherState::initial_watch) {
    const bool never_ends = !error && opened && now - watch_opened_ >= options_.initial_end;
    initial_failed(now, error, never_ends, WatcherFailure::initial_list, out);
    return out;
  }
  state_ = WatcherState::init_listed;
  if (!opened) {
    watch_refused(now, WatcherFailure::watch_start,
                  error.value_or(Error(ErrorKind::unavailable,
                                       "the server ended the watch before it answered")),
                  out);
    return out;
  }
  const bool quiet_end = !error || error->kind() == ErrorKind::timeout;
  if (quiet_end && lived >= kNotTheFirst) note_progress();
  if (!quiet_end) {
    if (version_is_useless(*error)) {
      watch_refused(now, WatcherFailure::stream, *error, out);
    } else {
      stream_failed(now, *error, out);
    }
  } else if (lived < options_.short_watch && watch_events_ == 0) {
    fail(now, WatcherFailure::stream,
         Error(ErrorKind::unavailable,
               fmt::format("very short watch: closed after {} ms without an event", lived.count())),
         out);
  } else {
    // A version of the future is answered with silence and an orderly end, too.
    if (watch_events_ == 0 && options_.bookmarks && lived >= kNotTheFirst) round_.doubtful = true;
    start_watch(now, out);
  }
  return out;
}

// ---------------------------------------------------------------- time

WatcherActions Watcher::on_timer(TimePoint now, bool awaits_login) {
  WatcherActions out;
  switch (std::exchange(timer_, TimerUse::none)) {
    case TimerUse::none: break;
    case TimerUse::retry:
      if (page_may_be_of_another_past(now)) {
        begin_again_in_doubt(now, out);
      } else if (state_ == WatcherState::empty) {
        begin(now, out);
      } else if (state_ == WatcherState::init_page) {
        start_list(out);
      } else {
        start_watch(now, out);
      }
      break;
    case TimerUse::open: {
      if (awaits_login) {  // whoever gives it is told of where it does not come
        timer_ = TimerUse::open;
        out.emplace_back(SetTimer{now + options_.open});
        break;
      }
      const Error error(ErrorKind::timeout,
                        fmt::format("the server did not answer the watch within {}",
                                    base::format_duration(options_.open)));
      if (state_ == WatcherState::initial_watch) {
        initial_failed(now, error, false, WatcherFailure::initial_list, out);
      } else {
        watch_refused(now, WatcherFailure::watch_start, error, out);
      }
      break;
    }
    case TimerUse::idle: {
      const TimePoint at = last_activity_ + silence_limit();
      if (now < at) {
        timer_ = TimerUse::idle;
        out.emplace_back(SetTimer{at});
        break;
      }
      if (state_ == WatcherState::initial_watch) {
        const Error error(ErrorKind::timeout,
                          "the end of the streaming list does not come; listing instead");
        initial_failed(now, error, true, WatcherFailure::initial_list, out);
      } else {
        // Silence is no failure: the flow may have been dropped by something in between.
        note_progress();
        open_again(now, out);
      }
      break;
    }
  }
  return out;
}

}  // namespace kubewatch::runtime

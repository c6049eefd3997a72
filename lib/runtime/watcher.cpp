#include "runtime/watcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/status.hpp"

namespace kubewatch::runtime {

namespace {

// Servers send bookmarks about once a minute: one that did so before and is silent now is gone.
constexpr Duration kBookmarkSilence{150000};
constexpr Duration kMaxRetryAfter{300000};
// What a server and whatever is in between may take to end a watch in order.
constexpr Duration kBeforeSilence{15000};
// Answers in a row that refuse to watch at one resourceVersion, before that version is given up.
constexpr std::uint32_t kMaxRefused = 5;
constexpr std::uint32_t kMaxInterrupted = 2;
// After so long a stream did not break at the first thing that it told.
constexpr Duration kNotTheFirst{20000};
// Data cannot be restored from a backup in less: servers are stopped, written and started.
constexpr Duration kFastestRestore{5000};
constexpr std::uint32_t kMaxDoubtedLists = 2;  // in a row
// Pages in a row with nothing that was not there before: such a list may go on for ever.
constexpr std::size_t kMaxEmptyPages = 3;

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// resourceVersions are comparable where they are numbers (KEP-5504).
bool older(const std::string& a, const std::string& b) {
  if (!is_number(a) || !is_number(b)) return false;
  const auto strip = [](std::string_view text) {
    const auto first = text.find_first_not_of('0');
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  };
  const std::string_view x = strip(a);
  const std::string_view y = strip(b);
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

bool usable(const std::string& resource_version) {
  return !resource_version.empty() && resource_version != "0";
}

// The resourceVersion that was asked for cannot be served: expired, or of a future that never
// comes.
bool version_is_useless(const base::Error& error) {
  return error.is_gone() || core::is_resource_version_too_large(error);
}

// An answer that is none of an API server: a proxy's page, half a list.
bool is_no_answer(const base::Error& error) {
  return error.kind() == ErrorKind::unavailable && error.status() == nullptr;
}

bool refuses_request(const base::Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::unsupported ||
         is_no_answer(error);
}

// As opposed to the load, the credentials or the network, which say nothing of the version.
bool may_be_of_version(const base::Error& error) {
  return error.kind() == ErrorKind::invalid || error.kind() == ErrorKind::internal ||
         is_no_answer(error) || error.kind() == ErrorKind::too_large ||
         (error.status() != nullptr && error.status()->code == 500);
}

// A restore of its data takes a server away for a while.
bool is_away(const base::Error& error) {
  const int code = error.status() == nullptr ? 0 : error.status()->code;
  return error.is_unreachable() || error.kind() == ErrorKind::timeout ||
         (code >= 502 && code <= 504);
}

// The answer as a whole did not fit our limits.
bool too_much(const base::Error& error) {
  return error.kind() == ErrorKind::too_large || error.kind() == ErrorKind::timeout;
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
      page_backoff_(options_.backoff) {}

// ---------------------------------------------------------------- choices

ListSituation Watcher::situation() const {
  ListSituation out;
  out.narrowed = !options_.label_selector.empty() || !options_.field_selector.empty();
  out.from_cache = !consistent();
  out.server = options_.server;
  out.page_size = options_.page_size;
  return out;
}

bool Watcher::wants_server_version() const {
  return options_.strategy == ListStrategy::automatic && !options_.server &&
         needs_server_version(situation());
}

ListForm Watcher::chosen_form() const {
  switch (options_.strategy) {
    case ListStrategy::paged: return ListForm::paged;
    case ListStrategy::unpaged: return ListForm::unpaged;
    case ListStrategy::streaming: return ListForm::streaming;
    case ListStrategy::automatic: break;
  }
  return choose_strategy(situation());
}

bool Watcher::wants_streaming() const {
  if (streaming_off_ || force_unpaged_ || streaming_interrupted_ >= kMaxInterrupted) return false;
  return chosen_form() == ListForm::streaming;
}

std::uint32_t Watcher::page_limit() const {
  if (force_unpaged_) return 0;
  return chosen_form() == ListForm::unpaged && !paged_after_all_ ? 0 : options_.page_size;
}

bool Watcher::consistent() const {
  return force_recent_ || options_.semantics == ListSemantics::recent;
}

std::string Watcher::list_version() const {
  if (consistent()) return "";
  if (options_.semantics == ListSemantics::not_older_than && usable(resource_version_)) {
    return resource_version_;
  }
  return "0";
}

bool Watcher::went_back(const std::string& resource_version) const {
  return synced_ && older(resource_version, resource_version_);
}

// A full state older than what was seen: of a lagging cache, then a consistent read helps; or of a
// server whose data was restored, then it is the truth, but to be compared object by object.
bool Watcher::begin_again_if_back(TimePoint now, const std::string& resource_version,
                                  WatcherActions& out) {
  if (!went_back(resource_version) || (consistent() && rewound_)) return false;
  stop(out);
  force_recent_ = true;
  rewound_ = true;
  begin(now, out);
  return true;
}

Duration Watcher::silence_limit() const {
  if (state_ == WatcherState::initial_watch) return options_.initial_end;
  return bookmarks_seen_ ? std::min(options_.idle, kBookmarkSilence) : options_.idle;
}

// ---------------------------------------------------------------- starting requests

WatcherActions Watcher::start(TimePoint now) {
  WatcherActions out;
  begin(now, out);
  return out;
}

WatcherActions Watcher::resume(TimePoint now, std::string resource_version) {
  if (!usable(resource_version)) return start(now);
  WatcherActions out;
  synced_ = true;
  doubtful_ = true;
  resource_version_ = std::move(resource_version);
  state_ = WatcherState::init_listed;
  start_watch(now, out);
  return out;
}

void Watcher::begin(TimePoint now, WatcherActions& out) {
  init_emitted_ = false;
  continue_token_.clear();
  first_page_version_.clear();
  empty_pages_ = 0;
  page_again_ = false;
  page_doubtful_ = false;
  page_backoff_.succeed();
  if (wants_streaming()) {
    state_ = WatcherState::initial_watch;
    start_watch(now, out);
    return;
  }
  state_ = WatcherState::init_page;
  start_list(out);
}

void Watcher::start_list(WatcherActions& out) {
  core::ListParams params;
  params.label_selector = options_.label_selector;
  params.field_selector = options_.field_selector;
  params.limit = page_limit();
  params.content = options_.content;
  if (!continue_token_.empty()) {
    params.continue_token = continue_token_;
  } else {
    params.resource_version = list_version();
    // "0" alone means any; a match would only repeat it.
    if (usable(params.resource_version)) params.match = core::VersionMatch::not_older_than;
  }
  request_ = Request::list;
  page_items_ = 0;
  timer_ = TimerUse::none;
  out.emplace_back(StartList{std::move(params)});
}

// A server accepts a watch from a version that it does not have yet and says nothing until it has:
// one whose data was restored from a backup would be silent for long, and then tell half. A list of
// one object says which version it is at.
void Watcher::look_at_version(WatcherActions& out) {
  core::ListParams params;
  params.label_selector = options_.label_selector;
  params.field_selector = options_.field_selector;
  params.limit = 1;
  params.content = options_.content;
  request_ = Request::version;
  timer_ = TimerUse::none;
  out.emplace_back(StartList{std::move(params)});
}

void Watcher::version_is(TimePoint now, const std::string& version, WatcherActions& out) {
  request_ = Request::none;
  doubtful_ = false;
  if (!went_back(version)) return start_watch(now, out);
  force_recent_ = true;
  rewound_ = true;
  relist(now, WatcherFailure::watch_start, rewound(resource_version_, version), out);
}

void Watcher::start_watch(TimePoint now, WatcherActions& out) {
  if (doubtful_ && state_ != WatcherState::initial_watch) return look_at_version(out);
  if (has_started_watch_ && now < watch_started_ + options_.short_watch) {
    retry_at(watch_started_ + options_.short_watch, out);
    return;
  }
  core::WatchParams params;
  params.label_selector = options_.label_selector;
  params.field_selector = options_.field_selector;
  params.timeout = watch_timeout();
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

// ---------------------------------------------------------------- failing

void Watcher::fail(TimePoint now, WatcherFailure where, const base::Error& error,
                   WatcherActions& out) {
  request_ = Request::none;
  const bool same_page = state_ == WatcherState::init_page && !continue_token_.empty();
  Duration delay = (same_page ? page_backoff_ : backoff_).fail(random_);
  if (const auto* status = error.status(); status != nullptr && status->retry_after_seconds) {
    const double asked = 1000.0 * *status->retry_after_seconds * (1.0 + 0.1 * random_.unit());
    const double capped = std::clamp(asked, 0.0, static_cast<double>(kMaxRetryAfter.count()));
    delay = std::max(delay, Duration(static_cast<Duration::rep>(capped)));
  }
  out.emplace_back(EmitFailure{where, error, delay});
  retry_at(now + delay, out);
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
  refused_ = 0;
  fail(now, where, error, out);
}

// A watch that cannot go on at this resourceVersion now; perhaps later, perhaps never.
void Watcher::watch_refused(TimePoint now, WatcherFailure where, const base::Error& error,
                            WatcherActions& out) {
  if (version_is_useless(error)) {
    // A version of the future: the server may have been restored to a past before it.
    rewound_ = rewound_ || !error.is_gone();
    force_recent_ = force_recent_ || rewound_;
    return relist(now, where, error, out);
  }
  stop(out);
  state_ = WatcherState::init_listed;
  doubtful_ = doubtful_ || (where == WatcherFailure::watch_start && is_away(error));
  if (may_be_of_version(error)) ++refused_;
  if (refused_ >= kMaxRefused) return relist(now, where, error, out);
  fail(now, where, error, out);
}

// A stream that breaks without having told anything may break for ever at this resourceVersion: an
// event that is too large, or not JSON, is the first one each time.
void Watcher::stream_failed(TimePoint now, const base::Error& error, WatcherActions& out) {
  // What cannot be read comes first.
  const bool progress = watch_events_ > 0 || now - watch_opened_ >= kNotTheFirst;
  // What ended it may have been the end of the server, which may come back with older data.
  doubtful_ = true;
  refused_ = progress ? 0 : refused_ + 1;
  if (refused_ >= kMaxRefused) return relist(now, WatcherFailure::stream, error, out);
  fail(now, WatcherFailure::stream, error, out);
}

// ---------------------------------------------------------------- lists

bool Watcher::change_form_after(const base::Error& error) {
  if (error.is_gone() && !continue_token_.empty() && !force_unpaged_) {
    force_unpaged_ = true;
    force_recent_ = true;
    return true;
  }
  if (version_is_useless(error) && !consistent()) {
    force_recent_ = true;
    return true;
  }
  if (too_much(error) && options_.strategy == ListStrategy::automatic && page_limit() == 0 &&
      !force_unpaged_ && options_.page_size > 0) {
    paged_after_all_ = true;
    return true;
  }
  return false;
}

WatcherActions Watcher::on_list_error(TimePoint now, const base::Error& error) {
  WatcherActions out;
  if (request_ == Request::version) {
    request_ = Request::none;
    // Who may only watch is not asked for more.
    doubtful_ = !error.is_forbidden();
    doubtful_ ? watch_refused(now, WatcherFailure::watch_start, error, out) : start_watch(now, out);
    return out;
  }
  if (request_ != Request::list) return out;
  if (change_form_after(error)) {
    tell_failure(WatcherFailure::initial_list, error, out);
    begin(now, out);
    return out;
  }
  // The same page again, unless the server does not take its token.
  page_again_ = true;
  page_doubtful_ = page_doubtful_ || is_away(error);
  if (continue_token_.empty() || error.is_gone() || refuses_request(error)) {
    state_ = WatcherState::empty;
  }
  if (too_much(error)) force_unpaged_ = false;
  fail(now, WatcherFailure::initial_list, error, out);
  return out;
}

// A server that was away may have been restored, and its new history may have reached the version
// of the pages before: the next page at that version would be of other objects, and nothing would
// tell.
bool Watcher::page_may_be_of_another_past(TimePoint now) const {
  return state_ == WatcherState::init_page && page_doubtful_ && !continue_token_.empty() &&
         now - page_answered_ >= kFastestRestore;
}

// Where every other page takes so long, only one answer for all of them comes to an end.
void Watcher::begin_again_in_doubt(TimePoint now, WatcherActions& out) {
  if (++doubted_lists_ >= kMaxDoubtedLists) force_unpaged_ = true;
  begin(now, out);
}

WatcherActions Watcher::on_list_item() {
  WatcherActions out;
  if (request_ != Request::list) return out;
  emit_init(out);
  ++page_items_;
  out.emplace_back(EmitInitApply{});
  return out;
}

void Watcher::on_repeated_item() {
  if (page_items_ > 0) --page_items_;
}

void Watcher::emit_init(WatcherActions& out) {
  if (!init_emitted_) out.emplace_back(EmitInit{rewound_});
  init_emitted_ = true;
}

WatcherActions Watcher::on_page(TimePoint now, const core::ListPage& page) {
  WatcherActions out;
  if (request_ == Request::version) {
    version_is(now, page.resource_version, out);
    return out;
  }
  if (request_ != Request::list) return out;
  request_ = Request::none;
  // Something in between may have held the request until the server was back.
  if (page_may_be_of_another_past(now)) {
    begin_again_in_doubt(now, out);
    return out;
  }
  page_answered_ = now;
  page_doubtful_ = false;
  const bool first = continue_token_.empty();
  page_backoff_.succeed();
  if (first) {
    if (begin_again_if_back(now, page.resource_version, out)) return out;
    first_page_version_ = page.resource_version;
  } else if (page.resource_version != first_page_version_ && !force_unpaged_) {
    // Pages of different times would lose what changed between them.
    force_unpaged_ = true;
    begin(now, out);
    return out;
  }
  if (!std::exchange(page_again_, false)) empty_pages_ = page_items_ == 0 ? empty_pages_ + 1 : 0;
  if (!page.continue_token.empty() &&
      (page.continue_token == continue_token_ || empty_pages_ >= kMaxEmptyPages)) {
    state_ = WatcherState::empty;
    fail(now, WatcherFailure::initial_list,
         Error(ErrorKind::internal, "the server's continue tokens lead nowhere"), out);
    return out;
  }
  emit_init(out);
  continue_token_ = page.continue_token;
  if (continue_token_.empty()) {
    last_page(now, page, out);
  } else {
    start_list(out);
  }
  return out;
}

void Watcher::last_page(TimePoint now, const core::ListPage& page, WatcherActions& out) {
  if (!usable(page.resource_version)) {
    state_ = WatcherState::empty;
    fail(now, WatcherFailure::no_resource_version,
         Error(ErrorKind::invalid, "the list has no resourceVersion to watch from"), out);
    return;
  }
  // A server that pages unasked may give each page a later version: what changed meanwhile of the
  // first is told by a watch from there.
  init_done(first_page_version_, out);
  start_watch(now, out);
}

void Watcher::init_done(std::string resource_version, WatcherActions& out) {
  out.emplace_back(EmitInitDone{resource_version, synced_});
  synced_ = true;
  resource_version_ = std::move(resource_version);
  state_ = WatcherState::init_listed;
  init_emitted_ = false;
  doubtful_ = false;
  force_recent_ = false;
  rewound_ = false;
  force_unpaged_ = false;
  doubted_lists_ = 0;
  streaming_interrupted_ = 0;
  refused_ = 0;
  continue_token_.clear();
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
    out.emplace_back(EmitInit{rewound_});
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
  if (!usable(event.resource_version)) {
    ++streaming_interrupted_;
    relist(now, WatcherFailure::no_resource_version,
           Error(ErrorKind::invalid, "the end of the initial events has no resourceVersion"), out);
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
      Error(ErrorKind::unreachable, "the server ended the streaming list before its end"));
  if (refuses_request(reason) || hopeless) {
    streaming_off_ = true;
    tell_failure(where, reason, out);
    begin(now, out);
    return;
  }
  if (version_is_useless(reason)) force_recent_ = true;
  ++streaming_interrupted_;
  fail(now, where, reason, out);
}

void Watcher::watch_event(TimePoint now, const EventFacts& event, WatcherActions& out) {
  if (event.type == core::WatchEventType::error) {
    watch_refused(now, WatcherFailure::server_error,
                  event.error.value_or(Error(ErrorKind::internal, "an ERROR event")), out);
    return;
  }
  const bool is_bookmark = event.type == core::WatchEventType::bookmark;
  if (!usable(event.resource_version)) {
    if (is_bookmark) {
      ++skipped_events_;  // says nothing, harms nothing
    } else {
      relist(now, WatcherFailure::no_resource_version,
             Error(ErrorKind::invalid, "an event without resourceVersion"), out);
    }
    return;
  }
  if (went_back(event.resource_version)) {
    force_recent_ = true;
    rewound_ = true;
    relist(now, WatcherFailure::stream, rewound(resource_version_, event.resource_version), out);
    return;
  }
  // An event that a server tells again after a reconnect is no progress.
  if (is_bookmark || event.resource_version != resource_version_) {
    ++watch_events_;
    refused_ = 0;
    backoff_.succeed();
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
  if (lived >= options_.backoff_reset) backoff_.succeed();
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
  if (quiet_end && lived >= kNotTheFirst) backoff_.succeed();
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
    if (watch_events_ == 0 && options_.bookmarks && lived >= kNotTheFirst) doubtful_ = true;
    start_watch(now, out);
  }
  return out;
}

// ---------------------------------------------------------------- time

WatcherActions Watcher::on_timer(TimePoint now) {
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
        stop(out);
        // Silence is no failure: the flow may have been dropped by something in between.
        state_ = WatcherState::init_listed;
        backoff_.succeed();
        doubtful_ = bookmarks_seen_;
        start_watch(now, out);
      }
      break;
    }
  }
  return out;
}

}  // namespace kubewatch::runtime

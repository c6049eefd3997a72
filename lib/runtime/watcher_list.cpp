// The watcher's lists: in which form, page after page, and what is done where one fails, is not of
// one time or may be of another past. Streaming lists are watches: watcher.cpp.
#include <utility>

#include "runtime/watcher.hpp"
#include "runtime/watcher_answers.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::uint32_t kMaxInterrupted = 2;
// Data cannot be restored from a backup in less: servers are stopped, written and started.
constexpr Duration kFastestRestore{5000};
constexpr std::uint32_t kMaxDoubtedLists = 2;  // in a row
// Pages in a row with nothing that was not there before: such a list may go on for ever. A server
// that selects after it has cut the pages may send them too, and all in one answer when asked so.
constexpr std::size_t kMaxEmptyPages = 3;

// The answer as a whole did not fit our limits.
bool too_much(const base::Error& error) {
  return error.kind() == ErrorKind::too_large || error.kind() == ErrorKind::timeout;
}

}  // namespace

// ---------------------------------------------------------------- in which form

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
  if (streaming_off_ || round_.force_unpaged || round_.streaming_interrupted >= kMaxInterrupted)
    return false;
  return chosen_form() == ListForm::streaming;
}

std::uint32_t Watcher::page_limit() const {
  if (round_.force_unpaged) return 0;
  return chosen_form() == ListForm::unpaged && !paged_after_all_ ? 0 : options_.page_size;
}

bool Watcher::consistent() const {
  return round_.force_recent || options_.semantics == ListSemantics::recent;
}

std::string Watcher::list_version() const {
  if (consistent()) return "";
  if (options_.semantics == ListSemantics::not_older_than && usable_version(resource_version_)) {
    return resource_version_;
  }
  return "0";
}

// ---------------------------------------------------------------- page after page

void Watcher::start_list(WatcherActions& out) {
  core::ListParams params;
  params.label_selector = options_.label_selector;
  params.field_selector = options_.field_selector;
  params.limit = page_limit();
  params.content = options_.content;
  if (!attempt_.continue_token.empty()) {
    params.continue_token = attempt_.continue_token;
  } else {
    params.resource_version = list_version();
    // "0" alone means any; a match would only repeat it.
    if (usable_version(params.resource_version)) params.match = core::VersionMatch::not_older_than;
  }
  request_ = Request::list;
  attempt_.page_items = 0;
  timer_ = TimerUse::none;
  out.emplace_back(StartList{std::move(params)});
}

bool Watcher::change_form_after(const base::Error& error) {
  if (error.is_gone() && !attempt_.continue_token.empty() && !round_.force_unpaged) {
    round_.force_unpaged = true;
    round_.force_recent = true;
    return true;
  }
  if (version_is_useless(error) && !consistent()) {
    round_.force_recent = true;
    return true;
  }
  if (too_much(error) && options_.strategy == ListStrategy::automatic && page_limit() == 0 &&
      !round_.force_unpaged && options_.page_size > 0) {
    paged_after_all_ = true;
    return true;
  }
  return false;
}

WatcherActions Watcher::on_list_error(TimePoint now, const base::Error& error) {
  WatcherActions out;
  if (request_ == Request::version) {
    look_failed(now, error, out);
    return out;
  }
  if (request_ != Request::list) return out;
  if (change_form_after(error)) {
    tell_failure(WatcherFailure::initial_list, error, out);
    begin(now, out);
    return out;
  }
  // The same page again, unless the server does not take its token.
  attempt_.page_again = true;
  attempt_.page_doubtful = attempt_.page_doubtful || is_away(error);
  if (attempt_.continue_token.empty() || error.is_gone() || refuses_request(error)) {
    state_ = WatcherState::empty;
  }
  if (too_much(error)) round_.force_unpaged = false;
  fail(now, WatcherFailure::initial_list, error, out);
  return out;
}

// A server that was away may have been restored, and its new history may have reached the version
// of the pages before: the next page at that version would be of other objects, and nothing would
// tell.
bool Watcher::page_may_be_of_another_past(TimePoint now) const {
  return state_ == WatcherState::init_page && attempt_.page_doubtful &&
         !attempt_.continue_token.empty() && now - attempt_.page_answered >= kFastestRestore;
}

// Where every other page takes so long, only one answer for all of them comes to an end. A server
// that pages nevertheless is asked less and less often.
void Watcher::begin_again_in_doubt(TimePoint now, WatcherActions& out) {
  ++round_.doubted_lists;
  round_.force_unpaged = round_.force_unpaged || round_.doubted_lists >= kMaxDoubtedLists;
  if (round_.doubted_lists <= kMaxDoubtedLists) return begin(now, out);
  state_ = WatcherState::empty;
  fail(now, WatcherFailure::initial_list,
       Error(ErrorKind::unavailable, "the server was away between the pages of the list"), out);
}

WatcherActions Watcher::on_list_item() {
  WatcherActions out;
  if (request_ != Request::list) return out;
  emit_init(out);
  ++attempt_.page_items;
  out.emplace_back(EmitInitApply{});
  return out;
}

void Watcher::on_repeated_item() {
  if (attempt_.page_items > 0) --attempt_.page_items;
}

void Watcher::emit_init(WatcherActions& out) {
  if (!attempt_.init_emitted) out.emplace_back(EmitInit{round_.rewound});
  attempt_.init_emitted = true;
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
  attempt_.page_answered = now;
  attempt_.page_doubtful = false;
  const bool first = attempt_.continue_token.empty();
  page_backoff_.succeed();
  if (first) {
    if (begin_again_if_back(now, page.resource_version, out)) return out;
    attempt_.first_page_version = page.resource_version;
  } else if (page.resource_version != attempt_.first_page_version && !round_.force_unpaged) {
    // Pages of different times would lose what changed between them.
    round_.force_unpaged = true;
    begin(now, out);
    return out;
  }
  if (!std::exchange(attempt_.page_again, false)) {
    attempt_.empty_pages = attempt_.page_items == 0 ? attempt_.empty_pages + 1 : 0;
  }
  if (!page.continue_token.empty() &&
      (page.continue_token == attempt_.continue_token || attempt_.empty_pages >= kMaxEmptyPages)) {
    const Error nowhere(ErrorKind::internal, "the server's continue tokens lead nowhere");
    if (!round_.force_unpaged) {
      round_.force_unpaged = true;
      tell_failure(WatcherFailure::initial_list, nowhere, out);
      begin(now, out);
    } else {
      state_ = WatcherState::empty;
      fail(now, WatcherFailure::initial_list, nowhere, out);
    }
    return out;
  }
  emit_init(out);
  attempt_.continue_token = page.continue_token;
  if (attempt_.continue_token.empty()) {
    last_page(now, page, out);
  } else {
    start_list(out);
  }
  return out;
}

void Watcher::last_page(TimePoint now, const core::ListPage& page, WatcherActions& out) {
  if (!usable_version(page.resource_version)) {
    state_ = WatcherState::empty;
    fail(now, WatcherFailure::no_resource_version,
         Error(ErrorKind::unavailable, "the list has no resourceVersion to watch from"), out);
    return;
  }
  // A server that pages unasked may give each page a later version: what changed meanwhile of the
  // first is told by a watch from there.
  init_done(attempt_.first_page_version, out);
  start_watch(now, out);
}

}  // namespace kubewatch::runtime

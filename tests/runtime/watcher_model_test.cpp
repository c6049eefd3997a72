// Random schedules of writes and faults against a model server: watcher and store together must
// lose, double and reorder nothing (P1), equal the server at every bookmark (P2), come back from
// everything and never hammer the server (P3). A failing seed is printed and replays exactly.
#include <cstdlib>
#include <deque>
#include <optional>

#include "core/status.hpp"
#include "runtime/model_server.hpp"
#include "runtime/store.hpp"
#include "runtime/watcher_script.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using namespace kubewatch::runtime;

namespace {

core::ListPage page_of(std::uint64_t version, std::string token) {
  core::ListPage page;
  page.resource_version = std::to_string(version);
  page.continue_token = std::move(token);
  return page;
}

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed), server_(random_), watcher_(options(), random_) {
    refuses_streaming_ = chance(20);
    never_ends_streaming_ = chance(10);
    sends_bookmarks_ = chance(80);
    tokens_expire_ = chance(15);
    gone_by_http_ = chance(50);
  }

  // Why it failed, "" when all is well.
  std::string run(int steps) {
    for (int i = 0; i < 5; ++i) server_.write();
    act(watcher_.start(now_));
    for (int i = 0; i < steps && problem_.empty(); ++i) step(chance(3) ? 100000 : 400, 12);
    // Everything is refused at once for a while.
    const int outage = chance(20) ? 500 : 0;
    for (int i = 0; i < outage && problem_.empty(); ++i) step(50, 100);
    // Faults end: within bounded time the cache must be true again and stay so.
    for (int i = 0; i < 700 && problem_.empty(); ++i) {
      if (i == 600) server_.write();
      step(1000, 0);
    }
    expect(watcher_.state() == WatcherState::watching, "it does not watch in the end");
    expect(same(server_.state()), "the cache differs from the server in the end");
    expect(watcher_.failures() == 0, "it counts failures though all is well");
    return problem_;
  }

 private:
  struct ListRequest {
    core::ListParams params;
    TimePoint at;
  };
  struct WatchRequest {
    core::WatchParams params;
    TimePoint at;
    bool open = false;
    bool silent = false;  // a half-open socket
    std::uint64_t sent = 0;
    std::uint64_t epoch = 0;
    std::deque<ModelEvent> initial;
    std::optional<std::uint64_t> initial_end;
  };

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  WatcherOptions options() {
    WatcherOptions out;
    out.strategy = static_cast<ListStrategy>(random_.below(4));
    out.semantics = static_cast<ListSemantics>(random_.below(3));
    out.page_size = static_cast<std::uint32_t>(1 + random_.below(5));
    if (chance(30)) out.label_selector = "all";
    out.bookmarks = chance(80);
    return out;
  }

  void expect(bool ok, std::string what) {
    if (!ok && problem_.empty()) {
      problem_ = fmt::format("{} (rv {}, server {})", what, watcher_.resource_version(),
                             server_.version());
    }
  }

  // ------------------------------------------------------------ the cache and who listens to it
  bool same(const ModelState& wanted) const {
    if (store_.size() != wanted.size() || shadow_.size() != wanted.size()) return false;
    for (const auto& [name, object] : wanted) {
      const auto stored = store_.get({"shop", name});
      if (!stored || stored->meta.uid != object.uid ||
          stored->json.find(fmt::format("\"value\":\"{}\"", object.value)) == std::string::npos) {
        return false;
      }
      const auto told = shadow_.find(name);
      if (told == shadow_.end() || told->second != stored->json) return false;
    }
    return true;
  }

  ChangeSink sink() {
    return [this](StoreChange&& change) {
      const std::string name = change.meta.name;
      const auto it = shadow_.find(name);
      switch (change.type) {
        case ChangeType::added:
          expect(it == shadow_.end(), "added twice: " + name);
          shadow_[name] = change.json;
          break;
        case ChangeType::modified:
          expect(it != shadow_.end(), "modified before it was added: " + name);
          expect(change.previous_json == it->second, "previous is not what was told: " + name);
          expect(change.json != it->second, "modified without a change: " + name);
          expect(change.previous_meta->uid == change.meta.uid, "another object: " + name);
          it->second = change.json;
          break;
        case ChangeType::deleted:
          expect(it != shadow_.end(), "deleted but never added: " + name);
          shadow_.erase(name);
          break;
      }
    };
  }

  // ------------------------------------------------------------ the driver
  void act(const WatcherActions& actions) {
    for (const auto& action : actions) {
      if (trace_) fmt::print("{} {}\n", now_.time_since_epoch().count(), show(action, now_));
      if (const auto* a = std::get_if<StartList>(&action)) {
        expect(!list_ && !watch_, "two requests at once");
        list_ = ListRequest{a->params, now_ + latency()};
        if (a->params.continue_token.empty()) count_request();
      } else if (const auto* b = std::get_if<StartWatch>(&action)) {
        expect(!list_ && !watch_, "two requests at once");
        watch_ = WatchRequest{};
        watch_->params = b->params;
        watch_->at = now_ + latency();
        count_request();
      } else if (std::holds_alternative<StopRequest>(action)) {
        list_.reset();
        watch_.reset();
      } else if (const auto* c = std::get_if<SetTimer>(&action)) {
        timer_ = c->at;
      } else {
        emit(action);
      }
    }
  }

  void emit(const WatcherAction& action) {
    if (const auto* a = std::get_if<EmitInit>(&action)) {
      store_.begin_init(a->rewound);
    } else if (std::holds_alternative<EmitInitApply>(action)) {
      expect(store_.init_apply(object_).ok(), "an object is refused");
    } else if (const auto* b = std::get_if<EmitInitDone>(&action)) {
      expect(b->gap == store_.ready(), "the gap is told wrongly");
      store_.finish_init(b->resource_version, sink());
      synced_epoch_ = server_.epoch();
      check_against(b->resource_version);
    } else if (std::holds_alternative<EmitApply>(action)) {
      expect(store_.apply(object_, sink()).ok(), "an object is refused");
    } else if (std::holds_alternative<EmitDelete>(action)) {
      expect(store_.remove(object_, sink()).ok(), "an object is refused");
    } else if (const auto* c = std::get_if<EmitBookmark>(&action)) {
      store_.bookmark(c->resource_version);
      check_against(c->resource_version);
    }
  }

  // P2: what the server held at that resourceVersion.
  void check_against(const std::string& version) {
    expect(store_.resource_version() == version, "the store is not where the watcher is");
    const auto* wanted = server_.state_at(std::stoull(version));
    // Other collections move the version as well: the last state before it counts.
    for (std::uint64_t v = std::stoull(version); wanted == nullptr && v > 0; --v) {
      wanted = server_.state_at(v);
    }
    if (wanted != nullptr && synced_epoch_ == server_.epoch()) {
      expect(same(*wanted), "the cache differs from the server at " + version);
    }
  }

  void count_request() {
    requests_.push_back(now_);
    while (requests_.front() + Duration(10000) < now_) requests_.pop_front();
    expect(requests_.size() <= 25, "more than 25 requests within 10 s");
  }

  // ------------------------------------------------------------ the server's side
  void step(std::uint64_t max_milliseconds, std::uint64_t fault_percent) {
    fault_percent_ = fault_percent;
    now_ += Duration(1 + random_.below(max_milliseconds));
    // A restored server is not written to until the cache has seen that it was restored.
    if (synced_epoch_ == server_.epoch()) {
      const bool busy = fault_percent > 0 && fault_percent < 100;
      for (std::uint64_t i = random_.below(3); i > 0 && busy; --i) server_.write();
      if (busy && chance(4)) server_.compact();
      if (busy && chance(8) && watcher_.state() == WatcherState::watching &&
          watcher_.resource_version() == std::to_string(server_.version())) {
        restore();
      }
    }
    if (list_ && now_ >= list_->at) answer_list();
    if (watch_ && now_ >= watch_->at) serve_watch();
    if (timer_ && now_ >= *timer_) {
      timer_.reset();
      act(watcher_.on_timer(now_));
    }
  }

  void restore() {
    const std::uint64_t before = server_.version();
    server_.restore();
    if (trace_) {
      fmt::print("{} restored {} -> {}\n", now_.time_since_epoch().count(), before,
                 server_.version());
    }
    // Another past, with the same versions; never beyond what the cache knows, which nobody could
    // notice.
    while (server_.version() + 8 < before && chance(80)) server_.write();
    if (watch_ && watch_->open) cut();
  }

  bool fault() { return chance(fault_percent_); }
  Duration latency() { return Duration(fault_percent_ == 100 ? 1 : random_.below(300)); }

  Error some_error() {
    switch (random_.below(5)) {
      case 0: return http_error(ErrorKind::rate_limited, 429, 1);
      case 1: return http_error(ErrorKind::unavailable, 503);
      case 2: return http_error(ErrorKind::unauthorized, 401);
      case 3: return http_error(ErrorKind::unavailable, 500);
      default: return Error(ErrorKind::unreachable, "reset by peer");
    }
  }

  void list_failed(const Error& error) {
    list_.reset();
    act(watcher_.on_list_error(now_, error));
  }

  void answer_list() {
    const core::ListParams params = list_->params;
    if (fault()) return list_failed(some_error());
    std::uint64_t version = server_.version();
    std::size_t offset = 0;
    if (!params.continue_token.empty()) {
      version = std::stoull(params.continue_token);
      offset = std::stoull(params.continue_token.substr(params.continue_token.find(':') + 1));
      const bool expired = version < server_.compacted() || (tokens_expire_ && chance(50));
      if (expired || server_.state_at(version) == nullptr) return list_failed(gone());
    } else if (params.resource_version == "0" && chance(50)) {
      version = older_version();  // a lagging cache
    } else if (!params.resource_version.empty() &&
               std::stoull(params.resource_version) > server_.version()) {
      return list_failed(too_large_version());
    }
    std::vector<std::string> items;
    std::size_t index = 0;
    std::string token;
    for (const auto& [name, object] : *server_.state_at(version)) {
      if (index++ < offset) continue;
      if (params.limit != 0 && items.size() == params.limit) {
        token = fmt::format("{}:{}", version, index - 1);
        break;
      }
      items.push_back(model_json(name, object));
    }
    const bool breaks_off = fault();
    const std::size_t given = breaks_off ? random_.below(items.size() + 1) : items.size();
    for (std::size_t i = 0; i < given; ++i) {
      object_ = items[i];
      act(watcher_.on_list_item());
    }
    if (breaks_off) return list_failed(Error(ErrorKind::unreachable, "reset by peer"));
    list_.reset();
    act(watcher_.on_page(now_, page_of(version, token)));
  }

  // A version whose state is still there, not before the last compaction.
  std::uint64_t older_version() {
    std::uint64_t version = server_.version() - random_.below(6);
    while (version < server_.version() &&
           (server_.state_at(version) == nullptr || version < server_.compacted())) {
      ++version;
    }
    return version;
  }

  void watch_failed(const std::optional<Error>& error) {
    watch_.reset();
    act(watcher_.on_watch_end(now_, error));
  }
  void cut() { watch_failed(Error(ErrorKind::unreachable, "reset by peer")); }

  void serve_watch() {
    if (watch_->silent) return;
    if (!watch_->open) return open_watch();
    for (int i = 0; i < 4 && watch_ && watch_->open && !watch_->silent && problem_.empty(); ++i) {
      if (fault()) {
        stream_fault();
      } else if (!watch_->initial.empty()) {
        const ModelEvent event = watch_->initial.front();
        watch_->initial.pop_front();
        send(event.type, event.name, event.object);
      } else if (watch_->initial_end) {
        end_initial();
      } else {
        send_next();
      }
    }
  }

  void open_watch() {
    const core::WatchParams& params = watch_->params;
    if (fault()) {
      if (chance(20)) {
        watch_->silent = true;  // never answered
        return;
      }
      return watch_failed(some_error());
    }
    if (params.send_initial_events && refuses_streaming_) {
      return watch_failed(http_error(ErrorKind::invalid, 422));
    }
    watch_->epoch = server_.epoch();
    if (params.send_initial_events) {
      prepare_initial();
    } else {
      watch_->sent = std::stoull(params.resource_version);
      if (watch_->sent < server_.compacted() && gone_by_http_) return watch_failed(gone());
    }
    watch_->open = true;
    act(watcher_.on_watch_open(now_));
    if (watch_ && !params.send_initial_events && watch_->sent > server_.version()) {
      send_bookmark();  // how a restored server betrays itself
    }
  }

  // State of some time ago, what happened since, and then the end.
  void prepare_initial() {
    std::uint64_t version = older_version();
    for (const auto& [name, object] : *server_.state_at(version)) {
      watch_->initial.push_back({core::WatchEventType::added, name, object});
    }
    if (watch_->params.resource_version != "0") {
      while (const auto* event = server_.after(version)) {
        watch_->initial.push_back(*event);
        version = event->object.version;
      }
    }
    watch_->initial_end = version;
    watch_->sent = version;
  }

  void end_initial() {
    if (never_ends_streaming_) {
      watch_->silent = true;
      return;
    }
    const std::uint64_t version = *std::exchange(watch_->initial_end, std::nullopt);
    EventFacts facts;
    facts.type = core::WatchEventType::bookmark;
    facts.resource_version = std::to_string(version);
    facts.initial_events_end = true;
    act(watcher_.on_event(now_, facts));
  }

  void send(core::WatchEventType type, const std::string& name, const ModelObject& object) {
    object_ = model_json(name, object);
    EventFacts facts;
    facts.type = type;
    facts.resource_version = std::to_string(object.version);
    act(watcher_.on_event(now_, facts));
  }

  void send_next() {
    if (watch_->sent < server_.compacted()) {
      EventFacts facts;
      facts.type = core::WatchEventType::error;
      facts.error = gone();
      act(watcher_.on_event(now_, facts));
      return;
    }
    if (const auto* found = server_.after(watch_->sent)) {
      const ModelEvent event = *found;
      watch_->sent = event.object.version;
      // P1: what follows the watcher's position is this event and no other.
      const auto* next = server_.after(std::stoull(watcher_.resource_version()));
      expect(synced_epoch_ != server_.epoch() || next == found, "an event is lost or doubled");
      send(event.type, event.name, event.object);
      return;
    }
    if (watch_->params.bookmarks && sends_bookmarks_ && chance(10)) send_bookmark();
    // Load balancers and servers end watches now and then.
    if (watch_ && fault_percent_ > 0 && chance(2)) watch_failed(std::nullopt);
  }

  void send_bookmark() {
    EventFacts facts;
    facts.type = core::WatchEventType::bookmark;
    facts.resource_version = std::to_string(server_.version());
    if (watch_) watch_->sent = server_.version();
    act(watcher_.on_event(now_, facts));
  }

  void stream_fault() {
    EventFacts facts;
    facts.type = core::WatchEventType::error;
    switch (random_.below(8)) {
      case 0: return watch_failed(std::nullopt);
      case 1: return cut();
      case 2: watch_->silent = true; return;
      case 3: facts.error = gone(); break;
      case 4: facts.error = http_error(ErrorKind::rate_limited, 429, 2); break;
      case 5: facts.error = core::error_from_status_json("[]"); break;
      case 6: facts.type = core::WatchEventType::unknown; break;
      default: facts.type = core::WatchEventType::bookmark; break;  // without resourceVersion
    }
    act(watcher_.on_event(now_, facts));
  }

  base::Random random_;
  ModelServer server_;
  Watcher watcher_;
  Store store_;
  std::map<std::string, std::string> shadow_;  // what a listener knows
  TimePoint now_{Duration{0}};
  std::optional<ListRequest> list_;
  std::optional<WatchRequest> watch_;
  std::optional<TimePoint> timer_;
  std::deque<TimePoint> requests_;
  std::string object_;
  std::uint64_t synced_epoch_ = 0;
  std::uint64_t fault_percent_ = 0;
  bool refuses_streaming_ = false, never_ends_streaming_ = false;
  bool sends_bookmarks_ = true, tokens_expire_ = false, gone_by_http_ = false;
  bool trace_ = std::getenv("KUBEWATCH_TRACE") != nullptr;
  std::string problem_;
};

}  // namespace

TEST_CASE("random faults lose, double and reorder nothing, and every watch recovers") {
  const char* one = std::getenv("KUBEWATCH_SEED");
  const std::uint64_t first = one != nullptr ? std::stoull(one) : 0;
  const char* many = std::getenv("KUBEWATCH_SEEDS");
  const std::uint64_t count = one != nullptr ? 1 : many != nullptr ? std::stoull(many) : 400;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = Simulation(seed).run(200);
    INFO("seed " << seed << ": " << problem << "; replay with KUBEWATCH_SEED=" << seed);
    REQUIRE(problem.empty());
  }
}

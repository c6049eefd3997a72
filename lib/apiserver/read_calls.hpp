// The reads that a cache server is answering: which kind a call is of, waits for a newer state,
// searches that go on turn by turn, lists and watches that go out as their clients take them. Knows
// nothing of who may come in, nor of how something is passed on. Owned by the read server.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/api_target.hpp"
#include "apiserver/read_server.hpp"
#include "apiserver/read_streams.hpp"
#include "base/random.hpp"

namespace kubewatch::apiserver {

// A request that came in, and what it turned out to mean.
struct ReadCall {
  http::ServerRequest request;
  ResourcePath path;
  Query query;
  std::shared_ptr<http::Responder> to;
  bool waited = false;  // for a newer state, as long as it may
};
using ReadCallPtr = std::shared_ptr<ReadCall>;

http::Headers json_headers(const std::string& type = "application/json");
// 503, to be tried again in a second.
Error unavailable(const std::string& message);

class ReadCalls {
 public:
  // What becomes of a call that is not answered from a cache. Each may answer at once.
  struct Otherwise {
    std::function<void(const std::shared_ptr<http::Responder>&, const Error&)> refuse;
    std::function<void(const ReadCallPtr&)> not_held;  // no kind has it, or none has it any more
    // Of a kind whose cache lacks something of it. False: nothing is passed on.
    std::function<bool(const ReadCallPtr&)> pass_on;
  };

  // `loop` must outlive it.
  ReadCalls(loop::EventLoop& loop, HistoryLimits history, Duration bookmark_interval,
            Duration version_wait, Otherwise otherwise);
  // Drops what is being sent: before the server that it is sent by goes.
  void close();

  ReadServer::KindId add(const core::ReadBackend& backend, ResourcePtr resource);
  // As ReadServer's.
  void change_version(ReadServer::KindId id, ResourcePtr resource);
  void changed(ReadServer::KindId id, ReadChange change, bool relisted);
  void synced(ReadServer::KindId id, bool gap);
  void moved(ReadServer::KindId id);
  // Ends what has waited or was open for long enough. To be called a few times a second.
  void tick();

  // Answers it, now or later. False: it is of no kind that is held here.
  bool answer(const ReadCallPtr& call);

  std::vector<std::string> names() const;      // of all kinds
  std::vector<std::string> not_ready() const;  // of those whose caches are not complete
  // `requests`, `refused` and `forwarded` are not its own to count.
  ReadCounters counters() const;

 private:
  struct Kind {
    Kind(const core::ReadBackend& backend, ResourcePtr resource, HistoryLimits limits)
        : kind(backend, std::move(resource), limits) {}
    ReadKind kind;
    VersionWaiters<ReadCallPtr> waiters;
    std::uint64_t sent = 0;          // events before this place were sent to all who keep up
    bool of_version_before = false;  // the backend's objects, until it is synced
    bool ready() const { return kind.backend().ready() && !of_version_before; }
  };
  struct Watching {
    Kind* kind;
    std::unique_ptr<OpenWatch> watch;
  };
  // A list that is not answered before its objects are found.
  struct Search {
    ReadCallPtr call;
    Kind* kind;
    ListSlice slice;
    Representation as;
  };

  void dispatch(const ReadCallPtr& call, Kind& kind);
  Result<void> get(const ReadCallPtr& call, Kind& kind, const Representation& as);
  Result<void> list(const ReadCallPtr& call, Kind& kind, const Representation& as);
  Result<void> send_list(const ReadCallPtr& call, Kind& kind, ListSlice slice,
                         const Representation& as);
  Result<void> watch(const ReadCallPtr& call, Kind& kind, const Representation& as);
  Result<void> wait(const ReadCallPtr& call, Kind& kind, const NotYet& not_yet);
  void pump_all(Kind& kind);
  void pump(std::list<std::unique_ptr<ListStream>>::iterator stream);
  ReadTurn turn_of(const Kind& kind, bool at_once = false) {
    return {loop_.wall(), kind.sent, at_once, &looks_};
  }
  void go_on_if_used();
  void go_on();
  void sweep_later();
  void sweep();

  static constexpr std::size_t kLooksPerTurn = 1000;  // into objects, for selections by fields

  loop::EventLoop& loop_;
  HistoryLimits history_;  // of each kind
  Duration bookmark_interval_;
  Duration version_wait_;
  Otherwise otherwise_;
  base::Random random_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::list<Search> searches_;
  std::list<std::unique_ptr<ListStream>> lists_;
  std::list<Watching> watches_;
  std::size_t looks_ = kLooksPerTurn;  // left in this turn of the loop, of all readers
  bool going_on_ = false;
  bool sweeping_ = false;
  bool pumped_ = false;  // in this turn of the loop
  ReadCounters counters_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
};

}  // namespace kubewatch::apiserver

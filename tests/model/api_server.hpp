// The simulated API server: a highly available pair of front ends over one Cluster, each with a
// cache that may lag and history that may be short. Turns requests into the bytes of answers, as
// kube-apiserver words them (facts: API concepts, KEP-3157). Delivery is the network's business.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "model/cluster.hpp"
#include "model/verdict.hpp"

namespace kubewatch::model {

// What this server is like for the whole schedule; faults come and go on top of it.
struct ServerTraits {
  bool refuses_streaming = false;      // before 1.32, or the gate is off
  bool never_ends_streaming = false;   // an aggregated server that does not know the end bookmark
  bool resends = false;                // after a reconnect it tells a little again
  bool gone_by_http = false;           // 410 as HTTP status instead of an ERROR event
  bool typed_items = false;            // list items with apiVersion and kind
  bool pages_drift = false;            // later pages show a later state
  bool shapes = false;                 // huge and deeply nested objects
  std::uint64_t unreadable_every = 0;  // one event of so many is not JSON, for whoever reads it
  bool future_is_error = false;        // after a restore: 504 instead of silence and a bookmark
  Duration token_life{600000};         // of continue tokens
  Duration bookmark_every{10000};      // 0 = never
  std::uint64_t max_lag = 0;           // how many revisions a front end may be behind
};

struct Reply {
  int status = 200;
  std::string body;
  std::string retry_after;    // header
  std::uint64_t version = 0;  // of a list
  bool whole = false;         // its last page
};

// One JSON document of a watch stream.
struct Frame {
  std::string bytes;
  std::uint64_t version = 0;  // where the subscriber stands after it; 0 = does not move
  bool initial_end = false;
  bool last = false;  // the server closes after it
  bool unreadable = false;
  int error_code = 0;
  int retry_after = 0;
};

struct WatchQuery {
  View view;
  std::string version;
  bool initial = false;
  bool bookmarks = false;
  Duration timeout{0};
};
struct ListQuery {
  View view;
  std::uint64_t limit = 0;
  std::string token;
  std::string version;
};

// A watch as the server holds it.
struct WatchSession {
  WatchQuery query;
  std::size_t front = 0;
  std::uint64_t sent = 0;
  std::uint64_t epoch = 0;
  bool restored_under = false;  // started at a version that a restore undid
  std::deque<Frame> initial;
  TimePoint next_bookmark{};
};

std::string status_json(int code, const std::string& reason, const std::string& message,
                        int retry_after = 0);
Frame error_frame(int code, const std::string& reason, int retry_after = 0);
std::string event_json(const char* type, const std::string& object);

class ApiServer {
 public:
  ApiServer(Cluster& cluster, ServerTraits traits, base::Random& random)
      : cluster_(cluster), traits_(traits), random_(random) {}

  // Up to which revision events may be unreadable.
  std::uint64_t unreadable_until = ~std::uint64_t{0};

  const ServerTraits& traits() const { return traits_; }
  Cluster& cluster() { return cluster_; }
  const Cluster& cluster() const { return cluster_; }
  // Caches move on; all the way when `calm`.
  void tick(bool calm);
  // A front end came up anew: its history begins now.
  void restart(std::size_t front) {
    fronts_.at(front) = {cluster_.revision(), cluster_.revision()};
  }
  std::size_t pick_front() { return random_.below(2); }

  Reply list(const ListQuery& query, std::size_t front, TimePoint now);
  // Absent: answered with `refusal`.
  std::optional<WatchSession> open(const WatchQuery& query, std::size_t front, TimePoint now,
                                   Reply& refusal);
  // What the server has to say now; false when there is nothing.
  bool next(WatchSession& session, TimePoint now, Frame& out);

 private:
  struct Front {
    std::uint64_t seen = 10;
    std::uint64_t oldest = 0;
  };
  std::uint64_t oldest(std::size_t front) const;
  void prepare_initial(WatchSession& session) const;
  Frame bookmark(const WatchSession& session, std::uint64_t version, bool end) const;
  Frame event_frame(const WatchSession& session, const SimEvent& event) const;

  Cluster& cluster_;
  const ServerTraits traits_;
  base::Random& random_;
  std::array<Front, 2> fronts_{};
};

}  // namespace kubewatch::model

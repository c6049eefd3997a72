// Which connections of a server have not sent all of a request yet, until when each may take for
// it, and which of them goes when they are too many. Owned by the server, which tells what happens
// and closes. Pure: no clock, no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/time.hpp"

struct evhttp_connection;  // a name for a connection: nothing of it is used

namespace kubewatch::http {

struct ConnectionLimitOptions {
  std::size_t connections = 512;
  std::size_t pending_bytes = 128U << 20U;  // of all requests that are not whole
  // What one of them can hold at most: of a body that is too long the rest is thrown away as it
  // comes, so that its client sees the answer.
  std::size_t request_bytes = 4U << 20U;
  // From its first byte on, of a connection's first one from connecting on. Reading starts neither
  // of them anew.
  Duration headers{10000};
  Duration request{60000};  // headers and body
};

// How many connections a server may have of so many descriptors: one that is not all that its
// program does, and one whose clients are many and stay.
std::size_t connections_among_others(std::size_t open_files);
std::size_t connections_for_watchers(std::size_t open_files);

class ConnectionLimits {
 public:
  using Connection = evhttp_connection*;

  explicit ConnectionLimits(ConnectionLimitOptions options) : options_(options) {}

  void opened(Connection connection, TimePoint now);
  // What it sends while its request is answered does not count.
  void read(Connection connection, std::string_view bytes, TimePoint now);
  // From now on it may stay, until answered().
  void is_whole(Connection connection);
  // It may send another request, and wait with it.
  void answered(Connection connection);
  void closed(Connection connection);

  bool owes_request(Connection connection) const;
  bool too_many() const { return states_.size() > options_.connections; }
  // What took too long; then, of too many connections or bytes, what owes its request the longest.
  std::optional<Connection> must_go(TimePoint now) const;
  std::optional<TimePoint> next_deadline() const;

 private:
  struct State {
    std::uint64_t place = 0;  // in owing_; 0: it owes nothing
    std::optional<TimePoint> begun;
    std::optional<TimePoint> deadline;
    bool headers_read = false;
    bool line_is_empty = false;
    std::size_t bytes = 0;
  };

  void owe(Connection connection, State& state);
  void settle(State& state);
  void begin(State& state, TimePoint now);
  void limit(State& state, TimePoint deadline);

  ConnectionLimitOptions options_;
  std::unordered_map<Connection, State> states_;
  std::map<std::uint64_t, Connection> owing_;  // the oldest first
  std::set<std::pair<TimePoint, std::uint64_t>> deadlines_;
  std::uint64_t places_ = 0;
  std::size_t pending_bytes_ = 0;
};

}  // namespace kubewatch::http

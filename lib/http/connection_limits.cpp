#include "http/connection_limits.hpp"

#include <algorithm>

namespace kubewatch::http {

namespace {

constexpr std::size_t kMostAmongOthers = 512;
constexpr std::size_t kMostForWatchers = 16384;

// Whether an empty line ends the headers in these bytes. evhttp alone says what they mean.
bool ends_headers(std::string_view bytes, bool& line_is_empty) {
  for (const char c : bytes) {
    if (c == '\n' && line_is_empty) return true;
    if (c != '\r') line_is_empty = c == '\n';
  }
  return false;
}

}  // namespace

std::size_t connections_among_others(std::size_t open_files) {
  return std::clamp<std::size_t>(open_files / 4, 1, kMostAmongOthers);
}

std::size_t connections_for_watchers(std::size_t open_files) {
  return std::clamp<std::size_t>(open_files - open_files / 8, 1, kMostForWatchers);
}

void ConnectionLimits::owe(Connection connection, State& state) {
  state = State();
  state.place = ++places_;
  owing_[state.place] = connection;
}

void ConnectionLimits::settle(State& state) {
  owing_.erase(state.place);
  if (state.deadline) deadlines_.erase({*state.deadline, state.place});
  pending_bytes_ -= state.bytes;
  state = State();
}

void ConnectionLimits::limit(State& state, TimePoint deadline) {
  if (state.deadline) deadlines_.erase({*state.deadline, state.place});
  state.deadline = deadline;
  deadlines_.emplace(deadline, state.place);
}

void ConnectionLimits::begin(State& state, TimePoint now) {
  state.begun = now;
  limit(state, now + options_.headers);
}

void ConnectionLimits::opened(Connection connection, TimePoint now) {
  State& state = states_[connection];
  owe(connection, state);
  begin(state, now);
}

void ConnectionLimits::read(Connection connection, std::string_view bytes, TimePoint now) {
  const auto it = states_.find(connection);
  if (it == states_.end() || it->second.place == 0) return;
  State& state = it->second;
  if (!state.begun) begin(state, now);
  const std::size_t room = options_.request_bytes - state.bytes;
  const std::size_t held = std::min(bytes.size(), room);
  state.bytes += held;
  pending_bytes_ += held;
  if (state.headers_read || !ends_headers(bytes, state.line_is_empty)) return;
  state.headers_read = true;
  limit(state, *state.begun + options_.request);
}

void ConnectionLimits::is_whole(Connection connection) {
  if (const auto it = states_.find(connection); it != states_.end()) settle(it->second);
}

void ConnectionLimits::answered(Connection connection) {
  const auto it = states_.find(connection);
  if (it != states_.end() && it->second.place == 0) owe(connection, it->second);
}

void ConnectionLimits::closed(Connection connection) {
  is_whole(connection);
  states_.erase(connection);
}

bool ConnectionLimits::owes_request(Connection connection) const {
  const auto it = states_.find(connection);
  return it != states_.end() && it->second.place != 0;
}

std::optional<ConnectionLimits::Connection> ConnectionLimits::must_go(TimePoint now) const {
  if (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    return owing_.at(deadlines_.begin()->second);
  }
  if (too_many() && !owing_.empty()) return owing_.begin()->second;
  if (pending_bytes_ <= options_.pending_bytes) return std::nullopt;
  for (const auto& [place, connection] : owing_) {
    if (states_.at(connection).bytes > 0) return connection;
  }
  return std::nullopt;
}

std::optional<TimePoint> ConnectionLimits::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

}  // namespace kubewatch::http

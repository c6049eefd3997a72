// What is being sent: lists that go out piece by piece as their client takes them, and open
// watches. Holds the answers, asks nothing and decides nothing of the API. Owned by read_server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/read_kind.hpp"
#include "http/server.hpp"
#include "http/stall.hpp"

namespace kubewatch::apiserver {

// One list that is going out. `kind` must outlive it.
class ListStream {
 public:
  ListStream(const ReadKind& kind, ListSlice slice, Representation as, WallTime now,
             std::shared_ptr<http::Responder> to, TimePoint started);
  // Sends what the client takes and `looks` suffice for. False: all is sent, or nobody takes it.
  bool pump(std::size_t& looks);
  // It would have gone on with more looks: nobody but the owner pumps it then.
  bool starved() const { return starved_; }
  bool over(TimePoint now);
  std::uint64_t sent() const { return sent_; }
  const ReadKind& kind() const { return kind_; }
  http::Responder& responder() { return *to_; }

  // All of it at once; absent when it is more than `most` bytes.
  static std::optional<std::string> whole(const ReadKind& kind, const ListSlice& slice,
                                          const Representation& as, WallTime now, std::size_t most,
                                          std::uint64_t& sent);

 private:
  // Puts further items behind `out` until it is that long or no looks are left; false when there
  // are no items left.
  static bool append(const ReadKind& kind, const ListSlice& slice, const Representation& as,
                     WallTime now, std::size_t bytes, std::size_t& looks, std::size_t& at,
                     std::uint64_t& sent, std::string& out);

  const ReadKind& kind_;
  ListSlice slice_;
  Representation as_;
  WallTime now_;
  std::shared_ptr<http::Responder> to_;
  ListFrame frame_;
  std::size_t at_;
  std::uint64_t sent_ = 0;
  bool starved_ = false;
  http::Stall stall_;
};

// One open watch, with its times.
class OpenWatch : public WatchSink {
 public:
  OpenWatch(std::unique_ptr<ReadWatch> watch, std::shared_ptr<http::Responder> to, TimePoint now,
            Duration bookmark_interval);
  void send(std::string_view bytes) override { to_->send(bytes); }
  void send_now(std::string_view bytes) override { to_->send_now(bytes); }
  std::size_t backlog() const override { return to_->backlog(); }
  bool gone() const override { return to_->gone(); }

  // False: it is over.
  bool pump(const ReadHistory& history, const ReadTurn& turn);
  // Bookmarks that are due, the end of its time. False: it is over.
  bool tick(const ReadHistory& history, TimePoint now, const ReadTurn& turn);
  bool over() const { return over_ || gone(); }
  // As ListStream's.
  bool starved() const { return !over() && watch_->starved(); }
  // It was ended because its client did not read.
  bool dropped() const { return dropped_; }
  http::Responder& responder() { return *to_; }

 private:
  std::unique_ptr<ReadWatch> watch_;
  std::shared_ptr<http::Responder> to_;
  Duration bookmark_interval_;
  TimePoint deadline_;
  TimePoint next_bookmark_;
  bool last_bookmark_sent_ = false;
  bool over_ = false;
  bool dropped_ = false;
  http::Stall stall_;
};

}  // namespace kubewatch::apiserver

// One watch: which events a client sees, in which words, and how much may wait for a slow one.
// Decides and encodes; the sink does the sending. The hub holds all open watches and hands events
// to them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/encode.hpp"
#include "apiserver/list_options.hpp"
#include "apiserver/storage.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

// Where the lines of one watch go. Destroying it ends the stream.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void send(std::string_view bytes) = 0;
  // The last that there is: it is not to wait for more.
  virtual void send_now(std::string_view bytes) { send(bytes); }
  virtual std::size_t backlog() const = 0;  // bytes the client has not taken
  virtual bool gone() const = 0;
};

struct WatchSpec {
  ResourcePtr resource;
  std::string prefix;  // of keys: "shop/" or ""
  core::LabelSelector labels;
  core::FieldSelector fields;
  Representation as;
  bool bookmarks = false;
  Duration timeout{0};  // never 0 once open
};

// A client that has so many events waiting for it is dropped, as the real server drops one whose
// buffer is full. What it started with does not count.
constexpr std::size_t kWaitingEvents = 10000;
// The same of large objects: what waits for it is kept for it alone once history let go of it.
constexpr std::size_t kWaitingBytes = 128U << 20U;
// Beyond this much that the client has not taken nothing more is handed to the sink.
inline constexpr std::size_t kSinkBytes = 1U << 20U;
// So often it is looked which watches are to end or to get a bookmark.
inline constexpr Duration kWatchTick{250};

class WatchStream {
 public:
  explicit WatchStream(WatchSpec spec) : spec_(std::move(spec)) {}

  // Before it is attached, in this order, each at most once. `end` marks the end of the initial
  // state by an annotated bookmark at `version`.
  void start_with_state(std::vector<ObjectPtr> objects, std::uint64_t version, bool end);
  // Those after the version `after`, which may be one that is yet to come: nothing up to it is
  // told.
  void start_with_events(std::vector<EventPtr> events, std::uint64_t after);
  // The stream says this one ERROR and ends.
  void start_with_error(Error error);

  void offer(const EventPtr& event);
  // A bookmark at `version`, when wanted and nothing waits before it.
  void bookmark(std::uint64_t version);
  // Sends what the sink takes. False: the stream is over, or its client was too slow. `fresh`: the
  // event that is told to everybody right now, whose lines are shared; the caller clears them.
  // `at`: the object whose turn it was last, for who catches what telling it throws.
  bool pump(WatchSink& sink, WallTime now, const Event* fresh = nullptr, ObjectPtr* at = nullptr);
  bool waiting() const { return !initial_.empty() || !events_.empty() || end_version_ || error_; }
  const WatchSpec& spec() const { return spec_; }

 private:
  bool matches(const Object& object) const;
  std::shared_ptr<const std::string> line(const Event& event, const char* type,
                                          const Object& object, bool shared, WallTime now);
  // Null when this client does not see the event.
  std::shared_ptr<const std::string> seen(const Event& event, bool shared, WallTime now);

  WatchSpec spec_;
  std::deque<ObjectPtr> initial_;
  std::optional<std::uint64_t> end_version_;
  std::deque<EventPtr> events_;
  std::size_t bytes_ = 0;  // of events_
  std::optional<Error> error_;
  std::optional<std::string> bookmark_;
  std::uint64_t after_ = 0;  // told already, or not to be told
  std::size_t most_waiting_ = kWaitingEvents;
  std::size_t most_bytes_ = kWaitingBytes;
  bool columns_sent_ = false;
};

class WatchHub {
 public:
  explicit WatchHub(Duration bookmark_interval) : bookmark_interval_(bookmark_interval) {}

  void attach(std::shared_ptr<WatchStream> stream, std::unique_ptr<WatchSink> sink, TimePoint now,
              WallTime wall);
  void on_event(const std::string& storage_id, const EventPtr& event, WallTime wall);
  // Ends what is over, sends bookmarks that are due, goes on with slow clients.
  void tick(std::uint64_t version, TimePoint now, WallTime wall);
  // The definition of a custom kind changed: its open watches, which would go on in the version and
  // schema that they began with, end in order a second after the next tick, as the real server's do
  // (crdHandler.tearDown of apiextensions-apiserver).
  void outdate(const std::string& storage_id);
  // Sends what waits for slow clients; true while there is more.
  bool pump(WallTime wall);
  void sweep();     // forgets clients that went away
  void drop_all();  // ends every watch
  std::size_t size() const;

 private:
  struct Open {
    std::shared_ptr<WatchStream> stream;
    std::unique_ptr<WatchSink> sink;
    TimePoint deadline;
    TimePoint next_bookmark;
    bool last_bookmark_sent = false;
    bool outdated = false;
    bool over = false;
  };
  void each(const std::function<void(Open&)>& action);
  // False: it is over. So is a watch of what cannot be told, which is logged: its client would not
  // know what it lacks.
  static bool tell(Open& open, WallTime wall, const Event* fresh = nullptr);
  Duration bookmark_interval_;
  std::map<std::string, std::vector<std::unique_ptr<Open>>> open_;  // by storage id
};

}  // namespace kubewatch::apiserver

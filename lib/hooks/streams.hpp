// The watches that rules need: one Reflector per kind, namespace and selection, shared by rules
// that ask for the same. A StreamGroup is what one StreamRule sees: its streams over all its
// namespaces, as one cache.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "hooks/facts.hpp"
#include "hooks/once_per.hpp"
#include "hooks/rule.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::hooks {

class Stream;

struct StreamListener {
  std::function<void(const runtime::StoreChange&)> on_change;  // not for the initial list
  std::function<void()> on_ready;  // ready(), blocked() or stalled() changed
};

struct StreamSpec {
  core::ResourceType type;
  std::string namespace_;
  std::string label_selector;
  std::string field_selector;
  std::vector<std::string> strip;
  runtime::WatcherOptions list;
  bool needed = true;       // false: nobody waits for it, readiness neither
  std::string key() const;  // equal for streams that can be one
};

// Owns the streams; outlives all groups.
class StreamPool {
 public:
  StreamPool(client::Client& client, base::Random& random);
  ~StreamPool();
  // Opened when it is not there yet. `listener` stays valid until close().
  struct Opened {
    std::shared_ptr<Stream> stream;
    std::size_t listener = 0;
  };
  Opened open(const StreamSpec& spec, StreamListener listener);
  // Nobody listens any more: its watch ends. Not from inside a listener.
  void close(const Opened& opened);
  std::vector<WatchFacts> facts() const;
  // Called when the server does not know the kind of a stream, or an object has not the scope of
  // its kind; as often as that is seen.
  void on_doubt(std::function<void(const core::Gvk&)> callback) { doubt_ = std::move(callback); }
  // Called when the server has answered any of their requests, or told of something.
  void on_answer(std::function<void()> callback) { answered_ = std::move(callback); }
  // Requests get no answer since then: what has told nothing since is opened anew, one after the
  // other within seconds, until on_server_answers().
  void on_server_silent(TimePoint since);
  void on_server_answers();

 private:
  void open_next_anew();

  client::Client& client_;
  base::Random& random_;
  std::function<void(const core::Gvk&)> doubt_ = [](const core::Gvk&) {};
  std::function<void()> answered_ = [] {};
  OncePer failures_{Duration{60000}};
  std::map<std::string, std::shared_ptr<Stream>> streams_;
  std::vector<std::weak_ptr<Stream>> to_open_anew_;
  TimePoint silent_since_{};
  Duration between_{0};  // two of them, on average
  loop::Timer opening_;
};

class Stream {
 public:
  Stream(client::Client& client, base::Random& random, const StreamSpec& spec, OncePer& failures,
         const std::function<void(const core::Gvk&)>& doubt, const std::function<void()>& answered);
  std::size_t add(StreamListener listener);
  void remove(std::size_t listener) { listeners_.erase(listener); }
  bool unused() const { return listeners_.empty(); }
  // Not while what it holds is of before a restore of the server.
  bool ready() const { return store().ready() && !reflector_.outdated(); }
  const runtime::Store& store() const { return reflector_.store(); }
  const std::string& namespace_name() const { return reflector_.namespace_name(); }
  // Cannot be listed at all: forbidden, refused for good, or the kind is gone. Other failures pass.
  bool blocked() const { return !ready() && blocked_; }
  // Has not been listed, and for kPatienceAtStart all tries have failed without bringing anything:
  // who ends by itself need not wait.
  bool stalled() const { return !ready() && stalled_; }
  void start() { reflector_.start(); }
  void on_server_silent(TimePoint since) { reflector_.on_server_silent(since); }
  WatchFacts facts() const;

 private:
  void on_change(const runtime::StoreChange& change);
  void on_synced();
  void on_outdated();
  void on_failure(runtime::WatcherFailure where, const Error& error, Duration retry_in);

  client::Client& client_;
  std::string name_;
  bool needed_;
  OncePer& failures_;
  const std::function<void(const core::Gvk&)>& doubt_;
  const std::function<void()>& answered_;
  // Called one by one: a listener may add or remove others.
  void each(const std::function<void(const StreamListener&)>& call);

  std::map<std::size_t, StreamListener> listeners_;
  std::size_t last_listener_ = 0;
  bool told_ready_ = false;
  bool blocked_ = false;
  bool stalled_ = false;
  std::optional<TimePoint> failing_from_;  // since the last failure before which something came
  std::uint64_t held_at_failure_ = 0;      // bytes
  int missing_ = 0;
  runtime::Reflector reflector_;
};

// Streams that go on, whoever else closes them. The pool must outlive it.
class HeldStreams {
 public:
  HeldStreams() = default;
  explicit HeldStreams(StreamPool& pool) : pool_(&pool) {}
  void add(const std::vector<std::shared_ptr<Stream>>& streams,
           const std::function<void(const runtime::StoreChange&)>& on_change);
  ~HeldStreams();
  HeldStreams(HeldStreams&&) noexcept = default;
  HeldStreams& operator=(HeldStreams&& other) noexcept;

 private:
  void close();

  StreamPool* pool_ = nullptr;
  std::vector<StreamPool::Opened> opened_;
};

// Closes its streams when it goes; the pool must outlive it.
class StreamGroup {
 public:
  StreamGroup() = default;
  ~StreamGroup();
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  // `namespaces` empty: all, or cluster-scoped.
  void open(StreamPool& pool, StreamSpec spec, const std::vector<std::string>& namespaces,
            const StreamListener& listener);
  bool ready() const;
  const core::ResourceType& type() const { return type_; }
  // Only objects in these namespaces are seen from now on, by the readers below.
  void restrict_to(std::function<bool(const std::string& namespace_)> included) {
    included_ = std::move(included);
  }
  bool includes(const std::string& namespace_) const { return !included_ || included_(namespace_); }
  // Watched, but in a namespace that is not included.
  std::optional<core::ObjectMeta> get_meta_outside(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys_outside() const;
  // Included or not.
  std::optional<runtime::StoredObject> get_anywhere(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys_in(const std::string& namespace_) const;
  // The group watches this namespace.
  bool covers(const std::string& namespace_) const;

  // With a uid: the object of that uid.
  bool contains(const core::ObjectKey& key, std::optional<std::string_view> uid = {}) const;
  std::optional<runtime::StoredObject> get(const core::ObjectKey& key) const;
  std::optional<core::ObjectMeta> get_meta(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys() const;
  std::vector<core::ObjectKey> select(const core::LabelSelector& selector) const;
  std::vector<core::ObjectKey> keys_with_label(const std::string& label,
                                               const std::string& value) const;
  bool blocked() const;
  bool stalled() const;
  // Shared ones too.
  const std::vector<std::shared_ptr<Stream>>& streams() const { return streams_; }
  // Up to which all of it is exact; of several streams the one furthest behind. "" without any.
  std::string resource_version() const;
  // The same of what watches this namespace alone.
  std::string resource_version_in(const std::string& namespace_) const;

 private:
  const Stream* stream_for(const std::string& namespace_) const;
  void drop_outside(std::vector<core::ObjectKey>& keys) const;

  core::ResourceType type_;
  std::function<bool(const std::string&)> included_;
  StreamPool* pool_ = nullptr;
  std::vector<StreamPool::Opened> opened_;
  std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace kubewatch::hooks

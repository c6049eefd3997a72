// Many streams of changes side by side: each with its own operators, its own backoff and its own
// health. One that fails or is forbidden never pauses, delays or resets another. Thin driver: what
// it decides is in stream_backoff and change_stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "loop/event_loop.hpp"
#include "runtime/change_stream.hpp"
#include "runtime/stream_backoff.hpp"

namespace kubewatch::runtime {

// What a source tells. All from the loop, never from inside start().
struct SourceEvents {
  std::function<void(const StoreChange&)> on_change;
  std::function<void(StreamSign)> on_sign;
  // It failed and goes on by itself, that much later.
  std::function<void(const Error&, Duration retry_in)> on_failing;
  // It failed and has ended: it is started again after its stream's backoff.
  std::function<void(const Error&)> on_ended;
};

// Something that tells changes: a SharedWatch's source, or one of the user's own.
class ChangeSource {
 public:
  virtual ~ChangeSource() = default;
  // Called once, and again after each on_ended.
  virtual void start(SourceEvents events) = 0;
};

// Not to be destroyed from inside a callback of its streams.
class StreamSet {
 public:
  using Id = std::uint64_t;

  // Both must outlive it.
  StreamSet(loop::EventLoop& loop, base::Random& random,
            base::BackoffPolicy backoff = {Duration{800}, Duration{30000}, 2.0, 0.5});
  ~StreamSet();
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  // Started in the next turn of the loop. `name` is for health and messages.
  Id add(std::string name, std::unique_ptr<ChangeSource> source, ChangeStream stream);
  // Nothing of it is told any more; may be called from inside any callback, its own as well.
  void remove(Id id);
  void clear();

  bool ready() const;  // all are
  bool ready(Id id) const;
  // In the order in which they were added.
  std::vector<StreamHealth> health() const;
  // Told when a stream becomes ready, starts to fail or recovers. The streams log nothing
  // themselves: whoever has the set does, here.
  void on_health(std::function<void(const StreamHealth&)> callback);

 private:
  struct Entry;
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Entry>> entries_;
  Id last_ = 0;
};

}  // namespace kubewatch::runtime

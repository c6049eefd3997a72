// Starting, restarting and removing streams.
#include "runtime/stream_set.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::runtime {

// What the callbacks of all streams need; outlives the set while one of them runs.
struct StreamSet::Shared {
  loop::EventLoop& loop;
  base::Random& random;
  base::BackoffPolicy backoff;
  std::function<void(const StreamHealth&)> on_health;
  // Removed ones, whose source may be on the stack: until the next turn.
  std::vector<std::shared_ptr<Entry>> leaving;
};

struct StreamSet::Entry : std::enable_shared_from_this<Entry> {
  Id id = 0;
  std::shared_ptr<Shared> shared;
  std::unique_ptr<ChangeSource> source;
  ChangeStream stream;
  StreamMonitor monitor;
  StreamBackoff backoff;
  loop::Timer restart;
  loop::Timer debounce;
  TimePoint debounce_due{};
  bool removed = false;

  Entry(Id the_id, std::shared_ptr<Shared> the_shared, std::string name,
        std::unique_ptr<ChangeSource> the_source, ChangeStream the_stream)
      : id(the_id),
        shared(std::move(the_shared)),
        source(std::move(the_source)),
        stream(std::move(the_stream)),
        monitor(std::move(name)),
        backoff(shared->backoff) {}

  void start_after(Duration wait);
  SourceEvents events();
  void on_change(const StoreChange& change);
  void on_ended(const Error& error);
  void wait_for_debounce();
  void tell(bool changed) {
    if (changed && shared->on_health) shared->on_health(monitor.health());
  }
};

void StreamSet::Entry::start_after(Duration wait) {
  restart = shared->loop.after(wait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->removed) self->source->start(self->events());
  });
}

SourceEvents StreamSet::Entry::events() {
  // A source may tell more while it is being removed: nobody listens then.
  const auto guarded = [weak = weak_from_this()](auto act) {
    return [weak, act](auto&&... arguments) {
      const auto self = weak.lock();
      if (self && !self->removed) act(*self, arguments...);
    };
  };
  SourceEvents out;
  out.on_change = guarded([](Entry& self, const StoreChange& change) { self.on_change(change); });
  out.on_sign = guarded([](Entry& self, StreamSign sign) {
    self.backoff.sign(self.shared->loop.now(), sign);
    self.tell(self.monitor.sign(sign));
  });
  out.on_failing = guarded([](Entry& self, const Error& error, Duration retry_in) {
    self.tell(self.monitor.failed(self.shared->loop.now(), error.render(), retry_in));
  });
  out.on_ended = guarded([](Entry& self, const Error& error) { self.on_ended(error); });
  return out;
}

void StreamSet::Entry::on_change(const StoreChange& change) {
  monitor.change();
  stream.push(shared->loop.now(), change);
  if (!removed) wait_for_debounce();
}

void StreamSet::Entry::on_ended(const Error& error) {
  const Duration wait = backoff.fail(shared->loop.now(), shared->random);
  start_after(wait);
  tell(monitor.failed(shared->loop.now(), error.render(), wait));
}

void StreamSet::Entry::wait_for_debounce() {
  const auto due = stream.next_due();
  // Of two windows in one chain the earlier end counts.
  if (!due || (debounce && *due >= debounce_due)) return;
  debounce_due = *due;
  const Duration wait = std::max(Duration{0}, *due - shared->loop.now());
  debounce = shared->loop.after(wait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->removed) return;
    self->debounce.reset();
    self->stream.advance(self->shared->loop.now());
    if (!self->removed) self->wait_for_debounce();
  });
}

StreamSet::StreamSet(loop::EventLoop& loop, base::Random& random, base::BackoffPolicy backoff)
    : shared_(std::make_shared<Shared>(Shared{loop, random, backoff, {}, {}})) {}

StreamSet::~StreamSet() {
  shared_->on_health = nullptr;
  for (const auto& entry : entries_) entry->removed = true;
  shared_->leaving.clear();
}

StreamSet::Id StreamSet::add(std::string name, std::unique_ptr<ChangeSource> source,
                             ChangeStream stream) {
  entries_.push_back(std::make_shared<Entry>(++last_, shared_, std::move(name), std::move(source),
                                             std::move(stream)));
  entries_.back()->start_after(Duration{0});
  return last_;
}

void StreamSet::remove(Id id) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const auto& entry) { return entry->id == id; });
  if (it == entries_.end()) return;
  (*it)->removed = true;
  (*it)->stream.stop();
  (*it)->restart.reset();
  (*it)->debounce.reset();
  shared_->leaving.push_back(std::move(*it));
  entries_.erase(it);
  shared_->loop.post([weak = std::weak_ptr(shared_)] {
    if (const auto shared = weak.lock()) shared->leaving.clear();
  });
}

void StreamSet::clear() {
  while (!entries_.empty()) remove(entries_.back()->id);
}

bool StreamSet::ready() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return entry->monitor.health().ready; });
}

bool StreamSet::ready(Id id) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->id == id && entry->monitor.health().ready;
  });
}

std::vector<StreamHealth> StreamSet::health() const {
  std::vector<StreamHealth> out;
  for (const auto& entry : entries_) out.push_back(entry->monitor.health());
  return out;
}

void StreamSet::on_health(std::function<void(const StreamHealth&)> callback) {
  shared_->on_health = std::move(callback);
}

}  // namespace kubewatch::runtime

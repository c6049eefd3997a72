#include "apiserver/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "apiserver/step_guard.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr Duration kOutdated{1000};

}  // namespace

void WatchStream::start_with_state(std::vector<ObjectPtr> objects, std::uint64_t version,
                                   bool end) {
  for (auto& object : objects) {
    if (matches(*object)) initial_.push_back(std::move(object));
  }
  if (end) end_version_ = version;
}

void WatchStream::start_with_events(std::vector<EventPtr> events, std::uint64_t after) {
  after_ = after;
  for (auto& event : events) offer(event);
  most_waiting_ += events_.size();
  most_bytes_ += bytes_;
}

void WatchStream::start_with_error(Error error) {
  error_ = std::move(error);
}

bool WatchStream::matches(const Object& object) const {
  return object.key().starts_with(spec_.prefix) && spec_.labels.matches(object.labels()) &&
         (spec_.fields.empty() || spec_.fields.matches(object.json()));
}

void WatchStream::offer(const EventPtr& event) {
  if (event->version <= after_) return;
  if (!event->object->key().starts_with(spec_.prefix)) return;
  events_.push_back(event);
  bytes_ += event->bytes;
}

void WatchStream::bookmark(std::uint64_t version) {
  if (spec_.bookmarks && !waiting() && version >= after_) {
    bookmark_ = bookmark_line(*spec_.resource, spec_.as, version, false);
  }
}

std::shared_ptr<const std::string> WatchStream::line(const Event& event, const char* type,
                                                     const Object& object, bool shared,
                                                     WallTime now) {
  const Resource& resource = *spec_.resource;
  const bool table = spec_.as.format == Format::table;
  if (table || !shared) {
    const bool columns = table && !std::exchange(columns_sent_, true);
    return std::make_shared<const std::string>(
        watch_line(resource, spec_.as, type, object, columns, now));
  }
  const std::string key = fmt::format(
      "{}|{}|{}", type, spec_.as.format == Format::partial ? spec_.as.transform_version : "",
      resource.type.gvk.api_version());
  for (const auto& [known, text] : event.lines) {
    if (known == key) return text;
  }
  auto text =
      std::make_shared<const std::string>(watch_line(resource, spec_.as, type, object, false, now));
  event.lines.emplace_back(key, text);
  return text;
}

std::shared_ptr<const std::string> WatchStream::seen(const Event& event, bool shared,
                                                     WallTime now) {
  const Glance at_previous(event.previous.get());
  const Glance at_object(event.object.get());
  const bool before = event.previous && matches(*event.previous);
  const bool after = event.type != EventType::deleted && matches(*event.object);
  if (after) return line(event, before ? "MODIFIED" : "ADDED", *event.object, shared, now);
  if (!before) return nullptr;
  if (event.type == EventType::deleted) return line(event, "DELETED", *event.object, shared, now);
  // It left the selection: the last state that matched, under this event's resourceVersion.
  Json last = event.previous->json();
  last["metadata"]["resourceVersion"] = std::to_string(event.version);
  return line(event, "DELETED", Object(std::move(last)), shared, now);
}

bool WatchStream::pump(WatchSink& sink, WallTime now, const Event* fresh, ObjectPtr* at) {
  if (error_) {
    sink.send(error_line(*error_));
    return false;
  }
  if (spec_.as.lists_only && !initial_.empty()) return false;
  while (!initial_.empty() && sink.backlog() < kSinkBytes) {
    const bool columns = !std::exchange(columns_sent_, true);
    if (at != nullptr) *at = initial_.front();
    sink.send(watch_line(*spec_.resource, spec_.as, "ADDED", *initial_.front(), columns, now));
    initial_.pop_front();
  }
  if (initial_.empty() && end_version_) {
    if (spec_.bookmarks) sink.send(bookmark_line(*spec_.resource, spec_.as, *end_version_, true));
    end_version_.reset();
  }
  while (initial_.empty() && !events_.empty() && sink.backlog() < kSinkBytes) {
    const EventPtr event = std::move(events_.front());
    events_.pop_front();
    bytes_ -= event->bytes;
    if (at != nullptr) *at = event->object;
    const auto text = seen(*event, event.get() == fresh, now);
    if (text && spec_.as.lists_only) return false;
    if (text) events_.empty() ? sink.send_now(*text) : sink.send(*text);
  }
  if (bookmark_) sink.send(*std::exchange(bookmark_, std::nullopt));
  return events_.size() <= most_waiting_ && bytes_ <= most_bytes_;
}

void WatchHub::attach(std::shared_ptr<WatchStream> stream, std::unique_ptr<WatchSink> sink,
                      TimePoint now, WallTime wall) {
  auto open = std::make_unique<Open>();
  open->deadline = now + stream->spec().timeout;
  open->next_bookmark = now + bookmark_interval_;
  open->stream = std::move(stream);
  open->sink = std::move(sink);
  if (!tell(*open, wall)) return;
  auto& same = open_[open->stream->spec().resource->storage_id];
  same.push_back(std::move(open));
}

void WatchHub::each(const std::function<void(Open&)>& action) {
  for (auto& [id, list] : open_) {
    for (std::size_t i = 0; i < list.size(); ++i) action(*list[i]);
  }
}

bool WatchHub::tell(Open& open, WallTime wall, const Event* fresh) {
  ObjectPtr at;
  try {
    return open.stream->pump(*open.sink, wall, fresh, &at);
  } catch (const std::exception&) {
    base::log_error("a watch ends: an object cannot be told to it",
                    {{"kind", open.stream->spec().resource->storage_id},
                     {"object", at ? at->key() : ""},
                     {"error", why_it_failed()}});
    return false;
  }
}

void WatchHub::on_event(const std::string& storage_id, const EventPtr& event, WallTime wall) {
  const auto it = open_.find(storage_id);
  if (it == open_.end()) return;
  for (std::size_t i = 0; i < it->second.size(); ++i) {
    Open& open = *it->second[i];
    if (open.over) continue;
    open.stream->offer(event);
    if (!tell(open, wall, event.get())) open.over = true;
  }
  event->lines.clear();  // who is still behind makes its own again; history stays small
}

void WatchHub::tick(std::uint64_t version, TimePoint now, WallTime wall) {
  each([&](Open& open) {
    if (open.over) return;
    if (std::exchange(open.outdated, false)) {
      open.deadline = std::min(open.deadline, now + kOutdated);
      open.last_bookmark_sent = true;  // the real server sends none here
    }
    // The last bookmark comes shortly before the end, so that the client resumes close to it.
    const bool last = !open.last_bookmark_sent && now + Duration(2000) >= open.deadline &&
                      open.stream->spec().timeout > Duration(2000);
    if (last || now >= open.next_bookmark) {
      open.stream->bookmark(version);
      open.next_bookmark = now + bookmark_interval_;
      open.last_bookmark_sent = open.last_bookmark_sent || last;
    }
    if (!tell(open, wall) || now >= open.deadline) open.over = true;
  });
  sweep();
}

void WatchHub::outdate(const std::string& storage_id) {
  const auto same = open_.find(storage_id);
  if (same == open_.end()) return;
  for (auto& open : same->second) open->outdated = true;
}

bool WatchHub::pump(WallTime wall) {
  bool more = false;
  each([&](Open& open) {
    if (open.over || !open.stream->waiting()) return;
    if (!tell(open, wall)) open.over = true;
    more = more || open.stream->waiting();
  });
  return more;
}

void WatchHub::sweep() {
  // The sinks go only after the list is in order again: ending one may call back.
  std::vector<std::unique_ptr<Open>> ended;
  for (auto& [id, list] : open_) {
    const auto first = std::stable_partition(list.begin(), list.end(), [](const auto& open) {
      return !open->over && !open->sink->gone();
    });
    std::move(first, list.end(), std::back_inserter(ended));
    list.erase(first, list.end());
  }
}

void WatchHub::drop_all() {
  each([](Open& open) { open.over = true; });
  sweep();
}

std::size_t WatchHub::size() const {
  std::size_t total = 0;
  for (const auto& [id, list] : open_) total += list.size();
  return total;
}

}  // namespace kubewatch::apiserver

// Shared reflectors, and groups of them.
#include "hooks/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "core/resource_version.hpp"
#include "hooks/start_patience.hpp"
#include "runtime/failure_counts.hpp"
#include "runtime/shared_watch.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kMissingAnswers = 3;
// What all quiet streams together take to be opened anew, on average.
constexpr Duration kOpenAnewWithin{3000};

runtime::WatcherOptions options_of(const StreamSpec& spec) {
  runtime::WatcherOptions options = spec.list;
  options.label_selector = spec.label_selector;
  options.field_selector = spec.field_selector;
  return options;
}

runtime::StoreOptions store_options(const StreamSpec& spec) {
  runtime::StoreOptions out;
  out.strip = spec.strip;
  return out;
}

}  // namespace

std::string StreamSpec::key() const {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", type.gvk.str(), type.plural,
                     type.namespaced, namespace_, label_selector, field_selector,
                     base::join(strip, ","), static_cast<int>(list.strategy),
                     static_cast<int>(list.semantics), list.page_size, list.timeout.count(),
                     list.bookmarks, list.backoff.initial.count(), list.backoff.max.count(),
                     static_cast<int>(list.content), needed);
}

StreamPool::StreamPool(client::Client& client, base::Random& random)
    : client_(client), random_(random) {}
StreamPool::~StreamPool() = default;

StreamPool::Opened StreamPool::open(const StreamSpec& spec, StreamListener listener) {
  std::shared_ptr<Stream>& stream = streams_[spec.key()];
  const bool fresh = stream == nullptr;
  if (fresh)
    stream = std::make_shared<Stream>(client_, random_, spec, failures_, doubt_, answered_);
  const Opened out{stream, stream->add(std::move(listener))};
  if (fresh) stream->start();
  return out;
}

void StreamPool::close(const Opened& opened) {
  opened.stream->remove(opened.listener);
  if (!opened.stream->unused()) return;
  for (auto it = streams_.begin(); it != streams_.end(); ++it) {
    if (it->second != opened.stream) continue;
    streams_.erase(it);
    return;
  }
}

void StreamPool::on_server_silent(TimePoint since) {
  silent_since_ = since;
  to_open_anew_.clear();
  for (const auto& [key, stream] : streams_) to_open_anew_.emplace_back(stream);
  between_ = kOpenAnewWithin / std::max<std::int64_t>(1, std::ssize(to_open_anew_));
  open_next_anew();
}

void StreamPool::on_server_answers() {
  to_open_anew_.clear();
  opening_.reset();
}

// Not all at once: the server may only be slow, or have come back for many like us, and the first
// look at it says so.
void StreamPool::open_next_anew() {
  opening_.reset();
  if (to_open_anew_.empty()) return;
  const Duration wait{
      static_cast<std::int64_t>(2 * random_.unit() * static_cast<double>(between_.count()))};
  opening_ = client_.loop().after(wait, [this] {
    const std::shared_ptr<Stream> next = to_open_anew_.back().lock();
    to_open_anew_.pop_back();
    if (next != nullptr) next->on_server_silent(silent_since_);
    open_next_anew();
  });
}

std::vector<WatchFacts> StreamPool::facts() const {
  std::vector<WatchFacts> out;
  for (const auto& [key, stream] : streams_) out.push_back(stream->facts());
  return out;
}

WatchFacts Stream::facts() const {
  WatchFacts out;
  out.resource = reflector_.type().qualified_plural();
  out.namespace_ = namespace_name();
  out.synced = ready();
  out.needed = needed_;
  out.failure = reflector_.last_failure().value_or("");
  if (const auto since = reflector_.failing_since())
    out.failing_for = client_.loop().now() - *since;
  const auto stats = store().stats();
  const auto stream = reflector_.stats();
  out.relists = stats.relists;
  out.reconnects = stream.reconnects;
  out.failures = stream.failures;
  out.objects = stats.objects;
  out.bytes = stats.held_bytes;
  return out;
}

Stream::Stream(client::Client& client, base::Random& random, const StreamSpec& spec,
               OncePer& failures, const std::function<void(const core::Gvk&)>& doubt,
               const std::function<void()>& answered)
    : client_(client),
      name_(runtime::watch_name(spec.type, spec.namespace_, options_of(spec))),
      needed_(spec.needed),
      failures_(failures),
      doubt_(doubt),
      answered_(answered),
      reflector_(client, spec.type, spec.namespace_, options_of(spec), store_options(spec), random,
                 {[this](const runtime::StoreChange& change) { on_change(change); },
                  [this](bool) { on_synced(); },
                  [this](runtime::WatcherFailure where, const Error& error, Duration retry_in) {
                    on_failure(where, error, retry_in);
                  },
                  {},
                  true,
                  /*log_failures=*/false,
                  {},
                  [this] { on_outdated(); },
                  [this] { answered_(); }}) {}

std::size_t Stream::add(StreamListener listener) {
  listeners_.emplace(++last_listener_, std::move(listener));
  return last_listener_;
}

void Stream::each(const std::function<void(const StreamListener&)>& call) {
  for (auto it = listeners_.begin(); it != listeners_.end();) {
    const std::size_t id = it->first;
    call(it->second);
    it = listeners_.upper_bound(id);
  }
}

void Stream::on_change(const runtime::StoreChange& change) {
  // The path of all objects is the same in both scopes: a definition that was made anew with the
  // other one shows in its objects alone.
  const core::ResourceType& type = reflector_.type();
  if (change.meta.namespace_.empty() == type.namespaced) doubt_(type.gvk);
  if (change.initial) return;
  each([&](const StreamListener& listener) { listener.on_change(change); });
}

void Stream::on_synced() {
  blocked_ = stalled_ = false;
  failing_from_.reset();
  missing_ = 0;
  if (told_ready_) return;
  told_ready_ = true;
  base::vlog(2, "cache of " + name_ + " is ready: " + std::to_string(store().size()) + " objects");
  each([](const StreamListener& listener) { listener.on_ready(); });
}

void Stream::on_outdated() {
  // Whatever has failed since its last list: to wait for a list begins now.
  failing_from_.reset();
  stalled_ = false;
  if (!std::exchange(told_ready_, false)) return;
  each([](const StreamListener& listener) { listener.on_ready(); });
}

// Forbidden and missing kinds must not pass unseen, nor fill the log.
void Stream::on_failure(runtime::WatcherFailure where, const Error& error, Duration retry_in) {
  if (error.kind() == ErrorKind::canceled) return;
  // A CRD that was just made answers 404 for a moment.
  missing_ = error.is_not_found() ? missing_ + 1 : 0;
  if (missing_ > 0) doubt_(reflector_.type().gvk);
  const bool was_blocked = blocked();
  const bool was_stalled = stalled();
  // What it does not understand it will not understand later: a selector on another field.
  const bool refused = error.status() != nullptr && error.status()->code == 400;
  blocked_ = error.is_forbidden() || refused || missing_ >= kMissingAnswers;
  // Of a list in pages those that came are held already.
  const TimePoint now = client_.loop().now();
  const std::uint64_t held = store().stats().held_bytes;
  if (!failing_from_ || held != held_at_failure_) failing_from_ = now;
  held_at_failure_ = held;
  stalled_ = now - *failing_from_ >= kPatienceAtStart;
  if (blocked() != was_blocked || stalled() != was_stalled) {
    each([](const StreamListener& listener) { listener.on_ready(); });
  }
  // Each class by itself: an interrupted stream must not hide that its list is forbidden.
  if (!failures_.admit(name_ + ": " + std::string(to_string(where)), now)) return;
  base::log_warn(
      fmt::format("watching {} failed; trying again in {}", name_, base::format_duration(retry_in)),
      {{"where", std::string(to_string(where))},
       {"error", error.render()},
       {"ready", ready() ? "true" : "false"},
       {"so_far", runtime::to_text(reflector_.stats().failures)}});
}

void HeldStreams::add(const std::vector<std::shared_ptr<Stream>>& streams,
                      const std::function<void(const runtime::StoreChange&)>& on_change) {
  for (const auto& stream : streams) {
    opened_.push_back({stream, stream->add({on_change, [] {}})});
  }
}

HeldStreams::~HeldStreams() {
  close();
}

HeldStreams& HeldStreams::operator=(HeldStreams&& other) noexcept {
  close();
  pool_ = other.pool_;
  opened_ = std::exchange(other.opened_, {});
  return *this;
}

void HeldStreams::close() {
  for (const auto& opened : std::exchange(opened_, {})) pool_->close(opened);
}

StreamGroup::~StreamGroup() {
  streams_.clear();
  for (const auto& opened : opened_) pool_->close(opened);
}

void StreamGroup::open(StreamPool& pool, StreamSpec spec,
                       const std::vector<std::string>& namespaces, const StreamListener& listener) {
  type_ = spec.type;
  pool_ = &pool;
  std::set<std::string> names(namespaces.begin(), namespaces.end());
  if (names.empty()) names.insert("");
  for (const std::string& name : names) {
    spec.namespace_ = name;
    opened_.push_back(pool.open(spec, listener));
    streams_.push_back(opened_.back().stream);
  }
}

bool StreamGroup::ready() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return stream->ready(); });
}

const Stream* StreamGroup::stream_for(const std::string& namespace_) const {
  for (const auto& stream : streams_) {
    if (stream->namespace_name().empty() || stream->namespace_name() == namespace_) {
      return stream.get();
    }
  }
  return nullptr;
}

bool StreamGroup::covers(const std::string& namespace_) const {
  return stream_for(namespace_) != nullptr;
}

std::string StreamGroup::resource_version_in(const std::string& namespace_) const {
  const Stream* stream = stream_for(namespace_);
  return stream == nullptr ? "" : stream->store().resource_version();
}

std::optional<core::ObjectMeta> StreamGroup::get_meta_outside(const core::ObjectKey& key) const {
  const Stream* stream = includes(key.namespace_) ? nullptr : stream_for(key.namespace_);
  return stream == nullptr ? std::nullopt : stream->store().get_meta(key);
}

std::vector<core::ObjectKey> StreamGroup::keys_outside() const {
  std::vector<core::ObjectKey> out;
  if (!included_) return out;
  for (const auto& stream : streams_) {
    for (core::ObjectKey& key : stream->store().keys()) {
      if (!includes(key.namespace_)) out.push_back(std::move(key));
    }
  }
  return out;
}

std::vector<core::ObjectKey> StreamGroup::keys_in(const std::string& namespace_) const {
  std::vector<core::ObjectKey> out;
  const Stream* stream = stream_for(namespace_);
  if (stream == nullptr) return out;
  for (core::ObjectKey& key : stream->store().keys()) {
    if (key.namespace_ == namespace_) out.push_back(std::move(key));
  }
  return out;
}

void StreamGroup::drop_outside(std::vector<core::ObjectKey>& keys) const {
  if (!included_) return;
  std::erase_if(keys, [&](const core::ObjectKey& key) { return !includes(key.namespace_); });
}

bool StreamGroup::contains(const core::ObjectKey& key, std::optional<std::string_view> uid) const {
  const Stream* stream = includes(key.namespace_) ? stream_for(key.namespace_) : nullptr;
  if (stream == nullptr) return false;
  return uid ? stream->store().contains(key, *uid) : stream->store().contains(key);
}

std::optional<runtime::StoredObject> StreamGroup::get(const core::ObjectKey& key) const {
  return includes(key.namespace_) ? get_anywhere(key) : std::nullopt;
}

std::optional<runtime::StoredObject> StreamGroup::get_anywhere(const core::ObjectKey& key) const {
  const Stream* stream = stream_for(key.namespace_);
  return stream == nullptr ? std::nullopt : stream->store().get(key);
}

std::optional<core::ObjectMeta> StreamGroup::get_meta(const core::ObjectKey& key) const {
  if (!includes(key.namespace_)) return std::nullopt;
  const Stream* stream = stream_for(key.namespace_);
  return stream == nullptr ? std::nullopt : stream->store().get_meta(key);
}

std::vector<core::ObjectKey> StreamGroup::keys() const {
  std::vector<core::ObjectKey> out;
  for (const auto& stream : streams_) {
    auto keys = stream->store().keys();
    out.insert(out.end(), keys.begin(), keys.end());
  }
  drop_outside(out);
  return out;
}

std::vector<core::ObjectKey> StreamGroup::select(const core::LabelSelector& selector) const {
  std::vector<core::ObjectKey> out;
  for (const auto& stream : streams_) {
    auto keys = stream->store().select(selector);
    out.insert(out.end(), keys.begin(), keys.end());
  }
  drop_outside(out);
  return out;
}

std::vector<core::ObjectKey> StreamGroup::keys_with_label(const std::string& label,
                                                          const std::string& value) const {
  std::vector<core::ObjectKey> out;
  for (const auto& stream : streams_) {
    auto keys = stream->store().keys_with_label(label, value);
    out.insert(out.end(), keys.begin(), keys.end());
  }
  drop_outside(out);
  return out;
}

bool StreamGroup::blocked() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return stream->blocked(); });
}

bool StreamGroup::stalled() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return stream->stalled(); });
}

std::string StreamGroup::resource_version() const {
  std::string out;
  for (const auto& stream : streams_) {
    const std::string& version = stream->store().resource_version();
    if (out.empty() || core::at_least_version(out, version)) out = version;
  }
  return out;
}

}  // namespace kubewatch::hooks

#include "hooks/recorder.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "core/meta.hpp"
#include "core/server_fields.hpp"
#include "hooks/ownership.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

namespace {

constexpr Duration kFlushAfter{500};
constexpr std::size_t kMostVersions = 200'000;  // of objects; of others nothing is known
constexpr std::size_t kMostMet = 200'000;       // then no object is taken for a new one
constexpr std::size_t kEntry = 256;             // of an entry without its object, about

std::string stream_of(const ApiTarget& target, bool metadata) {
  return target.stream() + (metadata ? "&metadata" : "");
}

std::string resource_of(const ApiTarget& target) {
  return target.plural + "." + target.group;
}

std::string id_of(const std::string& resource, const core::ObjectKey& key) {
  return resource + "/" + key.namespace_ + "/" + key.name;
}

bool ends_initial_events(std::string_view object) {
  if (object.find(core::kInitialEventsEnd) == std::string_view::npos) return false;
  const auto meta = core::parse_meta(object);
  return meta.ok() && core::ends_initial_events(*meta);
}

// Who manages what counts only for children.
void strip(Json& object) {
  if (base::find(object, {"metadata", "labels", kControllerLabel}) != nullptr) return;
  core::drop_metadata(object, {"managedFields"});
}

}  // namespace

Recorder::Recorder(loop::EventLoop& loop, std::unique_ptr<RecordingFile> file,
                   RecorderOptions options)
    : loop_(loop),
      file_(std::move(file)),
      started_(loop.now()),
      key_(SecretHash::new_key()),
      mask_(SecretHash(key_)),
      most_waiting_(options.most_waiting) {
  start(options, key_);
}

void Recorder::start(const RecorderOptions& options, const SecretHash::Key& key) {
  add({{"t", "start"},
       {"v", 1},
       {"time", base::format_rfc3339_micro(loop_.wall())},
       {"key", fmt::format("{:016x}{:016x}", key[0], key[1])},
       {"controllers", options.controllers},
       {"complete", options.complete}});
}

void Recorder::add(Json entry, std::string object, std::size_t size) {
  if (file_->ended()) return;
  entry["at"] = (loop_.now() - started_).count();
  waiting_bytes_ += kEntry + object.size() + size;
  waiting_.push_back({std::move(entry), std::move(object)});
  const bool full = waiting_bytes_ >= (begun_ ? kRecordingBlock : most_waiting_);
  return full ? write_out() : flush_later();
}

bool Recorder::may_write() const {
  return begun_ || (!streams_.empty() && unlisted_.empty());
}

void Recorder::flush_later() {
  if (flush_ || waiting_.empty() || !may_write()) return;
  flush_ = loop_.after(kFlushAfter, [this] {
    flush_.reset();
    if (!may_write()) return;  // another list has begun
    write_out();
    file_->flush();
    warn_once();
  });
}

void Recorder::write_out() {
  begun_ = true;
  waiting_bytes_ = 0;
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    if (!file_->ended() && !mask_.overflowed()) write(std::move(waiting));
  }
  if (mask_.overflowed() && !file_->ended()) {
    file_->end(base::dump_json({{"t", "end"}, {"why", "full"}}));
    base::log_warn("the recording " + file_->path() +
                   " ends here: there are more secrets than can be hidden; the command goes on");
  }
  warn_once();
}

void Recorder::write(Waiting waiting) {
  Json& entry = waiting.entry;
  if (!waiting.object.empty()) {
    auto parsed = base::parse_json(waiting.object);
    if (!parsed.ok() || !parsed->is_object()) return;  // the caches refuse it as well
    Json object = std::move(*parsed);
    strip(object);
    // Items of lists do not say what they are, and metadata alone is a kind of its own.
    const Json kind = object.contains("kind") ? object["kind"] : Json("Secret");
    const bool secret = secrets_.count(static_cast<int>(entry["s"])) != 0;
    if (secret) object["kind"] = "Secret";
    mask_.hide(object);
    if (secret) object["kind"] = kind;
    entry["o"] = std::move(object);
  }
  mask_.hide_write(entry);
  if (entry["t"] == "run") {
    for (const char* key : {"reasonObject", "message"}) {
      if (entry.contains(key)) entry[key] = mask_.hide(entry[key].get<std::string>());
    }
  }
  file_->add(base::dump_json(entry));
}

void Recorder::warn_once() {
  if (file_->problem().empty() || std::exchange(told_, true)) return;
  base::log_warn(fmt::format("the recording {} ends here: {}; the command goes on", file_->path(),
                             file_->problem()));
}

void Recorder::object(Json entry, int stream, std::string_view json) {
  if (file_->ended() || json.empty()) return;
  if (secrets_.count(stream) != 0) {
    if (auto parsed = base::parse_json(json); parsed.ok() && parsed->is_object()) {
      (*parsed)["kind"] = "Secret";
      mask_.learn(*parsed);
    }
  }
  // An answer to a request of our own may come after a later event: the watches own that number.
  if (base::string_at(entry, {"t"}) != "still") {
    note_version(stream, json, base::string_at(entry, {"type"}) == "DELETED");
  }
  entry["s"] = stream;
  add(std::move(entry), std::string(json));
}

std::string Recorder::version_of(const ApiTarget& target) const {
  const auto found = versions_.find(id_of(resource_of(target), {target.namespace_, target.name}));
  return found == versions_.end() ? "" : found->second;
}

void Recorder::note_version(int stream, std::string_view object, bool gone) {
  const auto meta = core::parse_meta(object);
  const auto resource = resources_.find(stream);
  if (!meta.ok() || meta->name.empty() || resource == resources_.end()) return;
  const std::string id = id_of(resource->second, {meta->namespace_, meta->name});
  if (gone) {
    versions_.erase(id);
    if (met_.size() < kMostMet) met_.insert(id);
  } else if (versions_.size() < kMostVersions || versions_.count(id) != 0) {
    versions_[id] = meta->resource_version;
  }
}

void Recorder::expect(const ApiTarget& target, bool metadata) {
  const std::string stream = stream_of(target, metadata);
  if (!begun_ && listed_.count(stream) == 0) unlisted_.insert(stream);
}

void Recorder::refused(const ApiTarget& target, bool metadata) {
  unlisted_.erase(stream_of(target, metadata));
  flush_later();
}

void Recorder::listed(int stream) {
  if (begun_) return;
  for (const auto& [name, number] : streams_) {
    if (number != stream) continue;
    unlisted_.erase(name);
    listed_.insert(name);
  }
}

int Recorder::open(const ApiTarget& target, RequestUse use, bool metadata) {
  const bool list = use == RequestUse::list || target.flag("sendInitialEvents");
  const bool goes_on = !target.parameter("continue").empty();
  return open_stream(stream_of(target, metadata), target,
                     goes_on ? "continue"
                     : list  ? "list"
                             : "watch");
}

int Recorder::open_stream(const std::string& id, const ApiTarget& target, const char* how,
                          bool single) {
  const auto [it, fresh] = streams_.try_emplace(id, static_cast<int>(streams_.size()) + 1);
  Json entry = {{"t", "open"},
                {"s", it->second},
                {"path", target.path},
                {"how", how},
                {"rv", target.parameter("resourceVersion")}};
  if (single) entry["object"] = true;
  if (auto labels = target.parameter("labelSelector"); !labels.empty()) entry["labels"] = labels;
  if (auto fields = target.parameter("fieldSelector"); !fields.empty()) entry["fields"] = fields;
  resources_[it->second] = resource_of(target);
  if (target.group.empty() && target.plural == "secrets") secrets_.insert(it->second);
  add(std::move(entry));
  return it->second;
}

void Recorder::on_item(int stream, std::string_view object) {
  this->object({{"t", "item"}}, stream, object);
}

void Recorder::on_page(int stream, const core::ListPage& page) {
  add({{"t", "page"},
       {"s", stream},
       {"rv", page.resource_version},
       {"more", !page.continue_token.empty()}});
  if (page.continue_token.empty()) listed(stream);
  flush_later();
}

void Recorder::on_event(int stream, const core::WatchEvent& event) {
  if (event.type == core::WatchEventType::error || event.type == core::WatchEventType::unknown) {
    return;  // says nothing of any object
  }
  object({{"t", "event"}, {"type", event.type_name}}, stream, event.object);
  if (event.type != core::WatchEventType::bookmark || !ends_initial_events(event.object)) return;
  listed(stream);
  flush_later();
}

void Recorder::on_object(const ApiTarget& target, std::string_view object) {
  if (file_->ended()) return;
  const auto meta = core::parse_meta(object);
  if (!object.empty() && !meta.ok()) return;
  const std::string name = target.name.empty() && meta.ok() ? meta->name : target.name;
  if (name.empty()) return;
  ApiTarget all = target;
  // What is left is the collection's path, as it was asked for.
  for (const std::string& word : {target.name, target.subresource}) {
    if (!word.empty()) all.path.resize(all.path.rfind('/'));
  }
  all.name.clear();
  all.subresource.clear();
  all.query = "fieldSelector=metadata.name%3D" + base::percent_encode(name);
  // Of its own: a watch of that name goes on as it was.
  const int stream = open_stream(all.stream() + "&object", all, "list", true);
  if (!object.empty()) on_item(stream, object);
  core::ListPage page;
  if (meta.ok()) page.resource_version = meta->resource_version;
  on_page(stream, page);
}

// Where it cannot be known any more it is none.
bool Recorder::is_first(const ApiTarget& target) {
  const std::string id = id_of(resource_of(target), {target.namespace_, target.name});
  const bool full = met_.size() >= kMostMet || versions_.size() >= kMostVersions;
  return !full && versions_.count(id) == 0 && met_.insert(id).second;
}

void Recorder::on_found(const ApiTarget& target, std::string_view object) {
  if (file_->ended()) return;
  // Definitions have entries of their own.
  if (is_left_out(target) || target.plural == "customresourcedefinitions") return;
  if (is_first(target) && !object.empty()) on_object(target, object);
}

void Recorder::on_still(int stream, const core::ObjectMeta& last, std::string_view object) {
  if (file_->ended()) return;
  Json entry = {{"t", "still"}, {"s", stream}, {"rv", last.resource_version}, {"name", last.name}};
  entry["uid"] = last.uid;
  if (!last.namespace_.empty()) entry["namespace"] = last.namespace_;
  return object.empty() ? add(std::move(entry)) : this->object(std::move(entry), stream, object);
}

void Recorder::on_types(const std::vector<core::ResourceType>& types) {
  Json list = Json::array();
  for (const core::ResourceType& type : types) list.push_back(core::to_json(type));
  add({{"t", "types"}, {"types", std::move(list)}});
}

void Recorder::on_kind(const std::string& name, Json crd) {
  strip(crd);
  if (crd.is_object()) crd.erase("status");
  add({{"t", "kind"}, {"name", name}, {"crd", std::move(crd)}});
}

void Recorder::on_written(Json entry, int code, std::string_view answer,
                          const std::string& before) {
  if (file_->ended()) return;
  const auto target = api_target(base::string_at(entry, {"path"}));
  if (target && (code == 0 || (code >= 200 && code < 300))) (void)is_first(*target);
  mask_.learn_write(entry);
  entry["t"] = "write";
  entry["code"] = code;
  const auto meta = core::parse_meta(answer);
  if (meta.ok() && (before.empty() || meta->resource_version != before)) {
    entry["rv"] = meta->resource_version;
  }
  const std::size_t size = base::dump_json(entry).size();
  add(std::move(entry), {}, size);
}

void Recorder::on_exchange(const HookExchange& exchange) {
  if (file_->ended()) return;
  mask_.learn(exchange.mask);
  digests_[exchange.id] = fmt::format("{:016x}", sip_hash(key_, exchange.invocation));
}

void Recorder::on_run(const RunRecord& run) {
  if (file_->ended()) return;
  Json entry = {{"t", "run"},
                {"id", run.id},
                {"controller", run.controller},
                {"object", run.object},
                {"name", run.key.name},
                {"reason", run.reason},
                {"attempt", run.attempt},
                {"outcome", run.outcome},
                {"ms", run.elapsed.count()}};
  if (!run.key.namespace_.empty()) entry["namespace"] = run.key.namespace_;
  if (!run.reason_object.empty()) entry["reasonObject"] = run.reason_object;
  if (!run.message.empty()) entry["message"] = run.message;
  if (run.exit_code) entry["exit"] = *run.exit_code;
  if (!run.writes.empty()) entry["writes"] = run.writes;
  const auto digest = digests_.find(run.id);
  if (digest != digests_.end()) {
    entry["digest"] = digest->second;
    digests_.erase(digest);
  }
  add(std::move(entry));
}

std::string Recorder::end(bool idle) {
  flush_.reset();
  write_out();
  if (!file_->ended()) {
    const auto at = (loop_.now() - started_).count();
    file_->end(base::dump_json({{"t", "end"}, {"why", "done"}, {"idle", idle}, {"at", at}}));
  }
  if (file_->problem().empty() || file_->full()) return "";
  return fmt::format("the recording {} is not whole: {}", file_->path(), file_->problem());
}

}  // namespace kubewatch::hooks

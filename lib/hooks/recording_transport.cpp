#include "hooks/recording_transport.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/strings.hpp"
#include "core/meta.hpp"

namespace kubewatch::hooks {

namespace {

constexpr std::size_t kMaxRecordedAnswer = 8U << 20U;  // of a write: an object
// Requests of our own beside those of the controller: at once, and waiting. Of more the recording
// does not tell whether they are gone.
constexpr std::size_t kMostAtOnce = 8;
constexpr std::size_t kMostDeparted = 10'000;

// A deletion answers with a Status, or with the object that is dying.
bool is_status(std::string_view answer) {
  const auto body = base::parse_json(answer);
  return body.ok() && base::string_at(*body, {"kind"}) == "Status";
}

// Whether the answer is the object of that name. A subresource may be of a kind of its own (scale);
// a status answers with the object.
bool is_object(const std::string& method, const ApiTarget& target) {
  if (!target.subresource.empty() && target.subresource != "status") return false;
  if (method == "GET") return !target.name.empty();
  return use_of(method, target) == RequestUse::write && (!target.name.empty() || method == "POST");
}

}  // namespace

// One request on its way, with what was read of its answer.
struct RecordingTransport::Tee {
  Tee(Recorder& the_recorder, http::CallHandlers the_handlers, RequestUse the_use,
      ApiTarget the_target)
      : recorder(the_recorder),
        handlers(std::move(the_handlers)),
        use(the_use),
        target(std::move(the_target)) {}

  Recorder& recorder;
  http::CallHandlers handlers;
  RequestUse use;
  ApiTarget target;
  bool metadata = false;
  bool object = false;  // the answer is one, and is recorded
  bool found = false;   // only where it is the first that is heard of it
  Json write;
  std::string before;  // the version of what is written
  int stream = 0;
  int status = 0;
  bool cut = false;     // the answer is longer than is kept
  bool broken = false;  // the client will find what is wrong with it
  std::string answer;
  core::ListSplitter list{};
  core::JsonSplitter events{};
  // Where a watch cannot tell what is deleted from what has left its selection.
  std::function<void(int stream, std::string_view last)> on_deleted;

  void on_head(const http::ResponseHead& head) {
    status = head.status;
    const bool reads = use == RequestUse::list || use == RequestUse::watch;
    if (reads && status == 200) stream = recorder.open(target, use, metadata);
    // Nothing will come of it; other answers are asked for again.
    if (reads && (status == 403 || status == 404)) recorder.refused(target, metadata);
  }
  void on_data(std::string_view bytes) {
    if (broken || recorder.ended()) return;
    if (use == RequestUse::write || object) {
      cut = cut || answer.size() + bytes.size() > kMaxRecordedAnswer;
      if (!cut) answer += bytes;
    } else if (stream != 0 && use == RequestUse::list) {
      const auto fed =
          list.feed(bytes, [this](std::string_view item) { recorder.on_item(stream, item); });
      broken = !fed.ok();
    } else if (stream != 0) {
      const auto fed = events.feed(bytes, [this](std::string_view document) {
        const auto event = core::parse_watch_event(document);
        if (!event.ok()) return;
        recorder.on_event(stream, *event);
        if (event->type == core::WatchEventType::deleted && on_deleted) {
          on_deleted(stream, event->object);
        }
      });
      broken = !fed.ok();
    }
  }
  void on_done(const Result<void>& done) {
    if (broken) return;
    if (use == RequestUse::write) {
      recorder.on_written(std::move(write), done.ok() ? status : 0, answer, before);
    }
    if (object) {
      if (done.ok()) tell_object();
    } else if (stream != 0 && use == RequestUse::list && done.ok()) {
      const auto page = list.finish();
      if (page.ok()) recorder.on_page(stream, *page);
    }
  }
  // Other answers say nothing of it.
  void tell_object() const {
    if (status == 404) return tell("");
    if (cut || status < 200 || status >= 300) return;
    tell(is_status(answer) ? "" : answer);
  }
  void tell(std::string_view said) const {
    return found ? recorder.on_found(target, said) : recorder.on_object(target, said);
  }
};

// The handlers may end the call, and with it these closures: what is needed is held before.
http::CallHandlers RecordingTransport::tee(const std::shared_ptr<Tee>& tee) const {
  http::CallHandlers out;
  out.on_head = [tee](const http::ResponseHead& head) {
    const auto keep = tee;
    keep->on_head(head);
    if (keep->handlers.on_head) keep->handlers.on_head(head);
  };
  out.on_data = [tee](std::string_view bytes) {
    const auto keep = tee;
    keep->on_data(bytes);
    if (keep->handlers.on_data) keep->handlers.on_data(bytes);
  };
  out.on_done = [tee](Result<void> done) {
    const auto keep = tee;
    keep->on_done(done);
    keep->handlers.on_done(std::move(done));
  };
  return out;
}

// A replay needs the schema. Built-in kinds have no definition; nor is it there for who may not
// read it.
void RecordingTransport::look_up_kind(const http::Request& request, const ApiTarget& target) {
  if (target.group.find('.') == std::string::npos) return;
  const std::string name = target.plural + "." + target.group;
  if (!kinds_.try_emplace(name).second) return;
  http::Request read;
  const auto base = request.url.find("/apis/" + target.group + "/");
  if (base == std::string::npos) return;
  read.url = request.url.substr(0, base) +
             "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name;
  for (const auto& [key, value] : request.headers.all()) {
    if (key != "Content-Type" && key != "Accept") read.headers.add(key, value);
  }
  read.headers.set("Accept", "application/json");
  kinds_[name] = http::fetch(inner_, std::move(read), [this, name](Result<http::Response> answer) {
    Json crd;
    if (answer.ok() && answer->status == 200) {
      if (auto body = base::parse_json(answer->body); body.ok()) crd = std::move(*body);
    }
    recorder_->on_kind(name, std::move(crd));
  });
}

// As the watch would show it, with its headers.
void RecordingTransport::look_for(const http::Request& watch, const ApiTarget& target, int stream,
                                  std::string_view last) {
  auto meta = core::parse_meta(last);
  if (!meta.ok() || meta->name.empty() || meta->uid.empty()) return;
  if (recorder_->ended() || departed_.size() >= kMostDeparted) return;
  http::Request read = watch;
  read.url.resize(std::min(read.url.find('?'), read.url.size()));
  if (target.namespace_.empty() && !meta->namespace_.empty()) {
    read.url.resize(read.url.rfind('/'));
    read.url += "/namespaces/" + base::percent_encode(meta->namespace_) + "/" + target.plural;
  }
  read.url += "/" + base::percent_encode(meta->name);
  read.max_body = kMaxRecordedAnswer;
  departed_.push_back({std::move(read), stream, std::move(*meta)});
  ask_next();
}

void RecordingTransport::ask_next() {
  if (recorder_->ended()) departed_.clear();
  while (asked_.size() < kMostAtOnce && !departed_.empty()) {
    Departed next = std::move(departed_.front());
    departed_.pop_front();
    const std::uint64_t number = ++last_asked_;
    const auto done = [this, number, stream = next.stream,
                       last = std::move(next.last)](const Result<http::Response>& answer) {
      asked_.erase(number);
      const bool found = answer.ok() && answer->status == 200;
      const auto now = core::parse_meta(found ? answer->body : "{}");
      // Another object may have its name by now.
      const bool lives = found && now.ok() && now->uid == last.uid;
      const bool gone = found ? now.ok() && !lives : answer.ok() && answer->status == 404;
      if (lives || gone) recorder_->on_still(stream, last, lives ? answer->body : "");
      ask_next();
    };
    asked_[number] = http::fetch(inner_, std::move(next.request), done);
  }
}

std::unique_ptr<http::Call> RecordingTransport::start(http::Request request,
                                                      http::CallHandlers handlers) {
  const auto target = api_target(request.url);
  const RequestUse use = target ? use_of(request.method, *target) : RequestUse::other;
  const bool metadata =
      request.headers.get("Accept").find("as=PartialObjectMetadata") != std::string_view::npos;
  // Definitions are recorded as kinds.
  const bool found = objects_ == Objects::as_found && request.method == "GET" && !metadata &&
                     target && !is_left_out(*target) &&
                     target->plural != "customresourcedefinitions";
  const bool object =
      (objects_ == Objects::recorded || found) && target && is_object(request.method, *target);
  if ((use == RequestUse::other && !object) || recorder_->ended()) {
    return inner_.start(std::move(request), std::move(handlers));
  }
  look_up_kind(request, *target);
  auto state = std::make_shared<Tee>(*recorder_, std::move(handlers), use, *target);
  state->object = object;
  state->found = found;
  state->metadata = metadata;
  if (objects_ == Objects::as_found && use == RequestUse::watch && !target->watch &&
      can_be_left(target->parameter("labelSelector"), target->parameter("fieldSelector"))) {
    http::Request watch;
    watch.url = request.url;
    watch.headers = request.headers;
    watch.connect_timeout = request.connect_timeout;
    state->on_deleted = [this, watch = std::move(watch), target = *target](int stream,
                                                                           std::string_view last) {
      look_for(watch, target, stream, last);
    };
  }
  if (use == RequestUse::list || target->flag("sendInitialEvents")) {
    recorder_->expect(*target, state->metadata);
  }
  if (use == RequestUse::write) {
    auto entry =
        write_entry(request.method, request.url, request.headers.get("Content-Type"), request.body);
    if (entry) state->write = std::move(*entry);
    state->before = recorder_->version_of(*target);
  }
  return inner_.start(std::move(request), tee(state));
}

}  // namespace kubewatch::hooks

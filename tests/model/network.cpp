#include "model/network.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/strings.hpp"

namespace kubewatch::model {

namespace {

// The server gives up on a reader that is so far behind.
constexpr std::size_t kSlowReaderLimit = 3000;

std::map<std::string, std::string> parse_query(const std::string& url) {
  std::map<std::string, std::string> out;
  const auto start = url.find('?');
  if (start == std::string::npos) return out;
  std::string name;
  std::string value;
  bool in_value = false;
  for (const char c : url.substr(start + 1) + "&") {
    if (c == '&') {
      out[name] = *base::percent_decode(value);
      name.clear();
      value.clear();
      in_value = false;
    } else if (c == '=' && !in_value) {
      in_value = true;
    } else {
      (in_value ? value : name) += c;
    }
  }
  return out;
}

// /api/v1/[namespaces/NS/]thingsN
View parse_view(const std::string& url, const std::map<std::string, std::string>& query) {
  View out;
  const std::string path = url.substr(0, url.find('?'));
  static const std::string kNamespaces = "/namespaces/";
  if (const auto at = path.find(kNamespaces); at != std::string::npos) {
    const auto begin = at + kNamespaces.size();
    out.namespace_ = path.substr(begin, path.find('/', begin) - begin);
  }
  out.kind = static_cast<std::size_t>(path.back() - '0');
  out.selected_only = query.count("labelSelector") > 0;
  return out;
}

}  // namespace

// One request. Lives while the reflector holds its handle.
class SimCall : public std::enable_shared_from_this<SimCall> {
 public:
  SimCall(Link& link, http::Request request, http::CallHandlers handlers)
      : link_(link), handlers_(std::move(handlers)), url_(request.url) {
    query_ = parse_query(url_);
    authorization_ = std::string(request.headers.get("Authorization"));
    seen_.watch = query_.count("watch") > 0;
    seen_.initial = query_.count("sendInitialEvents") > 0;
    seen_.continued = query_.count("continue") > 0;
    seen_.version = query_["resourceVersion"];
    const bool whole = !request.streaming && request.response_timeout > Duration::zero();
    limit_ = whole ? request.response_timeout : request.idle_timeout;
  }
  void begin() {
    touch();
    later(Duration(1 + random().below(200)), [this] { serve(); });
  }

  void cancel() {
    if (ended_) return;
    ended_ = true;
    next_.reset();
    deadline_.reset();
    handlers_ = {};
    if (opened_ && link_.observer != nullptr) {
      link_.observer->on_dropped(now() - opened_at_, now() - last_byte_);
    }
  }
  bool ended() const { return ended_; }
  const RequestSeen& seen() const { return seen_; }
  std::size_t front() const { return front_; }
  bool streaming() const { return session_.has_value(); }
  bool silent() const { return silent_ && !ended_; }

  void fail(Error error) {
    if (ended_) return;
    if (link_.observer != nullptr) {
      if (opened_) {
        link_.observer->on_ended(now() - opened_at_);
      } else if (error.kind() != ErrorKind::timeout || !seen_.watch) {
        link_.observer->on_refused(seen_, 0, 0);
      }
    }
    done(std::move(error));
  }
  // Error events that end the watch at once.
  void say_and_close(Frame frame) {
    if (ended_ || !session_) return;
    push(std::move(frame));
  }

 private:
  base::Random& random() { return link_.random_; }
  TimePoint now() const { return link_.loop_.now(); }
  bool chance(std::uint64_t percent) { return random().below(100) < percent; }
  void note(const char* what) { link_.verdict_.fault(now(), what, link_.name_); }

  template <class F>
  void later(Duration delay, F&& what) {
    next_ = link_.loop_.after(delay, [self = weak_from_this(), what] {
      const auto alive = self.lock();
      if (alive && !alive->ended_) what();
    });
  }
  void touch() {
    last_byte_ = now();
    if (limit_.count() == 0) return;
    if (seen_.watch || !deadline_) {
      deadline_ = link_.loop_.after(limit_, [this] {
        const auto self = shared_from_this();
        fail(Error(ErrorKind::timeout, "no answer within the limit"));
      });
    }
  }

  void done(Result<void> result) {
    const auto self = shared_from_this();
    ended_ = true;
    next_.reset();
    deadline_.reset();
    if (link_.observer != nullptr) link_.observer->before_delivery({});
    const auto handler = std::move(handlers_.on_done);
    handlers_ = {};
    if (handler) handler(std::move(result));
    if (link_.observer != nullptr) link_.observer->on_frames({});
  }

  void serve();
  void serve_list();
  void serve_watch();
  bool serve_fault();
  void refuse(int status, std::string body, const std::string& retry_after);
  void answer(Reply reply);
  void deliver_answer();
  void open();
  void pump();
  bool stream_fault();
  void odd_frame();
  void push(Frame frame);
  void fill();
  void deliver(std::size_t bytes);
  Duration pace();

  Link& link_;
  http::CallHandlers handlers_;
  std::string url_;
  std::map<std::string, std::string> query_;
  std::string authorization_;
  RequestSeen seen_;
  Duration limit_{0};
  loop::Timer next_;
  loop::Timer deadline_;
  bool ended_ = false;
  std::size_t front_ = 0;
  TimePoint last_byte_{};

  // An answer of known length.
  Reply reply_;
  std::string out_;
  std::size_t sent_ = 0;
  std::optional<std::size_t> cut_at_;
  std::optional<std::size_t> silent_at_;
  std::size_t chunk_ = 1;

  // A watch.
  std::optional<WatchSession> session_;
  bool opened_ = false;
  TimePoint opened_at_{};
  std::deque<std::pair<std::size_t, Frame>> frames_;  // bytes left of each in out_
  std::size_t line_feed_ = 0;
  bool silent_ = false;
  bool closing_ = false;
};

void SimCall::serve() {
  const auto self = shared_from_this();
  front_ = link_.server_.pick_front();
  if (link_.faults.always != 0) {
    return refuse(link_.faults.always, status_json(link_.faults.always, "", "always"), "");
  }
  if (link_.valid_token != nullptr && authorization_ != "Bearer " + *link_.valid_token) {
    note("expired token refused");
    return refuse(401, status_json(401, "Unauthorized", "Unauthorized"), "");
  }
  if (link_.fault() && serve_fault()) return;
  if (seen_.watch) {
    serve_watch();
  } else {
    serve_list();
  }
}

bool SimCall::serve_fault() {
  const LinkFaults& faults = link_.faults;
  switch (random().below(8)) {
    case 0:
      if (!faults.http_errors) return false;
      note("429 with Retry-After");
      refuse(429, "Too many requests, please try again later.",
             faults.absurd_retry ? "2000000000" : std::to_string(1 + random().below(20)));
      return true;
    case 1:
      if (!faults.http_errors) return false;
      note("500");
      refuse(500, status_json(500, "InternalError", "no"), "");
      return true;
    case 2:
      if (!faults.http_errors) return false;
      note("503 in HTML");
      refuse(503, "<html><title>503 Service Unavailable</title></html>", "");
      return true;
    case 3:
      if (!faults.http_errors) return false;
      note(chance(50) ? "401" : "504");
      refuse(chance(50) ? 401 : 504, "no", "");
      return true;
    case 4:
      if (!faults.refused) return false;
      note("connection refused");
      fail(Error(ErrorKind::unreachable, "connection refused"));
      return true;
    case 5:
      if (!faults.silence) return false;
      note("no answer");
      silent_ = true;
      return true;
    case 6:
      if (!faults.cuts || seen_.watch) return false;
      note("list cut");
      cut_at_ = random().below(2000);
      return false;
    default:
      if (!faults.oddities || seen_.watch) return false;
      note("an answer that is no list");
      link_.observer->on_refused(seen_, 0, 0);
      reply_.body = R"({"kind":"Status","status":"Success"})";
      deliver_answer();
      return true;
  }
}

void SimCall::refuse(int status, std::string body, const std::string& retry_after) {
  reply_.status = status;
  reply_.body = std::move(body);
  reply_.retry_after = retry_after;
  deliver_answer();
}

void SimCall::serve_list() {
  ListQuery query;
  query.view = parse_view(url_, query_);
  query.limit = std::strtoull(query_["limit"].c_str(), nullptr, 10);
  query.token = query_["continue"];
  query.version = seen_.version;
  answer(link_.server_.list(query, front_, now()));
}

void SimCall::answer(Reply reply) {
  if (reply.status == 410) note("continue token expired");
  reply_ = std::move(reply);
  deliver_answer();
}

// The whole of a list or of an error, in pieces.
void SimCall::deliver_answer() {
  const auto self = shared_from_this();
  if (out_.empty()) {
    out_ = reply_.body;
    chunk_ = std::max<std::size_t>(1 + random().below(chance(20) ? 8 : 4000), out_.size() / 40);
    http::ResponseHead head;
    head.status = reply_.status;
    if (!reply_.retry_after.empty()) head.headers.set("Retry-After", reply_.retry_after);
    if (handlers_.on_head) handlers_.on_head(head);
    if (ended_) return;
  }
  std::size_t until = std::min(out_.size(), sent_ + chunk_);
  if (cut_at_) until = std::min(until, *cut_at_ % out_.size());
  const std::string_view bytes = std::string_view(out_).substr(sent_, until - sent_);
  sent_ = until;
  const bool cut = cut_at_ && sent_ >= *cut_at_ % out_.size();
  const bool whole = !cut && sent_ == out_.size();
  touch();
  if (handlers_.on_data && !bytes.empty()) handlers_.on_data(bytes);
  if (ended_) return;
  if (cut) return fail(Error(ErrorKind::unreachable, "connection reset"));
  if (!whole) return later(Duration(random().below(10)), [this] { deliver_answer(); });
  if (reply_.status == 200 && reply_.version != 0) {
    link_.observer->on_list(reply_);
  } else if (reply_.status != 200) {
    link_.observer->on_refused(seen_, reply_.status, std::atoi(reply_.retry_after.c_str()));
  }
  done({});
}

void SimCall::serve_watch() {
  WatchQuery query;
  query.view = parse_view(url_, query_);
  query.version = seen_.version;
  query.initial = seen_.initial;
  query.bookmarks = query_.count("allowWatchBookmarks") > 0;
  query.timeout = std::chrono::seconds(std::atoi(query_["timeoutSeconds"].c_str()));
  Reply refusal;
  session_ = link_.server_.open(query, front_, now(), refusal);
  if (!session_) {
    note(refusal.status == 410   ? "410 as HTTP status"
         : refusal.status == 422 ? "streaming list refused"
                                 : "504 of a future version");
    return refuse(refusal.status, refusal.body, refusal.retry_after);
  }
  open();
}

void SimCall::open() {
  const auto self = shared_from_this();
  opened_ = true;
  opened_at_ = now();
  touch();
  chunk_ = chance(20) ? 8 : chance(50) ? 200 : 100000;
  if (handlers_.on_head) handlers_.on_head(http::ResponseHead{200, {}});
  if (!ended_) later(pace(), [this] { pump(); });
}

Duration SimCall::pace() {
  if (!out_.empty()) {
    const bool slow = link_.faults.slow && !link_.calm;
    return Duration(random().below(slow ? 2000 : 20));
  }
  return Duration(10 + random().below(link_.calm ? 300 : 500));
}

void SimCall::pump() {
  const auto self = shared_from_this();
  if (silent_) return;
  if (!closing_) {
    if (link_.fault() && stream_fault()) return;
    fill();
  }
  if (!closing_ && out_.size() > kSlowReaderLimit && link_.faults.slow && !link_.calm) {
    note("slow reader given up");
    return fail(Error(ErrorKind::unreachable, "closed by the server"));
  }
  const std::size_t least = out_.size() / 40;
  deliver(std::min(out_.size(), std::max<std::size_t>(1 + random().below(chunk_), least)));
  if (ended_) return;
  if (closing_ && out_.empty()) {
    link_.observer->on_ended(now() - opened_at_);
    return done({});
  }
  const Duration timeout = session_->query.timeout;
  if (!closing_ && timeout.count() > 0 && now() - opened_at_ >= timeout) closing_ = true;
  later(pace(), [this] { pump(); });
}

void SimCall::push(Frame frame) {
  if (frame.last) closing_ = true;
  out_ += frame.bytes;
  // A document ends at its brace; the line feed comes with the next one.
  frames_.emplace_back(frame.bytes.size() - 1 + line_feed_, std::move(frame));
  line_feed_ = 1;
}

void SimCall::fill() {
  Frame frame;
  for (std::uint64_t glued = 1 + random().below(4); glued > 0 && !closing_; --glued) {
    if (!link_.server_.next(*session_, now(), frame)) return;
    if (frame.error_code == 410) note("410 as ERROR event");
    if (frame.unreadable) note("an event that nobody can read");
    push(std::move(frame));
    frame = Frame{};
  }
}

bool SimCall::stream_fault() {
  const LinkFaults& faults = link_.faults;
  switch (random().below(6)) {
    case 0:
      if (!faults.cuts) return false;
      note("watch cut at a byte");
      fill();
      deliver(out_.empty() ? 0 : random().below(out_.size()));
      if (!ended_) fail(Error(ErrorKind::unreachable, "connection reset"));
      return true;
    case 1: {
      if (!faults.ends) return false;
      const bool inside = !out_.empty();
      note(inside ? "watch ended inside an event" : "watch ended");
      link_.observer->on_ended(now() - opened_at_);
      done({});
      return true;
    }
    case 2:
      if (!faults.silence || random().below(4) != 0) return false;
      note("half-open: silence");
      silent_ = true;
      return true;
    case 3: {
      if (!faults.error_events) return false;
      static constexpr std::array<int, 4> kCodes = {410, 429, 500, 401};
      const std::size_t pick = random().below(5);
      if (pick == 4) {
        note("ERROR event that is no Status");
        Frame frame;
        frame.bytes = event_json("ERROR", R"({"what":"?"})");
        frame.last = true;
        frame.error_code = 1;
        push(std::move(frame));
      } else {
        note(fmt::format("{} as ERROR event, out of the blue", kCodes.at(pick)).c_str());
        push(error_frame(kCodes.at(pick), pick == 0 ? "Expired" : "",
                         kCodes.at(pick) == 429 ? 3 : 0));
      }
      return false;
    }
    default:
      if (faults.oddities) odd_frame();
      return false;
  }
}

// What says nothing of any object and must change nothing.
void SimCall::odd_frame() {
  Frame frame;
  switch (random().below(3)) {
    case 0:
      note("unknown event type");
      frame.bytes = event_json("SURPRISE", R"({"metadata":{"name":"o1","resourceVersion":"1"}})");
      break;
    case 1:
      note("broken event");
      frame.bytes = event_json("MODIFIED", R"({"metadata":{"name":7,"resourceVersion":"9"}})");
      break;
    default:
      note("bookmark without resourceVersion");
      frame.bytes = event_json("BOOKMARK", R"({"metadata":{}})");
      break;
  }
  push(std::move(frame));
}

// What becomes whole with these bytes is told after the reflector had them.
void SimCall::deliver(std::size_t bytes) {
  if (bytes == 0) return;
  const auto self = shared_from_this();
  const std::string chunk = out_.substr(0, bytes);
  out_.erase(0, bytes);
  Delivered delivered;
  for (std::size_t left = bytes; left > 0 && !frames_.empty();) {
    auto& [size, frame] = frames_.front();
    const std::size_t part = std::min(size, left);
    size -= part;
    left -= part;
    if (size > 0) break;
    delivered.frames.push_back(std::move(frame));
    frames_.pop_front();
  }
  if (frames_.empty()) line_feed_ = out_.size();  // the last one's, if it is still to go out
  touch();
  link_.observer->before_delivery(delivered.frames);
  if (handlers_.on_data) handlers_.on_data(chunk);
  delivered.alive = !ended_;
  link_.observer->on_frames(delivered);
}

namespace {

struct Handle : http::Call {
  std::shared_ptr<SimCall> call;
  ~Handle() override { call->cancel(); }
};

}  // namespace

std::unique_ptr<http::Call> Link::start(http::Request request, http::CallHandlers handlers) {
  auto handle = std::make_unique<Handle>();
  handle->call = std::make_shared<SimCall>(*this, std::move(request), std::move(handlers));
  calls_.erase(
      std::remove_if(calls_.begin(), calls_.end(), [](const auto& call) { return call.expired(); }),
      calls_.end());
  calls_.push_back(handle->call);
  handle->call->begin();
  if (observer != nullptr) observer->on_request(handle->call->seen());
  return handle;
}

void Link::cut_front(std::size_t front) {
  const auto calls = calls_;
  for (const auto& weak : calls) {
    const auto call = weak.lock();
    if (call && !call->ended() && call->front() == front) {
      call->fail(Error(ErrorKind::unreachable, "connection reset"));
    }
  }
}

bool Link::half_open() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& weak) {
    const auto call = weak.lock();
    return call && call->silent();
  });
}

void Link::expire_token() {
  const auto calls = calls_;
  for (const auto& weak : calls) {
    const auto call = weak.lock();
    if (call && !call->ended() && call->streaming()) {
      call->say_and_close(error_frame(401, "Unauthorized"));
    }
  }
}

}  // namespace kubewatch::model

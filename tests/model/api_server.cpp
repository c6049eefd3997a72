#include "model/api_server.hpp"

#include <algorithm>
#include <cstdlib>

namespace kubewatch::model {

namespace {

std::uint64_t number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

Reply refuse(int code, const std::string& reason, const std::string& message, int retry_after = 0) {
  Reply out;
  out.status = code;
  out.body = status_json(code, reason, message, retry_after);
  return out;
}

Reply too_large(std::uint64_t asked, std::uint64_t current) {
  Reply out;
  out.status = 504;
  out.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,)"
      R"("message":"Timeout: Too large resource version: {}, current: {}","details":)"
      R"({{"retryAfterSeconds":1,"causes":[{{"reason":"ResourceVersionTooLarge",)"
      R"("message":"Too large resource version"}}]}}}})",
      asked, current);
  out.retry_after = "1";
  return out;
}

// Continue tokens: version, epoch, birth, and how many items were told.
struct Token {
  std::uint64_t version = 0;
  std::uint64_t epoch = 0;
  std::uint64_t born = 0;
  std::string after_namespace;
  std::string after_name;
};

std::string write_token(const Token& token) {
  return fmt::format("{}_{}_{}_{}_{}", token.version, token.epoch, token.born,
                     token.after_namespace, token.after_name);
}

Token read_token(const std::string& text) {
  Token out;
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '_') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  parts.resize(5);
  out.version = number(parts[0]);
  out.epoch = number(parts[1]);
  out.born = number(parts[2]);
  out.after_namespace = parts[3];
  out.after_name = parts[4];
  return out;
}

}  // namespace

std::string status_json(int code, const std::string& reason, const std::string& message,
                        int retry_after) {
  const std::string details =
      retry_after > 0 ? fmt::format(R"(,"details":{{"retryAfterSeconds":{}}})", retry_after) : "";
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}",)"
      R"("reason":"{}"{},"code":{}}})",
      message, reason, details, code);
}

std::string event_json(const char* type, const std::string& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

Frame error_frame(int code, const std::string& reason, int retry_after) {
  Frame out;
  out.bytes = event_json("ERROR", status_json(code, reason, "no", retry_after));
  out.last = true;
  out.error_code = code;
  out.retry_after = retry_after;
  return out;
}

void ApiServer::tick(bool calm) {
  for (auto& front : fronts_) {
    front.seen = std::min(front.seen, cluster_.revision());
    const std::uint64_t behind = cluster_.revision() - front.seen;
    if (calm || traits_.max_lag == 0) {
      front.seen = cluster_.revision();
    } else if (behind > 0) {
      front.seen += random_.below(behind + 1);
      if (cluster_.revision() - front.seen > traits_.max_lag) {
        front.seen = cluster_.revision() - traits_.max_lag;
      }
    }
  }
}

std::uint64_t ApiServer::oldest(std::size_t front) const {
  return std::max(fronts_.at(front).oldest, cluster_.compacted());
}

Reply ApiServer::list(const ListQuery& query, std::size_t front, TimePoint now) {
  Token token;
  token.version = cluster_.revision();
  token.epoch = cluster_.epoch();
  token.born = static_cast<std::uint64_t>(now.time_since_epoch().count());
  if (!query.token.empty()) {
    const Token sent = read_token(query.token);
    const bool old = sent.epoch != cluster_.epoch() || sent.version < cluster_.compacted() ||
                     now - TimePoint(Duration(sent.born)) > traits_.token_life;
    if (old && !traits_.pages_drift) {
      return refuse(410, "Expired", "The provided continue parameter is too old");
    }
    token = sent;
    if (traits_.pages_drift) token.version = cluster_.revision();
  } else if (query.version == "0") {
    token.version = std::max(fronts_.at(front).seen, cluster_.compacted());
  } else if (!query.version.empty() && number(query.version) > cluster_.revision()) {
    return too_large(number(query.version), cluster_.revision());
  }
  Reply out;
  out.version = token.version;
  std::string items;
  std::uint64_t count = 0;
  const SimState state = cluster_.state_at(query.view, token.version);
  const SimKey after{token.after_namespace, token.after_name};
  std::string more;
  for (auto it = query.token.empty() ? state.begin() : state.upper_bound(after); it != state.end();
       ++it) {
    if (query.limit != 0 && count == query.limit) {
      more = write_token(token);
      break;
    }
    ++count;
    items += (items.empty() ? "" : ",") + to_json(query.view.kind, it->second, traits_.typed_items);
    token.after_namespace = it->first.first;
    token.after_name = it->first.second;
  }
  out.whole = more.empty();
  const std::string metadata =
      fmt::format(R"("metadata":{{"resourceVersion":"{}"{}}})", out.version,
                  more.empty() ? "" : fmt::format(R"(,"continue":"{}")", more));
  // Built-in kinds tell metadata first, custom resources last.
  out.body = traits_.typed_items
                 ? fmt::format(R"({{"apiVersion":"v1","items":[{}],"kind":"{}List",{}}})", items,
                               kind_name(query.view.kind), metadata)
                 : fmt::format(R"({{"kind":"{}List","apiVersion":"v1",{},"items":[{}]}})",
                               kind_name(query.view.kind), metadata, items);
  return out;
}

std::optional<WatchSession> ApiServer::open(const WatchQuery& query, std::size_t front,
                                            TimePoint now, Reply& refusal) {
  WatchSession session;
  session.query = query;
  session.front = front;
  session.epoch = cluster_.epoch();
  session.next_bookmark = now + traits_.bookmark_every;
  if (query.initial) {
    if (traits_.refuses_streaming) {
      refusal = refuse(422, "Invalid", "sendInitialEvents is forbidden for watch");
      return std::nullopt;
    }
    if (!query.version.empty() && query.version != "0" &&
        number(query.version) > cluster_.revision()) {
      refusal = too_large(number(query.version), cluster_.revision());
      return std::nullopt;
    }
    prepare_initial(session);
    return session;
  }
  session.sent = number(query.version);
  if (session.sent > cluster_.revision()) {
    session.restored_under = true;
    if (traits_.future_is_error) {
      refusal = too_large(session.sent, cluster_.revision());
      return std::nullopt;
    }
  }
  if (session.sent < oldest(front)) {
    if (traits_.gone_by_http) {
      refusal = refuse(410, "Expired", "too old resource version");
      return std::nullopt;
    }
    session.initial.push_back(error_frame(410, "Expired"));
  } else if (traits_.resends && random_.below(2) == 0) {
    const std::uint64_t back = 1 + random_.below(6);
    session.sent = std::max(oldest(front), session.sent - std::min(session.sent, back));
  }
  return session;
}

// The state of the front end's cache, what happened since then, and the end.
void ApiServer::prepare_initial(WatchSession& session) const {
  const WatchQuery& query = session.query;
  std::uint64_t version = std::max(fronts_.at(session.front).seen, cluster_.compacted());
  for (const auto& [key, object] : cluster_.state_at(query.view, version)) {
    session.initial.push_back(event_frame(session, {core::WatchEventType::added, 0, object}));
    session.initial.back().version = 0;
  }
  const std::uint64_t until = query.version == "0" ? version : cluster_.revision();
  while (const auto event = cluster_.next_event(query.view, version, until)) {
    session.initial.push_back(event_frame(session, *event));
    session.initial.back().version = 0;
    version = event->revision;
  }
  session.sent = std::max(version, until);
  if (!traits_.never_ends_streaming) {
    session.initial.push_back(bookmark(session, session.sent, true));
  }
}

Frame ApiServer::bookmark(const WatchSession& session, std::uint64_t version, bool end) const {
  Frame out;
  out.version = version;
  out.initial_end = end;
  out.bytes = event_json(
      "BOOKMARK",
      fmt::format(R"({{"kind":"{}","apiVersion":"v1","metadata":{{"resourceVersion":"{}"{}}}}})",
                  kind_name(session.query.view.kind), version,
                  end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""));
  return out;
}

Frame ApiServer::event_frame(const WatchSession& session, const SimEvent& event) const {
  const char* type = event.type == core::WatchEventType::added      ? "ADDED"
                     : event.type == core::WatchEventType::modified ? "MODIFIED"
                                                                    : "DELETED";
  Frame out;
  out.version = event.revision;
  out.bytes = event_json(type, to_json(session.query.view.kind, event.object, true));
  return out;
}

bool ApiServer::next(WatchSession& session, TimePoint now, Frame& out) {
  if (!session.initial.empty()) {
    out = std::move(session.initial.front());
    session.initial.pop_front();
    return true;
  }
  if (session.query.initial && traits_.never_ends_streaming) return false;
  const std::uint64_t seen = fronts_.at(session.front).seen;
  // A version of the future after a restore: a bookmark of the present gives it away.
  if (session.restored_under) {
    session.restored_under = false;
    session.sent = seen;
    out = bookmark(session, seen, false);
    return true;
  }
  if (session.sent < cluster_.compacted() && session.sent < seen && !traits_.gone_by_http) {
    out = error_frame(410, "Expired");
    return true;
  }
  if (const auto event = cluster_.next_event(session.query.view, session.sent, seen)) {
    out = event_frame(session, *event);
    session.sent = event->revision;
    if (traits_.unreadable_every > 0 && event->revision % traits_.unreadable_every == 0 &&
        event->revision <= unreadable_until) {
      out.bytes = "<html>event lost</html>\n";
      out.version = 0;
      out.unreadable = true;
    }
    return true;
  }
  if (session.query.bookmarks && traits_.bookmark_every.count() > 0 &&
      now >= session.next_bookmark && seen >= session.sent) {
    session.next_bookmark = now + traits_.bookmark_every;
    session.sent = seen;
    out = bookmark(session, seen, false);
    return true;
  }
  return false;
}

}  // namespace kubewatch::model

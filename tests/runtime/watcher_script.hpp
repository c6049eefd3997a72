// A watcher under test with a clock of its own: each input gives the actions as short texts, so
// that a test reads as a conversation. Jitter is off unless asked for.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/watcher.hpp"

namespace kubewatch::test {

using Lines = std::vector<std::string>;

inline std::string show(const runtime::WatcherAction& action, TimePoint now) {
  using namespace runtime;
  if (const auto* a = std::get_if<StartList>(&action)) {
    const std::string query = a->params.query();
    return "list" + (query.empty() ? "" : " " + query);
  }
  if (const auto* a = std::get_if<StartWatch>(&action)) {
    std::string out = "watch rv=" + a->params.resource_version;
    if (a->params.send_initial_events) out += " initial";
    if (!a->params.bookmarks) out += " nobookmarks";
    return out;
  }
  if (std::holds_alternative<StopRequest>(action)) return "stop";
  if (const auto* a = std::get_if<SetTimer>(&action)) {
    return fmt::format("timer {}", (a->at - now).count());
  }
  if (const auto* a = std::get_if<EmitInit>(&action)) return a->rewound ? "Init rewound" : "Init";
  if (std::holds_alternative<EmitInitApply>(action)) return "InitApply";
  if (const auto* a = std::get_if<EmitInitDone>(&action)) {
    return fmt::format("InitDone {}{}", a->resource_version, a->gap ? " gap" : "");
  }
  if (std::holds_alternative<EmitApply>(action)) return "Apply";
  if (std::holds_alternative<EmitDelete>(action)) return "Delete";
  if (const auto* a = std::get_if<EmitBookmark>(&action)) return "Bookmark " + a->resource_version;
  if (std::holds_alternative<EmitRewound>(action)) return "Rewound";
  const auto& failure = std::get<EmitFailure>(action);
  return fmt::format("Failure {} +{}", to_string(failure.where), failure.retry_in.count());
}

struct Script {
  base::Random random{1};
  TimePoint now{Duration{1000000}};
  runtime::Watcher watcher;

  explicit Script(runtime::WatcherOptions options = {}, double jitter = 0)
      : watcher(
            [&] {
              options.backoff.jitter = jitter;
              return options;
            }(),
            random) {}

  Lines lines(const runtime::WatcherActions& actions) const {
    Lines out;
    for (const auto& action : actions) out.push_back(show(action, now));
    return out;
  }

  Lines start() { return lines(watcher.start(now)); }
  // A page with that many items, which stand as "Page N".
  Lines page(std::string rv, std::size_t items = 1, std::string token = "") {
    Lines out;
    std::size_t applied = 0;
    for (std::size_t i = 0; i < items; ++i) {
      for (const auto& line : list_item()) {
        if (line == "InitApply") {
          ++applied;
        } else {
          out.push_back(line);
        }
      }
    }
    if (applied > 0) out.push_back(fmt::format("Page {}", applied));
    for (auto& line : page_end(std::move(rv), std::move(token))) out.push_back(std::move(line));
    return out;
  }
  Lines list_item() { return lines(watcher.on_list_item()); }
  Lines page_end(std::string rv, std::string token = "") {
    core::ListPage page;
    page.resource_version = std::move(rv);
    page.continue_token = std::move(token);
    return lines(watcher.on_page(now, page));
  }
  Lines list_error(const Error& error) { return lines(watcher.on_list_error(now, error)); }
  Lines open() { return lines(watcher.on_watch_open(now)); }
  Lines event(core::WatchEventType type, std::string rv, bool end = false) {
    runtime::EventFacts facts;
    facts.type = type;
    facts.resource_version = std::move(rv);
    facts.initial_events_end = end;
    return lines(watcher.on_event(now, facts));
  }
  Lines added(std::string rv) { return event(core::WatchEventType::added, std::move(rv)); }
  Lines modified(std::string rv) { return event(core::WatchEventType::modified, std::move(rv)); }
  Lines deleted(std::string rv) { return event(core::WatchEventType::deleted, std::move(rv)); }
  Lines bookmark(std::string rv, bool end = false) {
    return event(core::WatchEventType::bookmark, std::move(rv), end);
  }
  Lines error_event(Error error) {
    runtime::EventFacts facts;
    facts.type = core::WatchEventType::error;
    facts.error = std::move(error);
    return lines(watcher.on_event(now, facts));
  }
  Lines broken(core::WatchEventType type) {
    runtime::EventFacts facts;
    facts.type = type;
    facts.broken = true;
    return lines(watcher.on_event(now, facts));
  }
  Lines end() { return lines(watcher.on_watch_end(now, std::nullopt)); }
  Lines end(const Error& error) { return lines(watcher.on_watch_end(now, error)); }
  Lines timer() { return lines(watcher.on_timer(now)); }
  // A timer behind which a watch starts anew: the server is where it was.
  Lines retry() { return confirmed(timer()); }
  // What comes of these when the version that they ask for is the one that is known.
  Lines confirmed(Lines out) {
    return out == Lines{"list limit=1"} ? page_end(watcher.resource_version()) : out;
  }
  Script& after(std::int64_t milliseconds) {
    now += Duration{milliseconds};
    return *this;
  }

  // To a watch that is open at this resourceVersion.
  void sync(const std::string& rv = "10") {
    start();
    page(rv);
    open();
  }
};

inline Error http_error(ErrorKind kind, int code, std::optional<int> retry_after = std::nullopt) {
  base::ApiStatus status;
  status.code = code;
  status.retry_after_seconds = retry_after;
  return Error(kind, "the server said " + std::to_string(code), std::move(status));
}
inline Error gone() {
  return http_error(ErrorKind::gone, 410);
}
inline Error too_large_version() {
  base::ApiStatus status;
  status.code = 504;
  status.reason = "Timeout";
  status.message = "Timeout: Too large resource version: 9, current: 5";
  status.body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":504,"reason":"Timeout",)"
      R"("message":"Timeout: Too large resource version: 9, current: 5","details":{"causes":[)"
      R"({"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})";
  return Error(ErrorKind::timeout, status.message, status);
}

}  // namespace kubewatch::test

#include "bench/line_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/strings.hpp"

namespace kubewatch::bench {

namespace {

constexpr std::string_view kPartial =
    R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)";
constexpr std::string_view kAdded = R"({"type":"ADDED","object":)";
constexpr std::string_view kAddedPod =
    R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",)";
constexpr std::string_view kGone =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"too old resource version","reason":"Expired","code":410})";
constexpr std::string_view kStream =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kEnd = "0\r\n\r\n";
constexpr std::size_t kBatch = 64;

void answer_json(int status, std::string_view body, Output& out) {
  out.own(
      fmt::format("HTTP/1.1 {} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                  status, body.size(), body));
}

void answer_status(int code, std::string_view reason, Output& out) {
  answer_json(code,
              fmt::format(R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},)"
                          R"("status":"Failure","message":"{}","reason":"{}","code":{}}})",
                          reason, reason, code),
              out);
}

}  // namespace

LineRequest parse_request(std::string_view head) {
  LineRequest out;
  const auto words = base::split(head.substr(0, head.find("\r\n")), ' ');
  if (words.size() != 3) return out;
  out.method = words[0];
  const std::size_t mark = words[1].find('?');
  out.path = words[1].substr(0, mark);
  if (mark != std::string::npos) {
    for (const auto& pair : base::split(words[1].substr(mark + 1), '&')) {
      const std::size_t equals = std::min(pair.find('='), pair.size());
      auto value = base::percent_decode(
          std::string_view(pair).substr(std::min(equals + 1, pair.size())), true);
      if (value.ok()) out.query[pair.substr(0, equals)] = *value;
    }
  }
  out.metadata_only = head.find("as=PartialObjectMetadata") != std::string_view::npos;
  return out;
}

std::uint64_t LineApi::number(const LineRequest& request, const char* key) const {
  const auto found = request.query.find(key);
  return found == request.query.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

bool LineApi::answer(const LineRequest& request, Output& out) {
  if (request.path.rfind("/bench/", 0) == 0) {
    control(request, out);
  } else if (request.path == "/api" && request.method == "GET") {
    answer_json(200, R"({"kind":"APIVersions","versions":["v1"]})", out);
  } else if (request.path == "/api/v1" && request.method == "GET") {
    answer_json(200,
                R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods",)"
                R"("singularName":"pod","namespaced":true,"kind":"Pod","verbs":["list","watch"],)"
                R"("shortNames":["po"]}]})",
                out);
  } else if (request.path != "/api/v1/pods" || request.method != "GET") {
    answer_status(404, "NotFound", out);
  } else if (request.query.count("labelSelector") + request.query.count("fieldSelector") > 0) {
    answer_status(400, "BadRequest", out);  // selectors are measured on the real server
  } else if (const auto watch_flag = request.query.find("watch");
             watch_flag != request.query.end() && watch_flag->second != "false") {
    return watch(request, out);
  } else {
    list(request, out);
  }
  return false;
}

// A continue token is the index of the first item that is left.
void LineApi::list(const LineRequest& request, Output& out) {
  const std::size_t first = std::min<std::size_t>(number(request, "continue"), corpus_.size());
  const std::size_t limit = number(request, "limit");
  const std::size_t last = limit == 0 ? corpus_.size() : std::min(first + limit, corpus_.size());
  if (first == 0) ++full_states_;
  std::string head =
      request.metadata_only
          ? R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{)"
          : R"({"kind":"PodList","apiVersion":"v1","metadata":{)";
  head += fmt::format(R"("resourceVersion":"{}")", version_);
  if (last < corpus_.size()) {
    head += fmt::format(R"(,"continue":"{}","remainingItemCount":{})", last, corpus_.size() - last);
  }
  head += R"(},"items":[)";
  if (!request.metadata_only) {
    const std::string_view items = corpus_.items(first, last);
    out.own(
        fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    head.size() + items.size() + 3, head));
    out.borrow(items);
    out.own("]}\n");
    return;
  }
  out.borrow(kStream);
  out.own_chunk(head);
  out.refill([this, first, last, at = first](Output& more) mutable {
    const std::size_t end = std::min(at + kBatch, last);
    std::size_t size = 0;
    for (std::size_t i = at; i < end; ++i) {
      size += kPartial.size() + corpus_.metadata(i).size() + 1 + (i > first ? 1U : 0U);
    }
    if (size > 0) more.own(fmt::format("{:x}\r\n", size));
    for (; at < end; ++at) {
      if (at > first) more.borrow(",");
      more.borrow(kPartial);
      more.borrow(corpus_.metadata(at));
      more.borrow("}");
    }
    if (size > 0) more.borrow("\r\n");
    if (at < last) return true;
    more.own_chunk("]}\n");
    more.borrow(kEnd);
    return false;
  });
}

bool LineApi::watch(const LineRequest& request, Output& out) {
  out.borrow(kStream);
  const auto initial = request.query.find("sendInitialEvents");
  if (initial != request.query.end() && initial->second == "true") {
    ++full_states_;
    stream_all(request.metadata_only, out);
    return true;
  }
  const std::uint64_t from = number(request, "resourceVersion");
  if (from >= version_) return true;
  end_as_gone(out);  // there is no history
  return false;
}

void LineApi::stream_all(bool metadata_only, Output& out) {
  out.refill([this, metadata_only, at = std::size_t{0}](Output& more) mutable {
    const std::size_t end = std::min(at + kBatch, corpus_.size());
    const std::string_view before = metadata_only ? kAdded : kAddedPod;
    const auto body = [&](std::size_t i) {
      return metadata_only ? corpus_.metadata(i) : corpus_.item(i).substr(1);
    };
    const std::string_view after = metadata_only ? "}}\n" : "}\n";
    const std::string_view partial = metadata_only ? kPartial : std::string_view();
    std::size_t size = 0;
    for (std::size_t i = at; i < end; ++i) {
      size += before.size() + partial.size() + body(i).size() + after.size();
    }
    if (size > 0) more.own(fmt::format("{:x}\r\n", size));
    for (; at < end; ++at) {
      more.borrow(before);
      more.borrow(partial);
      more.borrow(body(at));
      more.borrow(after);
    }
    if (size > 0) more.borrow("\r\n");
    if (at < corpus_.size()) return true;
    more.own_chunk(fmt::format(
        R"({{"type":"BOOKMARK","object":{}"metadata":{{"resourceVersion":"{}",)"
        R"("creationTimestamp":null,"annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
        "\n",
        metadata_only ? R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
                      : R"({"kind":"Pod","apiVersion":"v1",)",
        version_));
    return false;
  });
}

void LineApi::send_event(const OpenWatch& watch, std::size_t index) const {
  const std::string_view metadata = corpus_.metadata(index);
  watch.output->own_chunk(
      watch.metadata_only
          ? fmt::format("{{\"type\":\"MODIFIED\",\"object\":{}{}}}}}\n", kPartial, metadata)
          : fmt::format("{{\"type\":\"MODIFIED\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":"
                        "\"v1\",{}}}\n",
                        corpus_.item(index).substr(1)));
}

void LineApi::end_as_gone(Output& out) const {
  out.own_chunk(fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", kGone));
  out.borrow(kEnd);
}

// A prime step: neighbours are not updated together.
std::size_t LineApi::next_object() {
  return static_cast<std::size_t>(++touched_ * 7919U % corpus_.size());
}

void LineApi::change(double percent) {
  const auto count =
      static_cast<std::size_t>(static_cast<double>(corpus_.size()) * percent / 100.0);
  for (std::size_t i = 0; i < count; ++i) corpus_.touch(next_object(), ++version_, 0);
}

bool LineApi::take_gone() {
  return std::exchange(gone_, false);
}

void LineApi::control(const LineRequest& request, Output& out) {
  if (request.path == "/bench/gone" && request.method == "POST") {
    change(static_cast<double>(number(request, "changed")));
    ++version_;
    gone_ = true;
  } else if (request.path == "/bench/updates" && request.method == "POST") {
    updates_wanted = number(request, "count");
    updates_per_second = static_cast<double>(number(request, "rate"));
  } else if (request.path != "/bench/state") {
    return answer_status(404, "NotFound", out);
  }
  answer_json(
      200,
      fmt::format(R"({{"objects":{},"bytes":{},"fullStates":{},"updatesLeft":{}}})", corpus_.size(),
                  corpus_.items(0, corpus_.size()).size(), full_states_, updates_wanted),
      out);
}

}  // namespace kubewatch::bench

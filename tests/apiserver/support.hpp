// A server without sockets for the tests of this room: requests in, answers out, a clock that only
// moves when told to.
#pragma once

#include <string>
#include <vector>

#include "apiserver/api.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::test {

inline WallTime at_seconds(std::int64_t seconds) {
  return WallTime(std::chrono::seconds(1'800'000'000 + seconds));
}

class FakeSink : public WatchSink {
 public:
  struct Record {
    std::string text;
    std::size_t at_once = 0;  // events that did not wait
    bool ended = false;
    bool gone = false;
    std::size_t backlog = 0;
    // The events so far, parsed.
    std::vector<Json> events() const {
      std::vector<Json> out;
      for (const auto& line : base::split(text, '\n')) {
        if (!line.empty()) out.push_back(base::parse_json(line).value());
      }
      return out;
    }
    // "ADDED a,MODIFIED a": type and name.
    std::string story() const {
      std::vector<std::string> out;
      for (const auto& event : events()) {
        out.push_back(base::string_at(event, {"type"}) + " " +
                      base::string_at(event, {"object", "metadata", "name"}));
      }
      return base::join(out, ",");
    }
  };
  explicit FakeSink(std::shared_ptr<Record> record) : record_(std::move(record)) {}
  ~FakeSink() override { record_->ended = true; }
  void send(std::string_view bytes) override { record_->text += bytes; }
  void send_now(std::string_view bytes) override {
    ++record_->at_once;
    send(bytes);
  }
  std::size_t backlog() const override { return record_->backlog; }
  bool gone() const override { return record_->gone; }

 private:
  std::shared_ptr<Record> record_;
};

struct Answer {
  int code = 0;
  Json json;
  std::string text;
  http::Headers headers;
  std::string content_type;
  std::string reason() const { return base::string_at(json, {"reason"}); }
  std::string message() const { return base::string_at(json, {"message"}); }
  std::string at(std::initializer_list<std::string_view> path) const {
    return base::string_at(json, path);
  }
};

class Server {
 public:
  explicit Server(ApiOptions options = {}) : api(std::move(options), at_seconds(0)) {
    api.on_change([this] { ++changes; });
  }

  Answer call(const std::string& method, const std::string& target, const std::string& body = "",
              const std::string& content_type = "application/json",
              const std::string& accept = "application/json") {
    ApiRequest request = make(method, target, body, content_type, accept);
    const Reply reply = api.handle(request, now());
    Answer answer;
    answer.code = reply.response.status;
    answer.text = reply.response.body;
    answer.headers = reply.response.headers;
    answer.content_type = reply.response.content_type;
    auto parsed = base::parse_json(reply.response.body);
    if (parsed) answer.json = std::move(parsed).value();
    return answer;
  }

  Answer get(const std::string& target) { return call("GET", target); }
  Answer post(const std::string& target, const Json& body) {
    return call("POST", target, base::dump_json(body));
  }
  Answer put(const std::string& target, const Json& body) {
    return call("PUT", target, base::dump_json(body));
  }
  Answer merge(const std::string& target, const Json& body) {
    return call("PATCH", target, base::dump_json(body), "application/merge-patch+json");
  }
  Answer json_patch(const std::string& target, const Json& body) {
    return call("PATCH", target, base::dump_json(body), "application/json-patch+json");
  }
  Answer apply(const std::string& target, const Json& body) {
    return call("PATCH", target, base::dump_json(body), "application/apply-patch+yaml");
  }
  Answer remove(const std::string& target, const Json& options = Json()) {
    return call("DELETE", target, options.is_null() ? "" : base::dump_json(options));
  }

  // A watch that is attached, as the HTTP side would.
  std::shared_ptr<FakeSink::Record> watch(const std::string& target,
                                          const std::string& accept = "application/json") {
    const Reply reply = api.handle(make("GET", target, "", "", accept), now());
    auto record = std::make_shared<FakeSink::Record>();
    if (!reply.watch) {
      record->text = reply.response.body;
      record->ended = true;
      return record;
    }
    api.watches().attach(reply.watch, std::make_unique<FakeSink>(record), steady(), now());
    return record;
  }

  void tick() { api.watches().tick(api.storage().version(), steady(), now()); }
  // Lets the controllers finish.
  void settle() {
    for (int i = 0; i < 1000 && api.step(now()); ++i) {
    }
  }
  void advance(std::int64_t milliseconds) { elapsed_ += milliseconds; }
  WallTime now() const { return at_seconds(0) + std::chrono::milliseconds(elapsed_); }
  TimePoint steady() const { return TimePoint(Duration(elapsed_)); }

  Api api;
  int changes = 0;

 private:
  static ApiRequest make(const std::string& method, const std::string& target,
                         const std::string& body, const std::string& content_type,
                         const std::string& accept) {
    ApiRequest request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    if (target.find('?') != std::string::npos) request.query = target.substr(target.find('?') + 1);
    if (!content_type.empty()) request.headers.add("Content-Type", content_type);
    request.headers.add("Accept", accept);
    request.headers.add("User-Agent", "tester/1.0");
    request.body = body;
    return request;
  }
  std::int64_t elapsed_ = 0;
};

inline const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kWebsites = "/apis/demo.kubewatch.dev/v1/namespaces/default/websites";
inline const std::string kEvents = "/api/v1/namespaces/default/events";
inline const std::string kCrdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char kTableAccept[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

inline Json config_map(const std::string& name, const Json& more = Json::object()) {
  Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
  object.merge_patch(more);
  return object;
}

// Events go after an hour.
inline ApiOptions an_hour() {
  ApiOptions options;
  options.event_ttl = Duration{3'600'000};
  return options;
}
inline Json started_event(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"name", name}}},
          {"involvedObject", {{"kind", "Pod"}, {"name", "a"}, {"namespace", "default"}}},
          {"reason", "Started"},
          {"type", "Normal"}};
}
inline Json website(const std::string& name, const Json& spec = {{"host", "abc"}}) {
  return {{"apiVersion", "demo.kubewatch.dev/v1"},
          {"kind", "Website"},
          {"metadata", {{"name", name}}},
          {"spec", spec}};
}

inline Json website_crd() {
  return base::parse_json(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "websites.demo.kubewatch.dev"},
    "spec": {"group": "demo.kubewatch.dev", "scope": "Namespaced",
      "names": {"plural": "websites", "kind": "Website", "shortNames": ["ws"]},
      "versions": [
        {"name": "v1", "served": true, "storage": true,
         "subresources": {"status": {},
           "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
         "additionalPrinterColumns": [
           {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
           {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
           {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}],
         "selectableFields": [{"jsonPath": ".spec.host"}],
         "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
           "spec": {"type": "object", "required": ["host"], "properties": {
             "host": {"type": "string", "pattern": "^[a-z.]+$", "minLength": 2, "maxLength": 20},
             "replicas": {"type": "integer", "default": 1, "minimum": 0, "maximum": 10},
             "mode": {"type": "string", "enum": ["a", "b"]},
             "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3,
                      "x-kubernetes-list-type": "set"},
             "ports": {"type": "array", "x-kubernetes-list-type": "map",
                       "x-kubernetes-list-map-keys": ["name"],
                       "items": {"type": "object", "required": ["name"], "properties": {
                         "name": {"type": "string"}, "port": {"type": "integer"}}}},
             "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
             "size": {"x-kubernetes-int-or-string": true},
             "map": {"type": "object", "additionalProperties": {"type": "string"}}}},
           "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}},
        {"name": "v1beta1", "served": true, "storage": false, "schema": {"openAPIV3Schema":
           {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
        {"name": "v1alpha1", "served": false, "storage": false, "schema": {"openAPIV3Schema":
           {"type": "object"}}}]}})")
      .value();
}

}  // namespace kubewatch::apiserver::test

// What cases need besides World: a plain request with whatever the server answers to it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "client/client.hpp"
#include "client/config.hpp"
#include "e2e/world.hpp"
#include "http/transport.hpp"

namespace kubewatch::e2e {

struct Answer {
  int code = 0;
  Json body;
};

// The way to the server for who says by something else who it is.
inline client::ClientConfig way_to_server(World& w) {
  const client::ClientConfig& ours = w.server().config();
  client::ClientConfig out;
  out.server = ours.server;
  out.namespace_ = w.ns();
  out.ca_pem = ours.ca_pem;
  out.ca_file = ours.ca_file;
  out.tls_server_name = ours.tls_server_name;
  out.insecure_skip_tls_verify = ours.insecure_skip_tls_verify;
  return out;
}

// `request.url` is a path. NotNow where a cluster gives no answer at all.
inline http::Response fetch(World& w, const client::ClientConfig& config, http::Request request) {
  auto transport = client::make_transport(w.loop(), config);
  if (!transport.ok()) FAIL(transport.error().render());
  const std::string what = request.method + " " + request.url;
  request.url = config.server + request.url;
  if (!config.token.empty()) request.headers.set("Authorization", "Bearer " + config.token);
  std::optional<Result<http::Response>> answer;
  const auto call =
      http::fetch(**transport, std::move(request),
                  [&](Result<http::Response> result) { answer.emplace(std::move(result)); });
  w.loop().run_until([&] { return answer.has_value(); }, Duration{60000});
  if (!answer) w.fail_for_now("no answer to " + what);
  if (!answer->ok()) w.fail_for_now("no answer to " + what + ": " + answer->error().render());
  return std::move(**answer);
}

inline Answer send_text(World& w, const std::string& method, const std::string& path,
                        std::string body, const std::string& content_type) {
  http::Request request;
  request.method = method;
  request.url = path;
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type", content_type);
  request.body = std::move(body);
  const http::Response answer = fetch(w, w.server().config(), std::move(request));
  auto parsed = base::parse_json(answer.body);
  return {answer.status, parsed.ok() ? std::move(*parsed) : Json(answer.body)};
}

inline Answer send(World& w, const std::string& method, const std::string& path,
                   const Json& body = nullptr) {
  return send_text(w, method, path, body.is_null() ? "" : base::dump_json(body),
                   "application/json");
}

// Content types of patches.
inline constexpr const char* kMerge = "application/merge-patch+json";
inline constexpr const char* kJsonPatch = "application/json-patch+json";
inline constexpr const char* kApply = "application/apply-patch+yaml";

inline Answer patch(World& w, const std::string& path, const Json& body,
                    const char* type = kMerge) {
  return send_text(w, "PATCH", path, base::dump_json(body), type);
}

// What a Status says.
inline std::string message(const Answer& answer) {
  return base::string_at(answer.body, {"message"});
}

// As the server has made it.
inline Json made(World& w, const std::string& collection, const Json& object) {
  const Answer answer = send(w, "POST", collection, object);
  INFO(message(answer));
  REQUIRE(answer.code == 201);
  return answer.body;
}

// The ConfigMaps of the case.
inline std::string maps(const World& w) {
  return "/api/v1/namespaces/" + w.ns() + "/configmaps";
}

// The causes of a Status, "FIELD: MESSAGE" each.
using Told = std::set<std::string>;

inline Told told_by_server(const Json& status) {
  Told out;
  const Json* causes = base::find(status, {"details", "causes"});
  if (causes == nullptr || !causes->is_array()) return out;
  for (const Json& cause : *causes) {
    out.insert(base::string_at(cause, {"field"}) + ": " + base::string_at(cause, {"message"}));
  }
  return out;
}

// Whether something is told of that field with that part.
inline bool tells(const Told& told, const std::string& field, const std::string& message) {
  for (const std::string& one : told) {
    if (one.starts_with(field + ": ") && one.find(message) != std::string::npos) return true;
  }
  return false;
}

inline std::string joined(const Told& told) {
  std::string out;
  for (const std::string& one : told) out += one + "\n";
  return out;
}

}  // namespace kubewatch::e2e

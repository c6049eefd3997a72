#include "hooks/gateway_writes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "hooks/printed_secrets.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/secret_parts.hpp"

namespace kubewatch::hooks {
namespace {

using Kind = GatewayEffect::Kind;

constexpr std::size_t kMostSent = 64U << 10U;  // bytes of a body that paths are looked for in
constexpr std::size_t kMostKeptWrites = 50;    // writes of a run that are named

bool is_json(std::string_view content_type) {
  return content_type.substr(0, content_type.find(';')) == "application/json";
}

bool writes_secret(const GatewayWrite& write) {
  return is_secret(write.type.gvk) && write.method != "DELETE";
}

// A deletion says so in its options.
bool options_dry_run(const Json& options) {
  return !base::items_at(options, {"dryRun"}).empty();
}

}  // namespace

std::string GatewayWrite::what() const {
  std::string out = verb + " " + type.qualified_plural();
  if (!subresource.empty()) out += "/" + subresource;
  if (!key.name.empty()) out += " \"" + key.name + "\"";
  if (!key.namespace_.empty()) out += " in namespace \"" + key.namespace_ + "\"";
  return out;
}

std::optional<GatewayWrite> gateway_write(const http::ServerRequest& request,
                                          const GatewayPlan& plan,
                                          const std::vector<core::ResourceType>& writable) {
  const auto type = std::find_if(writable.begin(), writable.end(), [&](const auto& one) {
    return one.gvk.group == plan.path.group && one.plural == plan.path.plural;
  });
  if (!plan.write || type == writable.end()) return std::nullopt;
  GatewayWrite out;
  out.type = *type;
  out.key = {plan.path.namespace_, plan.path.name};
  out.method = request.method;
  out.verb = verb_of(request.method, request.headers.get("Content-Type"));
  out.subresource = plan.path.subresource;
  out.dry_run = plan.dry_run;
  if (request.body.size() <= kMostSent) {
    if (auto body = base::parse_json(request.body); body.ok()) out.sent = std::move(*body);
  }
  if (request.method == "DELETE") {
    out.dry_run = out.dry_run || options_dry_run(out.sent);
    out.sent = Json();
  }
  if (out.key.name.empty()) out.key.name = base::string_at(out.sent, {"metadata", "name"});
  return out;
}

GatewayEffect gateway_effect(const GatewayWrite& write, int status, std::string_view content_type,
                             const std::string* body, const PatchMemory& memory) {
  GatewayEffect out;
  out.key = write.key;
  if (write.dry_run || status < 200 || status >= 300) return out;
  Json object;
  if (body != nullptr && is_json(content_type)) {
    if (auto parsed = base::parse_json(*body); parsed.ok()) object = std::move(*parsed);
  }
  // Of a deletion at once, or of a subresource that is no state.
  const bool is_status = base::string_at(object, {"kind"}) == "Status";
  if (!is_status) {
    out.version = base::string_at(object, {"metadata", "resourceVersion"});
    if (out.key.name.empty()) out.key.name = base::string_at(object, {"metadata", "name"});
  }
  const bool makes = write.method == "POST" && write.subresource.empty();
  if (makes || (status == 201 && write.subresource.empty())) {
    out.kind = Kind::created;
    return out;
  }
  const std::string& version = out.version;
  const bool same =
      !version.empty() && (version == write.version_before ||
                           memory.left_by(child_id(write.type.gvk, out.key), version) != nullptr);
  if (same) {
    out.kind = Kind::unchanged;
    out.version.clear();
  } else if (write.method == "DELETE") {
    out.kind = Kind::deleted;
  } else if (!version.empty()) {
    out.kind = Kind::configured;
  }
  return out;
}

void GatewayGuest::learn_sent(const GatewayWrite& write, std::string_view body) {
  if (!writes_secret(write)) return;
  if (const auto json = base::parse_json(body); json.ok()) return mask_patch(*json, secrets_);
  const auto documents = base::parse_yaml_values(body);
  if (!documents.ok()) return mask_quoted(body, secrets_);
  for (const Json& document : *documents) mask_patch(document, secrets_);
}

void GatewayGuest::learn_answer(const GatewayWrite& write, int status, const std::string* body) {
  if (!writes_secret(write) || status < 400 || body == nullptr) return;
  const auto said = base::parse_json(*body);
  if (said.ok()) mask_quoted(base::string_at(*said, {"message"}), secrets_);
}

void GatewayGuest::note(const GatewayWrite& write, const GatewayEffect& effect) {
  const ChildId id = child_id(write.type.gvk, effect.key);
  const char* word = nullptr;
  switch (effect.kind) {
    case Kind::unknown: return;
    case Kind::unchanged: ++written_.unchanged; return;
    case Kind::created:
      ++written_.created;
      word = "created ";
      break;
    case Kind::configured:
      ++written_.configured;
      word = "configured ";
      break;
    case Kind::deleted:
      ++written_.deleted;
      word = "deleted ";
      break;
  }
  if (id == owner_ && effect.kind != Kind::deleted) ++written_.itself;
  if (written_.writes.size() < kMostKeptWrites) written_.writes.push_back(word + id.str());
  if (!keep_sent_ || write.sent.is_null() || written_.sent.size() >= kMostKeptWrites) return;
  std::string name = write.method + " of " + id.str();
  for (int n = 2; written_.sent.count(name) > 0; ++n) {
    name = fmt::format("{} {} of {}", write.method, n, id.str());
  }
  written_.sent[std::move(name)] = write.sent;
}

}  // namespace kubewatch::hooks

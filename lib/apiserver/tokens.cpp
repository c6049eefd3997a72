// Messages and limits as kube-apiserver 1.36 has them, read off its answers.
#include "apiserver/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include "apiserver/body_kind.hpp"
#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "http/bearer.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kFewestSeconds = 600;
constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32U;
constexpr const char* kGroup = "authentication.k8s.io";
constexpr const char* kKind = "TokenRequest";

Error cannot_decode(const std::string& why) {
  return undecodable({kGroup, "v1", kKind}, why);
}

// One line for each field that a TokenRequest does not have.
std::vector<std::string> unknown_fields(const Json& request) {
  static const std::set<std::string> kTop = {"apiVersion", "kind", "metadata", "spec", "status"};
  static const std::set<std::string> kSpec = {"audiences", "expirationSeconds", "boundObjectRef"};
  static const std::set<std::string> kBound = {"apiVersion", "kind", "name", "uid"};
  std::vector<std::string> out;
  const auto look = [&](const Json* object, const std::set<std::string>& known,
                        const std::string& path) {
    if (object == nullptr || !object->is_object()) return;
    for (const auto& [key, value] : object->items()) {
      if (known.count(key) == 0) out.push_back(fmt::format("unknown field \"{}{}\"", path, key));
    }
  };
  look(&request, kTop, "");
  look(base::find(request, {"spec"}), kSpec, "spec.");
  look(base::find(request, {"spec", "boundObjectRef"}), kBound, "spec.boundObjectRef.");
  return out;
}

// What is there has the types that it must have.
Result<void> check_types(const Json& spec) {
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (const Json* audiences = base::find(spec, {"audiences"}); audiences && !audiences->is_null()) {
    if (!audiences->is_array() || !std::all_of(audiences->begin(), audiences->end(), is_text)) {
      return cannot_decode("spec.audiences must be a list of strings");
    }
  }
  const Json* seconds = base::find(spec, {"expirationSeconds"});
  if (seconds != nullptr && !seconds->is_null() && !seconds->is_number_integer()) {
    return cannot_decode("spec.expirationSeconds must be a whole number");
  }
  const Json* bound = base::find(spec, {"boundObjectRef"});
  if (bound == nullptr || bound->is_null()) return {};
  if (!bound->is_object()) return cannot_decode("spec.boundObjectRef must be an object");
  if (!std::all_of(bound->begin(), bound->end(), is_text)) {
    return cannot_decode("the fields of spec.boundObjectRef must be strings");
  }
  return {};
}

Result<void> check_names(const WriteContext& context, const Json& request) {
  const std::string space = base::string_at(request, {"metadata", "namespace"});
  if (!space.empty() && space != context.namespace_) {
    return wrong_namespace();
  }
  const std::string name = base::string_at(request, {"metadata", "name"});
  if (name.empty() || name == context.name) return {};
  return invalid({kGroup, kKind, context.name},
                 {field_invalid("metadata.name", '"' + name + '"',
                                "must match the service account name if specified")});
}

Result<std::int64_t> seconds_of(const Json& spec) {
  const std::int64_t seconds = base::int_at(spec, {"expirationSeconds"}).value_or(kDefaultSeconds);
  std::string why;
  if (seconds < kFewestSeconds) why = "may not specify a duration less than 10 minutes";
  if (seconds > kMostSeconds) why = "may not specify a duration larger than 2^32 seconds";
  if (why.empty()) return seconds;
  return invalid({kGroup, kKind, ""},
                 {field_invalid("spec.expirationSeconds", std::to_string(seconds), why)});
}

// Whoever asked owns what it said.
Json field_set(const Json& spec) {
  Json fields = {{"f:expirationSeconds", Json::object()}};
  for (const auto& [key, value] : spec.items()) {
    if (value.is_null()) continue;
    Json& below = fields["f:" + key] = Json::object();
    if (!value.is_object()) continue;
    for (const auto& [inner, ignored] : value.items()) below["f:" + inner] = Json::object();
  }
  return {{"f:spec", fields}};
}

std::int64_t unix_seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// A UUID (RFC 9562, version 4) that tells nothing of the secret.
std::string id_of_token(const std::string& secret) {
  const std::string digest = base::sha256(secret);
  std::string hex;
  for (const char c : digest.substr(0, 16)) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  hex[12] = '4';
  hex[16] = "89ab"[base::hex_value(hex[16]) % 4];
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

std::string jwt(const Object& account, const Json& audiences, WallTime from, WallTime to,
                const std::string& id, const std::string& secret) {
  const Json header = {{"alg", "HS256"}, {"typ", "JWT"}};
  const Json claims = {
      {"aud", audiences},
      {"exp", unix_seconds(to)},
      {"iat", unix_seconds(from)},
      {"iss", kApiAudience},
      {"jti", id},
      {"kubernetes.io",
       {{"namespace", account.namespace_()},
        {"serviceaccount", {{"name", account.name()}, {"uid", account.uid()}}}}},
      {"nbf", unix_seconds(from)},
      {"sub", fmt::format("system:serviceaccount:{}:{}", account.namespace_(), account.name())}};
  return base::base64url_encode(base::dump_json(header)) + "." +
         base::base64url_encode(base::dump_json(claims)) + "." + base::base64url_encode(secret);
}

}  // namespace

// Pods, nodes and secrets, as there.
Result<Tokens::Bound> Tokens::bind(const WriteContext& context, const Json& reference) const {
  const std::string kind = base::string_at(reference, {"kind"});
  const std::string version = base::string_at(reference, {"apiVersion"});
  const std::string name = base::string_at(reference, {"name"});
  const std::string uid = base::string_at(reference, {"uid"});
  const bool known = version == "v1" && (kind == "Pod" || kind == "Node" || kind == "Secret");
  if (!known) {
    const std::size_t slash = version.find('/');
    const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
    return bad_request(fmt::format("cannot bind token to object of type {}/{}, Kind={}", group,
                                   slash == std::string::npos ? version : version.substr(slash + 1),
                                   kind));
  }
  const std::string plural = kind == "Pod" ? "pods" : kind == "Node" ? "nodes" : "secrets";
  Bound out{plural, object_key(kind == "Node" ? "" : context.namespace_, name), uid};
  const ObjectPtr object = storage_.get(out.storage_id, out.key);
  if (object == nullptr) return not_found({"", plural, name});
  if (!uid.empty() && uid != object->uid()) {
    return conflict({"", plural, name},
                    fmt::format("the UID in the bound object reference ({}) does not match the UID "
                                "in record. The object might have been deleted and then recreated",
                                uid));
  }
  out.uid = object->uid();
  return out;
}

Result<Tokens::Issued> Tokens::issue(const WriteContext& context, const Object& account,
                                     const Json& request, const std::string& secret) {
  if (!request.is_object()) return cannot_decode("it is not an object");
  Resource as_sent;
  as_sent.type.gvk = {kGroup, "v1", kKind};
  as_sent.go_type = "authentication.TokenRequest";
  KW_TRY(check_body_kind(as_sent, request));
  Issued out;
  if (context.validation != FieldValidation::ignore) out.warnings = unknown_fields(request);
  if (context.validation == FieldValidation::strict && !out.warnings.empty()) {
    return cannot_decode("strict decoding error: " + base::join(out.warnings, ", "));
  }
  const Json* given = base::find(request, {"spec"});
  const Json spec = given != nullptr && given->is_object() ? *given : Json::object();
  KW_TRY(check_types(spec));
  KW_TRY(check_names(context, request));
  KW_ASSIGN(const std::int64_t seconds, seconds_of(spec));
  Json audiences = spec.value("audiences", Json());
  if (!audiences.is_array() || audiences.empty()) audiences = Json::array({kApiAudience});
  const Json bound = spec.value("boundObjectRef", Json());
  Token token{{context.resource->storage_id, account.key(), account.uid()},
              {},
              context.now + std::chrono::seconds(seconds),
              audiences.get<std::vector<std::string>>(),
              id_of_token(secret)};
  if (bound.is_object()) {
    KW_ASSIGN(token.object, bind(context, bound));
  }
  std::erase_if(tokens_, [&](const auto& one) { return one.second.expires <= context.now; });
  const std::string text = jwt(account, audiences, context.now, token.expires, token.id, secret);
  const std::string expires = base::format_rfc3339(token.expires);
  tokens_[text] = std::move(token);
  const std::string now = base::format_rfc3339(context.now);
  const std::string version = std::string(kGroup) + "/v1";
  out.answer = {
      {"kind", kKind},
      {"apiVersion", version},
      {"metadata",
       {{"name", account.name()},
        {"namespace", account.namespace_()},
        {"uid", account.uid()},
        {"creationTimestamp", now},
        {"managedFields", Json::array({{{"manager", context.manager},
                                        {"operation", "Update"},
                                        {"apiVersion", version},
                                        {"time", now},
                                        {"fieldsType", "FieldsV1"},
                                        {"fieldsV1", field_set(spec)},
                                        {"subresource", "token"}}})}}},
      {"spec",
       {{"audiences", audiences}, {"expirationSeconds", seconds}, {"boundObjectRef", bound}}},
      {"status", {{"token", text}, {"expirationTimestamp", expires}}}};
  return out;
}

ObjectPtr Tokens::find(const Bound& bound) const {
  ObjectPtr object = storage_.get(bound.storage_id, bound.key);
  return object != nullptr && object->uid() == bound.uid ? object : nullptr;
}

std::vector<std::string> Tokens::meant_for(std::string_view token,
                                           const std::vector<std::string>& audiences) const {
  static const std::vector<std::string> kAdmin = {kApiAudience};
  const auto found = tokens_.find(token);
  const auto& own = found == tokens_.end() ? kAdmin : found->second.audiences;
  std::vector<std::string> out;
  std::copy_if(
      audiences.begin(), audiences.end(), std::back_inserter(out),
      [&](const std::string& one) { return std::find(own.begin(), own.end(), one) != own.end(); });
  return out;
}

std::optional<Caller> Tokens::caller(std::string_view token, WallTime now,
                                     const std::vector<std::string>& audiences) const {
  if (meant_for(token, audiences).empty()) return std::nullopt;
  if (http::same_secret(token, admin_)) return Caller{};
  const auto found = tokens_.find(token);
  if (found == tokens_.end() || found->second.expires <= now) return std::nullopt;
  const Token& known = found->second;
  const ObjectPtr account = find(known.account);
  const bool unbound = known.object.storage_id.empty();
  if (account == nullptr || (!unbound && find(known.object) == nullptr)) return std::nullopt;
  const std::string& space = account->namespace_();
  const std::string prefix = "authentication.kubernetes.io/";
  std::map<std::string, std::vector<std::string>> extra = {
      {prefix + "credential-id", {"JTI=" + known.id}}};
  for (const auto& [kind, told] : {std::pair{"pods", "pod"}, std::pair{"nodes", "node"}}) {
    if (known.object.storage_id != kind) continue;
    const std::string& key = known.object.key;
    extra[prefix + told + "-name"] = {key.substr(key.find('/') + 1)};
    extra[prefix + told + "-uid"] = {known.object.uid};
  }
  return Caller{
      fmt::format("system:serviceaccount:{}:{}", space, account->name()),
      account->uid(),
      {"system:serviceaccounts", "system:serviceaccounts:" + space, "system:authenticated"},
      std::move(extra)};
}

}  // namespace kubewatch::apiserver

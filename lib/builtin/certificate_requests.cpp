#include "builtin/certificate_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/keep_member.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;

constexpr std::int64_t kShortestSeconds = 600;

const Json& conditions_of(const Json& object) {
  return base::items_at(object, {"status", "conditions"});
}

// Where conditions of that type are in the list.
std::vector<std::size_t> places_of(const Json& conditions, const std::string& type) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (string_at(conditions[i], {"type"}) == type) out.push_back(i);
  }
  return out;
}

// Others in number stay for the rules to refuse.
void keep_conditions(const Json& live, Json& object, const std::string& type) {
  const Json& before = conditions_of(live);
  const auto from = places_of(before, type);
  const auto to = places_of(conditions_of(object), type);
  if (from.size() != to.size()) return;
  for (std::size_t i = 0; i < to.size(); ++i) {
    object["status"]["conditions"][to[i]] = before[from[i]];
  }
}

std::string last_transition(const Json& live, const Json& condition, const std::string& now) {
  for (const Json& one : conditions_of(live)) {
    const std::string time = string_at(one, {"lastTransitionTime"});
    const bool same = string_at(one, {"type"}) == string_at(condition, {"type"}) &&
                      string_at(one, {"status"}) == string_at(condition, {"status"});
    if (same && !time.empty()) return time;
  }
  return now;
}

void check_usages(const Field& usages) {
  static const Values known = {"any",
                               "cert sign",
                               "client auth",
                               "code signing",
                               "content commitment",
                               "crl sign",
                               "data encipherment",
                               "decipher only",
                               "digital signature",
                               "email protection",
                               "encipher only",
                               "ipsec end system",
                               "ipsec tunnel",
                               "ipsec user",
                               "key agreement",
                               "key encipherment",
                               "microsoft sgc",
                               "netscape sgc",
                               "ocsp signing",
                               "s/mime",
                               "server auth",
                               "signing",
                               "timestamping"};
  if (usages.empty()) usages.required();
  for (const Field& one : usages.items()) {
    if (!is_one(one.text(), known)) one.not_supported(known);
  }
  std::set<std::string> seen;
  for (const Field& one : usages.items()) {
    if (!seen.insert(one.text()).second) one.duplicate();
  }
}

void check_signer(const Field& signer) {
  const std::string name = signer.text();
  if (name.empty()) return signer.required();
  if (name == "kubernetes.io/legacy-unknown") {
    return signer.invalid("the legacy signerName is not allowed via this API version");
  }
  if (std::count(name.begin(), name.end(), '/') == 1) return;
  signer.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'");
}

struct PemBlock {
  std::string type;
  std::string bytes;
  bool has_headers = false;
};

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return base::trim(line);
}

// The next block that is whole; what is between blocks is passed over, as is a beginning that
// another one follows before any end.
std::optional<PemBlock> next_pem_block(std::string_view& text) {
  constexpr std::string_view begin = "-----BEGIN ";
  constexpr std::string_view dashes = "-----";
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!line.starts_with(begin) || !line.ends_with(dashes) || line.size() <= begin.size() + 5) {
      continue;
    }
    PemBlock block;
    block.type = line.substr(begin.size(), line.size() - begin.size() - dashes.size());
    const std::string end = "-----END " + block.type + "-----";
    std::string encoded;
    while (!text.empty()) {
      std::string_view rest = text;
      const std::string_view inside = next_line(rest);
      if (inside.starts_with(begin)) break;
      text = rest;
      if (inside == end) {
        auto bytes = base::base64_decode(encoded);
        if (!bytes) break;
        block.bytes = std::move(*bytes);
        return block;
      }
      if (inside.find(':') != std::string_view::npos) {
        block.has_headers = true;
      } else {
        encoded += inside;
      }
    }
  }
  return std::nullopt;
}

bool both_decided(const Json& conditions) {
  return !places_of(conditions, "Approved").empty() && !places_of(conditions, "Denied").empty();
}

bool repeats_types(const Json& conditions) {
  std::set<std::string> seen;
  return !std::all_of(conditions.begin(), conditions.end(), [&](const Json& one) {
    return seen.insert(string_at(one, {"type"})).second;
  });
}

void check_condition_status(const Field& condition) {
  static const std::set<std::string> decided = {"Approved", "Denied", "Failed"};
  const Field status = condition["status"];
  if (status.empty()) return status.required();
  if (decided.count(condition["type"].text()) != 0) return status.one_of({"True"});
  status.one_of({"False", "True", "Unknown"});
}

// What the stored object is wrong in already is let be.
void check_conditions(const Json& before, const Field& conditions) {
  const bool may_have_both = both_decided(before);
  const bool may_repeat = repeats_types(before);
  const bool may_lack = !places_of(before, "").empty();
  std::set<std::string> seen;
  for (const Field& one : conditions.items()) {
    const Field type = one["type"];
    const std::string text = type.text();
    if (text.empty() && !may_lack) type.required();
    check_condition_status(one);
    const char* other = text == "Approved" ? "Denied" : text == "Denied" ? "Approved" : nullptr;
    if (other != nullptr && seen.count(other) != 0 && !may_have_both) {
      conditions.invalid_as(json_text(text),
                            "Approved and Denied conditions are mutually exclusive");
    }
    if (!seen.insert(text).second && !may_repeat) {
      type.errors().push_back(field_duplicate(type.path(), json_text(text)));
    }
  }
}

void check_changed_conditions(const Json& before, const Field& conditions, const Json& after,
                              bool may_decide) {
  for (const char* type : {"Approved", "Denied", "Failed"}) {
    if (places_of(after, type).size() >= places_of(before, type).size()) continue;
    conditions.forbidden(fmt::format("updates may not remove a condition of type \"{}\"", type));
  }
  if (may_decide) return;
  for (const char* type : {"Approved", "Denied"}) {
    if (places_of(after, type).size() <= places_of(before, type).size()) continue;
    conditions.forbidden(fmt::format("updates may not add a condition of type \"{}\"", type));
  }
}

// What is wrong with certificates in PEM, in the server's words; "" where nothing is. Of what is in
// a block no more is read than that it begins as a certificate does.
std::string certificate_problem(const std::string& pem) {
  std::size_t blocks = 0;
  std::string_view rest = pem;
  while (const auto block = next_pem_block(rest)) {
    if (block->type != "CERTIFICATE") {
      return "only CERTIFICATE PEM blocks are allowed, found " + go_quoted(block->type);
    }
    if (block->has_headers) return "no PEM block headers are permitted";
    if (block->bytes.empty()) return "found CERTIFICATE PEM block containing 0 certificates";
    constexpr char kSequence = 0x30;
    if (block->bytes.front() != kSequence) return "x509: malformed certificate";
    ++blocks;
  }
  return pem.empty() || blocks != 0 ? "" : "must contain at least one CERTIFICATE PEM block";
}

// Of what is in the block nothing is read.
void check_signed_request(const Field& request) {
  const auto pem = base::base64_decode(request.text());
  std::string_view rest = pem ? std::string_view(*pem) : std::string_view();
  const auto block = next_pem_block(rest);
  if (block && block->type == "CERTIFICATE REQUEST") return;
  request.invalid("PEM block type must be CERTIFICATE REQUEST");
}

std::string certificate_of(const Json& request) {
  const auto bytes = base::base64_decode(string_at(request, {"status", "certificate"}));
  return bytes ? *bytes : "";
}

}  // namespace

void prepare_request(const Json& live, Json& object, const std::string& subresource) {
  base::keep_member(live, object, "spec");
  if (subresource == "status") {
    keep_conditions(live, object, "Approved");
    keep_conditions(live, object, "Denied");
    return;
  }
  const Json conditions = conditions_of(object);
  base::keep_member(live, object, "status");
  if (subresource != "approval") return;
  if (!object["status"].is_object()) object["status"] = Json::object();
  if (conditions.empty()) {
    object["status"].erase("conditions");
  } else {
    object["status"]["conditions"] = conditions;
  }
}

void fill_condition_times(const Json& live, Json& object, const std::string& now) {
  Json* conditions = base::find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return;
  for (Json& one : *conditions) {
    if (!one.is_object()) continue;
    if (string_at(one, {"lastUpdateTime"}).empty()) one["lastUpdateTime"] = now;
    if (!string_at(one, {"lastTransitionTime"}).empty()) continue;
    one["lastTransitionTime"] = last_transition(live, one, now);
  }
}

void check_certificate_request(const Json* live, const Json& object, const std::string& subresource,
                               FieldErrors& errors) {
  const Field whole(object, errors);
  const Field spec = whole["spec"];
  const Field conditions(base::find(object, {"status", "conditions"}), "status.conditions", errors);
  if (live == nullptr) {
    check_signed_request(spec["request"]);
    check_usages(spec["usages"]);
    check_signer(spec["signerName"]);
    const Field seconds = spec["expirationSeconds"];
    if (seconds.present() && seconds.number_or(0) < kShortestSeconds) {
      seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)");
    }
    return;
  }
  const Json& before = conditions_of(*live);
  check_conditions(before, conditions);
  const std::string wrong = certificate_problem(certificate_of(object));
  if (!wrong.empty() && certificate_problem(certificate_of(*live)).empty()) {
    whole["status"]["certificate"].invalid_as("\"<certificate data>\"", wrong);
  }
  check_changed_conditions(before, conditions, conditions_of(object), subresource == "approval");
  const std::string certificate = string_at(*live, {"status", "certificate"});
  if (!certificate.empty() && string_at(object, {"status", "certificate"}) != certificate) {
    whole["status"]["certificate"].forbidden("updates may not modify existing certificate content");
  }
}

}  // namespace kubewatch::builtin

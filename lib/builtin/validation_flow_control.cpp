// FlowSchemas and PriorityLevelConfigurations. Not the objects that every server has of its own,
// and no fairness: nothing waits here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kExempt = "exempt";
constexpr std::int64_t kMostPrecedence = 10000;
constexpr std::int64_t kMostQueues = 10'000'000;
constexpr std::int64_t kMostEntropyBits = 60;

void check_precedence(const Field& precedence, const std::string& name) {
  const std::int64_t value = precedence.number_or(0);
  if (value <= 0) precedence.invalid("must be a positive value");
  if (value > kMostPrecedence) {
    precedence.invalid(fmt::format("must not be greater than {}", kMostPrecedence));
  }
  if (value == 1 && name != kExempt) {
    precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

void check_distinguisher(const Field& method) {
  const Field type = method["type"];
  if (!method.present() || type.is("ByNamespace") || type.is("ByUser")) return;
  type.errors().push_back(
      field_not_supported(type.path(), fmt::format("{{\"Type\":{}}}", json_text(type.text())),
                          {"ByNamespace", "ByUser"}));
}

void check_service_account(const Field& account) {
  const Field name = account["name"];
  if (name.empty()) {
    name.required();
  } else if (!name.is("*")) {
    name.invalid_each(subdomain_problems(name.text()));
  }
  const Field ns = account["namespace"];
  if (ns.empty()) return ns.required("must specify namespace for service account");
  ns.invalid_each(label_problems(ns.text()));
}

void check_named(const Field& subject) {
  if (subject["name"].empty()) subject["name"].required();
}

struct SubjectKind {
  const char* kind;
  const char* key;
  void (*check)(const Field& subject);
};

// In the order in which what does not belong there is told.
const std::vector<SubjectKind>& subject_kinds() {
  static const std::vector<SubjectKind> kinds = {
      {"ServiceAccount", "serviceAccount", check_service_account},
      {"User", "user", check_named},
      {"Group", "group", check_named}};
  return kinds;
}

void check_subject(const Field& subject) {
  const auto& kinds = subject_kinds();
  const auto own = std::find_if(kinds.begin(), kinds.end(), [&](const SubjectKind& one) {
    return subject["kind"].is(one.kind);
  });
  if (own == kinds.end()) {
    return subject["kind"].not_supported({"Group", "ServiceAccount", "User"});
  }
  if (subject[own->key].present()) {
    own->check(subject[own->key]);
  } else {
    subject[own->key].required(
        fmt::format("{} is required when subject kind is '{}'", own->key, own->kind));
  }
  for (const SubjectKind& other : kinds) {
    if (other.key == own->key || !subject[other.key].present()) continue;
    subject[other.key].forbidden(
        fmt::format("{} is forbidden when subject kind is not '{}'", other.key, other.kind));
  }
}

bool has_wildcard(const Field& list) {
  for (const Field& item : list.items()) {
    if (item.is("*")) return true;
  }
  return false;
}

// A wildcard stands alone. True: there is one.
bool check_wildcard(const Field& list, const char* others) {
  if (!has_wildcard(list)) return false;
  if (list.size() > 1) {
    list.invalid(fmt::format("if '*' is present, must not specify other {}", others));
  }
  return true;
}

void check_verbs(const Field& verbs) {
  static const Values known = {"create", "delete", "deletecollection", "get",  "list",
                               "patch",  "proxy",  "update",           "watch"};
  if (verbs.empty()) return verbs.required("verbs must contain at least one value");
  if (check_wildcard(verbs, "verbs")) return;
  for (const Field& verb : verbs.items()) {
    if (!is_one(verb.text(), known)) return verbs.not_supported(known);
  }
}

void check_namespaces(const Field& rule) {
  const Field namespaces = rule["namespaces"];
  if (namespaces.empty() && !rule["clusterScope"].is_true()) {
    return namespaces.required(
        "resource rules that are not cluster scoped must supply at least one namespace");
  }
  if (check_wildcard(namespaces, "namespaces")) return;
  for (const Field& name : namespaces.items()) {
    for (const auto& problem : label_problems(name.text())) {
      name.invalid("each member of this list must be '*' or a DNS-1123 label; " + problem);
    }
  }
}

void check_resource_rule(const Field& rule) {
  check_verbs(rule["verbs"]);
  const auto check_list = [&](const char* key, const char* one, const char* others) {
    if (rule[key].empty()) {
      rule[key].required(fmt::format("resource rules must supply at least one {}", one));
    } else {
      check_wildcard(rule[key], others);
    }
  };
  check_list("apiGroups", "api group", "api groups");
  check_list("resources", "resource", "resources");
  check_namespaces(rule);
}

const char* path_problem(const std::string& path) {
  if (path.empty()) return "must not be empty";
  if (path == "/") return nullptr;
  if (path[0] != '/') return "must start with slash";
  if (path.find(' ') != std::string::npos) return "must not contain white-space";
  if (path.find("//") != std::string::npos) return "must not contain double slash";
  const auto wildcards = std::count(path.begin(), path.end(), '*');
  const bool suffix = wildcards == 1 && path.ends_with("/*");
  return wildcards == 0 || suffix ? nullptr : "wildcard can only do suffix matching";
}

void check_path_rule(const Field& rule) {
  check_verbs(rule["verbs"]);
  const Field paths = rule["nonResourceURLs"];
  if (paths.empty()) return paths.required("nonResourceURLs must contain at least one value");
  if (check_wildcard(paths, "non-resource URLs")) return;
  for (const Field& path : paths.items()) {
    if (const char* problem = path_problem(path.text())) path.invalid_text(problem);
  }
}

void check_flow_rule(const Field& rule) {
  const Field subjects = rule["subjects"];
  if (subjects.empty()) subjects.required("subjects must contain at least one value");
  for (const Field& subject : subjects.items()) check_subject(subject);
  if (rule["resourceRules"].empty() && rule["nonResourceRules"].empty()) {
    rule.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (const Field& one : rule["resourceRules"].items()) check_resource_rule(one);
  for (const Field& one : rule["nonResourceRules"].items()) check_path_rule(one);
}

void check_percent(const Field& percent) {
  const std::int64_t value = percent.number_or(0);
  if (value < 0 || value > 100) percent.invalid("must be between 0 and 100, inclusive");
}

void check_shares(const Field& shares) {
  if (shares.number_or(0) < 0) shares.invalid("must be a non-negative integer");
}

// A hand is dealt from a hash of so many bits.
std::int64_t entropy_bits(std::int64_t queues, std::int64_t hand) {
  return std::llround(
      std::ceil(std::log2(static_cast<double>(queues)) * static_cast<double>(hand)));
}

void check_queuing(const Field& queuing) {
  const Field queues = queuing["queues"];
  const Field hand = queuing["handSize"];
  const std::int64_t deck = queues.number_or(0);
  const std::int64_t dealt = hand.number_or(0);
  for (const char* key : {"queueLengthLimit", "queues"}) {
    if (queuing[key].number_or(0) <= 0) queuing[key].invalid("must be positive");
  }
  if (deck > kMostQueues) queues.invalid(fmt::format("must not be greater than {}", kMostQueues));
  if (dealt <= 0) {
    hand.invalid("must be positive");
  } else if (dealt > deck) {
    hand.invalid(fmt::format("should not be greater than queues ({})", deck));
  } else if (entropy_bits(deck, dealt) > kMostEntropyBits) {
    hand.invalid(
        fmt::format("required entropy bits of deckSize {} and handSize {} should not be greater "
                    "than {}",
                    deck, dealt, kMostEntropyBits));
  }
}

void check_limit_response(const Field& response) {
  const Field queuing = response["queuing"];
  response["type"].one_of_required({"Queue", "Reject"});
  if (response["type"].is("Reject") && queuing.present()) {
    queuing.forbidden("must be nil if limited.limitResponse.type is not Limited");
  }
  if (!response["type"].is("Queue")) return;
  if (queuing.present()) return check_queuing(queuing);
  queuing.required("must not be empty if limited.limitResponse.type is Limited");
}

void check_limited(const Field& limited) {
  check_shares(limited["nominalConcurrencyShares"]);
  check_limit_response(limited["limitResponse"]);
  check_percent(limited["lendablePercent"]);
  const Field borrowed = limited["borrowingLimitPercent"];
  if (borrowed.number_or(0) < 0) borrowed.invalid("if specified, must be a non-negative integer");
}

}  // namespace

void check_flow_schema(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  check_precedence(spec["matchingPrecedence"], object["metadata"]["name"].text());
  check_distinguisher(spec["distinguisherMethod"]);
  const Field level = spec["priorityLevelConfiguration"]["name"];
  if (level.empty()) {
    level.required("must reference a priority level");
  } else {
    level.invalid_each(subdomain_problems(level.text()));
  }
  for (const Field& rule : spec["rules"].items()) check_flow_rule(rule);
}

void check_priority_level(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  const Field type = spec["type"];
  const Field limited = spec["limited"];
  const Field exempt = spec["exempt"];
  if (object["metadata"]["name"].is(kExempt) != type.is("Exempt")) {
    type.invalid_text("must be 'Exempt' if and only if `name` is 'exempt'");
  }
  type.one_of_required({"Exempt", "Limited"});
  if (type.is("Exempt")) {
    if (limited.present()) limited.forbidden("must be nil if the type is not Limited");
    check_shares(exempt["nominalConcurrencyShares"]);
    check_percent(exempt["lendablePercent"]);
  }
  if (!type.is("Limited")) return;
  if (exempt.present()) exempt.forbidden("must be nil if the type is Limited");
  if (limited.present()) return check_limited(limited);
  limited.required("must not be empty when type is Limited");
}

void check_flow_conditions(const Field& object, const Json* /*live*/) {
  std::set<std::string> seen;
  for (const Field& condition : object["status"]["conditions"].items()) {
    const Field type = condition["type"];
    if (!seen.insert(type.text()).second) type.duplicate();
    if (type.empty()) type.required();
  }
}

}  // namespace kubewatch::builtin

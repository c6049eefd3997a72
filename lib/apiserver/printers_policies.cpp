// What the API server is told about requests: admission, flow control; and devices.
#include "apiserver/printer_parts.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

namespace {

Json parameter_kind(const Json& o, WallTime) {
  if (!exists(o, {"spec", "paramKind"})) return "<unset>";
  return text(o, {"spec", "paramKind", "apiVersion"}) + "/" +
         text(o, {"spec", "paramKind", "kind"});
}

Json parameter_name(const Json& o, WallTime) {
  const std::string name = text(o, {"spec", "paramRef", "name"});
  // Whether it is of a namespace cannot be told from here.
  return name.empty() ? "<unset>" : text(o, {"spec", "paramRef", "namespace"}, "*") + "/" + name;
}

Json missing_level(const Json& o, WallTime) {
  const Json* dangling = condition(o, "Dangling");
  return dangling == nullptr ? "?" : text(*dangling, {"status"});
}

Json number_or_none(const Json& o, Path path) {
  return exists(o, path) ? Json(number(o, path)) : Json("<none>");
}

// A number of spec.limited, and of how it queues.
Json limit(const Json& o, const char* field) {
  return number_or_none(o, {"spec", "limited", field});
}
Json queuing(const Json& o, const char* field) {
  return number_or_none(o, {"spec", "limited", "limitResponse", "queuing", field});
}

Json claim_state(const Json& o, WallTime) {
  std::vector<std::string> out;
  if (deleting(o)) out.emplace_back("deleted");
  if (exists(o, {"status", "allocation"})) {
    out.emplace_back("allocated");
    if (count(o, {"status", "reservedFor"}) > 0) out.emplace_back("reserved");
  } else if (!deleting(o)) {
    out.emplace_back("pending");
  }
  return base::join(out, ",");
}

}  // namespace

void add_policies(ColumnTable& t) {
  const std::string admission = ".admissionregistration.k8s.io";
  for (const char* hooks : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    t[hooks + admission] = {
        kName, {"Webhooks", "integer", 0, KW_CELL(count(o, {"webhooks"}))}, kAge};
  }
  t["validatingadmissionpolicies" + admission] = {
      kName,
      {"Validations", "integer", 0, KW_CELL(count(o, {"spec", "validations"}))},
      {"ParamKind", "string", 0, parameter_kind},
      kAge};
  t["mutatingadmissionpolicies" + admission] = {
      kName,
      {"Mutations", "integer", 0, KW_CELL(count(o, {"spec", "mutations"}))},
      {"ParamKind", "string", 0, parameter_kind},
      kAge};
  for (const char* bindings :
       {"validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"}) {
    t[bindings + admission] = {
        kName,
        {"PolicyName", "string", 0, KW_CELL(text(o, {"spec", "policyName"}))},
        {"ParamRef", "string", 0, parameter_name},
        kAge};
  }
  t["flowschemas.flowcontrol.apiserver.k8s.io"] = {
      kName,
      {"PriorityLevel", "string", 0,
       KW_CELL(text(o, {"spec", "priorityLevelConfiguration", "name"}))},
      {"MatchingPrecedence", "string", 0, KW_CELL(number(o, {"spec", "matchingPrecedence"}))},
      {"DistinguisherMethod", "string", 0,
       KW_CELL(text(o, {"spec", "distinguisherMethod", "type"}, "<none>"))},
      kAge,
      {"MissingPL", "string", 0, missing_level}};
  t["prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"] = {
      kName,
      {"Type", "string", 0, KW_CELL(text(o, {"spec", "type"}))},
      {"NominalConcurrencyShares", "string", 0, KW_CELL(limit(o, "nominalConcurrencyShares"))},
      {"Queues", "string", 0, KW_CELL(queuing(o, "queues"))},
      {"HandSize", "string", 0, KW_CELL(queuing(o, "handSize"))},
      {"QueueLengthLimit", "string", 0, KW_CELL(queuing(o, "queueLengthLimit"))},
      kAge};
  t["deviceclasses.resource.k8s.io"] = {kName, kAge};
  t["resourceclaimtemplates.resource.k8s.io"] = {kName, kAge};
  t["resourceclaims.resource.k8s.io"] = {kName, {"State", "string", 0, claim_state}, kAge};
  t["resourceslices.resource.k8s.io"] = {
      kName,
      {"Node", "string", 0, KW_CELL(text(o, {"spec", "nodeName"}))},
      {"Driver", "string", 0, KW_CELL(text(o, {"spec", "driver"}))},
      {"Pool", "string", 0, KW_CELL(text(o, {"spec", "pool", "name"}))},
      kAge};
}

}  // namespace kubewatch::apiserver::parts

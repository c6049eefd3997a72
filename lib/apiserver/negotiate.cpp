#include "apiserver/negotiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "apiserver/status.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kAvailable[] =
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml";

struct Clause {
  std::string type;
  std::map<std::string, std::string> parameters;
  double quality = 1;
};

std::vector<Clause> parse_accept(std::string_view accept) {
  std::vector<Clause> clauses;
  for (const auto& part : base::split(accept, ',')) {
    Clause clause;
    for (const auto& piece : base::split(part, ';')) {
      const std::string text(base::trim(piece));
      const auto equals = text.find('=');
      if (equals == std::string::npos) {
        if (clause.type.empty()) clause.type = base::to_lower(text);
      } else {
        clause.parameters[text.substr(0, equals)] = text.substr(equals + 1);
      }
    }
    if (const auto q = clause.parameters.find("q"); q != clause.parameters.end()) {
      clause.quality = std::strtod(q->second.c_str(), nullptr);
    }
    if (!clause.type.empty() && clause.quality > 0) clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const auto& a, const auto& b) { return a.quality > b.quality; });
  return clauses;
}

bool is_json(const std::string& type) {
  return type == "application/json" || type == "*/*" || type == "application/*";
}

std::string parameter(const Clause& clause, const char* name) {
  const auto it = clause.parameters.find(name);
  return it == clause.parameters.end() ? std::string() : it->second;
}

// The transform of a clause: false when we do not know it and the next clause counts.
bool read_transform(const Clause& clause, Representation& out, std::string& as) {
  as = parameter(clause, "as");
  if (as.empty()) return true;
  const std::string version = parameter(clause, "v");
  if (parameter(clause, "g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
    return false;
  }
  out.transform_version = version;
  if (as == "Table") {
    out.format = Format::table;
    return true;
  }
  out.format = Format::partial;
  return as == "PartialObjectMetadata" || as == "PartialObjectMetadataList";
}

}  // namespace

Result<Representation> negotiate(std::string_view accept, Endpoint endpoint,
                                 const std::string& go_type) {
  if (base::trim(accept).empty()) return Representation{};
  for (const auto& clause : parse_accept(accept)) {
    Representation out;
    out.yaml = clause.type == "application/yaml";
    if (!is_json(clause.type) && !out.yaml) continue;
    if (out.yaml && endpoint == Endpoint::watch) continue;
    std::string as;
    if (!read_transform(clause, out, as)) continue;
    const std::string pretty = parameter(clause, "pretty");
    out.pretty = pretty == "1" || pretty == "true";
    if (as == "PartialObjectMetadata" && endpoint == Endpoint::list) {
      return not_acceptable(fmt::format(
          "you requested PartialObjectMetadata, but the requested object is a list (*{}List)",
          go_type));
    }
    if (as == "PartialObjectMetadataList" && endpoint != Endpoint::list) {
      return not_acceptable(fmt::format(
          "you requested PartialObjectMetadataList, but the requested object is not a list (*{})",
          go_type));
    }
    return out;
  }
  return not_acceptable(kAvailable);
}

Result<std::string> negotiate_discovery(std::string_view accept) {
  if (base::trim(accept).empty()) return std::string();
  for (const auto& clause : parse_accept(accept)) {
    if (!is_json(clause.type) && clause.type != "application/yaml") continue;
    const std::string as = parameter(clause, "as");
    if (as.empty()) return std::string();
    const std::string version = parameter(clause, "v");
    if (as == "APIGroupDiscoveryList" && parameter(clause, "g") == "apidiscovery.k8s.io" &&
        (version == "v2" || version == "v2beta1")) {
      return version;
    }
  }
  return not_acceptable(
      "only the following media types are accepted: application/json, application/yaml");
}

}  // namespace kubewatch::apiserver

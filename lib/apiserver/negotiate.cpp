#include "apiserver/negotiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "apiserver/status.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kWritten[] = "application/json, application/yaml";
constexpr const char kMediaTypes[] =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr const char kStreams[] =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
constexpr const char kProtobuf[] = "application/vnd.kubernetes.protobuf";

struct Clause {
  std::string type;  // as it is written
  std::map<std::string, std::string> parameters;
  double quality = 1;
};

bool is_any(const Clause& clause) {
  return clause.type == "*/*";
}
bool is_any_of_type(const Clause& clause) {
  return clause.type.ends_with("/*");
}

// The order of the server's library, in which a named type is also before an open one that is
// wanted more. It is none by which one may sort, so it is made as there.
bool comes_before(const Clause& a, const Clause& b) {
  if (a.quality > b.quality) return true;
  if (!is_any(a) && is_any(b)) return true;
  return !is_any_of_type(a) && is_any_of_type(b);
}

// Nobody means more than the first of so many, and putting them in order takes their square.
constexpr std::size_t kMostClauses = 256;

std::vector<Clause> parse_accept(std::string_view accept) {
  std::vector<Clause> clauses;
  for (const auto& part : base::split(accept, ',')) {
    if (clauses.size() == kMostClauses) break;
    Clause clause;
    for (const auto& piece : base::split(part, ';')) {
      const std::string text(base::trim(piece));
      const auto equals = text.find('=');
      if (equals == std::string::npos) {
        if (clause.type.empty()) clause.type = text;
      } else {
        clause.parameters[std::string(base::trim(text.substr(0, equals)))] =
            text.substr(equals + 1);
      }
    }
    if (const auto q = clause.parameters.find("q"); q != clause.parameters.end()) {
      const bool spaced = !q->second.empty() && q->second[0] == ' ';
      clause.quality = spaced ? 0 : std::strtod(q->second.c_str(), nullptr);
    }
    if (clause.type.empty()) continue;
    clauses.push_back(std::move(clause));
    for (auto it = std::prev(clauses.end());
         it != clauses.begin() && comes_before(*it, *std::prev(it)); --it) {
      std::swap(*it, *std::prev(it));
    }
  }
  return clauses;
}

bool is_json(const std::string& type) {
  return type == "application/json" || type == "*/*" || type == "application/*";
}

// What the router in front of the built-in kinds lets pass: it takes types by their name.
bool is_routed(const Clause& clause) {
  return is_any(clause) || clause.type == "application/json" || clause.type == "application/yaml" ||
         clause.type == kProtobuf;
}

bool any_routed(const std::vector<Clause>& clauses) {
  return std::any_of(clauses.begin(), clauses.end(), is_routed);
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

bool is_pretty(const Clause& clause) {
  const std::string pretty = parameter(clause, "pretty");
  return pretty == "1" || pretty == "true";
}

constexpr std::string_view kWrongForm = "you requested PartialObjectMetadata";

Error only_accepted(const std::string& types) {
  return not_acceptable("only the following media types are accepted: " + types);
}

// As the router refuses, before anything else is looked at.
Error none_available(const std::string& types) {
  return api_error(406, "NotAcceptable",
                   "406: Not Acceptable\n\nAvailable representations: " + types, Json::object());
}

Error none_acceptable(const std::vector<Clause>& clauses, const Negotiated& what) {
  bool known = false;  // only its form is not
  bool protobuf = false;
  for (const auto& clause : clauses) {
    const bool binary = clause.type == kProtobuf;
    known = known || (is_routed(clause) && !binary);
    protobuf = protobuf || binary;
  }
  // The real server would have it, except of a custom kind; who asks for it is told the truth.
  const std::string types = protobuf && !what.custom ? kWritten : kMediaTypes;
  if (known || what.custom) return only_accepted(types);
  const bool streams = what.endpoint == Endpoint::list || what.endpoint == Endpoint::watch;
  return none_available(streams ? types + ", " + kStreams : types);
}

Result<void> check_form(const std::string& as, const Negotiated& what) {
  const bool list = what.endpoint == Endpoint::list || what.endpoint == Endpoint::deleted;
  if (as == "PartialObjectMetadata" && list) {
    return not_acceptable(
        fmt::format("{}, but the requested object is a list (*{}List)", kWrongForm, what.go_type));
  }
  if (as == "PartialObjectMetadataList" && what.endpoint == Endpoint::object) {
    return not_acceptable(fmt::format("{}List, but the requested object is not a list (*{})",
                                      kWrongForm, what.go_type));
  }
  return {};
}

}  // namespace

Result<Representation> negotiate(std::string_view accept, const Negotiated& what) {
  if (base::trim(accept).empty()) return Representation{};
  const std::vector<Clause> clauses = parse_accept(accept);
  if (!what.custom && !any_routed(clauses)) return none_acceptable(clauses, what);
  for (const auto& clause : clauses) {
    Representation out;
    out.yaml = clause.type == "application/yaml";
    if (!is_json(clause.type) && !out.yaml) continue;
    std::string as;
    if (!read_transform(clause, out, as)) continue;
    if (out.format == Format::table && !what.tables) continue;
    // The first type that is known counts, although a watch is not told in it.
    if (out.yaml && what.endpoint == Endpoint::watch) return only_accepted(kStreams);
    out.pretty = is_pretty(clause);
    out.lists_only = as == "PartialObjectMetadataList" && what.endpoint == Endpoint::watch;
    KW_TRY(check_form(as, what));
    return out;
  }
  return none_acceptable(clauses, what);
}

bool refuses_form(const Error& error) {
  return error.message().starts_with(kWrongForm);
}

Representation negotiate_status(std::string_view accept) {
  for (const auto& clause : parse_accept(accept)) {
    Representation out;
    out.yaml = clause.type == "application/yaml";
    if ((!is_json(clause.type) && !out.yaml) || !parameter(clause, "as").empty()) continue;
    out.pretty = is_pretty(clause);
    return out;
  }
  return {};
}

Result<DiscoveryForm> negotiate_discovery(std::string_view accept, bool aggregated) {
  if (base::trim(accept).empty()) return DiscoveryForm{};
  const std::vector<Clause> clauses = parse_accept(accept);
  bool known = false;
  for (const auto& clause : clauses) {
    const bool yaml = clause.type == "application/yaml";
    if ((!is_json(clause.type) && !yaml) || !any_routed(clauses)) continue;
    known = true;
    const std::string as = parameter(clause, "as");
    if (as.empty()) return DiscoveryForm{"", yaml};
    const std::string version = parameter(clause, "v");
    if (aggregated && as == "APIGroupDiscoveryList" &&
        parameter(clause, "g") == "apidiscovery.k8s.io" &&
        (version == "v2" || version == "v2beta1")) {
      return DiscoveryForm{version, yaml};
    }
  }
  if (!known) return none_available(kMediaTypes);
  return only_accepted(kMediaTypes);
}

}  // namespace kubewatch::apiserver

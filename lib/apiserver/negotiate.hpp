// Which representation an Accept header asks for: JSON or YAML; the object, a Table, or only its
// metadata.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::apiserver {

enum class Format { object, table, partial };
enum class IncludeObject { metadata, none, object };

struct Representation {
  Format format = Format::object;
  bool yaml = false;
  bool pretty = false;
  std::string transform_version = "v1";             // of meta.k8s.io, for tables and metadata
  IncludeObject include = IncludeObject::metadata;  // in table rows
  bool lists_only = false;                          // a watch, whose objects cannot be told so
};

// deleted: the list that a deletion of many is answered with.
enum class Endpoint { object, list, watch, deleted };

// What is asked for, as Go names it, for the words of a refusal.
struct Negotiated {
  Endpoint endpoint = Endpoint::object;
  bool custom = false;
  std::string go_type;  // "core.Pod"
  bool tables = true;   // whether it is shown as a Table
};

// Errors: not_acceptable.
Result<Representation> negotiate(std::string_view accept, const Negotiated& what);

// Whether that error is of an object where a list was asked for, or the other way round, which the
// server finds when it has what it is to show.
bool refuses_form(const Error& error);

// Of a Status, which comes in no other form than its own: YAML where that is preferred, else JSON.
Representation negotiate_status(std::string_view accept);

// How discovery is asked for: aggregated as "v2" or "v2beta1", or "" for the plain documents.
struct DiscoveryForm {
  std::string aggregated;
  bool yaml = false;
};
// `aggregated`: whether there is such a form of the document. Errors: not_acceptable.
Result<DiscoveryForm> negotiate_discovery(std::string_view accept, bool aggregated);

}  // namespace kubewatch::apiserver

// TypeDefinitions documents to CustomResourceDefinitions. Pure: texts in, JSON out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "crdgen/node.hpp"

namespace kubewatch::crdgen {

struct Generated {
  std::vector<Json> crds;        // in the order of their first document; usable when no problems
  std::vector<Remark> problems;  // sorted by file and position
  std::vector<Remark> notes;
};

struct TypeFile {
  std::string file;  // for messages
  std::string text;
};

// Whether what is made must also be what the API server takes: its rules, those about CEL too, run
// on each CRD that is sound otherwise, and what they find are problems. `skip` is for those who
// look at the CRD themselves, as lint does.
enum class ServerCheck { skip, run };

// Documents of the same group and kind, in whatever file, make one CRD; documents that are no
// TypeDefinitions are passed over.
Generated generate(const std::vector<TypeFile>& files, ServerCheck check = ServerCheck::skip);
// One document as JSON: what import gives back, and what described structs make.
Generated generate(const Json& document, const std::string& file,
                   ServerCheck check = ServerCheck::skip);

// What the CRD is for the server: defaults of its own fields set, empty lists, status and managed
// metadata gone, `required` sorted. Two CRDs that are equal so are stored alike.
Json normalised(Json crd);

// YAML with apiVersion, kind and metadata first; several documents are separated by ---.
std::string crd_yaml(const std::vector<Json>& crds);
// "demo.example.com_websites.yaml"
std::string crd_file_name(const Json& crd);

}  // namespace kubewatch::crdgen

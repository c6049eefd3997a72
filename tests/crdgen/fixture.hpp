// What the tests of crdgen share: one document in, its CRD or its problems out.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/yaml.hpp"
#include "crdgen/generate.hpp"

namespace kubewatch::crdgen {

inline const std::filesystem::path kFolder = std::filesystem::path(KUBEWATCH_TESTS) / "crdgen";

inline std::string text_of_file(const std::string& name) {
  std::ifstream in(kFolder / name);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The text of golden/NAME, which is `seen` where KUBEWATCH_ACCEPT=1 writes it anew.
inline std::string golden(const std::string& name, const std::string& seen) {
  const char* accept = std::getenv("KUBEWATCH_ACCEPT");
  if (accept != nullptr && std::string(accept) == "1") {
    std::ofstream(kFolder / "golden" / name) << seen;
  }
  return text_of_file("golden/" + name);
}

inline Generated made_of(const std::string& text) {
  return generate({TypeFile{"t.yaml", text}});
}

// A document of kind Thing in version v1 with these lines below `spec`, two spaces in.
inline std::string document(const std::string& lines) {
  return "apiVersion: kubewatch.dev/v1\nkind: TypeDefinitions\nspec:\n  group: demo.example.com\n"
         "  kind: Thing\n" +
         lines;
}

inline std::string first_of(const std::vector<Remark>& remarks) {
  return remarks.empty() ? "" : remarks.front().str();
}

// The schema of field `x` of the spec, written as this type.
inline Json schema_of(const std::string& type, std::vector<Remark>* notes = nullptr) {
  const Generated made =
      made_of(document("  version: v1\n  spec:\n    fields:\n      x: " + type + "\n"));
  if (!made.problems.empty()) return made.problems.front().str();
  if (notes != nullptr) *notes = made.notes;
  return made.crds.at(0)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                        ["properties"]["x"];
}

// What is wrong with that type; "" when nothing is.
inline std::string problem_of(const std::string& type) {
  return first_of(
      made_of(document("  version: v1\n  spec:\n    fields:\n      x: " + type + "\n")).problems);
}

inline Json yaml(const std::string& text) {
  auto values = base::parse_yaml_values(text);
  return values.ok() && values->size() == 1 ? values->front() : Json("no YAML: " + text);
}

}  // namespace kubewatch::crdgen

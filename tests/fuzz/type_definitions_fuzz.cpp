// TypeDefinitions from anywhere: generating never fails otherwise than by its list of problems, is
// the same twice, and what it makes survives import.
#include <cstdint>
#include <cstdlib>

#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kubewatch;
  if (size > 64U << 10U) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const crdgen::Generated made = crdgen::generate({crdgen::TypeFile{"f.yaml", text}});
  if (!made.problems.empty()) return 0;
  const crdgen::Generated again = crdgen::generate({crdgen::TypeFile{"f.yaml", text}});
  if (again.crds != made.crds) std::abort();
  for (const Json& crd : made.crds) {
    const auto imported = crdgen::import_crd(crd);
    if (!imported.ok()) continue;
    bool lossy = false;
    for (const std::string& note : imported->notes) lossy = lossy || note.starts_with("not kept");
    const auto back = crdgen::generate(imported->document, "imported");
    if (lossy) continue;
    if (!back.problems.empty() || crdgen::normalised(back.crds.at(0)) != crdgen::normalised(crd)) {
      std::abort();
    }
  }
  return 0;
}

// Findings of crd-gen lint as text, JSON, SARIF 2.1.0, and the annotations of GitHub Actions. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "crdgen/lint.hpp"

namespace kubewatch::cli {

struct PlacedFinding {
  crdgen::LintFinding finding;
  std::string file;
  std::size_t line = 0;  // 0: where it stands is not known
  std::size_t column = 0;
};

std::string lint_text(const std::vector<PlacedFinding>& findings);
Json lint_json(const std::vector<PlacedFinding>& findings);
Json lint_sarif(const std::vector<PlacedFinding>& findings);
std::string lint_github(const std::vector<PlacedFinding>& findings);

}  // namespace kubewatch::cli

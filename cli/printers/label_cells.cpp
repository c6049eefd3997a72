#include "cli/printers/label_cells.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::cli {

std::vector<std::string> label_keys(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const auto& list : given) {
    for (auto& key : base::split(list, ',')) {
      if (!key.empty()) out.push_back(std::move(key));
    }
  }
  return out;
}

std::string label_of(const Labels& labels, const std::string& key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return "";
}

std::string all_labels(Labels labels) {
  if (labels.empty()) return "<none>";
  std::sort(labels.begin(), labels.end());
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out.append(name).append("=").append(value);
  }
  return out;
}

std::string as_header(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = base::to_upper(c);
  return out;
}

std::string label_header(const std::string& key) {
  return as_header(key.substr(key.rfind('/') == std::string::npos ? 0 : key.rfind('/') + 1));
}

}  // namespace kubewatch::cli

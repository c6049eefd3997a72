#include "cli/crd/lint_printer.hpp"

#include <fmt/format.h>

#include <set>

#include "base/strings.hpp"

namespace kubewatch::cli {

namespace {

std::string place_of(const PlacedFinding& one) {
  return one.line == 0 ? one.file : fmt::format("{}:{}:{}", one.file, one.line, one.column);
}

std::string sentence_of(const crdgen::LintFinding& finding) {
  return fmt::format("{}{}{}", finding.path, finding.path.empty() ? "" : ": ", finding.message);
}

// What a workflow command takes: %, line ends and, in properties, colons and commas.
std::string workflow_text(const std::string& text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return base::escape_for_terminal(out);
}

const char* sarif_level(crdgen::LintLevel level) {
  return level == crdgen::LintLevel::info    ? "note"
         : level == crdgen::LintLevel::error ? "error"
                                             : "warning";
}

}  // namespace

std::string lint_text(const std::vector<PlacedFinding>& findings) {
  std::string out;
  for (const PlacedFinding& one : findings) {
    out += base::escape_for_terminal(
               fmt::format("{}: {}: {} [{}]; {}", place_of(one), to_string(one.finding.level),
                           sentence_of(one.finding), one.finding.id, one.finding.fix)) +
           "\n";
  }
  return out;
}

Json lint_json(const std::vector<PlacedFinding>& findings) {
  Json list = Json::array();
  for (const PlacedFinding& one : findings) {
    list.push_back({{"id", one.finding.id},
                    {"level", to_string(one.finding.level)},
                    {"file", one.file},
                    {"line", one.line},
                    {"column", one.column},
                    {"pointer", one.finding.pointer},
                    {"path", one.finding.path},
                    {"message", one.finding.message},
                    {"fix", one.finding.fix}});
  }
  return {{"findings", std::move(list)}};
}

Json lint_sarif(const std::vector<PlacedFinding>& findings) {
  std::set<std::string> ids;
  Json rules = Json::array();
  Json results = Json::array();
  for (const PlacedFinding& one : findings) {
    if (ids.insert(one.finding.id).second) rules.push_back({{"id", one.finding.id}});
    Json place = {{"artifactLocation", {{"uri", one.file}}}};
    if (one.line != 0) place["region"] = {{"startLine", one.line}, {"startColumn", one.column}};
    results.push_back({{"ruleId", one.finding.id},
                       {"level", sarif_level(one.finding.level)},
                       {"message", {{"text", sentence_of(one.finding) + ". " + one.finding.fix}}},
                       {"locations", Json::array({{{"physicalLocation", std::move(place)}}})}});
  }
  for (Json& rule : rules) {
    for (const crdgen::LintRule& known : crdgen::lint_rules()) {
      if (rule["id"] == known.id) rule["shortDescription"] = {{"text", known.text}};
    }
  }
  return {
      {"version", "2.1.0"},
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"runs",
       Json::array({{{"tool", {{"driver", {{"name", "kubewatch"}, {"rules", std::move(rules)}}}}},
                     {"results", std::move(results)}}})}};
}

std::string lint_github(const std::vector<PlacedFinding>& findings) {
  std::string out;
  for (const PlacedFinding& one : findings) {
    const auto level = one.finding.level;
    const char* command = level == crdgen::LintLevel::error     ? "error"
                          : level == crdgen::LintLevel::warning ? "warning"
                                                                : "notice";
    out += fmt::format("::{} file={}", command, workflow_text(one.file, true));
    if (one.line != 0) out += fmt::format(",line={},col={}", one.line, one.column);
    out += fmt::format(",title={}::{}\n", workflow_text(one.finding.id, true),
                       workflow_text(sentence_of(one.finding) + ". " + one.finding.fix, false));
  }
  return out;
}

}  // namespace kubewatch::cli

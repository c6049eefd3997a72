#include "crdgen/lint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document_words.hpp"
#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "core/json_path.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/lint_schema.hpp"
#include "crdgen/schema_flag.hpp"
#include "schema/crd_check.hpp"
#include "schema/crd_fields.hpp"

namespace kubewatch::crdgen {

namespace {

// What kubectl apply can keep in an annotation.
constexpr std::size_t kAnnotationLimit = 262144;
// Unknown fields that are told of one CRD.
constexpr std::size_t kMostUnknownOfCrd = 100;

class CrdLint {
 public:
  CrdLint(const Json& crd, const LintOptions& options) : crd_(crd), options_(options) {}

  std::vector<LintFinding> run() {
    if (readable()) {
      unknown_fields();
      refused();
      size();
      const Json& versions = crd_["spec"]["versions"];
      for (std::size_t i = 0; i < versions.size(); ++i) version(versions[i], i);
    }
    std::erase_if(out_, [this](const LintFinding& one) {
      return std::find(options_.disabled.begin(), options_.disabled.end(), one.id) !=
             options_.disabled.end();
    });
    return std::move(out_);
  }

 private:
  void add(std::string id, LintLevel level, std::string pointer, std::string path,
           std::string message, std::string fix) {
    out_.push_back({std::move(id), level, std::move(pointer), std::move(path), std::move(message),
                    std::move(fix)});
  }

  // Where it is not, nothing else can be said.
  bool readable() {
    const auto shape = schema::check_crd_shape(crd_);
    if (!shape.ok()) {
      add("shape", LintLevel::error, "", "", shape.error().message(),
          "write the value with the type that the server wants");
    }
    return shape.ok();
  }

  // Which the server refuses where it is strict, as kubectl asks it to be, and drops otherwise.
  void unknown_fields() {
    for (const schema::UnknownField& found : schema::unknown_crd_fields(crd_, kMostUnknownOfCrd)) {
      const std::string& name = found.steps.back();
      add("unknown-field", LintLevel::error, base::pointer_to(found.steps),
          base::join(found.steps, "."),
          "no CRD has this field" + base::did_you_mean(name, found.known()),
          "the server refuses the CRD, or drops the field");
    }
  }

  // What the server says to it.
  void refused() {
    Json complete = crd_;
    schema::crd_defaults(complete);
    schema::CrdCheckOptions check;
    check.rules = options_.rules;
    for (const schema::Finding& found : schema::check_crd(complete, check)) {
      const std::string_view meant = what_is_meant(found.error.message);
      add(found.id, LintLevel::error, pointer_of_field(crd_, found.error.field), found.error.field,
          found.error.message,
          meant.empty() ? "the server refuses the CRD until this is changed" : std::string(meant));
    }
  }

  void size() {
    const std::size_t bytes = base::dump_json(normalised(crd_)).size();
    if (bytes * 10 < kAnnotationLimit * 8) return;
    add("description-size", LintLevel::warning, "", "",
        fmt::format("{} bytes as JSON; kubectl apply keeps a copy in an annotation, which takes {}",
                    bytes, kAnnotationLimit),
        "cap descriptions with descriptions: {maxLength: N}, or install it by server-side apply");
  }

  void version(const Json& version, std::size_t index) {
    const std::string name = base::string_at(version, {"name"});
    const std::string at = fmt::format("/spec/versions/{}", index);
    const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
    if (root == nullptr || !root->is_object()) return;
    lint_schema(*root, name, at + "/schema/openAPIV3Schema", out_);
    if (base::find(*root, {"properties", "status"}) != nullptr &&
        base::find(version, {"subresources", "status"}) == nullptr) {
      add("status-subresource-missing", LintLevel::warning, at, name + " .status",
          "everyone who may write the spec may write the status, and each write of it counts as a "
          "new generation",
          "add subresources: {status: {}}");
    }
    const Json columns = version.value("additionalPrinterColumns", Json::array());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string path = base::string_at(columns[i], {"jsonPath"});
      if (leads_somewhere(*root, path)) continue;
      add("column-path-unknown", LintLevel::warning,
          fmt::format("{}/additionalPrinterColumns/{}", at, i),
          name + " column " + base::string_at(columns[i], {"name"}),
          fmt::format("the schema has nothing at {}", path), "correct the path");
    }
  }

  // Plain paths only; what else JSONPath can say is taken as it is.
  static bool leads_somewhere(const Json& root, const std::string& path) {
    if (path.find_first_of("[]()*@'\"\\") != std::string::npos || path.starts_with(".metadata"))
      return true;
    const Json* at = &root;
    for (const std::string& step : base::split(path, '.')) {
      if (step.empty()) continue;
      if (flag(*at, kPreserve)) return true;
      if (at->contains("additionalProperties")) return true;
      const Json* next = base::find(*at, {"properties", step});
      if (next == nullptr || !next->is_object()) return false;
      at = next;
    }
    return true;
  }

  const Json& crd_;
  const LintOptions& options_;
  std::vector<LintFinding> out_;
};

}  // namespace

std::vector<LintFinding> lint_crd(const Json& crd, const LintOptions& options) {
  return CrdLint(crd, options).run();
}

namespace {

std::vector<LintRule> all_rules() {
  std::vector<LintRule> rules = {
      {"unbounded-string", LintLevel::warning, "a rule reads a string without maxLength"},
      {"unbounded-list", LintLevel::warning, "rules run over a list without maxItems"},
      {"unbounded-map", LintLevel::warning, "rules run over a map without maxProperties"},
      {"list-type-missing", LintLevel::warning, "a list that does not say how apply merges it"},
      {"float", LintLevel::warning, "a floating point number"},
      {"empty-object", LintLevel::warning, "an object of which the server drops every field"},
      {"conditions-shape", LintLevel::warning, "conditions that tools cannot read or merge"},
      {"status-subresource-missing", LintLevel::warning, "a status that is no subresource"},
      {"column-path-unknown", LintLevel::warning, "a column whose path the schema lacks"},
      {"rule-without-message", LintLevel::info, "a CEL rule without a message"},
      {"enum-type", LintLevel::warning, "a listed value that the type refuses"},
      {"limits", LintLevel::warning,
       "a lower limit above the upper one, or a limit that the format cannot hold"},
      {"description-size", LintLevel::warning, "a CRD too large for kubectl apply's annotation"},
      {"shape", LintLevel::error, "a value of a JSON type that the server cannot read"},
      {"unknown-field", LintLevel::error, "a field that no CRD has"},
  };
  for (const schema::CrdRule& rule : schema::crd_rules()) {
    rules.push_back({rule.id, LintLevel::error, rule.text});
  }
  return rules;
}

}  // namespace

const std::vector<LintRule>& lint_rules() {
  static const std::vector<LintRule> rules = all_rules();
  return rules;
}

Result<void> check_lint_id(const std::string& id) {
  std::vector<std::string> known;
  for (const LintRule& rule : lint_rules()) known.emplace_back(rule.id);
  if (std::find(known.begin(), known.end(), id) != known.end()) return {};
  const auto near = base::suggest(id, known);
  return Error(ErrorKind::invalid,
               near.empty() ? fmt::format("\"{}\" is the id of no finding; there are {}", id,
                                          base::join(known, ", "))
                            : fmt::format("\"{}\" is the id of no finding; did you mean {}?", id,
                                          base::join(near, " or ")));
}

std::string_view to_string(LintLevel level) {
  switch (level) {
    case LintLevel::info: return "info";
    case LintLevel::warning: return "warning";
    case LintLevel::error: return "error";
  }
  return "";
}

namespace {

// "a.b[c][0]" to a, b, c, 0; what stands in brackets may hold dots.
std::vector<std::string> steps_of_field(const std::string& field) {
  std::vector<std::string> steps;
  std::string step;
  bool bracket = false;
  const auto end = [&] {
    if (!step.empty()) steps.push_back(step);
    step.clear();
  };
  for (const char c : field) {
    if (bracket ? c == ']' : c == '.' || c == '[') {
      end();
      bracket = c == '[';
    } else {
      step += c;
    }
  }
  end();
  return steps;
}

}  // namespace

std::string pointer_of_field(const Json& crd, const std::string& field) {
  std::string rest = field;
  for (const auto& [shared, own] :
       {std::pair<std::string_view, std::string_view>("spec.validation.", "schema."),
        {"spec.subresources", "subresources"},
        {"spec.additionalPrinterColumns", "additionalPrinterColumns"},
        {"spec.selectableFields", "selectableFields"}}) {
    if (!field.starts_with(shared)) continue;
    rest = "spec.versions[0]." + std::string(own) + field.substr(shared.size());
  }
  std::string pointer;
  const Json* at = &crd;
  for (const std::string& step : steps_of_field(rest)) {
    if (at->is_array()) {
      const bool number =
          step.find_first_not_of("0123456789") == std::string::npos && step.size() < 7;
      if (!number || std::stoul(step) >= at->size()) break;
      at = &(*at)[std::stoul(step)];
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else {
      break;
    }
    pointer += "/" + base::escape_pointer(step);
  }
  return pointer;
}

std::string_view what_is_meant(const std::string& message) {
  if (message.ends_with(schema::kSharedFieldsAlone)) {
    return "the server does not take the same selectable fields in versions with different "
           "schemas: write a list of its own in each";
  }
  if (message.ends_with(schema::kSharedSchemaAlone)) {
    return "the server does not take different selectable fields in versions with the same "
           "schema: write the same list in each";
  }
  return "";
}

}  // namespace kubewatch::crdgen

// Reading operations.
#include "compat/patch_file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/strings.hpp"
#include "compat/config_node.hpp"
#include "core/meta.hpp"
#include "core/server_fields.hpp"

namespace kubewatch::compat {
namespace {

constexpr std::size_t kMostPatchBytes = 16U << 20U;
constexpr std::size_t kMostPatches = 10'000;

constexpr std::array<std::pair<std::string_view, OperationType>, 9> kNames = {
    {{"Create", OperationType::create},
     {"CreateOrUpdate", OperationType::create_or_update},
     {"CreateIfNotExists", OperationType::create_if_not_exists},
     {"Delete", OperationType::remove},
     {"DeleteInBackground", OperationType::remove_in_background},
     {"DeleteNonCascading", OperationType::remove_non_cascading},
     {"JQPatch", OperationType::jq_patch},
     {"MergePatch", OperationType::merge_patch},
     {"JSONPatch", OperationType::json_patch}}};

std::string_view name_of(OperationType type) {
  for (const auto& [name, known] : kNames) {
    if (known == type) return name;
  }
  return "";
}

// Each operation may have all of them, also those that mean nothing to it: hooks fill in one
// template for all operations.
constexpr std::array<const char*, 10> kFields = {
    "operation", "apiVersion", "kind",       "namespace", "name",
    "object",    "jqFilter",   "mergePatch", "jsonPatch", "subresource"};

bool creates(OperationType type) {
  return type == OperationType::create || type == OperationType::create_or_update ||
         type == OperationType::create_if_not_exists;
}

bool removes(OperationType type) {
  return type == OperationType::remove || type == OperationType::remove_in_background ||
         type == OperationType::remove_non_cascading;
}

void read_type(ConfigNode& node, OperationType& into) {
  std::string name;
  node.text("operation", name);
  if (node.failed()) return;
  if (name.empty()) return node.fail("", "operation is missing");
  for (const auto& [known, type] : kNames) {
    if (known == name) {
      into = type;
      return;
    }
  }
  std::vector<std::string> all;
  for (const auto& [known, type] : kNames) all.emplace_back(known);
  node.fail("operation", "\"" + base::escape_for_terminal(name.substr(0, 40)) +
                             "\" is unknown; known are " + base::join(all, ", "));
}

// A value, or a text that holds it as JSON or YAML.
Json read_value(ConfigNode& node, const std::string& key, bool list) {
  Json value = node.raw(key);
  if (node.failed()) return value;
  if (value.is_string()) {
    auto documents = base::parse_yaml_values(value.get_ref<const std::string&>());
    if (!documents.ok()) {
      node.fail(key, documents.error().render());
      return {};
    }
    if (documents->size() != 1) {
      node.fail(key, "must hold one document");
      return {};
    }
    value = std::move(documents->front());
  }
  if (list ? !value.is_array() : !value.is_object()) {
    node.fail(value.is_null() ? "" : key,
              value.is_null() ? key + " is missing"
                              : std::string(list ? "must be a list" : "must be a mapping"));
  }
  return value;
}

void read_object(ConfigNode& node, Operation& out) {
  out.object = read_value(node, "object", false);
  if (node.failed()) return;
  const core::ObjectMeta meta = core::meta_of(out.object);
  if (meta.api_version.empty() || meta.kind.empty()) {
    return node.fail("object", "apiVersion or kind is missing");
  }
  const bool generated = out.type == OperationType::create &&
                         !base::string_at(out.object, {"metadata", "generateName"}).empty();
  if (meta.name.empty() && !generated) return node.fail("object", "metadata.name is missing");
  out.api_version = meta.api_version;
  out.kind = meta.kind;
  out.namespace_ = meta.namespace_;
  out.name = meta.name;
  // What a server sets. A copy of an object that was read has it, and could not be created.
  core::drop_metadata(out.object, {"resourceVersion", "uid", "creationTimestamp", "generation",
                                   "managedFields", "selfLink"});
}

void read_target(ConfigNode& node, Operation& out) {
  node.text("apiVersion", out.api_version, true);
  node.text("kind", out.kind);
  node.text("namespace", out.namespace_, true);
  node.text("name", out.name);
  if (!node.failed() && out.kind.empty()) return node.fail("", "kind is missing");
  if (!node.failed() && out.name.empty()) return node.fail("", "name is missing");
}

void read_filter(ConfigNode& node, Operation& out) {
  std::string filter;
  node.text("jqFilter", filter);
  if (node.failed()) return;
  if (filter.empty()) return node.fail("", "jqFilter is missing");
  auto program = jq::Program::compile(filter);
  if (!program.ok()) return node.fail("jqFilter", program.error().render());
  out.filter = *std::move(program);
}

void read_operation(ConfigNode& node, Operation& out) {
  read_type(node, out.type);
  if (node.failed()) return;
  if (creates(out.type)) {
    read_object(node, out);
  } else {
    read_target(node, out);
  }
  node.text("subresource", out.subresource, true);
  // "/status" is how the other tool has it, "status" what its documents show: both are meant.
  if (out.subresource.starts_with('/')) out.subresource.erase(0, 1);
  if (!out.subresource.empty() && removes(out.type)) {
    return node.fail("subresource", "is not supported with " + std::string(name_of(out.type)));
  }
  if (out.type == OperationType::jq_patch) read_filter(node, out);
  if (out.type == OperationType::merge_patch) out.patch = read_value(node, "mergePatch", false);
  if (out.type == OperationType::json_patch) out.patch = read_value(node, "jsonPatch", true);
  node.flag("ignoreMissingObject", out.ignore_missing);
  node.flag("ignoreHookError", out.ignore_hook_error);
  for (const char* field : kFields) node.ignore(field);
}

}  // namespace

std::string Operation::str() const {
  return fmt::format("{} {} {}{}{}", name_of(type), kind, namespace_, namespace_.empty() ? "" : "/",
                     name);
}

Result<std::vector<Operation>> parse_patch_file(std::string_view text,
                                                std::set<std::string>& unknown) {
  if (text.size() > kMostPatchBytes) return Error(ErrorKind::too_large, "more than 16 MiB");
  std::vector<Operation> out;
  if (base::trim(text).empty()) return out;
  base::YamlLimits limits;
  limits.max_documents = kMostPatches;
  limits.documents_are = "operations";
  KW_ASSIGN(const auto documents, base::parse_yaml(text, limits));
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ConfigProblem problem;
    if (!documents[i].value.is_object()) {
      return Error(ErrorKind::invalid, fmt::format("document {}: must be a mapping", i + 1));
    }
    ConfigNode node(documents[i].value, documents[i].marks, problem);
    Operation operation;
    read_operation(node, operation);
    if (problem.error)
      return std::move(*problem.error).with_context(fmt::format("document {}", i + 1));
    node.note_unknown(unknown);
    out.push_back(std::move(operation));
  }
  return out;
}

std::vector<Operation> despite_failure(std::vector<Operation> operations) {
  std::erase_if(operations, [](const Operation& one) {
    return !one.ignore_hook_error || one.subresource != "status";
  });
  return operations;
}

}  // namespace kubewatch::compat

// Reading and merging of kubeconfig files. Values of credentials never stand in an error.
#include "client/kubeconfig.hpp"

#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "client/file_limits.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::client {
namespace {

Error at(const std::string& file, const std::string& what) {
  return Error(ErrorKind::invalid, file + ": " + what);
}

// The list `list` of one document: [{name, <body_key>: {...}}].
Result<void> merge_list(const std::string& file, const Json& document, const std::string& list,
                        const char* body_key, std::map<std::string, KubeconfigEntry>& into) {
  const Json* entries = base::find(document, {list});
  if (entries == nullptr || entries->is_null()) return {};
  if (!entries->is_array()) return at(file, list + " is not a list");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const Json& entry = (*entries)[i];
    const std::string where = list + "[" + std::to_string(i) + "]";
    if (!entry.is_object()) return at(file, where + " is not an object");
    const Json* name = base::find(entry, {"name"});
    if (name == nullptr || !name->is_string()) {
      return at(file, where + ": name is missing or not a string");
    }
    const auto text = name->get<std::string>();
    if (!seen.insert(text).second) {
      return at(file, where + ": the name \"" + text + "\" is used twice");
    }
    const Json* body = base::find(entry, {body_key});
    auto copy = std::make_shared<Json>(body == nullptr || body->is_null() ? Json::object() : *body);
    if (!copy->is_object()) {
      return at(file, where + " \"" + text + "\": " + body_key + " is not an object");
    }
    into.try_emplace(text, file, list, i, text, std::move(copy));
  }
  return {};
}

Result<void> check_head(const std::string& file, const Json& document, const char* key,
                        std::string_view wanted) {
  const Json* value = base::find(document, {key});
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string() && value->get_ref<const std::string&>() == wanted) return {};
  return at(file, std::string(key) + " is not " + std::string(wanted) + ": this is no kubeconfig");
}

Result<void> merge_document(const std::string& file, const Json& document, Kubeconfig& into) {
  if (!document.is_object()) return at(file, "this is no kubeconfig: not an object");
  KW_TRY(check_head(file, document, "apiVersion", "v1"));
  KW_TRY(check_head(file, document, "kind", "Config"));
  KW_TRY(merge_list(file, document, "clusters", "cluster", into.clusters));
  KW_TRY(merge_list(file, document, "users", "user", into.users));
  KW_TRY(merge_list(file, document, "contexts", "context", into.contexts));
  const Json* current = base::find(document, {"current-context"});
  if (current == nullptr || current->is_null()) return {};
  if (!current->is_string()) return at(file, "current-context is not a string");
  if (into.current_context.empty()) into.current_context = current->get<std::string>();
  return {};
}

}  // namespace

KubeconfigEntry::KubeconfigEntry(std::string file, std::string list, std::size_t index,
                                 std::string name, std::shared_ptr<const Json> body)
    : file_(std::move(file)),
      where_(file_ + ": " + list + "[" + std::to_string(index) + "] \"" + name + "\""),
      name_(std::move(name)),
      body_(std::move(body)) {}

const Json* KubeconfigEntry::field(std::string_view key) const {
  return body_ ? base::present_at(*body_, {key}) : nullptr;
}

bool KubeconfigEntry::has(std::string_view key) const {
  return field(key) != nullptr;
}

Error KubeconfigEntry::error(const std::string& what) const {
  return Error(ErrorKind::invalid, where_ + ": " + what);
}

Result<std::string> KubeconfigEntry::text(std::string_view key) const {
  const Json* value = field(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return error(std::string(key) + " is not a string");
  return value->get<std::string>();
}

Result<bool> KubeconfigEntry::flag(std::string_view key) const {
  const Json* value = field(key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return error(std::string(key) + " is not true or false");
  return value->get<bool>();
}

Result<std::vector<std::string>> KubeconfigEntry::texts(std::string_view key) const {
  std::vector<std::string> out;
  const Json* value = field(key);
  if (value == nullptr) return out;
  if (!value->is_array()) return error(std::string(key) + " is not a list");
  for (const Json& item : *value) {
    if (!item.is_string()) return error(std::string(key) + " is not a list of strings");
    out.push_back(item.get<std::string>());
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> KubeconfigEntry::text_lists(
    std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* value = field(key);
  if (value == nullptr) return out;
  if (!value->is_object()) return error(std::string(key) + " is not an object");
  for (const auto& [name, list] : value->items()) {
    const std::string path = std::string(key) + "." + name;
    if (!list.is_array()) return error(path + " is not a list");
    for (const Json& item : list) {
      if (!item.is_string()) return error(path + " is not a list of strings");
      out.emplace_back(name, item.get<std::string>());
    }
  }
  return out;
}

Result<std::string> KubeconfigEntry::content(std::string_view key) const {
  const std::string data_key = std::string(key) + "-data";
  KW_ASSIGN(const std::string data, text(data_key));
  if (!data.empty()) {
    auto decoded = core::decoded_bytes(base::trim(data));
    if (!decoded) return error(data_key + " is not valid base64");
    return *std::move(decoded);
  }
  KW_ASSIGN(const std::string path, text(key));
  if (path.empty()) return std::string();
  auto file = base::read_file(resolve(path), kMaxCredentialFile);
  if (!file.ok()) return std::move(file).error().with_context(where_ + ": " + std::string(key));
  if (base::trim(*file).empty())
    return error(std::string(key) + ": " + resolve(path) + " is empty");
  return file;
}

std::string KubeconfigEntry::content_file(std::string_view key) const {
  const auto data = text(std::string(key) + "-data");
  const auto path = text(key);
  if (!path.ok() || !data.ok() || !data->empty()) return "";
  return resolve(*path);
}

std::string KubeconfigEntry::resolve(const std::string& path) const {
  if (path.empty() || path.front() == '/') return path;
  return (std::filesystem::path(file_).parent_path() / path).lexically_normal().string();
}

Result<void> merge_kubeconfig(const std::string& file, std::string_view content, Kubeconfig& into) {
  into.files.push_back(file);
  auto documents = base::parse_yaml_values(content);
  if (!documents.ok()) return std::move(documents).error().with_context(file);
  for (const Json& document : *documents) KW_TRY(merge_document(file, document, into));
  return {};
}

Result<Kubeconfig> load_kubeconfig(const std::vector<std::string>& files, bool must_exist) {
  Kubeconfig out;
  for (const std::string& file : files) {
    auto content = base::read_file(file, kMaxKubeconfig);
    if (!content.ok()) {
      if (!must_exist && content.error().is_not_found()) continue;
      return std::move(content).error().with_context("kubeconfig");
    }
    KW_TRY(merge_kubeconfig(file, *content, out));
  }
  return out;
}

}  // namespace kubewatch::client

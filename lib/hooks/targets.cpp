// Reads {name, namespace} values.
#include "hooks/targets.hpp"

#include <algorithm>
#include <utility>

#include "base/cut_text.hpp"
#include "base/document_words.hpp"
#include "base/json.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxTargets = 100000;
constexpr std::size_t kMostShownKeys = 5;

// They are data where a program gives a map of the object as it is.
std::string keys_of(const Json& mapping) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& item : mapping.items()) {
    if (shown++ == kMostShownKeys) return out + ", ...";
    out += (out.empty() ? "" : ", ") + base::cut_text(base::in_quotes(item.key()), 80);
  }
  return out;
}

struct Reading {
  bool namespaced;
  const std::string& default_namespace;
  std::optional<Error>* nameless;
};

Result<void> read_one(const Json& value, const Reading& how, int depth,
                      std::vector<core::ObjectKey>& out) {
  if (value.is_null()) return {};
  if (value.is_array() && depth == 0) {
    for (const Json& item : value) {
      KW_TRY(read_one(item, how, depth + 1, out));
    }
    return {};
  }
  if (!value.is_object()) {
    return Error(ErrorKind::invalid,
                 "must give {name, namespace}, a list of them, or null; it gave " +
                     std::string(value.type_name()));
  }
  // An object without the label or field that names another one points at nobody. But where no
  // name is asked for at all, nobody would ever be meant: that is another way to write it.
  auto name = value.find("name");
  if (name == value.end() && !value.empty()) {
    Error error(ErrorKind::invalid,
                "must give {name, namespace}, a list of them, or null; it gave a mapping without "
                "name, of " +
                    keys_of(value));
    if (how.nameless == nullptr) return error;
    if (!*how.nameless) *how.nameless = std::move(error);
    return {};
  }
  if (name == value.end() || name->is_null()) return {};
  auto given = value.find("namespace");
  const bool has_namespace = given != value.end() && !given->is_null();
  if (!name->is_string() || (has_namespace && !given->is_string())) {
    return Error(ErrorKind::invalid, "name and namespace must be strings");
  }
  if (out.size() >= kMaxTargets)
    return Error(ErrorKind::too_large, "names more than 100000 objects");
  core::ObjectKey key{"", name->get<std::string>()};
  if (how.namespaced) {
    key.namespace_ = has_namespace ? given->get<std::string>() : how.default_namespace;
  }
  if (!key.name.empty()) out.push_back(std::move(key));
  return {};
}

}  // namespace

Result<std::vector<core::ObjectKey>> read_targets(const std::vector<Json>& values, bool namespaced,
                                                  const std::string& default_namespace,
                                                  std::optional<Error>* nameless) {
  std::vector<core::ObjectKey> out;
  const Reading how{namespaced, default_namespace, nameless};
  for (const Json& value : values) KW_TRY(read_one(value, how, 0, out));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace kubewatch::hooks

// One value of a hook's configuration with its path and place: reads fields of the expected type,
// remembers which were read, and tells or refuses the rest by name. Stops at the first error. Pure.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml_document.hpp"

namespace kubewatch::compat {

// The first error of a configuration; later ones are not kept.
struct ConfigProblem {
  std::optional<Error> error;
};

class ConfigNode {
 public:
  // All must outlive it.
  ConfigNode(const Json& value, const base::YamlMarks& marks, ConfigProblem& problem)
      : value_(value), marks_(marks), problem_(problem) {}

  // Reads the value under the key, where there is one that is not null.
  void text(const std::string& key, std::string& into, bool may_be_empty = false);
  void flag(const std::string& key, bool& into);
  void number(const std::string& key, std::optional<double>& into);
  // A list of strings; one string stands for a list of one.
  void texts(const std::string& key, std::vector<std::string>& into);
  void object(const std::string& key, const std::function<void(ConfigNode&)>& read);
  // Each entry must be an object.
  void list(const std::string& key, const std::function<void(ConfigNode&)>& read);
  // As JSON, whatever it is; null where it is absent.
  const Json& raw(const std::string& key);

  bool has(const std::string& key) const;
  void ignore(const std::string& key) { seen_.insert(key); }
  // After all fields: whatever was not read is unknown, and an error.
  void finish();
  // The same where it is none: adds "nam: unknown field, did you mean name?" for each, up to 20 in
  // all.
  void note_unknown(std::set<std::string>& into) const;

  // At the value of the key, or at this node for "".
  void fail(const std::string& key, const std::string& what, ErrorKind kind = ErrorKind::invalid);
  bool failed() const { return problem_.error.has_value(); }

 private:
  ConfigNode(const Json& value, const base::YamlMarks& marks, ConfigProblem& problem,
             std::string path, std::string pointer)
      : value_(value),
        marks_(marks),
        problem_(problem),
        path_(std::move(path)),
        pointer_(std::move(pointer)) {}
  const Json* take(const std::string& key);
  std::string path_of(const std::string& key) const;
  std::string why_unknown(const std::string& key) const;

  const Json& value_;
  const base::YamlMarks& marks_;
  ConfigProblem& problem_;
  std::string path_;
  std::string pointer_;
  std::set<std::string> seen_;
};

}  // namespace kubewatch::compat

// One place in a rule file: its value, where it stands, and the list that problems go to. Readers
// of values (rule_values.hpp) and tables of keys are built on it. It knows nothing of rules.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document_words.hpp"
#include "base/json_fwd.hpp"
#include "base/yaml.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::hooks {

struct RuleKey;

// Sees what the reader asks for while it reads: how a test compares it with rule_schema.
class RuleProbe {
 public:
  virtual ~RuleProbe() = default;
  virtual void on_keys(const std::string& path, const std::vector<RuleKey>& keys) = 0;
  virtual void on_words(const std::string& path, const std::vector<std::string>& words) = 0;
};

// What all nodes of one document share. Everything referenced must outlive the nodes.
struct RuleSource {
  const std::string& file;
  const base::YamlMarks& marks;
  std::vector<Diagnostic>& problems;
  RuleProbe* probe = nullptr;
  bool look_for_files = true;  // programs and files that the rule names must be there
};

// A cheap handle; the document must outlive it.
class RuleNode {
 public:
  RuleNode(const RuleSource& source, const Json& document) : source_(&source), value_(&document) {}

  const Json& value() const { return *value_; }
  // "spec.owns[0].kind"; "" for the document.
  const std::string& path() const { return path_; }
  const std::string& file() const { return source_->file; }
  RuleProbe* probe() const { return source_->probe; }
  bool looks_for_files() const { return source_->look_for_files; }
  base::YamlMark mark() const { return source_->marks.value_at(pointer_); }
  Diagnostic diagnostic(std::string message) const;

  // Whether the key of the value is none that YAML made of a plain y, on or the like.
  bool key_is_text() const { return source_->marks.key_is_text(pointer_); }
  bool has(std::string_view key) const;
  // Preconditions: has(key); index < size. Messages call the child `shown` where it is given.
  RuleNode child(const std::string& key, std::string_view shown = {}) const;
  RuleNode item(std::size_t index) const;

  // Adds "FILE:LINE:COLUMN: PATH: message". Always false, so that a reader can return it.
  bool problem(std::string_view message) const;
  // The same at the position of the key instead of its value.
  bool problem_at_key(std::string_view message) const;

 private:
  bool add(base::YamlMark mark, std::string_view message) const;

  const RuleSource* source_;
  const Json* value_;
  std::string path_;
  std::string pointer_;
};

// Reads one value into what it was made for. False: a problem was reported.
using RuleReader = std::function<bool(const RuleNode&)>;

struct RuleKey {
  std::string_view name;
  RuleReader read;
  bool required = false;
};

// The value must be a mapping of these keys: unknown keys (with a suggestion), missing keys and
// what the readers find are reported, all of them.
bool read_keys(const RuleNode& node, const std::vector<RuleKey>& keys);

using base::did_you_mean;
using base::in_quotes;
using base::type_name;

}  // namespace kubewatch::hooks

// One place in a rule file: its value, where it stands, and the list that problems go to. Readers
// of values (rule_values.hpp) and tables of keys are built on it. It knows nothing of rules.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document_place.hpp"
#include "base/document_words.hpp"
#include "base/json_fwd.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

struct RuleKey;
class RuleNode;

// Sees what the reader asks for and finds while it reads: who knows kinds checks those of rules,
// and a test compares keys and words with rule_schema.
class RuleProbe {
 public:
  virtual ~RuleProbe() = default;
  virtual void on_keys(const std::string& /*path*/, const std::vector<RuleKey>& /*keys*/) {}
  virtual void on_words(const std::string& /*path*/, const std::vector<std::string>& /*words*/) {}
  // An entry that names a kind, once it was read; its problems may be added to.
  virtual void on_kind(const RuleNode& /*place*/, const core::Gvk& /*gvk*/) {}
};

// What all nodes of one document share. Everything referenced must outlive the nodes.
struct RuleSource {
  const std::string& file;
  const base::YamlMarks& marks;
  std::vector<base::Remark>& problems;
  RuleProbe* probe = nullptr;
  bool look_for_files = true;  // programs and files that the rule names must be there
};

// A cheap handle; the document must outlive it.
class RuleNode : public base::DocumentPlace {
 public:
  RuleNode(const RuleSource& source, const Json& document)
      : DocumentPlace(document), source_(&source) {}

  const std::string& file() const { return source_->file; }
  RuleProbe* probe() const { return source_->probe; }
  bool looks_for_files() const { return source_->look_for_files; }
  base::YamlMark mark() const { return source_->marks.value_at(pointer()); }

  // Whether the key of the value is none that YAML made of a plain y, on or the like.
  bool key_is_text() const { return source_->marks.key_is_text(pointer()); }
  // Preconditions: has(key); index < size. Messages call the child `shown` where it is given.
  RuleNode child(const std::string& key, std::string_view shown = {}) const;
  RuleNode item(std::size_t index) const;

  // Adds "FILE:LINE:COLUMN: PATH: message". Always false, so that a reader can return it.
  bool problem(std::string_view message) const;
  // The same at the position of the key instead of its value.
  bool problem_at_key(std::string_view message) const;

 private:
  const RuleSource* source_;
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

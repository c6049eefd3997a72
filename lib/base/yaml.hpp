// YAML in (libyaml, with limits and a position for every value) and out (yaml-cpp). Type rules are
// those of sigs.k8s.io/yaml: y, yes, on are booleans; duplicate keys, unknown anchors and alias
// bombs are errors. This file's .cpp is the only user of both libraries.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::base {

struct YamlLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 100;
  std::size_t max_nodes = 2'000'000;             // after alias expansion
  std::size_t max_alias_nodes = 100'000;         // nodes that come from aliases
  std::size_t max_documents = 100'000;           // that are not empty
  std::string_view documents_are = "documents";  // what its error calls them
};

// Where something stands in the text, both from 1.
struct YamlMark {
  std::size_t line = 1;
  std::size_t column = 1;
};

// Positions by JSON pointer ("" is the document itself, "/spec/for/kind" a value).
// key_of gives the position of the mapping key instead of its value.
class YamlMarks {
 public:
  // The mark of the value; falls back to the nearest recorded ancestor.
  YamlMark value_at(const std::string& pointer) const;
  YamlMark key_at(const std::string& pointer) const;
  // Whether the key stands there as text: a plain y, n, on or off is a boolean, of which the key
  // "true" or "false" is made. Of what aliases and merges copy it is not known, and not said; of a
  // document that was never text it is true.
  bool key_is_text(const std::string& pointer) const;
  void set_value(const std::string& pointer, YamlMark mark) { values_[pointer] = mark; }
  void set_key(const std::string& pointer, YamlMark mark) { keys_[pointer] = mark; }
  void set_boolean_key(const std::string& pointer) { boolean_keys_.insert(pointer); }

 private:
  std::map<std::string, YamlMark> values_;
  std::map<std::string, YamlMark> keys_;
  std::set<std::string> boolean_keys_;
};

struct YamlDocument;

// All documents of a text (JSON is YAML); empty documents are dropped. Either all of the text is
// valid or an error comes back: kind invalid or too_large, message "LINE:COLUMN: what".
Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, const YamlLimits& limits = {});

// The same without positions: cheaper, for manifests and hook output.
Result<std::vector<Json>> parse_yaml_values(std::string_view text, const YamlLimits& limits = {});

// One document, block style, strings quoted whenever they would read back as something else.
std::string dump_yaml(const Json& value);

}  // namespace kubewatch::base

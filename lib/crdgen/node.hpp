// One place in a TypeDefinitions file: its value, where it stands, and the lists that problems and
// notes go to. All problems of a file are collected, nothing stops at the first. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document_place.hpp"
#include "base/document_words.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"

namespace kubewatch::crdgen {

using base::Remark;

// What all nodes of one document share. Everything referenced must outlive the nodes.
struct Source {
  std::string file;
  std::string_view text;  // of the whole file: positions inside a scalar are found with it
  base::YamlMarks marks;
  std::vector<Remark>& problems;
  std::vector<Remark>& notes;
};

// A cheap handle; the document and the source must outlive it.
class Node : public base::DocumentPlace {
 public:
  Node(const Source& source, const Json& document) : DocumentPlace(document), source_(&source) {}

  // Whether the key of the value is none that YAML made of a plain y, on or the like.
  bool key_is_text() const { return source_->marks.key_is_text(pointer()); }
  // Preconditions: has(key); index < size.
  Node child(const std::string& key) const;
  Node item(std::size_t index) const;
  // The items where it is a list, else itself alone.
  std::vector<Node> each() const;

  // "FILE:LINE:COLUMN" of the value.
  std::string place() const;

  // Adds "FILE:LINE:COLUMN: PATH: message". Always false, so that a reader can return it.
  bool problem(std::string_view message) const;
  bool problem_at_key(std::string_view message) const;
  // At the byte `offset` of the scalar's text.
  bool problem_inside(std::size_t offset, std::string_view message) const;
  // What was decided for the user and should be known; no problem.
  void note(std::string_view message) const;

  // The value must be a mapping with no other keys than these; unknown ones are reported with a
  // suggestion. False: it is no mapping.
  bool only_keys(const std::vector<std::string>& known) const;
  // The value of a key as text, a flag, a list of texts. Absent: no such key, or a problem was
  // reported.
  std::optional<std::string> text(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  std::optional<std::vector<std::string>> texts(const std::string& key) const;

 private:
  base::YamlMark mark() const { return source_->marks.value_at(pointer()); }

  const Source* source_;
};

using base::did_you_mean;
using base::in_quotes;
using base::type_name;

}  // namespace kubewatch::crdgen

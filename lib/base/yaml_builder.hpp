// Builds one Json per document from YAML events, within limits and without recursion.
// Private to base; the public face is yaml.hpp.
#pragma once

#include <yaml.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml_document.hpp"

namespace kubewatch::base {

class YamlBuilder {
 public:
  YamlBuilder(const YamlLimits& limits, bool with_marks)
      : limits_(limits), with_marks_(with_marks) {}

  // Of a key that a mapping says twice the last value counts, and it is told there; otherwise it is
  // an error.
  void keep_last(std::vector<YamlRepeat>* repeated) { repeated_ = repeated; }

  // A content event of the current document: scalar, alias, start and end of collections.
  // Errors: invalid, too_large; "LINE:COLUMN: what".
  Result<void> add(const yaml_event_t& event);

  // The finished document; absent when it is empty. Leaves the builder ready for the next one.
  std::optional<YamlDocument> take_document();

 private:
  // What a subtree costs, counted when it is built and again whenever an alias repeats it.
  struct Cost {
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t height = 1;
  };
  struct Node {
    Json value;
    Cost cost;
    YamlMark mark;
    std::string anchor;
  };
  struct Frame {
    Node node;
    std::string pointer;
    std::string child_pointer;
    std::optional<std::string> key;  // of the value to come
    bool merging = false;            // the key to come a value for is <<
    std::vector<Json> merges;
  };
  struct Anchor {
    Json value;
    Cost cost;
    bool complete = false;
  };

  Result<void> open(const yaml_event_t& event, bool is_map);
  Result<void> close();
  Result<void> scalar(const yaml_event_t& event);
  Result<void> alias(const yaml_event_t& event);
  Result<void> place(Node node);
  Result<void> place_key(const yaml_event_t& event);
  Result<void> set_key(std::string key, YamlMark mark);
  Result<void> place_merge(Frame& frame, Node node);
  Result<void> remember(const Node& node);
  void begin_anchor(const std::string& name);
  Result<void> count_node(YamlMark mark);
  Result<void> count_copy(YamlMark mark, std::size_t bytes);
  bool expects_key() const;
  std::string next_pointer();

  YamlLimits limits_;
  bool with_marks_;
  std::size_t nodes_ = 0;
  std::size_t alias_nodes_ = 0;
  std::size_t copied_bytes_ = 0;
  std::vector<Frame> frames_;
  std::map<std::string, Anchor, std::less<>> anchors_;
  std::optional<Json> root_;
  YamlMarks marks_;
  std::vector<YamlRepeat>* repeated_ = nullptr;
};

}  // namespace kubewatch::base

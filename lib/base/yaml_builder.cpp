#include "base/yaml_builder.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "base/yaml_parser.hpp"
#include "base/yaml_scalar.hpp"

namespace kubewatch::base {

namespace {

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

std::string_view scalar_text(const yaml_event_t& event) {
  return {reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length};
}

bool is_plain(const yaml_event_t& event) {
  return event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

bool is_merge_key(const yaml_event_t& event) {
  const std::string_view tag = view(event.data.scalar.tag);
  return scalar_text(event) == "<<" &&
         ((tag.empty() && is_plain(event)) || tag == "tag:yaml.org,2002:merge");
}

Result<Json> scalar_value(const yaml_event_t& event) {
  const std::string_view tag = view(event.data.scalar.tag);
  const std::string_view text = scalar_text(event);
  const YamlMark mark = mark_of(event.start_mark);
  Json value;
  if (tag.empty()) {
    value = is_plain(event) ? resolve_plain_scalar(text) : Json(std::string(text));
  } else {
    auto tagged = resolve_tagged_scalar(tag, text);
    if (!tagged.ok()) return yaml_error(ErrorKind::invalid, mark, tagged.error().message());
    value = *std::move(tagged);
  }
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return yaml_error(ErrorKind::invalid, mark,
                      fmt::format("{} is a number that JSON does not have", text));
  }
  return value;
}

}  // namespace

bool YamlBuilder::expects_key() const {
  return !frames_.empty() && frames_.back().node.value.is_object() && !frames_.back().key &&
         !frames_.back().merging;
}

std::string YamlBuilder::next_pointer() {
  if (!with_marks_ || frames_.empty()) return "";
  const Frame& top = frames_.back();
  if (top.node.value.is_object()) return top.child_pointer;
  return fmt::format("{}/{}", top.pointer, top.node.value.size());
}

Result<void> YamlBuilder::count_node(YamlMark mark) {
  if (++nodes_ > limits_.max_nodes) {
    return yaml_error(ErrorKind::too_large, mark,
                      fmt::format("more than {} values", limits_.max_nodes));
  }
  return {};
}

Result<void> YamlBuilder::count_copy(YamlMark mark, std::size_t bytes) {
  copied_bytes_ += bytes;
  if (copied_bytes_ > limits_.max_bytes) {
    return yaml_error(
        ErrorKind::too_large, mark,
        fmt::format("anchors and aliases repeat more than {} bytes of text", limits_.max_bytes));
  }
  return {};
}

Result<void> YamlBuilder::add(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SCALAR_EVENT: return expects_key() ? place_key(event) : scalar(event);
    case YAML_ALIAS_EVENT: return alias(event);
    case YAML_SEQUENCE_START_EVENT: return open(event, false);
    case YAML_MAPPING_START_EVENT: return open(event, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close();
    default: return {};
  }
}

// An anchor names its node from here on: until the node is complete, using it is a cycle.
void YamlBuilder::begin_anchor(const std::string& name) {
  if (!name.empty()) anchors_[name] = Anchor{};
}

Result<void> YamlBuilder::open(const yaml_event_t& event, bool is_map) {
  const YamlMark mark = mark_of(event.start_mark);
  if (expects_key()) {
    return yaml_error(ErrorKind::invalid, mark, "a mapping key must be a single value");
  }
  KW_TRY(count_node(mark));
  if (frames_.size() >= limits_.max_depth) {
    return yaml_error(ErrorKind::too_large, mark,
                      fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  Frame frame;
  frame.pointer = next_pointer();
  frame.node.value = is_map ? Json::object() : Json::array();
  frame.node.mark = mark;
  frame.node.anchor =
      view(is_map ? event.data.mapping_start.anchor : event.data.sequence_start.anchor);
  begin_anchor(frame.node.anchor);
  frames_.push_back(std::move(frame));
  return {};
}

Result<void> YamlBuilder::close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const Json& source : frame.merges) {
    // Keys that stand in the mapping win over merged ones, earlier sources over later ones.
    for (const auto& [key, value] : source.items()) {
      if (!frame.node.value.contains(key)) frame.node.value[key] = value;
    }
  }
  return place(std::move(frame.node));
}

Result<void> YamlBuilder::scalar(const yaml_event_t& event) {
  const YamlMark mark = mark_of(event.start_mark);
  KW_TRY(count_node(mark));
  KW_ASSIGN(Json value, scalar_value(event));
  Node node{std::move(value),
            {1, event.data.scalar.length, 0},
            mark,
            std::string(view(event.data.scalar.anchor))};
  return place(std::move(node));
}

Result<void> YamlBuilder::alias(const yaml_event_t& event) {
  const YamlMark mark = mark_of(event.start_mark);
  const std::string_view name = view(event.data.alias.anchor);
  const auto it = anchors_.find(name);
  if (it == anchors_.end()) {
    return yaml_error(ErrorKind::invalid, mark, fmt::format("unknown anchor \"{}\"", name));
  }
  const Anchor& anchor = it->second;
  if (!anchor.complete) {
    return yaml_error(ErrorKind::invalid, mark, fmt::format("anchor \"{}\" contains itself", name));
  }
  alias_nodes_ += anchor.cost.nodes;
  nodes_ += anchor.cost.nodes;
  if (alias_nodes_ > limits_.max_alias_nodes || nodes_ > limits_.max_nodes) {
    return yaml_error(ErrorKind::too_large, mark,
                      fmt::format("aliases repeat more than {} values", limits_.max_alias_nodes));
  }
  KW_TRY(count_copy(mark, anchor.cost.bytes));
  if (frames_.size() + anchor.cost.height > limits_.max_depth) {
    return yaml_error(ErrorKind::too_large, mark,
                      fmt::format("nested deeper than {} levels", limits_.max_depth));
  }
  if (expects_key()) {
    if (!anchor.value.is_string()) {
      return yaml_error(ErrorKind::invalid, mark, "an alias as a mapping key must be a string");
    }
    return set_key(anchor.value.get<std::string>(), mark);
  }
  return place(Node{anchor.value, anchor.cost, mark, ""});
}

// Copying every anchored value once is bounded by the byte budget: anchors inside anchors repeat
// text.
Result<void> YamlBuilder::remember(const Node& node) {
  if (node.anchor.empty()) return {};
  KW_TRY(count_copy(node.mark, node.cost.bytes + node.cost.nodes));
  anchors_[node.anchor] = Anchor{node.value, node.cost, true};
  return {};
}

Result<void> YamlBuilder::place_key(const yaml_event_t& event) {
  const YamlMark mark = mark_of(event.start_mark);
  KW_TRY(count_node(mark));
  Frame& frame = frames_.back();
  if (is_merge_key(event)) {
    if (!frame.merges.empty()) {
      return yaml_error(ErrorKind::invalid, mark, "key \"<<\" appears twice");
    }
    frame.merging = true;
    frame.child_pointer = frame.pointer + "/<<";
    return {};
  }
  KW_ASSIGN(Json value, scalar_value(event));
  if (value.is_null()) {
    return yaml_error(ErrorKind::invalid, mark, "a mapping key must not be null");
  }
  const bool boolean = value.is_boolean();
  std::string key = value.is_string() ? value.get<std::string>() : dump_json(value);
  // Of `y` and `on` nobody finds a "true" in the file.
  const std::string_view written = scalar_text(event);
  if (!value.is_string() && written != key && repeated_ == nullptr &&
      frame.node.value.contains(key)) {
    return yaml_error(
        ErrorKind::invalid, mark,
        fmt::format("key \"{}\", which YAML reads as {}, appears twice", written, key));
  }
  KW_TRY(remember(Node{
      std::move(value), {1, key.size(), 0}, mark, std::string(view(event.data.scalar.anchor))}));
  KW_TRY(set_key(std::move(key), mark));
  if (with_marks_ && boolean) marks_.set_boolean_key(frame.child_pointer);
  return {};
}

Result<void> YamlBuilder::set_key(std::string key, YamlMark mark) {
  Frame& frame = frames_.back();
  const bool repeated = frame.node.value.contains(key);
  if (repeated && repeated_ != nullptr) {
    repeated_->push_back({key, mark.line});
  } else if (repeated) {
    return yaml_error(ErrorKind::invalid, mark,
                      fmt::format("key \"{}\" appears twice", escape_for_terminal(key)));
  }
  frame.node.cost.bytes += key.size();
  frame.node.cost.nodes += 1;
  if (with_marks_) {
    frame.child_pointer = frame.pointer + "/" + escape_pointer(key);
    marks_.set_key(frame.child_pointer, mark);
  }
  frame.key = std::move(key);
  return {};
}

Result<void> YamlBuilder::place_merge(Frame& frame, Node node) {
  frame.merging = false;
  bool usable = node.value.is_object() || node.value.is_array();
  if (node.value.is_array()) {
    for (const Json& source : node.value) usable = usable && source.is_object();
  }
  if (!usable) {
    return yaml_error(ErrorKind::invalid, node.mark,
                      "\"<<\" needs a mapping or a list of mappings");
  }
  if (node.value.is_object()) {
    frame.merges.push_back(std::move(node.value));
  } else {
    for (Json& source : node.value) frame.merges.push_back(std::move(source));
  }
  return {};
}

Result<void> YamlBuilder::place(Node node) {
  KW_TRY(remember(node));
  if (with_marks_) marks_.set_value(next_pointer(), node.mark);
  if (frames_.empty()) {
    root_ = std::move(node.value);
    return {};
  }
  Frame& frame = frames_.back();
  frame.node.cost.nodes += node.cost.nodes;
  frame.node.cost.bytes += node.cost.bytes;
  frame.node.cost.height = std::max(frame.node.cost.height, node.cost.height + 1);
  if (frame.merging) return place_merge(frame, std::move(node));
  if (frame.node.value.is_array()) {
    frame.node.value.push_back(std::move(node.value));
  } else {
    frame.node.value[*frame.key] = std::move(node.value);
    frame.key.reset();
  }
  return {};
}

std::optional<YamlDocument> YamlBuilder::take_document() {
  std::optional<YamlDocument> document;
  // `---` without content and an explicit null are the same to every tool that reads manifests.
  if (root_ && !root_->is_null()) document = YamlDocument{*std::move(root_), std::move(marks_)};
  root_.reset();
  marks_ = YamlMarks();
  anchors_.clear();
  return document;
}

}  // namespace kubewatch::base

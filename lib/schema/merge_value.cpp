// A value merged into another, and fields taken out of one. Owners play no part here.
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

using Kind = MergeNode::Kind;

// What both sides make together; nothing when all of it vanished.
std::optional<Json> merged(const MergeNode& node, const Json* live, const Json* config);

std::optional<Json> merge_maps(const MergeNode& node, const Json* live, const Json* config) {
  Json out = Json::object();
  const auto take = [&](const std::string& key, const Json* left, const Json* right) {
    if (auto value = merged(child_or_deduced(node, key), left, right)) out[key] = std::move(*value);
  };
  if (live != nullptr) {
    for (const auto& [key, left] : live->items()) {
      const auto right = config == nullptr ? Json::const_iterator() : config->find(key);
      take(key, &left, config == nullptr || right == config->end() ? nullptr : &*right);
    }
  }
  if (config != nullptr) {
    for (const auto& [key, right] : config->items()) {
      if (live == nullptr || !live->contains(key)) take(key, nullptr, &right);
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// One side of a list merge: its items' addresses in order, and each address's item (null pointer:
// twice).
struct Side {
  std::vector<PathElement> elements;
  std::map<PathElement, const Json*> items;
  std::vector<const Json*> values;

  Side(const MergeNode& node, const Json* list) {
    if (list == nullptr) return;
    for (const Json& item : *list) {
      Result<PathElement> element = item_element(node, item);
      if (!element.ok()) continue;
      const auto [position, first] = items.try_emplace(*element, &item);
      if (!first) position->second = nullptr;
      elements.push_back(std::move(*element));
      values.push_back(&item);
    }
  }
  bool has(const PathElement& element) const { return items.count(element) != 0; }
  const Json* find(const PathElement& element) const {
    const auto found = items.find(element);
    return found == items.end() ? nullptr : found->second;
  }
};

// Keyed lists: the config's order for its items; items of live only stay between the neighbours
// that both sides share.
class ListMerge {
 public:
  ListMerge(const MergeNode& node, const Json* live, const Json* config)
      : item_(element_or_deduced(node)), live_(node, live), config_(node, config) {
    for (const PathElement& element : config_.elements) {
      if (live_.has(element)) shared_.push_back(&element);
    }
  }

  Json run() {
    while (left_ < live_.elements.size() || right_ < config_.elements.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const bool more_left = left_ < live_.elements.size();
    const bool more_right = right_ < config_.elements.size();
    if (more_left && more_right && step_shared()) return;
    if (left_ < live_.elements.size()) {
      const PathElement& element = live_.elements[left_];
      if (!config_.has(element)) {
        out_.push_back(*live_.values[left_++]);
        return;
      }
      if (taken_.count(element) != 0) ++left_;
    }
    if (more_right) take_config(config_.elements[right_++]);
  }

  // Both sides have items left. True when the step is done.
  bool step_shared() {
    const PathElement& left = live_.elements[left_];
    if (left == config_.elements[right_]) {
      ++left_;
      take(left);
      ++right_;
      next_shared();
      return true;
    }
    if (config_.has(left) && !shared_.empty() && !(*shared_.front() == left)) {
      ++left_;  // shared, but its turn comes with the config's order
      return true;
    }
    return false;
  }

  void take_config(const PathElement& element) {
    take(element);
    if (!shared_.empty() && *shared_.front() == element) next_shared();
  }

  void take(const PathElement& element) {
    taken_.insert(element);
    if (auto value = merged(item_, live_.find(element), config_.find(element))) {
      out_.push_back(std::move(*value));
    }
  }

  void next_shared() {
    if (!shared_.empty()) shared_.pop_front();
  }

  const MergeNode& item_;
  Side live_;
  Side config_;
  std::deque<const PathElement*> shared_;
  std::set<PathElement> taken_;
  std::size_t left_ = 0;
  std::size_t right_ = 0;
  Json out_ = Json::array();
};

std::optional<Json> merged(const MergeNode& node, const Json* live, const Json* config) {
  if (live == nullptr && config == nullptr) return std::nullopt;
  if (config == nullptr) return *live;
  if (live == nullptr) return *config;
  const Kind shape = shape_of(node, config->is_null() ? live : config);
  if (shape == Kind::map) {
    const Json* left = live->is_object() ? live : nullptr;
    const Json* right = config->is_object() ? config : nullptr;
    if (!hollow(left) || !hollow(right)) return merge_maps(node, left, right);
  } else if (is_associative(shape)) {
    const Json* left = live->is_array() ? live : nullptr;
    const Json* right = config->is_array() ? config : nullptr;
    if (!hollow(left) || !hollow(right)) {
      Json out = ListMerge(node, left, right).run();
      if (out.empty()) return std::nullopt;
      return out;
    }
  }
  return *config;
}

Json without(const MergeNode& node, const Json& value, const FieldSet& set);

Json map_without(const MergeNode& node, const Json& value, const FieldSet& set) {
  Json out = Json::object();
  for (const auto& [key, below] : value.items()) {
    const PathElement element = PathElement::of_field(key);
    if (set.has_member(element)) continue;
    const FieldSet* subset = set.find_child(element);
    out[key] = subset == nullptr ? below : without(child_or_deduced(node, key), below, *subset);
  }
  return out.empty() ? Json() : out;
}

Json items_without(const MergeNode& node, const Json& value, const FieldSet& set) {
  Json out = Json::array();
  for (const Json& item : value) {
    Result<PathElement> element = item_element(node, item);
    if (!element.ok()) {
      out.push_back(item);
      continue;
    }
    if (set.has_member(*element)) continue;
    const FieldSet* subset = set.find_child(*element);
    out.push_back(subset == nullptr ? item : without(element_or_deduced(node), item, *subset));
  }
  return out.empty() ? Json() : out;
}

Json without(const MergeNode& node, const Json& value, const FieldSet& set) {
  const Kind shape = shape_of(node, &value);
  if (shape == Kind::scalar || shape == Kind::deduced) return value;
  if (shape == Kind::map && value.is_object() && !value.empty())
    return map_without(node, value, set);
  if (is_associative(shape) && value.is_array() && !value.empty()) {
    return items_without(node, value, set);
  }
  return {};  // an atomic value of which a part goes, goes as a whole
}

}  // namespace

Json merge_value(const MergeNode& node, const Json& live, const Json& config) {
  return merged(node, &live, &config).value_or(Json::object());
}

Json remove_items(const MergeNode& node, const Json& value, const FieldSet& set) {
  return without(node, value, set);
}

}  // namespace kubewatch::schema

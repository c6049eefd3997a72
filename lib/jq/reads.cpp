#include "jq/reads.hpp"

#include <algorithm>
#include <optional>

#include "jq/builtins.hpp"

namespace kubewatch::jq {

namespace {

// A place in the program's input; absent: some other value.
using Place = std::optional<Path>;

class Reader {
 public:
  // What the node gives where its input is that place.
  Place visit(const Node& node, const Place& input) {
    switch (node.kind) {
      case NodeKind::identity: return input;
      case NodeKind::field: return below(visit(*node.kids[0], input), node.text);
      case NodeKind::index: return index(node, input);
      case NodeKind::pipe: return visit(*node.kids[1], visit(*node.kids[0], input));
      case NodeKind::binding: visit(*node.kids[0], input); return visit(*node.kids[1], input);
      case NodeKind::attempt:
        visit(*node.kids[0], input);
        if (node.kids.size() > 1) visit(*node.kids[1], std::nullopt);  // the error
        return std::nullopt;
      case NodeKind::call: return call(node, input);
      default:
        for (const NodePtr& kid : node.kids) {
          if (kid != nullptr) visit(*kid, input);
        }
        return std::nullopt;
    }
  }

  std::vector<Path> take() { return std::move(found_); }

 private:
  Place below(Place place, const std::string& key) {
    if (!place) return std::nullopt;
    place->push_back(key);
    if (std::find(found_.begin(), found_.end(), *place) == found_.end()) found_.push_back(*place);
    return place;
  }

  Place index(const Node& node, const Place& input) {
    const Place base = visit(*node.kids[0], input);
    visit(*node.kids[1], input);
    const Node& key = *node.kids[1];
    if (key.kind != NodeKind::literal || !key.value.is_string()) return std::nullopt;
    return below(base, key.value.get<std::string>());
  }

  Place call(const Node& node, const Place& input) {
    const Builtin& builtin = *node.builtin;
    for (std::size_t i = 0; i < node.kids.size(); ++i) {
      const bool own = builtin.plain != nullptr || i < builtin.own_input;
      visit(*node.kids[i], own ? input : std::nullopt);
    }
    if (builtin.name == "has" && node.kids[0]->kind == NodeKind::literal &&
        node.kids[0]->value.is_string()) {
      below(input, node.kids[0]->value.get<std::string>());
    }
    return builtin.passes ? input : std::nullopt;
  }

  std::vector<Path> found_;
};

}  // namespace

std::vector<Path> paths_read(const Node& root) {
  Reader reader;
  reader.visit(root, Path{});
  return reader.take();
}

}  // namespace kubewatch::jq

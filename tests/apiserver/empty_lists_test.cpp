// What the defaults of built-in kinds hide of empty lists is what their schemas say is always
// there: else nobody would own what the server shows.
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/registry.hpp"
#include "builtin/typed_form.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using schema::MergeNode;

struct List {
  Json::json_pointer path;
  bool written;  // null where nobody wrote it
};

// An object with something in each list whose items have fields, and all its lists.
class Sample {
 public:
  explicit Sample(const MergeNode& root) { object_ = made(root, Json::json_pointer()); }

  Json& object() { return object_; }
  const std::vector<List>& lists() const { return lists_; }

 private:
  static bool is_list(const MergeNode& node) {
    return node.kind == MergeNode::Kind::list_atomic || node.kind == MergeNode::Kind::list_set ||
           node.kind == MergeNode::Kind::list_map;
  }

  Json made(const MergeNode& node, const Json::json_pointer& at) {
    Json out = Json::object();
    // Some definitions contain themselves.
    if (!around_.insert(&node).second) return out;
    for (const auto& [key, field] : node.fields) {
      if (is_list(*field)) {
        const auto implied = node.implied.find(key);
        lists_.push_back({at / key, implied != node.implied.end() && implied->second.is_null()});
        out[key] = Json::array();
        if (field->element && field->element->is_struct) {
          out[key].push_back(made(*field->element, at / key / std::size_t{0}));
        }
      } else if (field->is_struct) {
        out[key] = made(*field, at / key);
      }
    }
    around_.erase(&node);
    return out;
  }

  std::set<const MergeNode*> around_;
  std::vector<List> lists_;
  Json object_;
};

}  // namespace

TEST_CASE("empty lists that the server hides are always written") {
  std::size_t hidden = 0;
  const Registry registry;
  for (const ResourcePtr& resource : registry.all()) {
    Sample sample(*resource->merge);
    Json& object = sample.object();
    object["apiVersion"] = resource->type.gvk.api_version();
    object["kind"] = resource->type.gvk.kind;
    for (const List& list : sample.lists()) {
      Json before = std::exchange(object[list.path], Json::array());
      builtin::hide_empty_lists(object);
      const bool hides = object[list.path].is_null();
      object[list.path] = std::move(before);
      if (!hides) continue;
      ++hidden;
      CAPTURE(resource->type.gvk.kind, list.path.to_string());
      CHECK(list.written);
    }
  }
  CHECK(hidden >= 10);
}

}  // namespace kubewatch::apiserver

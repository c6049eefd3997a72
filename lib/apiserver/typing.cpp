#include "apiserver/typing.hpp"

#include <algorithm>

#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "schema/field_error.hpp"
#include "schema/times.hpp"
#include "schema/typed.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::apiserver {

namespace {

using Kind = schema::MergeNode::Kind;

void prune_value(Json& value, const schema::MergeNode& node, const schema::ValuePlace& place,
                 schema::ToldPaths& removed) {
  if (value.is_array()) {
    if (!node.element) return;
    std::size_t index = 0;
    for (auto& item : value) prune_value(item, *node.element, place.item(index++), removed);
    return;
  }
  if (!value.is_object() || (node.kind != Kind::map && node.kind != Kind::map_atomic)) return;
  for (auto it = value.begin(); it != value.end();) {
    const schema::ValuePlace below = place.property(it.key());
    const schema::MergeNode* member = node.child(it.key());
    if (member == nullptr && node.typed && node.is_struct) {
      removed.add(below);
      it = value.erase(it);
      continue;
    }
    if (member != nullptr) prune_value(*it, *member, below, removed);
    ++it;
  }
}

}  // namespace

std::vector<std::string> prune_typed(Json& object, const Resource& resource) {
  schema::ToldPaths removed;
  prune_value(object, *resource.merge, schema::ValuePlace::root(), removed);
  return removed.take();
}

Result<void> read_typed(Json& object, const Resource& resource) {
  const auto misread = builtin::why_undecoded(object);
  if (!misread) builtin::to_typed_form(object);
  const auto fits = schema::check_read(*resource.merge, object);
  if (fits && !misread) return {};
  // The server stops at a time that is none, and goes on after all else that does not fit.
  if (const auto time =
          schema::why_no_times(*resource.merge, object, schema::TimeReader::decoder)) {
    return undecodable(resource.type.gvk, *time);
  }
  if (misread) return undecodable(resource.type.gvk, *misread);
  std::string why = fits.error().message();
  std::replace(why.begin(), why.end(), '\n', ' ');
  return undecodable(resource.type.gvk, why);
}

}  // namespace kubewatch::apiserver

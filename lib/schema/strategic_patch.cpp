// Strategic merge patch: maps merge, lists merge by their patch merge key where the Go types say
// so, and $patch, $retainKeys, $deleteFromPrimitiveList and $setElementOrder steer it.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schema/go_words.hpp"
#include "schema/patch.hpp"
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

constexpr const char* kPatch = "$patch";
constexpr const char* kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";

// Of a patch that says what cannot be done.
Error failed(const std::string& what) {
  return Error(ErrorKind::unsupported, what);
}

// Of a directive that is not of the form it must have: the only failures that are the client's
// fault in the server's eyes.
Error malformed(const std::string& what) {
  return Error(ErrorKind::invalid, what);
}

Error unknown_directive(const Json& directive, const Json& map) {
  return failed("unknown patch type: " + go_text(directive) + " in map: " + go_text(map));
}

Error not_a_list(const Json& value) {
  return failed("expected a []interface {}, but received a " +
                (value.is_number_integer() ? std::string("int64") : json_word(value)));
}

Error no_merge_key(const Json& map, const std::string& key) {
  return failed("map: " + go_text(map) + " does not contain declared merge key: " + key);
}

bool is_directive(const Json& value) {
  return value.is_object() && value.contains(kPatch);
}

void drop_directives(Json& value) {
  if (value.is_object()) {
    for (auto item = value.begin(); item != value.end();) {
      item = is_directive(*item) ? value.erase(item) : std::next(item);
    }
  } else if (value.is_array()) {
    value.erase(std::remove_if(value.begin(), value.end(), is_directive), value.end());
  } else {
    return;
  }
  for (Json& below : value) drop_directives(below);
}

// Where items stand in a list; by merge key, or by value when there is none.
class Positions {
 public:
  Positions(const Json& list, const std::string& merge_key) : merge_key_(merge_key) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (const Json* key = key_of(list[i])) positions_.try_emplace(*key, static_cast<long>(i));
    }
  }
  // -1 when absent.
  long of(const Json& item) const {
    const Json* key = key_of(item);
    if (key == nullptr) return -1;
    const auto found = positions_.find(*key);
    return found == positions_.end() ? -1 : found->second;
  }

 private:
  const Json* key_of(const Json& item) const {
    if (merge_key_.empty()) return &item;
    if (!item.is_object()) return nullptr;
    const auto found = item.find(merge_key_);
    return found == item.end() ? nullptr : &*found;
  }

  const std::string& merge_key_;
  std::map<Json, long> positions_;
};

using Placed = std::vector<std::pair<long, const Json*>>;

void sort_by_position(Placed& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

// Items named in `order` come in its order; the others keep their place among live items as far as
// that is known, and go behind otherwise.
Json in_order(const Json& merged, const Json& order, const Json& live,
              const std::string& merge_key) {
  const Positions ordered(order, merge_key);
  const Positions before(live, merge_key);
  Placed named;
  Placed others;
  for (const Json& item : merged) {
    const long place = ordered.of(item);
    const long old = before.of(item);
    if (place >= 0) {
      named.emplace_back(place, &item);
    } else {
      others.emplace_back(old >= 0 ? old : std::numeric_limits<long>::max(), &item);
    }
  }
  sort_by_position(named);
  sort_by_position(others);
  Json out = Json::array();
  auto other = others.begin();
  for (const auto& [place, item] : named) {
    const long at = before.of(*item);
    while (at >= 0 && other != others.end() && other->first < at) out.push_back(*(other++)->second);
    out.push_back(*item);
  }
  for (; other != others.end(); ++other) out.push_back(*other->second);
  return out;
}

Result<Json> merge_maps(Json live, Json patch, const MergeNode& node);

// `live` and `patch` stripped of elements with $patch, which have had their effect.
Result<void> obey_item_directives(Json& live, Json& patch, const std::string& merge_key) {
  Json plain = Json::array();
  std::set<Json> deleted;
  bool replace = false;
  for (const Json& item : patch) {
    if (!item.is_object()) return failed("lists of lists are not supported");
    if (!is_directive(item)) {
      plain.push_back(item);
      continue;
    }
    const Json& directive = item[kPatch];
    if (directive == "replace") {
      replace = true;
    } else if (directive == "delete") {
      if (!item.contains(merge_key)) return no_merge_key(item, merge_key);
      deleted.insert(item[merge_key]);
    } else if (directive == "merge") {
      return failed("merging lists cannot yet be specified in the patch");
    } else {
      return unknown_directive(directive, item);
    }
  }
  live.erase(std::remove_if(live.begin(), live.end(),
                            [&](const Json& old) {
                              return old.is_object() && old.contains(merge_key) &&
                                     deleted.count(old[merge_key]) != 0;
                            }),
             live.end());
  patch = std::move(plain);
  if (replace) {
    live = std::move(patch);
    patch = Json::array();
  }
  return {};
}

Result<Json> merge_keyed_lists(Json live, Json patch, const MergeNode& item_node,
                               const std::string& merge_key) {
  KW_TRY(obey_item_directives(live, patch, merge_key));
  Json merged = live;
  const Positions before(live, merge_key);
  std::map<Json, std::size_t> fresh;
  for (const Json& item : patch) {
    if (!item.contains(merge_key)) return no_merge_key(item, merge_key);
    const long old = before.of(item);
    const auto [added, is_new] = fresh.try_emplace(item[merge_key], merged.size());
    if (old < 0 && is_new) {
      merged.push_back(item);
      continue;
    }
    Json& target = merged[old < 0 ? added->second : static_cast<std::size_t>(old)];
    KW_ASSIGN(target, merge_maps(std::move(target), item, item_node));
  }
  return in_order(merged, patch, live, merge_key);
}

Json merge_scalar_lists(const Json& live, const Json& patch) {
  Json merged = Json::array();
  std::set<Json> seen;
  for (const Json* side : {&live, &patch}) {
    for (const Json& value : *side) {
      if (seen.insert(value).second) merged.push_back(value);
    }
  }
  return in_order(merged, patch, live, "");
}

const PatchRule& rule_of(const MergeNode& node, const std::string& field) {
  static const PatchRule kNone;
  const auto found = node.patch.find(field);
  return found == node.patch.end() ? kNone : found->second;
}

// Items of both are of one type, and no lists.
Result<void> check_types(const Json& live, const Json& patch) {
  const Json* first = nullptr;
  for (const Json* side : {&live, &patch}) {
    for (const Json& item : *side) {
      if (first == nullptr) {
        first = &item;
        if (item.is_array()) return failed("lists of lists are not supported");
      } else if (go_type(*first) != go_type(item)) {
        return failed("list element types are not identical: " +
                      go_text(Json::array({live, patch})));
      }
    }
  }
  return {};
}

bool holds_maps(const Json& live, const Json& patch) {
  const Json& some = live.empty() ? patch : live;
  return !some.empty() && some.front().is_object();
}

Result<Json> merge_lists(const Json& live, const Json& patch, const MergeNode& node,
                         const std::string& field) {
  const PatchRule& rule = rule_of(node, field);
  if (!rule.merges()) return patch;
  KW_TRY(check_types(live, patch));
  if (!holds_maps(live, patch)) return merge_scalar_lists(live, patch);
  if (rule.merge_key.empty()) return failed("cannot merge lists without merge key for " + field);
  return merge_keyed_lists(live, patch, element_or_deduced(child_or_deduced(node, field)),
                           rule.merge_key);
}

Result<void> retain_keys(Json& live, Json& patch) {
  const auto found = patch.find(kRetainKeys);
  if (found == patch.end()) return {};
  const Json keys = *found;
  patch.erase(kRetainKeys);
  const Error bad = malformed("invalid patch format of retainKeys");
  if (!keys.is_array()) return bad;
  const std::set<Json> names(keys.begin(), keys.end());
  const auto retained = [&](const std::string& key) { return names.count(key) != 0; };
  for (const auto& [key, value] : patch.items()) {
    const bool directive = key.starts_with(kDeletePrefix) || key.starts_with(kOrderPrefix);
    if (!value.is_null() && !directive && !retained(key)) return bad;
  }
  for (auto item = live.begin(); item != live.end();) {
    item = retained(item.key()) ? std::next(item) : live.erase(item);
  }
  return {};
}

// Whether the patched items come in the order that the directive demands.
bool follows_order(const Json& change, const Json& order, const std::string& merge_key) {
  if (!change.is_array() || order.empty()) return true;
  const Positions ordered(order, merge_key);
  long last = -1;
  for (const Json& item : change) {
    if (is_directive(item)) continue;
    const long at = ordered.of(item);
    if (at <= last) return false;
    last = at;
  }
  return true;
}

// $setElementOrder/FIELD together with the patch of FIELD itself, if there is one.
Result<void> order_elements(Json& live, Json& patch, const MergeNode& node,
                            const std::string& field, const Json& order) {
  if (!order.is_array()) return not_a_list(order);
  const Json before = live.contains(field) ? live[field] : Json();
  const Json change = patch.contains(field) ? patch[field] : Json();
  patch.erase(field);
  if ((!before.is_null() && !before.is_array()) || (!change.is_null() && !change.is_array())) {
    return failed("expected a list in field " + field + " to set its order");
  }
  if (!follows_order(change, order, rule_of(node, field).merge_key)) {
    return failed("The order in patch list:\n" + go_text(change) +
                  "\n doesn't match $setElementOrder list:\n" + go_text(order) + "\n");
  }
  Json merged = before;
  if (before.is_null() && change.is_null()) return {};
  if (before.is_null()) {
    merged = change;
    drop_directives(merged);
  } else if (!change.is_null()) {
    KW_ASSIGN(merged, merge_lists(before, change, node, field));
  }
  live[field] = in_order(merged, order, before.is_null() ? Json::array() : before,
                         rule_of(node, field).merge_key);
  return {};
}

Result<void> obey_orders(Json& live, Json& patch, const MergeNode& node) {
  std::vector<std::string> directives;
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with(kOrderPrefix)) directives.push_back(key);
  }
  for (const std::string& directive : directives) {
    const Json order = patch[directive];
    patch.erase(directive);
    KW_TRY(order_elements(live, patch, node, directive.substr(kOrderPrefix.size()), order));
  }
  return {};
}

void delete_values(Json& live, const std::string& field, const Json& values) {
  const auto found = live.find(field);
  if (found == live.end() || !found->is_array() || !values.is_array()) return;
  const std::set<Json> gone(values.begin(), values.end());
  found->erase(std::remove_if(found->begin(), found->end(),
                              [&](const Json& value) { return gone.count(value) != 0; }),
               found->end());
}

Result<void> merge_field(Json& live, const std::string& key, Json value, const MergeNode& node) {
  if (value.is_null()) {
    live.erase(key);
    return {};
  }
  const auto found = live.find(key);
  if (found != live.end() && found->is_object() && value.is_object()) {
    if (rule_of(node, key).replaces()) {
      *found = std::move(value);
      return {};
    }
    KW_ASSIGN(*found, merge_maps(std::move(*found), std::move(value), child_or_deduced(node, key)));
    return {};
  }
  if (found != live.end() && found->is_array() && value.is_array()) {
    KW_ASSIGN(*found, merge_lists(*found, value, node, key));
    return {};
  }
  if (is_directive(value)) {
    live.erase(key);
    return {};
  }
  // Of a new value also what directives delete.
  drop_member_nulls(value);
  drop_directives(value);
  live[key] = std::move(value);
  return {};
}

Result<Json> merge_maps(Json live, Json patch, const MergeNode& node) {
  if (is_directive(patch)) {
    const Json directive = patch[kPatch];
    if (directive == "delete") return Json::object();
    if (directive != "replace") return unknown_directive(directive, patch);
    patch.erase(kPatch);
    return patch;
  }
  KW_TRY(retain_keys(live, patch));
  KW_TRY(obey_orders(live, patch, node));
  for (auto& [key, value] : patch.items()) {
    if (key.starts_with(kDeletePrefix)) {
      delete_values(live, key.substr(kDeletePrefix.size()), value);
    } else {
      KW_TRY(merge_field(live, key, std::move(value), node));
    }
  }
  return live;
}

}  // namespace

Result<Json> strategic_patch(Json target, const Json& patch, const MergeNodePtr& schema) {
  if (!patch.is_object()) return malformed("a strategic merge patch must be an object");
  if (!target.is_object()) target = Json::object();
  return merge_maps(std::move(target), patch, schema ? *schema : deduced_node());
}

}  // namespace kubewatch::schema

// The algebra of field sets and FieldsV1. Sets are trees; a child is never empty.
#include "schema/field_set.hpp"

#include <algorithm>

namespace kubewatch::schema {
namespace {

constexpr std::size_t kMaxFieldsDepth = 200;

void collect(const FieldSet& set, Path& prefix, std::vector<Path>& out) {
  for (const PathElement& member : set.members()) {
    out.push_back(prefix);
    out.back().push_back(member);
  }
  for (const auto& [element, child] : set.children()) {
    prefix.push_back(element);
    collect(child, prefix, out);
    prefix.pop_back();
  }
}

Result<void> decode_into(const Json& node, FieldSet& out, std::size_t depth) {
  if (!node.is_object())
    return Error(ErrorKind::invalid, "fieldsV1 holds something else than objects");
  if (depth > kMaxFieldsDepth) return Error(ErrorKind::too_large, "fieldsV1 is nested too deeply");
  for (const auto& [key, below] : node.items()) {
    if (key == ".") continue;
    KW_ASSIGN(std::optional<PathElement> element, PathElement::decode(key));
    if (!element) continue;
    FieldSet child;
    KW_TRY(decode_into(below, child, depth + 1));
    if (child.empty() || below.contains(".")) out.add_member(*element);
    out.add_child(std::move(*element), std::move(child));
  }
  return {};
}

}  // namespace

void FieldSet::insert(const Path& path) {
  if (path.empty()) return;
  FieldSet* set = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) set = set->child(path[i]);
  set->members_.insert(path.back());
}

bool FieldSet::has(const Path& path) const {
  if (path.empty()) return false;
  const FieldSet* set = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    set = set->find_child(path[i]);
    if (set == nullptr) return false;
  }
  return set->has_member(path.back());
}

std::size_t FieldSet::size() const {
  std::size_t count = members_.size();
  for (const auto& [element, child] : children_) count += child.size();
  return count;
}

std::vector<Path> FieldSet::paths() const {
  std::vector<Path> out;
  Path prefix;
  collect(*this, prefix, out);
  return out;
}

FieldSet* FieldSet::child(const PathElement& element) {
  return &children_[element];
}

const FieldSet* FieldSet::find_child(const PathElement& element) const {
  const auto found = children_.find(element);
  return found == children_.end() ? nullptr : &found->second;
}

void FieldSet::add_member(PathElement element) {
  members_.insert(std::move(element));
}

void FieldSet::add_child(PathElement element, FieldSet child) {
  if (child.empty()) return;
  const auto [position, inserted] = children_.try_emplace(std::move(element));
  if (inserted) {
    position->second = std::move(child);
  } else {
    position->second.merge_in(child);
  }
}

void FieldSet::collapse(const PathElement& element) {
  children_.erase(element);
  members_.insert(element);
}

void FieldSet::merge_in(const FieldSet& other) {
  members_.insert(other.members_.begin(), other.members_.end());
  for (const auto& [element, child] : other.children_) {
    const auto [position, inserted] = children_.try_emplace(element, child);
    if (!inserted) position->second.merge_in(child);
  }
}

bool FieldSet::subtract(const FieldSet& other) {
  bool changed = false;
  for (const PathElement& member : other.members_) changed = members_.erase(member) != 0 || changed;
  for (const auto& [element, below] : other.children_) {
    const auto found = children_.find(element);
    if (found == children_.end()) continue;
    changed = found->second.subtract(below) || changed;
    if (found->second.empty()) children_.erase(found);
  }
  return changed;
}

FieldSet FieldSet::intersect(const FieldSet& other) const {
  FieldSet out;
  for (const PathElement& member : members_) {
    if (other.has_member(member)) out.members_.insert(out.members_.end(), member);
  }
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.find_child(element);
    if (theirs == nullptr) continue;
    FieldSet both = child.intersect(*theirs);
    if (!both.empty()) out.children_.emplace_hint(out.children_.end(), element, std::move(both));
  }
  return out;
}

FieldSet FieldSet::difference(const FieldSet& other) const {
  FieldSet out = *this;
  out.subtract(other);
  return out;
}

FieldSet FieldSet::recursive_difference(const FieldSet& other) const {
  FieldSet out;
  for (const PathElement& member : members_) {
    if (!other.has_member(member)) out.members_.insert(out.members_.end(), member);
  }
  for (const auto& [element, child] : children_) {
    if (other.has_member(element)) continue;
    const FieldSet* theirs = other.find_child(element);
    FieldSet rest = theirs == nullptr ? child : child.recursive_difference(*theirs);
    if (!rest.empty()) out.children_.emplace_hint(out.children_.end(), element, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::leaves() const {
  FieldSet out;
  for (const PathElement& member : members_) {
    if (children_.count(member) == 0) out.members_.insert(out.members_.end(), member);
  }
  for (const auto& [element, child] : children_) out.add_child(element, child.leaves());
  return out;
}

bool FieldSet::is_subset_of(const FieldSet& other) const {
  if (!std::includes(other.members_.begin(), other.members_.end(), members_.begin(),
                     members_.end())) {
    return false;
  }
  return std::all_of(children_.begin(), children_.end(), [&](const auto& child) {
    const FieldSet* theirs = other.find_child(child.first);
    return theirs != nullptr && child.second.is_subset_of(*theirs);
  });
}

bool FieldSet::operator==(const FieldSet& other) const {
  return members_ == other.members_ && children_ == other.children_;
}

Result<FieldSet> FieldSet::from_fields_v1(const Json& fields_v1) {
  FieldSet out;
  KW_TRY(decode_into(fields_v1, out, 0));
  return out;
}

Json FieldSet::to_fields_v1() const {
  Json out = Json::object();
  for (const PathElement& member : members_) out[member.encode()] = Json::object();
  for (const auto& [element, child] : children_) {
    Json below = child.to_fields_v1();
    if (has_member(element)) below["."] = Json::object();
    out[element.encode()] = std::move(below);
  }
  return out;
}

}  // namespace kubewatch::schema

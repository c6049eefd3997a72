#include "runtime/store_index.hpp"

#include <algorithm>

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kNodeBytes = 48;  // of a hash map entry, beside its content

}  // namespace

std::string GroupIndex::key_of(Terms& terms) {
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  std::string key;
  // With its length before it: a term may hold any character.
  for (const auto& term : terms)
    key.append(std::to_string(term.size())).append(1, ':').append(term);
  return key;
}

GroupIndex::Terms GroupIndex::terms_of(const std::string& key) {
  Terms terms;
  for (std::size_t at = 0; at < key.size();) {
    std::size_t size = 0;
    for (; key[at] != ':'; ++at) size = 10 * size + static_cast<std::size_t>(key[at] - '0');
    terms.push_back(key.substr(at + 1, size));
    at += 1 + size;
  }
  return terms;
}

GroupIndex::GroupId GroupIndex::group_for(const std::string& key, const Terms& terms) {
  const auto [it, fresh] = by_key_.try_emplace(key, kNone);
  if (!fresh) return it->second;
  GroupId id = static_cast<GroupId>(groups_.size());
  if (free_.empty()) {
    groups_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  groups_[id].key = &it->first;
  it->second = id;
  ++empty_;  // until its first slot comes
  for (const auto& term : terms) by_term_[term].push_back(id);
  return id;
}

void GroupIndex::set(SlotId slot, Terms terms) {
  const std::string key = key_of(terms);
  if (places_.size() <= slot) places_.resize(std::size_t{slot} + 1);
  const Place before = places_[slot];
  if (before.group != kNone && *groups_[before.group].key == key) return;
  leave(slot);
  const GroupId id = group_for(key, terms);
  Group& group = groups_[id];
  if (group.slots.empty()) --empty_;
  places_[slot] = {id, static_cast<std::uint32_t>(group.slots.size())};
  group.slots.push_back(slot);
  drop_empty_groups();
}

void GroupIndex::erase(SlotId slot) {
  leave(slot);
  drop_empty_groups();
}

bool GroupIndex::has(SlotId slot, Terms terms) const {
  if (places_.size() <= slot || places_[slot].group == kNone) return false;
  return *groups_[places_[slot].group].key == key_of(terms);
}

void GroupIndex::leave(SlotId slot) {
  if (places_.size() <= slot || places_[slot].group == kNone) return;
  Group& group = groups_[places_[slot].group];
  const SlotId last = group.slots.back();
  group.slots[places_[slot].position] = last;
  places_[last].position = places_[slot].position;
  group.slots.pop_back();
  places_[slot] = Place{};
  if (group.slots.empty()) ++empty_;
}

// Groups are dropped in bulk, when most are empty: dropping one means searching the lists of its
// terms.
void GroupIndex::drop_empty_groups() {
  if (empty_ < 64 || empty_ * 2 < by_key_.size()) return;
  for (auto it = by_term_.begin(); it != by_term_.end();) {
    auto& ids = it->second;
    ids.erase(std::remove_if(ids.begin(), ids.end(),
                             [this](GroupId id) { return groups_[id].slots.empty(); }),
              ids.end());
    ids.shrink_to_fit();
    it = ids.empty() ? by_term_.erase(it) : std::next(it);
  }
  for (auto it = by_key_.begin(); it != by_key_.end();) {
    if (!groups_[it->second].slots.empty()) {
      ++it;
      continue;
    }
    groups_[it->second] = Group{};
    free_.push_back(it->second);
    it = by_key_.erase(it);
  }
  empty_ = 0;
}

void GroupIndex::collect(std::string_view term, std::vector<SlotId>& out) const {
  const auto it = by_term_.find(std::string(term));
  if (it == by_term_.end()) return;
  for (const GroupId id : it->second) {
    out.insert(out.end(), groups_[id].slots.begin(), groups_[id].slots.end());
  }
}

void GroupIndex::collect_if(const std::function<bool(const Terms&)>& wanted,
                            std::vector<SlotId>& out) const {
  for (const Group& group : groups_) {
    if (group.slots.empty() || !wanted(terms_of(*group.key))) continue;
    out.insert(out.end(), group.slots.begin(), group.slots.end());
  }
}

std::size_t GroupIndex::bytes() const {
  std::size_t sum = places_.capacity() * sizeof(Place) + groups_.capacity() * sizeof(Group) +
                    free_.capacity() * sizeof(GroupId);
  for (const auto& group : groups_) sum += group.slots.capacity() * sizeof(SlotId);
  for (const auto& [key, id] : by_key_) sum += kNodeBytes + key.capacity();
  for (const auto& [term, ids] : by_term_) {
    sum += kNodeBytes + term.capacity() + ids.capacity() * sizeof(GroupId);
  }
  return sum;
}

}  // namespace kubewatch::runtime

// Secondary index of a store: which slots carry which terms. Slots with equal terms share one group
// (the Pods of one Deployment have the same labels and the same owner), so an index over 100k Pods
// holds a few hundred groups. Used for labels, owner uids and named indexes. Plain data structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kubewatch::runtime {

using SlotId = std::uint32_t;

class GroupIndex {
 public:
  using Terms = std::vector<std::string>;

  // Replaces what the slot had. Order and duplicates of `terms` do not matter.
  void set(SlotId slot, Terms terms);
  void erase(SlotId slot);
  // Slots that carry the term, in no order.
  void collect(std::string_view term, std::vector<SlotId>& out) const;
  // Slots of the groups that `wanted` says yes to; it is asked once per group.
  void collect_if(const std::function<bool(const Terms&)>& wanted, std::vector<SlotId>& out) const;
  // True when set() with these terms would change nothing.
  bool has(SlotId slot, Terms terms) const;
  bool contains(SlotId slot) const { return slot < places_.size() && places_[slot].group != kNone; }
  std::size_t groups() const { return by_key_.size(); }
  // An estimate of the memory held.
  std::size_t bytes() const;

 private:
  using GroupId = std::uint32_t;
  static constexpr GroupId kNone = 0xffffffffU;

  struct Group {
    const std::string* key = nullptr;  // in by_key_; null for a free id
    std::vector<SlotId> slots;
  };
  struct Place {
    GroupId group = kNone;
    std::uint32_t position = 0;
  };

  static std::string key_of(Terms& terms);
  static Terms terms_of(const std::string& key);
  GroupId group_for(const std::string& key, const Terms& terms);
  void leave(SlotId slot);
  void drop_empty_groups();

  std::unordered_map<std::string, GroupId> by_key_;
  std::unordered_map<std::string, std::vector<GroupId>> by_term_;
  std::vector<Group> groups_;
  std::vector<GroupId> free_;
  std::vector<Place> places_;  // by slot
  std::size_t empty_ = 0;      // groups without slots that wait for drop_empty_groups()
};

}  // namespace kubewatch::runtime

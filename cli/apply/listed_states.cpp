#include "cli/apply/listed_states.hpp"

#include <algorithm>
#include <utility>

#include "core/meta.hpp"

namespace kubewatch::cli {

namespace {

// Fewer objects are asked for one by one: a list would not be much cheaper.
constexpr std::size_t kWorthIt = 8;
// Items read for each object of the call, whatever else is in the namespace.
constexpr std::size_t kItemsEach = 3;
constexpr std::size_t kBytesEach = 64U << 10U;
constexpr std::size_t kStatesPage = 1000;

}  // namespace

ListedStates::GroupKey ListedStates::key_of(const core::ResourceType& type,
                                            const std::string& namespace_) {
  return {type.gvk.version + "/" + type.qualified_plural(), namespace_};
}

void ListedStates::expect(const core::ResourceType& type, const core::ObjectKey& key) {
  Group& group = groups_[key_of(type, key.namespace_)];
  if (group.objects.empty()) {
    group.type = type;
    group.namespace_ = key.namespace_;
  }
  group.objects.try_emplace(key.name);
}

void ListedStates::read(std::function<void()> done) {
  done_ = std::move(done);
  for (auto& [key, group] : groups_) {
    if (group.objects.size() >= kWorthIt) waiting_.push_back(&group);
  }
  begin_more();
}

void ListedStates::begin_more() {
  for (; open_ < at_once_ && !waiting_.empty(); ++open_) {
    Group& next = *waiting_.back();
    waiting_.pop_back();
    list(next, "");
  }
  if (open_ == 0) done_();
}

bool ListedStates::is_enough(const Group& group) {
  const std::size_t wanted = group.objects.size();
  return group.found == wanted || group.items >= kItemsEach * wanted ||
         group.bytes >= kBytesEach * wanted;
}

void ListedStates::list(Group& group, const std::string& continue_token) {
  core::ListParams params;
  const std::size_t room = kItemsEach * group.objects.size() - group.items;
  params.limit = static_cast<std::uint32_t>(std::min(kStatesPage, room));
  params.continue_token = continue_token;
  group.request = client_.list_items(
      group.type, group.namespace_, params,
      [this, &group](std::string_view item) { keep(group, item); },
      [this, &group, before = group.items](const Result<core::ListPage>& page) {
        if (!page.ok()) return end(group);
        group.whole = page->continue_token.empty() && !group.cut_off;
        if (group.whole || is_enough(group) || group.items == before) return end(group);
        list(group, page->continue_token);
      });
}

void ListedStates::keep(Group& group, std::string_view item) {
  if (group.cut_off) return;
  // The rest of this page is not worth its bytes.
  if (is_enough(group)) {
    group.cut_off = client_.loop().after(Duration{0}, [this, &group] { end(group); });
    return;
  }
  ++group.items;
  group.bytes += item.size();
  const auto meta = core::parse_meta(item);
  if (!meta.ok()) return;
  const auto wanted = group.objects.find(meta->name);
  if (wanted == group.objects.end()) return;
  if (wanted->second.empty()) ++group.found;
  wanted->second = item;
}

void ListedStates::end(Group& group) {
  group.cut_off.reset();
  group.request.reset();
  --open_;
  begin_more();
}

std::optional<std::string> ListedStates::take(const core::ResourceType& type,
                                              const core::ObjectKey& key) {
  const auto group = groups_.find(key_of(type, key.namespace_));
  if (group == groups_.end()) return std::nullopt;
  const auto object = group->second.objects.find(key.name);
  if (object == group->second.objects.end()) return std::nullopt;
  if (object->second.empty() && !group->second.whole) return std::nullopt;
  std::string out = std::move(object->second);
  group->second.objects.erase(object);
  return out;
}

}  // namespace kubewatch::cli

#include "apiserver/read_pages.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::apiserver {

namespace {

// -1, 0, 1: "a/b" against `text`, without putting it together.
int compare(const core::ObjectKey& key, const std::string& text) {
  if (key.namespace_.empty()) return key.name.compare(text);
  const std::size_t size = key.namespace_.size();
  if (const int first = key.namespace_.compare(0, size, text, 0, size); first != 0) return first;
  if (text.size() <= size) return 1;
  if (text[size] != '/') return '/' < text[size] ? -1 : 1;
  return key.name.compare(0, std::string::npos, text, size + 1, std::string::npos);
}

}  // namespace

void ReadPages::keep(std::uint64_t version, const std::string& selection, Listing listing,
                     TimePoint now) {
  expire(now);
  if (find(version, selection, now).keys) return;
  if (kept_.size() >= most_) kept_.erase(kept_.begin());
  kept_.push_back({version, selection, std::move(listing), now});
}

Listing ReadPages::find(std::uint64_t version, const std::string& selection, TimePoint now) {
  expire(now);
  const auto it = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.version == version && kept.selection == selection;
  });
  if (it == kept_.end()) return {};
  it->used = now;
  std::rotate(it, it + 1, kept_.end());
  return kept_.back().listing;
}

void ReadPages::expire(TimePoint now) {
  std::erase_if(kept_, [&](const Kept& kept) { return kept.used + keep_ <= now; });
}

Keys in_api_order(Keys keys) {
  // Groups of one namespace stand together already; only the groups may change places.
  std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>> groups;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && keys[i].namespace_ == keys[i - 1].namespace_) {
      ++groups.back().second.second;
    } else {
      groups.push_back({keys[i].namespace_ + "/", {i, i + 1}});
    }
  }
  if (std::is_sorted(groups.begin(), groups.end())) return keys;
  std::sort(groups.begin(), groups.end());
  Keys out;
  out.reserve(keys.size());
  for (const auto& [name, range] : groups) {
    for (std::size_t i = range.first; i < range.second; ++i) out.push_back(std::move(keys[i]));
  }
  return out;
}

std::size_t place_of(const Keys& keys, const std::string& start) {
  const auto it = std::partition_point(keys.begin(), keys.end(), [&](const core::ObjectKey& key) {
    return compare(key, start) < 0;
  });
  return static_cast<std::size_t>(it - keys.begin());
}

}  // namespace kubewatch::apiserver

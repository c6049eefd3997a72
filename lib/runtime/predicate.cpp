// What counts as news of an object, and remembering what was told last.
#include "runtime/predicate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kubewatch::runtime {
namespace {

std::uint64_t hash_text(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

// Order counts: (a, b) is not (b, a), and (a, a) is not (b, b).
std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  left ^= right + 0x9e3779b97f4a7c15ULL + (left << 6U) + (left >> 2U);
  return left * 0xff51afd7ed558ccdULL;
}

std::uint64_t hash_pairs(std::vector<std::pair<std::string, std::string>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  std::uint64_t hash = pairs.size();
  for (const auto& [key, value] : pairs) hash = mix(mix(hash, hash_text(key)), hash_text(value));
  return hash;
}

std::uint64_t hash_finalizers(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::uint64_t hash = names.size();
  for (const std::string& name : names) hash = mix(hash, hash_text(name));
  return hash;
}

}  // namespace

Predicate Predicate::and_then(Predicate other) const {
  return Predicate(
      [one = value_, two = std::move(other.value_)](
          const core::ObjectMeta& meta, const std::string& json) -> std::optional<std::uint64_t> {
        const auto left = one(meta, json);
        const auto right = two(meta, json);
        if (!left || !right) return std::nullopt;
        return mix(*left, *right);
      });
}

Predicate Predicate::fallback(Predicate other) const {
  return Predicate([one = value_, two = std::move(other.value_)](const core::ObjectMeta& meta,
                                                                 const std::string& json) {
    const auto value = one(meta, json);
    return value ? value : two(meta, json);
  });
}

namespace predicates {

Predicate generation() {
  return Predicate(
      [](const core::ObjectMeta& meta, const std::string&) -> std::optional<std::uint64_t> {
        if (meta.generation == 0) return std::nullopt;
        return static_cast<std::uint64_t>(meta.generation);
      });
}

Predicate resource_version() {
  return Predicate(
      [](const core::ObjectMeta& meta, const std::string&) -> std::optional<std::uint64_t> {
        if (meta.resource_version.empty()) return std::nullopt;
        return hash_text(meta.resource_version);
      });
}

Predicate labels() {
  return Predicate([](const core::ObjectMeta& meta, const std::string&) {
    return std::optional(hash_pairs(meta.labels));
  });
}

Predicate annotations() {
  return Predicate([](const core::ObjectMeta& meta, const std::string&) {
    return std::optional(hash_pairs(meta.annotations));
  });
}

Predicate finalizers() {
  return Predicate([](const core::ObjectMeta& meta, const std::string&) {
    return std::optional(hash_finalizers(meta.finalizers));
  });
}

Predicate deletion() {
  return Predicate([](const core::ObjectMeta& meta, const std::string&) {
    return std::optional<std::uint64_t>(meta.deleting() ? 1 : 0);
  });
}

Predicate text(std::function<std::optional<std::string>(const std::string& json)> read) {
  return Predicate(
      [read = std::move(read)](const core::ObjectMeta&,
                               const std::string& json) -> std::optional<std::uint64_t> {
        const auto value = read(json);
        if (!value) return std::nullopt;
        return hash_text(*value);
      });
}

Predicate constant() {
  return Predicate(
      [](const core::ObjectMeta&, const std::string&) { return std::optional<std::uint64_t>(0); });
}

}  // namespace predicates

PredicateFilter::PredicateFilter(Predicate predicate, PredicateOptions options)
    : predicate_(std::move(predicate)), options_(options) {}

std::optional<std::uint64_t> PredicateFilter::value_of(const StoreChange& change) const {
  const auto value = predicate_.of(change.meta, change.json);
  if (!value || !options_.lifecycle) return value;
  return mix(mix(*value, change.meta.deleting() ? 1 : 0), hash_finalizers(change.meta.finalizers));
}

void PredicateFilter::forget(Entries::iterator entry) {
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

// A few at a time: who is too old stands in front.
void PredicateFilter::forget_old(TimePoint now) {
  while (!entries_.empty() &&
         (now - entries_.front().since >= options_.ttl || entries_.size() > options_.max_objects)) {
    forget(entries_.begin());
  }
}

bool PredicateFilter::passes(TimePoint now, const StoreChange& change) {
  forget_old(now);
  const core::ObjectKey key = change.meta.key();
  const auto known = by_key_.find(key);
  if (change.type == ChangeType::deleted) {
    if (known != by_key_.end()) forget(known->second);
    return true;
  }
  const auto value = value_of(change);
  const std::uint64_t uid = hash_text(change.meta.uid);
  if (known != by_key_.end()) {
    const Entry& last = *known->second;
    if (value && last.uid == uid && last.value == *value) return false;
    forget(known->second);
  }
  if (!value) return true;
  entries_.push_back({key, uid, *value, now});
  by_key_[key] = std::prev(entries_.end());
  forget_old(now);
  return true;
}

}  // namespace kubewatch::runtime

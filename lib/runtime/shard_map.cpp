#include "runtime/shard_map.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "base/fnv.hpp"

namespace kubewatch::runtime {
namespace {

std::uint64_t add(std::uint64_t hash, std::string_view text) {
  return base::fnv1a64("\xff", base::fnv1a64(text, hash));  // "a","bc" and "ab","c" differ
}

// FNV's high bits know little of the last characters: the finalizer of splitmix64 spreads them.
std::uint64_t spread(std::uint64_t hash) {
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

std::uint64_t score(std::uint64_t hash, std::size_t shard) {
  return spread(hash ^ spread(0x9e3779b97f4a7c15U * (shard + 1)));
}

}  // namespace

std::uint64_t stable_hash(std::string_view text) {
  return spread(add(base::kFnvStart64, text));
}

std::size_t shard_of(std::string_view group, std::string_view kind, const core::ObjectKey& key,
                     std::size_t shards) {
  std::uint64_t hash = add(add(base::kFnvStart64, group), kind);
  hash = add(add(hash, key.namespace_), key.name);
  std::size_t best = 0;
  for (std::size_t shard = 1; shard < shards; ++shard) {
    if (score(hash, shard) > score(hash, best)) best = shard;
  }
  return best;
}

std::vector<std::string> assign_shards(const std::vector<std::string>& members,
                                       std::size_t shards) {
  std::vector<std::string> out(shards);
  if (members.empty()) return out;
  struct Pair {
    std::uint64_t score;
    std::size_t shard;
    std::size_t member;
  };
  std::vector<std::string> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  std::vector<Pair> pairs;
  pairs.reserve(sorted.size() * shards);
  for (std::size_t member = 0; member < sorted.size(); ++member) {
    const std::uint64_t hash = add(base::kFnvStart64, sorted[member]);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      pairs.push_back({score(hash, shard), shard, member});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(b.score, a.shard, a.member) < std::tie(a.score, b.shard, b.member);
  });
  const std::size_t share = shards / sorted.size();
  std::size_t more = shards % sorted.size();  // who may have one above it
  std::vector<std::size_t> load(sorted.size(), 0);
  for (const Pair& pair : pairs) {
    std::size_t& has = load[pair.member];
    if (!out[pair.shard].empty() || has > share || (has == share && more == 0)) continue;
    if (has == share) --more;
    out[pair.shard] = sorted[pair.member];
    ++has;
  }
  return out;
}

}  // namespace kubewatch::runtime

// Which shard an object belongs to, and which instance should own which shard. Rendezvous hashing
// (Thaler and Ravishankar, 1996): every pair has a score, the highest wins, so a change of one side
// moves only what it must. The scores are part of the contract between instances of different
// versions: they must never change. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::runtime {

// Of group, kind, namespace and name; never of the version, nor of the uid: an object that is made
// anew stays where it was. shards > 0.
std::size_t shard_of(std::string_view group, std::string_view kind, const core::ObjectKey& key,
                     std::size_t shards);

// The owner of each shard among `members` (any order, no doubles): by score, and so that the
// numbers differ by one at most. Empty when there are no members. Instances that deal out in
// different ways must not share: what a Leadership's plan says of it changes with it.
std::vector<std::string> assign_shards(const std::vector<std::string>& members, std::size_t shards);

// In the words of every Leadership's plan, and in no identity that we make: a Lease which is held
// by such words is that of instances with shards.
inline constexpr std::string_view kPlanWords = " even shards by ";

// 64 bits of a text, the same on every machine: for names derived from identities.
std::uint64_t stable_hash(std::string_view text);

}  // namespace kubewatch::runtime

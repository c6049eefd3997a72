#include "runtime/shard_map.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "support/catch.hpp"

namespace kubewatch::runtime {

namespace {

std::vector<std::string> instances(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back("host-" + std::to_string(i));
  return out;
}

core::ObjectKey key(int i) {
  return {"ns-" + std::to_string(i % 7), "object-" + std::to_string(i)};
}

}  // namespace

TEST_CASE("shards get even parts of the objects") {
  std::map<std::size_t, int> counts;
  for (int i = 0; i < 10000; ++i) ++counts[shard_of("apps", "Deployment", key(i), 8)];
  REQUIRE(counts.size() == 8);
  for (const auto& [shard, count] : counts) {
    CHECK(count > 1100);
    CHECK(count < 1400);
  }
}

TEST_CASE("one shard more takes its part and moves nothing else") {
  int moved = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto before = shard_of("", "ConfigMap", key(i), 8);
    const auto after = shard_of("", "ConfigMap", key(i), 9);
    if (before != after) CHECK(after == 8);
    moved += before != after ? 1 : 0;
  }
  CHECK(moved > 900);
  CHECK(moved < 1350);
}

TEST_CASE("the shard of an object never changes from release to release") {
  CHECK(shard_of("", "ConfigMap", {"shop", "web"}, 16) == 9);
  CHECK(shard_of("apps", "Deployment", {"shop", "web"}, 16) == 7);
  CHECK(shard_of("demo.kubewatch.dev", "Website", {"", "web"}, 16) == 9);
  CHECK(assign_shards({"a", "b", "c"}, 6) ==
        std::vector<std::string>{"a", "c", "c", "a", "b", "b"});
}

TEST_CASE("every shard has one owner, and what instances have differs by one at most") {
  for (std::size_t count = 1; count <= 9; ++count) {
    for (std::size_t shards = 1; shards <= 24; ++shards) {
      const auto owners = assign_shards(instances(count), shards);
      REQUIRE(owners.size() == shards);
      std::map<std::string, std::size_t> load;
      for (const auto& owner : owners) ++load[owner];
      CHECK(load.count("") == 0);
      for (const auto& owner : instances(count)) {
        CHECK(load[owner] >= shards / count);
        CHECK(load[owner] <= (shards + count - 1) / count);
      }
    }
  }
}

TEST_CASE("who is asked in which order does not change the owners") {
  auto members = instances(5);
  const auto owners = assign_shards(members, 16);
  std::reverse(members.begin(), members.end());
  CHECK(assign_shards(members, 16) == owners);
  CHECK(assign_shards({}, 2) == std::vector<std::string>{"", ""});
}

// The least that a join must move is the newcomer's share; the even shares cost some more.
TEST_CASE("a join or a leave moves little more than the share it must") {
  std::size_t moved = 0;
  std::size_t least = 0;
  for (std::size_t count = 2; count <= 12; ++count) {
    const auto before = assign_shards(instances(count), 64);
    const auto after = assign_shards(instances(count + 1), 64);
    for (std::size_t shard = 0; shard < 64; ++shard) moved += before[shard] != after[shard] ? 1 : 0;
    least += 64 / (count + 1);
  }
  INFO("moved " << moved << ", least " << least);
  CHECK(moved <= 2 * least);
}

}  // namespace kubewatch::runtime

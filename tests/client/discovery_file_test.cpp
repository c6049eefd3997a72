// Discovery kept between commands.
#include "client/discovery_file.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "rig.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

constexpr Duration kAge{600000};

ResourceMap sample() {
  ResourceMap map;
  core::ResourceType type{{"apps", "v1", "Deployment"},
                          "deployments",
                          "deployment",
                          true,
                          {"deploy"},
                          {"all"},
                          {"get", "list"},
                          {{"scale", {"autoscaling", "v1", "Scale"}, {"get"}}}};
  map.add(type);
  map.add(kNodes);
  return map;
}

WallTime at(const std::string& text) {
  return *base::parse_rfc3339(text);
}

}  // namespace

TEST_CASE("a discovery reads back as it was") {
  const auto text = render_discovery(sample(), "https://a", at("2026-01-02T03:04:05Z"));
  const auto map = parse_discovery(text, "https://a", at("2026-01-02T03:14:05Z"), kAge);
  REQUIRE(map.ok());
  REQUIRE((*map)->all().size() == 2);
  const core::ResourceType type = (*map)->resolve("deploy").front();
  CHECK(type.gvk.str() == "apps/v1 Deployment");
  CHECK(type.plural == "deployments");
  CHECK(type.categories == std::vector<std::string>{"all"});
  CHECK(type.has_verb("list"));
  REQUIRE(type.subresources.size() == 1);
  CHECK(type.subresources[0].kind.str() == "autoscaling/v1 Scale");
  CHECK_FALSE((*map)->resolve("nodes").front().namespaced);
}

TEST_CASE("what is old, of another server, from the future or broken is not believed") {
  const auto text = render_discovery(sample(), "https://a", at("2026-01-02T03:04:05Z"));
  const auto good = at("2026-01-02T03:04:06Z");
  CHECK(parse_discovery(text, "https://a", good, kAge).ok());
  CHECK_FALSE(parse_discovery(text, "https://b", good, kAge).ok());
  CHECK_FALSE(parse_discovery(text, "https://a", at("2026-01-02T03:14:06Z"), kAge).ok());
  CHECK_FALSE(parse_discovery(text, "https://a", at("2026-01-02T03:04:01Z"), kAge).ok());
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    CHECK_FALSE(parse_discovery(text.substr(0, cut), "https://a", good, kAge).ok());
  }
  std::string path = text;
  path.replace(path.find("\"nodes\""), 7, "\"../xx\"");
  CHECK_FALSE(parse_discovery(path, "https://a", good, kAge).ok());
}

TEST_CASE("the file is private, and one that others may write is not believed") {
  const TempDir folder;
  const ClientConfig config = scripted_config();
  const auto now = at("2026-01-02T03:04:05Z");
  const DiscoveryFile file(folder.path() + "/cache", config);
  CHECK(file.load(now) == nullptr);
  file.save(sample(), now);
  REQUIRE(file.load(now) != nullptr);
  struct stat status {};
  REQUIRE(::stat(file.path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::stat((folder.path() + "/cache/kubewatch").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  ::chmod(file.path().c_str(), 0620);
  CHECK(file.load(now) == nullptr);
}

TEST_CASE("another cluster at the same address has a file of its own") {
  ClientConfig config = scripted_config();
  const std::string one = DiscoveryFile("/c", config).path();
  config.ca_pem = "another authority";
  CHECK(DiscoveryFile("/c", config).path() != one);
  CHECK(one.starts_with("/c/kubewatch/cluster_6443-"));
}

TEST_CASE("a discovery without a kind is neither kept nor believed") {
  const TempDir folder;
  const auto now = at("2026-01-02T03:04:05Z");
  const DiscoveryFile file(folder.path(), scripted_config());
  file.save(ResourceMap{}, now);
  CHECK_FALSE(std::filesystem::exists(file.path()));
  const auto text = render_discovery(ResourceMap{}, "https://a", now);
  CHECK_FALSE(parse_discovery(text, "https://a", now, kAge).ok());
}

TEST_CASE("a discovery without some groups is not kept, and no folder keeps none") {
  const TempDir folder;
  const auto now = at("2026-01-02T03:04:05Z");
  ResourceMap partial = sample();
  partial.failed_groups = {"metrics.k8s.io/v1beta1: 503"};
  const DiscoveryFile file(folder.path(), scripted_config());
  file.save(partial, now);
  CHECK(file.load(now) == nullptr);
  const DiscoveryFile none("", scripted_config());
  none.save(sample(), now);
  CHECK(none.load(now) == nullptr);
}

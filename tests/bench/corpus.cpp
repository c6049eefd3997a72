#include "bench/corpus.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/random.hpp"
#include "base/time.hpp"
#include "bench/pod_text.hpp"

namespace kubewatch::bench {

namespace {

constexpr std::size_t kNamespaces = 50;
constexpr std::size_t kNodes = 500;
constexpr std::uint64_t kNow = 1767323045;  // 2026-01-02T03:04:05Z

std::string hex(base::Random& random, std::size_t digits) {
  std::string out;
  while (out.size() < digits) out += fmt::format("{:016x}", random.next());
  return out.substr(0, digits);
}

std::string time_before_now(std::uint64_t seconds) {
  return base::format_rfc3339(
      WallTime(std::chrono::seconds(static_cast<std::int64_t>(kNow - seconds))));
}

std::string pick(base::Random& random, std::initializer_list<const char*> words) {
  return *(words.begin() + random.below(words.size()));
}

Words realistic(base::Random& random, std::size_t deployment) {
  const std::string app = pick(random, {"checkout", "search", "billing", "gateway", "profile",
                                        "catalog", "inventory", "mailer", "reports", "auth"}) +
                          "-" + pick(random, {"api", "worker", "web", "cron", "sync"}) +
                          fmt::format("-{}", deployment % 997);
  return {{"app", app},
          {"version", fmt::format("1.{}.{}", random.below(40), random.below(12))},
          {"team", pick(random, {"payments", "growth", "platform", "search", "data"})},
          {"tier", pick(random, {"web", "backend", "cache"})},
          {"metrics", "metrics"},
          {"main", "main"},
          {"side", "proxy"},
          {"sideversion", "2.3.1"},
          {"registry", "registry.example.com/team"},
          {"mount", "etc/app"},
          {"configfile", "config.yaml"},
          {"config", app + "-config"},
          {"level", pick(random, {"info", "debug", "warn"})},
          {"env0", "DATABASE_URL"},
          {"env1", "CACHE_HOST"},
          {"env2", "FEATURE_FLAGS"},
          {"env3", "REGION"},
          {"value0", "postgres://" + app + "@db.internal:5432/" + app},
          {"value1", app + "-cache.svc.cluster.local:6379"},
          {"value2", "new-cart,fast-search,dark-mode"},
          {"value3", pick(random, {"eu-west-1", "us-east-1", "ap-south-1"})},
          {"health", "healthz"},
          {"account", app}};
}

Words hostile(base::Random& random) {
  Words out;
  for (const char* word : {"app", "team", "tier", "metrics", "main", "side", "registry", "mount",
                           "configfile", "config", "level", "health", "account", "node"}) {
    out[word] = random.suffix(16);
  }
  for (const char* word : {"env0", "env1", "env2", "env3"}) out[word] = random.suffix(14);
  for (const char* word : {"value0", "value1", "value2", "value3"}) out[word] = random.suffix(40);
  for (const char* word : {"version", "sideversion"}) out[word] = random.suffix(8);
  return out;
}

Words of_pod(base::Random& random, std::size_t index) {
  const std::uint64_t age = 60 + random.below(86400U * 90U);
  return {
      {"pod", random.suffix(5) + fmt::format("{:x}", index)},
      {"uid", random.uuid()},
      {"rv", std::to_string(Corpus::kFirstVersion + index)},
      {"sent", "0000000000000000000"},
      {"created", time_before_now(age)},
      {"ready", time_before_now(age - 1 - random.below(30))},
      {"decile", std::to_string(index % 10)},
      {"percentile", std::to_string(index % 100)},
      {"node", fmt::format("node-{:03d}.cluster.local", random.below(kNodes))},
      {"host", fmt::format("192.168.{}.{}", random.below(4), random.below(250))},
      {"ip", fmt::format("10.{}.{}.{}", random.below(200), random.below(256), random.below(256))},
      {"id0", hex(random, 64)},
      {"id1", hex(random, 64)}};
}

}  // namespace

Result<CorpusKind> corpus_kind(std::string_view name) {
  if (name == "realistic") return CorpusKind::realistic;
  if (name == "hostile") return CorpusKind::hostile;
  if (name == "small") return CorpusKind::small;
  return Error(ErrorKind::invalid,
               fmt::format("corpus \"{}\": want realistic, hostile or small", name));
}

// Each Deployment and each Pod has its own seed: a smaller corpus is the beginning of a larger one.
Corpus::Corpus(CorpusKind kind, std::size_t count) {
  const bool small = kind == CorpusKind::small;
  const std::string text = small ? small_pod_text() : pod_text();
  const std::string name_text = small ? "<app>-<pod>" : "<app>-<hash>-<pod>";
  items_.reserve(count);
  bytes_.reserve(count * (small ? 1300U : 6600U));  // untouched pages cost nothing
  for (std::size_t deployment = 0; items_.size() < count; ++deployment) {
    base::Random random(deployment + 1);
    Words words = kind == CorpusKind::hostile ? hostile(random) : realistic(random, deployment);
    words["ns"] = fmt::format("ns-{}", deployment % kNamespaces);
    words["hash"] = random.suffix(10);
    words["owner"] = random.uuid();
    words["checksum"] = hex(random, 64);
    words["digest0"] = hex(random, 64);
    words["digest1"] = hex(random, 64);
    words["cpu"] = std::to_string(100 * (1 + random.below(10)));
    words["memory"] = std::to_string(128 * (1 + random.below(16)));
    std::string deployment_text;
    fill(text, words, deployment_text);
    std::string pod_name;
    fill(name_text, words, pod_name);
    const std::size_t replicas = 1 + random.below(20);
    for (std::size_t i = 0; i < replicas && items_.size() < count; ++i) {
      add(deployment_text, pod_name, words["ns"]);
    }
  }
}

void Corpus::add(std::string_view deployment_text, std::string_view name_text,
                 std::string_view ns) {
  const std::size_t index = items_.size();
  base::Random random(0x706f6400000000U + index);
  const Words words = of_pod(random, index);
  if (index > 0) bytes_.push_back(',');
  Item item;
  item.begin = bytes_.size();
  fill(deployment_text, words, bytes_);
  const std::string_view text = std::string_view(bytes_).substr(item.begin);
  item.size = static_cast<std::uint32_t>(text.size());
  item.version_at = static_cast<std::uint32_t>(text.find("\"resourceVersion\":\"") +
                                               sizeof "resourceVersion\":\"");
  item.sent_at =
      static_cast<std::uint32_t>(text.find("dev/sent\":\"") + sizeof "dev/sent\":\"" - 1);
  const std::size_t metadata = std::string_view("{\"metadata\":").size();
  item.metadata_size = static_cast<std::uint32_t>(text.find(",\"spec\":") - metadata);
  item.name.namespace_ = std::string(ns);
  fill(name_text, words, item.name.name);
  items_.push_back(std::move(item));
}

std::string_view Corpus::item(std::size_t index) const {
  return std::string_view(bytes_).substr(items_[index].begin, items_[index].size);
}

std::string_view Corpus::metadata(std::size_t index) const {
  return item(index).substr(std::string_view("{\"metadata\":").size(), items_[index].metadata_size);
}

std::string_view Corpus::items(std::size_t first, std::size_t last) const {
  if (first >= last) return {};
  const std::size_t begin = items_[first].begin;
  return std::string_view(bytes_).substr(begin,
                                         items_[last - 1].begin + items_[last - 1].size - begin);
}

void Corpus::touch(std::size_t index, std::uint64_t resource_version, std::uint64_t sent) {
  const Item& item = items_[index];
  bytes_.replace(item.begin + item.version_at, 10, fmt::format("{:010d}", resource_version));
  bytes_.replace(item.begin + item.sent_at, 19, fmt::format("{:019d}", sent));
}

}  // namespace kubewatch::bench

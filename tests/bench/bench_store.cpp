// What a cache costs: bytes of a LIST through the splitter into a store, then a relist, then all
// objects read back and compared with what was sent. CPU of the cache alone (the generator's is not
// counted), memory as the kernel sees it. No network: tests/bench has other programs for that.
//
//   bench_store pods|hostile|small|metadata COUNT
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "base/random.hpp"
#include "core/list_splitter.hpp"
#include "runtime/store.hpp"
#include "runtime/store_ingest.hpp"

using namespace kubewatch;

namespace {

constexpr std::size_t kChunk = 16U << 10U;
constexpr int kPodsPerDeployment = 50;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double status_mb(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == name + ":" && file >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::string hex(base::Random& random, int digits) {
  std::string out;
  for (int i = 0; i < digits; ++i) out.push_back("0123456789abcdef"[random.below(16)]);
  return out;
}

std::string uuid(base::Random& random) {
  return fmt::format("{}-{}-{}-{}-{}", hex(random, 8), hex(random, 4), hex(random, 4),
                     hex(random, 4), hex(random, 12));
}

std::string word(base::Random& random, int letters) {
  std::string out;
  for (int i = 0; i < letters; ++i) out.push_back(static_cast<char>('a' + random.below(26)));
  return out;
}

struct Item {
  std::string kept;  // as it must read back
  std::string sent;  // with managedFields
};

// One object; the same for the same number and version. What is of its deployment comes from a seed
// of its own.
class Corpus {
 public:
  Corpus(std::string kind, std::uint64_t count) : kind_(std::move(kind)), count_(count) {}
  std::uint64_t count() const { return count_; }

  Item item(std::uint64_t i, int version) const {
    return kind_ == "small" ? small(i, version) : pod(i, version);
  }

 private:
  std::string version_of(std::uint64_t i, int version) const {
    return std::to_string(1000000 + i * 3 +
                          (i % 100 == 0 ? static_cast<std::uint64_t>(version) : 0));
  }

  Item small(std::uint64_t i, int version) const {
    base::Random random(i);
    Item out;
    out.kept = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"config-{}","namespace":"team-{}",)"
        R"("uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-0{}-1{}T1{}:{}5:00Z",)"
        R"("labels":{{"app":"service-{}","tier":"backend"}}}},"data":{{"endpoint":"https://service-{}.example.com:8443/api/v1","mode":"{}",)"
        R"("settings":"{}"}}}})",
        i, i / 1000, uuid(random), version_of(i, version), 1 + i % 9, i % 10, i % 10, i % 6,
        i / 100, i / 100, i % 3 == 0 ? "fast" : "safe", [] {
          std::string text;
          for (int line = 0; line < 14; ++line) {
            text += fmt::format("option.number.{} = default value for line {}\\n", line, line * 7);
          }
          return text;
        }());
    out.sent = out.kept;
    return out;
  }

  Item pod(std::uint64_t i, int version) const {
    const std::uint64_t deployment = i / kPodsPerDeployment;
    base::Random shared(kind_ == "hostile" ? deployment * 7919 + 1 : deployment % 400 + 1);
    base::Random own(i * 104729 + 3);
    const bool hostile = kind_ == "hostile";
    const auto free_text = [&](const char* usual, int letters) {
      return hostile ? word(shared, letters) : std::string(usual);
    };
    const std::string app = "app-" + word(shared, 8);
    const std::string owner = uuid(shared);
    const std::string image =
        fmt::format("registry.example.com/{}/{}:v1.{}", word(shared, 5), app, shared.below(40));
    const std::string digest = hex(shared, 64);
    const std::string ip = fmt::format("10.{}.{}.{}", i / 65536 % 256, i / 256 % 256, i % 256);
    std::string env;
    for (int e = 0; e < 12; ++e) {
      env += fmt::format(R"({}{{"name":"{}","value":"{}"}})", e == 0 ? "" : ",",
                         free_text("SERVICE_SETTING", 15) + std::to_string(e),
                         free_text("the-usual-value-of-it", 40));
    }
    std::string notes;
    for (int a = 0; a < (hostile ? 12 : 3); ++a) {
      notes += fmt::format(R"({}"example.com/{}":"{}")", a == 0 ? "" : ",",
                           free_text("note", 10) + std::to_string(a), free_text("some text", 60));
    }
    const std::string head = fmt::format(
        R"({{"metadata":{{"name":"{}-{}-{}","generateName":"{}-{}-","namespace":"team-{}","uid":"{}",)"
        R"("resourceVersion":"{}","creationTimestamp":"2026-11-2{}T0{}:{}:0{}Z","labels":{{"app":"{}","pod-template-hash":"{}",)"
        R"("team":"team-{}"}},"annotations":{{{}}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{}-{}",)"
        R"("uid":"{}","controller":true,"blockOwnerDeletion":true}}])",
        app, owner.substr(0, 8), word(own, 7), app, owner.substr(0, 8), deployment % 40, uuid(own),
        version_of(i, version), own.below(2), own.below(10), 10 + own.below(50), own.below(10), app,
        owner.substr(0, 8), deployment % 40, notes, app, owner.substr(0, 8), owner);
    const std::string rest = fmt::format(
        R"(}},"spec":{{"volumes":[{{"name":"kube-api-access-{}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},)"
        R"({{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}},{{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],"defaultMode":420}}}}],)"
        R"("containers":[{{"name":"main","image":"{}","args":["--port=8080","--log=info"],"ports":[{{"containerPort":8080,"protocol":"TCP"}}],"env":[{}],)"
        R"("resources":{{"limits":{{"cpu":"500m","memory":"512Mi"}},"requests":{{"cpu":"100m","memory":"128Mi"}}}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}}],)"
        R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"node-{}","securityContext":{{}},"schedulerName":"default-scheduler",)"
        R"("tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true}},)"
        R"("status":{{"phase":"Running","conditions":[{{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:00:00Z"}},{{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T08:0{}:1{}Z"}}],)"
        R"("hostIP":"192.168.{}.{}","podIP":"{}","podIPs":[{{"ip":"{}"}}],"startTime":"2026-11-20T08:00:00Z","containerStatuses":[{{"name":"main","state":{{"running":{{"startedAt":"2026-11-20T08:0{}:0{}Z"}}}},"lastState":{{}},"ready":true,"restartCount":0,)"
        R"("image":"{}","imageID":"registry.example.com@sha256:{}","containerID":"containerd://{}","started":true}}],"qosClass":"Burstable"}}}})",
        word(own, 5), image, env, own.below(200), own.below(10), own.below(10), own.below(8),
        own.below(250), ip, ip, own.below(10), own.below(10), image, digest, hex(own, 64));
    Item out;
    out.kept = R"({"apiVersion":"v1","kind":"Pod",)" + head.substr(1) + rest;
    out.sent = head + managed_fields() + rest;
    return out;
  }

  static std::string managed_fields() {
    std::string fields;
    for (int f = 0; f < 40; ++f) {
      fields +=
          fmt::format(R"({}"f:fieldNumber{}":{{"f:nested":{{}},".":{{}}}})", f == 0 ? "" : ",", f);
    }
    return fmt::format(
        R"(,"managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-11-20T08:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{{}}}}},)"
        R"({{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-11-20T08:00:10Z","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{}},"f:containerStatuses":{{}}}}}},"subresource":"status"}}])",
        fields);
  }

  std::string kind_;
  std::uint64_t count_;
};

// Sends the whole list and gives the CPU seconds that the cache took for it, and the bytes.
struct Cost {
  double cpu = 0;
  std::uint64_t bytes = 0;
};

Cost list_into(runtime::Store& store, const Corpus& corpus, int version) {
  Cost cost;
  core::ListSplitter splitter;
  std::string waiting =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)";
  const auto on_item = [&](std::string_view text) {
    if (auto prepared = store.prepare(text); prepared.ok()) store.init_apply(*prepared);
  };
  const auto send = [&](std::size_t size) {
    const double before = cpu_seconds();
    const auto fed = splitter.feed(std::string_view(waiting).substr(0, size), on_item);
    cost.cpu += cpu_seconds() - before;
    if (!fed.ok()) std::abort();
    cost.bytes += size;
    waiting.erase(0, size);
  };
  store.begin_init();
  for (std::uint64_t i = 0; i < corpus.count(); ++i) {
    if (i > 0) waiting += ",";
    waiting += corpus.item(i, version).sent;
    while (waiting.size() >= kChunk) send(kChunk);
    // As the loop does between two turns.
    if (i % 200 == 0) {
      const double before = cpu_seconds();
      store.compact_some(200);
      cost.cpu += cpu_seconds() - before;
    }
  }
  waiting += "]}";
  send(waiting.size());
  if (!splitter.finish().ok()) std::abort();
  const double before = cpu_seconds();
  store.finish_init("9", nullptr);
  while (store.compact_some(1000)) {
  }
  malloc_trim(0);
  cost.cpu += cpu_seconds() - before;
  return cost;
}

std::uint64_t read_back(const runtime::Store& store, const Corpus& corpus, int version,
                        bool metadata) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < corpus.count(); ++i) {
    const Item item = corpus.item(i, version);
    const auto meta = core::parse_meta(item.kept);
    const auto object = store.get(meta->key());
    std::string wanted = item.kept;
    if (metadata) wanted.erase(wanted.find(",\"spec\":")).push_back('}');
    if (!object || object->json != wanted) ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bench_store pods|hostile|small|metadata COUNT\n";
    return 2;
  }
  const std::string kind = argv[1];
  const Corpus corpus(kind, std::strtoull(argv[2], nullptr, 10));
  runtime::StoreOptions options;
  options.type = {"", "v1", "Pod"};
  if (kind == "metadata") options.content = core::Content::metadata;
  runtime::Store store(options);
  const double base_mb = status_mb("VmRSS");
  const Cost first = list_into(store, corpus, 0);
  const auto stats = store.stats();
  const double steady = status_mb("VmRSS");
  fmt::print("{} {}: {:.2f} KB each as sent, {:.2f} kept, {:.0f} B held each, {} dictionaries\n",
             kind, stats.objects,
             static_cast<double>(first.bytes) / 1024 / static_cast<double>(corpus.count()),
             static_cast<double>(stats.json_bytes) / 1024 / static_cast<double>(corpus.count()),
             static_cast<double>(stats.held_bytes) / static_cast<double>(corpus.count()),
             stats.dictionaries);
  fmt::print("list: {:.2f} s CPU ({:.0f} MB/s), RSS {:.1f} MB (empty {:.1f}), peak {:.1f} MB\n",
             first.cpu, static_cast<double>(first.bytes) / 1e6 / first.cpu, steady, base_mb,
             status_mb("VmHWM"));
  reset_peak();
  const Cost again = list_into(store, corpus, 1);
  const double peak = status_mb("VmHWM");
  fmt::print("relist, 1 % changed: {:.2f} s CPU, peak {:.1f} MB = {:.2f}x, RSS after {:.1f} MB\n",
             again.cpu, peak, peak / steady, status_mb("VmRSS"));
  const double before = cpu_seconds();
  const std::uint64_t wrong = read_back(store, corpus, 1, kind == "metadata");
  fmt::print("read back: {} differ, {:.2f} s CPU with making what to compare with\n", wrong,
             cpu_seconds() - before);
  return wrong == 0 ? 0 : 1;
}

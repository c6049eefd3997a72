// What a cache costs: bytes of a LIST through the splitter into a store, then a relist of which one
// object in a hundred has changed, then single updates with somebody listening, then all objects
// read back and compared with what was sent. CPU
// of the cache alone; memory as the kernel sees it, less the corpus itself. No network: bench_cache
// has one.
//
//   bench_store realistic|hostile|small|metadata COUNT
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "bench/corpus.hpp"
#include "bench/readback.hpp"
#include "core/list_splitter.hpp"
#include "runtime/store.hpp"
#include "runtime/store_ingest.hpp"

using namespace kubewatch;

namespace {

constexpr std::size_t kChunk = 16U << 10U;

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

// Sends the whole list and gives the CPU seconds that the cache took for it, and the bytes.
struct Cost {
  double cpu = 0;
  std::uint64_t bytes = 0;
};

Cost list_into(runtime::Store& store, const bench::Corpus& corpus) {
  Cost cost;
  const double begin = cpu_seconds();
  core::ListSplitter splitter;
  const auto on_item = [&](std::string_view text) {
    if (auto prepared = store.prepare(text); prepared.ok()) store.init_apply(*prepared);
  };
  const auto send = [&](std::string_view text) {
    for (std::size_t at = 0; at < text.size(); at += kChunk) {
      if (!splitter.feed(text.substr(at, kChunk), on_item).ok()) std::abort();
    }
    cost.bytes += text.size();
  };
  store.begin_init();
  send(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)");
  constexpr std::size_t kStep = 200;
  for (std::size_t i = 0; i < corpus.size(); i += kStep) {
    if (i > 0) send(",");
    send(corpus.items(i, std::min(corpus.size(), i + kStep)));
    store.compact_some(kStep);  // as the loop does between two turns
  }
  send("]}");
  if (!splitter.finish().ok()) std::abort();
  store.finish_init("9", nullptr);
  while (store.compact_some(1000) > 0) {
  }
  malloc_trim(0);
  cost.cpu = cpu_seconds() - begin;
  return cost;
}

// CPU seconds of one update, with what was before told as well.
double update_each(runtime::Store& store, bench::Corpus& corpus, std::uint64_t first_version) {
  const std::size_t count = std::min<std::size_t>(corpus.size(), 20000);
  double cpu = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Neighbours are siblings; a cluster does not update in the order of names.
    const std::size_t index = i * 7919 % corpus.size();
    corpus.touch(index, first_version + i, i);
    const double before = cpu_seconds();
    const auto applied = store.apply(corpus.item(index), [&](runtime::StoreChange&& change) {
      told += change.previous_json.empty() ? 0 : 1;
    });
    cpu += cpu_seconds() - before;
    if (!applied.ok()) std::abort();
  }
  if (told != count) std::abort();
  return cpu / static_cast<double>(count);
}

std::size_t read_back(const runtime::Store& store, const bench::Corpus& corpus, bool metadata) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const auto object = store.get({corpus.name(i).namespace_, corpus.name(i).name});
    std::string sent(corpus.item(i));
    if (metadata) sent = fmt::format("{{\"metadata\":{}}}", corpus.metadata(i));
    const std::string wanted = bench::without_managed_fields(sent);
    if (!object || bench::without_type(object->json) != wanted) ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  const bool metadata = kind == "metadata";
  const auto corpus_kind = bench::corpus_kind(metadata ? "realistic" : kind);
  if (!corpus_kind.ok()) {
    std::cerr << "usage: bench_store realistic|hostile|small|metadata COUNT\n";
    return 2;
  }
  bench::Corpus corpus(*corpus_kind, std::strtoull(argv[2], nullptr, 10));
  const auto count = static_cast<double>(corpus.size());
  runtime::StoreOptions options;
  options.type = {"", "v1", "Pod"};
  if (metadata) options.content = core::Content::metadata;
  malloc_trim(0);
  const double base = status_mb("VmRSS");
  runtime::Store store(options);
  const Cost first = list_into(store, corpus);
  const auto stats = store.stats();
  const double steady = status_mb("VmRSS") - base;
  fmt::print("{} {}: {:.2f} KB each as sent, {:.2f} kept, {:.0f} B held each, {} dictionaries\n",
             kind, stats.objects, static_cast<double>(first.bytes) / 1024 / count,
             static_cast<double>(stats.json_bytes) / 1024 / count,
             static_cast<double>(stats.held_bytes) / count, stats.dictionaries);
  fmt::print("list: {:.2f} s CPU ({:.0f} MB/s), {:.1f} MB beyond the corpus\n", first.cpu,
             static_cast<double>(first.bytes) / 1e6 / first.cpu, steady);
  for (std::size_t i = 0; i < corpus.size(); i += 100) {
    corpus.touch(i, bench::Corpus::kFirstVersion + corpus.size() + i, i);
  }
  reset_peak();
  const Cost again = list_into(store, corpus);
  const double peak = status_mb("VmHWM") - base;
  fmt::print("relist, 1 % changed: {:.2f} s CPU, peak {:.1f} MB = {:.2f}x, after it {:.1f} MB\n",
             again.cpu, peak, peak / steady, status_mb("VmRSS") - base);
  if (!metadata) {
    const double each =
        update_each(store, corpus, bench::Corpus::kFirstVersion + 2 * corpus.size());
    fmt::print("update: {:.1f} us CPU each, what was before told as well\n", each * 1e6);
  }
  const double before = cpu_seconds();
  const std::size_t wrong = read_back(store, corpus, metadata);
  fmt::print("read back: {} differ, {:.2f} s CPU with making what to compare with\n", wrong,
             cpu_seconds() - before);
  return wrong == 0 ? 0 : 1;
}

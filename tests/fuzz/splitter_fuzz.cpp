// P4: a byte stream gives the same documents, and the same kind of end, for every chunking.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/watch_event.hpp"

namespace {

using kubewatch::core::JsonSplitter;

struct Outcome {
  std::vector<std::string> documents;
  bool ok = true;
  bool operator==(const Outcome&) const = default;
};

Outcome split(std::string_view bytes, std::size_t chunk) {
  constexpr std::size_t kLimit = 4096;
  JsonSplitter splitter(kLimit);
  Outcome out;
  for (std::size_t at = 0; at < bytes.size() && out.ok; at += chunk) {
    out.ok = splitter
                 .feed(bytes.substr(at, chunk),
                       [&](std::string_view document) { out.documents.emplace_back(document); })
                 .ok();
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = split(bytes, size);
  const std::size_t chunk = 1 + data[0] % 16U;
  if (!(split(bytes, 1) == whole) || !(split(bytes, chunk) == whole)) std::abort();
  for (const std::string& document : whole.documents) {
    const auto event = kubewatch::core::parse_watch_event(document);
    if (event.ok() && event->object.empty()) std::abort();
  }
  return 0;
}

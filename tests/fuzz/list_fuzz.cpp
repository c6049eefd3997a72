// P4: a list gives the same items, and the same kind of end, for every chunking.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/json_cut.hpp"
#include "core/list_splitter.hpp"

namespace {

struct Outcome {
  std::vector<std::string> items;
  std::string end;
  bool operator==(const Outcome&) const = default;
};

Outcome split(std::string_view bytes, std::size_t chunk) {
  kubewatch::core::ListSplitter splitter(4096);
  Outcome out;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const auto fed = splitter.feed(bytes.substr(at, chunk), [&](std::string_view item) {
      if (item.empty()) std::abort();
      out.items.emplace_back(item);
    });
    if (fed.ok()) continue;
    out.end = "broken";
    return out;
  }
  const auto page = splitter.finish();
  out.end = page.ok() ? page->kind + page->resource_version + page->continue_token : "broken";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = split(bytes, size);
  if (!(split(bytes, 1) == whole) || !(split(bytes, 1 + data[0] % 90U) == whole)) std::abort();
  const kubewatch::core::JsonCutter cutter({{"/a", "/metadata/managedFields"}, {}, "/b/0"});
  for (const std::string& item : whole.items) {
    const auto cut = cutter.cut(item, 200);
    if (cut.ok() && cut->json.size() > item.size()) std::abort();
  }
  return 0;
}

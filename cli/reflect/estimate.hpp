// --estimate: what the cache of a kind will cost, from one page of it that real caches are fed
// with, and what would make it cheaper. Pure; the page is the verb's to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "core/list_splitter.hpp"
#include "runtime/store_options.hpp"

namespace kubewatch::cli {

struct Sample {
  std::string type;  // "pods"
  std::vector<std::string> items;
  std::uint64_t remaining = 0;  // objects that are not in the sample
  bool remaining_known = true;  // a server does not count what a selector chooses
};

// Takes the items of a page as they come. However large they are, no more of them are kept than
// `budget` bytes, but one at least; the others are counted.
class Sampler {
 public:
  explicit Sampler(std::string type, std::size_t budget = 64U << 20U) : budget_(budget) {
    sample_.type = std::move(type);
  }
  void add(std::string_view item);
  // The end of the page; nothing follows.
  Sample finish(const core::ListPage& page);

 private:
  std::size_t budget_;
  std::uint64_t left_out_ = 0;
  Sample sample_;
};

// One way to keep the kind.
struct Cost {
  std::string how;              // "as asked", "--metadata-only", "--strip .status", "-l app=web"
  double share = 1;             // of the objects
  double json_per_object = 0;   // bytes that a list sends for each
  double cache_per_object = 0;  // bytes that the cache holds for each
};

struct Estimate {
  std::string type;
  std::uint64_t sampled = 0;
  std::uint64_t objects = 0;
  bool exact_count = true;
  std::vector<Cost> costs;  // the first: as asked
  double list_bytes(const Cost& cost) const {
    return static_cast<double>(objects) * cost.share * cost.json_per_object;
  }
  double cache_bytes(const Cost& cost) const {
    return static_cast<double>(objects) * cost.share * cost.cache_per_object;
  }
};

// `asked`: how the user wants to keep it; alternatives are on top of that.
Estimate estimate(const Sample& sample, const runtime::StoreOptions& asked);
std::string estimate_text(const std::vector<Estimate>& all);
Json estimate_json(const std::vector<Estimate>& all);

}  // namespace kubewatch::cli

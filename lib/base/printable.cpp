#include "base/printable.hpp"

#include <algorithm>
#include <iterator>

namespace kubewatch::base {

namespace {

struct PrintableRun {
  char32_t first;
  char32_t count;
};

constexpr PrintableRun kPrintableRuns[] = {
#include "base/printable.inc"
};

}  // namespace

bool is_print(char32_t code) {
  if (code < 0x80) return code >= U' ' && code != 0x7F;
  const auto* after =
      std::upper_bound(std::begin(kPrintableRuns), std::end(kPrintableRuns), code,
                       [](char32_t wanted, const PrintableRun& run) { return wanted < run.first; });
  if (after == std::begin(kPrintableRuns)) return false;
  const PrintableRun& run = *std::prev(after);
  return code - run.first < run.count;
}

}  // namespace kubewatch::base

// What a run of the checker found: the first violation by the name of its guarantee, how often each
// guarantee was checked and each fault happened, and the trace. A guarantee that was never checked
// and a fault that never happened prove nothing, so both are counted.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace kubewatch::model {

// The first five are etcd's watch guarantees, as the subscriber of a reflector sees them.
enum class Guarantee {
  ordered,       // versions told while watching only grow
  unique,        // nothing is told twice, nothing that did not change
  reliable,      // between two told events of a watch there was no other
  resumable,     // a watch starts where the subscriber stands: not behind, not ahead
  bookmarkable,  // at a bookmark all that came before it has been told
  net_change,    // P1: after a gap exactly the differences, with the last known state, marked
  whole_list,    // P2: readers never see a part of a list, nothing before the first sync
  exact_cache,   // P2: the cache and its indexes are the server's state at its resourceVersion
  converges,     // P3: after the faults every watch is true again within bounded time
  independent,   // P3: the backoff of one watch is its own failures' alone
  request_rate,  // P3: bounded requests a minute, Retry-After kept, an expired version not repeated
  told,          // P3: each failure is told once, with where, and counted
  same_result,   // P4: the same in any pieces, and by list, pages, streaming list and watch
  runs_after,    // P7: a run starts after the last change, in bounded time
  one_at_a_time,  // P7: never two runs of one key, never more than the limit, none before the sync
};
inline constexpr std::size_t kGuarantees = 15;
inline constexpr std::array<const char*, kGuarantees> kGuaranteeNames = {
    "ordered",      "unique",     "reliable",    "resumable",  "bookmarkable",
    "net change",   "whole list", "exact cache", "converges",  "independent",
    "request rate", "told",       "same result", "runs after", "one at a time"};

struct Verdict {
  std::string violation;  // "" while all is well
  std::array<std::uint64_t, kGuarantees> checked{};
  std::map<std::string, std::uint64_t> faults;
  bool tracing = false;
  std::vector<std::string> lines;

  bool ok() const { return violation.empty(); }
  // `describe` is called on a violation only.
  template <class Describe>
  void expect(Guarantee guarantee, bool holds, Describe&& describe) {
    const auto index = static_cast<std::size_t>(guarantee);
    ++checked[index];
    if (holds || !ok()) return;
    violation = fmt::format("{}: {}", kGuaranteeNames[index], describe());
    if (tracing) lines.push_back("VIOLATION " + violation);
  }
  void fault(TimePoint now, const char* name, const std::string& where) {
    ++faults[name];
    trace(now, [&] { return fmt::format("{}: {}", where, name); });
  }
  template <class Describe>
  void trace(TimePoint now, Describe&& describe) {
    if (!tracing) return;
    lines.push_back(fmt::format(
        "{:>9.3f} {}", static_cast<double>(now.time_since_epoch().count()) / 1000.0, describe()));
  }
};

}  // namespace kubewatch::model

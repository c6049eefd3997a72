// The outcome of a replay as text and as JSON.
#include <fmt/format.h>

#include "base/strings.hpp"
#include "rehearsal/replay.hpp"

namespace kubewatch::rehearsal {

namespace {

std::string count(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Names and messages are the recording's and the hooks': none may end a line and begin another.
std::string line(std::string_view text) {
  return base::escape_for_terminal(text);
}

}  // namespace

std::string text_of(const ReplayReport& report, const std::string& name) {
  std::string out;
  for (const ReplayDifference& one : report.differences) {
    out += fmt::format("{}: {} {}\n--- recorded\n+++ replayed\n{}", line(one.change),
                       line(one.verb), line(one.object), one.diff);
  }
  for (const std::string& run : report.failed_runs) out += "failed run: " + line(run) + "\n";
  for (const std::string& one : report.notes) out += "note: " + line(one) + "\n";
  out += fmt::format("{}: {} replayed, {} recorded, {} replayed, {} recorded, {}\n", line(name),
                     count(report.events, "event"), count(report.recorded_runs, "run"),
                     report.replayed_runs, count(report.recorded_writes, "write"),
                     count(report.differences.size(), "difference"));
  return out;
}

Json json_of(const ReplayReport& report) {
  Json differences = Json::array();
  for (const ReplayDifference& one : report.differences) {
    differences.push_back({{"change", one.change},
                           {"verb", one.verb},
                           {"path", one.path},
                           {"object", one.object},
                           {"diff", one.diff}});
  }
  Json out = {{"equal", report.differences.empty()},
              {"events", report.events},
              {"runs", {{"recorded", report.recorded_runs}, {"replayed", report.replayed_runs}}},
              {"writes", report.recorded_writes},
              {"differences", std::move(differences)},
              {"failedRuns", report.failed_runs},
              {"notes", report.notes}};
  if (!report.early.empty()) out["endsEarly"] = report.early;
  return out;
}

}  // namespace kubewatch::rehearsal

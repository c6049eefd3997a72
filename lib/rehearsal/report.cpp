#include "rehearsal/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/xml_text.hpp"

namespace kubewatch::rehearsal {

namespace {

using base::xml_text;

constexpr std::size_t kShownLog = 15;

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000.0;
}

std::string counts(const CaseReport& report) {
  std::string out = fmt::format("{:.1f}s, {} run{}", seconds(report.real), report.runs,
                                report.runs == 1 ? "" : "s");
  if (report.interruptions > 0) out += fmt::format(", {} interruptions", report.interruptions);
  if (!report.note.empty()) out += ", " + report.note;
  return out;
}

std::string junit_case(const CaseReport& report) {
  std::string out = fmt::format(
      "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\" time=\"{:.3f}\"",
      xml_text(report.name), xml_text(report.file), xml_text(report.file), report.line,
      seconds(report.real));
  if (report.failures.empty()) return out + "/>\n";
  std::string all;
  for (const Failure& failure : report.failures) {
    all += failure.place + ": " + failure.message + "\n";
  }
  for (const std::string& run : report.failed_runs) all += "failed run: " + run + "\n";
  out += fmt::format(">\n      <failure message=\"{}\">{}</failure>\n",
                     xml_text(report.failures.front().message), xml_text(all));
  std::string log;
  for (const std::string& line : report.log) log += line + "\n";
  if (!log.empty()) out += "      <system-err>" + xml_text(log) + "</system-err>\n";
  return out + "    </testcase>\n";
}

}  // namespace

std::string text_of(const CaseReport& report) {
  std::string out = fmt::format("{}  {}:{}  {} ({})\n", report.failures.empty() ? "ok  " : "FAIL",
                                report.file, report.line, report.name, counts(report));
  for (const Failure& failure : report.failures) {
    out += fmt::format("      {}: {}\n", failure.place, failure.message);
  }
  if (report.failures.empty()) return out;
  for (const std::string& run : report.failed_runs) out += "      failed run: " + run + "\n";
  if (report.log.empty()) return out;
  out += "      log:\n";
  const std::size_t left_out = report.log.size() - std::min(report.log.size(), kShownLog);
  if (left_out > 0) out += fmt::format("        ({} lines before)\n", left_out);
  for (std::size_t i = left_out; i < report.log.size(); ++i) {
    out += "        " + report.log[i] + "\n";
  }
  return out;
}

std::string summary_of(const std::vector<CaseReport>& reports) {
  const auto failed = std::count_if(reports.begin(), reports.end(),
                                    [](const auto& report) { return !report.failures.empty(); });
  return fmt::format("{} case{}, {} failed\n", reports.size(), reports.size() == 1 ? "" : "s",
                     failed);
}

Json json_of(const std::vector<CaseReport>& reports) {
  Json cases = Json::array();
  std::size_t failed = 0;
  for (const CaseReport& report : reports) {
    Json failures = Json::array();
    for (const Failure& failure : report.failures) {
      failures.push_back({{"place", failure.place}, {"message", failure.message}});
    }
    failed += report.failures.empty() ? 0 : 1;
    cases.push_back({{"name", report.name},
                     {"file", report.file},
                     {"line", report.line},
                     {"ok", report.failures.empty()},
                     {"seconds", seconds(report.real)},
                     {"runs", report.runs},
                     {"interruptions", report.interruptions},
                     {"note", report.note},
                     {"failures", std::move(failures)},
                     {"failedRuns", report.failed_runs},
                     {"log", report.log}});
  }
  return {{"cases", std::move(cases)}, {"failed", failed}};
}

// One suite for each file, in order.
std::string junit_of(const std::vector<CaseReport>& reports) {
  std::vector<std::string> files;
  std::map<std::string, std::vector<const CaseReport*>> by_file;
  for (const CaseReport& report : reports) {
    if (by_file[report.file].empty()) files.push_back(report.file);
    by_file[report.file].push_back(&report);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const std::string& file : files) {
    Duration total{0};
    std::size_t failed = 0;
    std::string cases;
    for (const CaseReport* report : by_file[file]) {
      total += report->real;
      failed += report->failures.empty() ? 0 : 1;
      cases += junit_case(*report);
    }
    out += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n",
                       xml_text(file), by_file[file].size(), failed, seconds(total)) +
           cases + "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace kubewatch::rehearsal

// What a wait tells at its end, as text, JSON, JUnit XML or GitHub annotations. Pure: renders.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/time.hpp"
#include "runtime/wait_judge.hpp"

namespace kubewatch::cli {

struct WaitReport {
  std::string outcome;  // met, timedOut, failed, invalid, deleted, notFound, forbidden,
                        // unreachable, interrupted, error
  int exit_code = 0;
  Duration elapsed{0};
  std::vector<std::string> wanted;
  bool any = false;
  std::vector<std::string> fail_if;
  std::string message;  // of all together: too few objects, held too short, the error; may be empty
  std::vector<runtime::WaitedObject> objects;
  bool several_namespaces = false;  // lines name the namespace too

  // The lines of an object that explain why it is not met: what is seen, wanted, by which rule, and
  // the cause. Not escaped.
  std::string line_of(const runtime::WaitedObject& object) const;
  // The same for a terminal or a CI's log: escaped, nothing of the server's begins a line.
  std::string lines_of(const runtime::WaitedObject& object) const;
  bool decides(const runtime::WaitedObject& object) const;
};

// Lines for stdout ("pod/a condition met") and for stderr ("error: ..."), escaped.
std::string met_lines(const WaitReport& report);
std::string error_lines(const WaitReport& report);
// kind: WaitReport, apiVersion: kubewatch.dev/v1; cli/verbs/wait_condition.md describes it.
Json report_json(const WaitReport& report);
std::string report_junit(const WaitReport& report);
std::string report_github(const WaitReport& report);

}  // namespace kubewatch::cli

// Counts what runs and requests do, keeps what hooks report, and writes both down with the facts of
// the moment. No I/O; owned by engine, told by runs.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "client/request_observer.hpp"
#include "hooks/facts.hpp"
#include "hooks/metric_store.hpp"
#include "hooks/once_per.hpp"
#include "hooks/result_extras.hpp"

namespace kubewatch::loop {
class EventLoop;
}

namespace kubewatch::hooks {

struct RunRecord;

// Of the whole process; read by whoever calls text().
struct ProcessFacts {
  bool ready = false;
  std::uint64_t slow_turns = 0;
  Duration longest_turn{0};
  std::uint64_t spans_sent = 0;
  std::uint64_t spans_dropped = 0;
  double cpu_seconds = 0;
  double resident_bytes = 0;
};
// cpu_seconds and resident_bytes of this process, from the kernel; the rest untouched.
void read_process(ProcessFacts& out);
// All but the spans.
ProcessFacts process_facts(const loop::EventLoop& loop, bool ready);

using OnMetric = std::function<void(const std::string& controller, const HookMetric& metric)>;

class Metrics : public client::RequestObserver {
 public:
  Metrics();

  void run_ended(const RunRecord& run, TimePoint now);
  // What the processes of a run used, where they were its own.
  void run_used(const std::string& controller, double cpu_seconds, double max_rss_bytes,
                TimePoint now);
  void loop_found(const std::string& controller, TimePoint now);
  // What a hook printed; what cannot be taken is counted, and told once a minute. `taken` (may be
  // empty) hears of the rest.
  void hook_reported(const std::string& controller, const std::vector<HookMetric>& metrics,
                     TimePoint now, const OnMetric& taken = nullptr);
  // One of them was not to be reported: counted and told as what cannot be taken.
  void hook_refused(const std::string& controller, const std::string& why, TimePoint now);
  // Reads are not counted.
  void on_request(const client::RequestFacts& request) override;

  std::string text(const EngineFacts& facts, const ProcessFacts& process, TimePoint now);

 private:
  void begin_counters(const std::string& controller, TimePoint now);
  void count(const std::string& name, const MetricLabels& labels, double value, TimePoint now);

  MetricStore own_;
  std::set<std::string> begun_;  // controllers whose counters there are
  MetricStore hooks_;
  OncePer told_{Duration{60000}};
};

// The label `result` of a write that was answered with this status; 0: not at all.
std::string_view write_result(int status);

}  // namespace kubewatch::hooks

// The status of Jobs. Most is looked at only where it changes: a status that was taken once, or
// that a change of the spec made wrong, stands in nobody's way.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.hpp"
#include "base/time.hpp"
#include "builtin/validation_kinds.hpp"
#include "core/go_json.hpp"

namespace kubewatch::builtin {

namespace {

bool has_condition(const Field& status, std::string_view type, std::string_view is = "True") {
  const auto conditions = status["conditions"].items();
  return std::any_of(conditions.begin(), conditions.end(), [&](const Field& one) {
    return one["type"].is(type) && one["status"].is(is);
  });
}

bool is_complete(const Field& status) {
  return has_condition(status, "Complete");
}

bool is_failed(const Field& status) {
  return has_condition(status, "Failed");
}

bool is_finished(const Field& status) {
  return is_complete(status) || is_failed(status);
}

// As strconv.Atoi reads it, which takes a plus.
std::optional<std::int64_t> read_index(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto end = std::from_chars(text.data(), last, value);
  if (text.empty() || text[0] == '-' || end.ptr != last || end.ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::string not_increasing(std::int64_t before, std::int64_t now) {
  return fmt::format("non-increasing order, previous: {}, current: {}", before, now);
}

// "3" or "5-7". Errors: invalid, in the server's words.
Result<Interval> read_interval(const std::string& text, std::int64_t completions) {
  const auto parts = base::split(text, '-');
  const auto wrong = [](const std::string& why) { return Error(ErrorKind::invalid, why); };
  if (parts.size() > 2) {
    return wrong(
        fmt::format("the fragment {} violates the requirement that an index interval can "
                    "have at most two parts separated by '-'",
                    go_quoted(text)));
  }
  std::vector<std::int64_t> limits;
  for (const auto& part : parts) {
    const auto index = read_index(part);
    if (!index) return wrong("cannot convert string to integer for index: " + go_quoted(part));
    if (*index >= completions) return wrong("too large index: " + go_quoted(part));
    limits.push_back(*index);
  }
  if (limits.size() == 2 && limits[0] >= limits[1]) {
    return wrong(not_increasing(limits[0], limits[1]));
  }
  return Interval{limits.front(), limits.back()};
}

}  // namespace

Result<std::int64_t> count_indexes(const std::string& text, std::int64_t completions) {
  std::int64_t total = 0;
  if (text.empty()) return total;
  std::optional<std::int64_t> last;
  for (const auto& part : base::split(text, ',')) {
    KW_ASSIGN(const Interval interval, read_interval(std::string(part), completions));
    if (last && *last >= interval.first) {
      return Error(ErrorKind::invalid, not_increasing(*last, interval.first));
    }
    total += interval.last - interval.first + 1;
    last = interval.last;
  }
  return total;
}

namespace {

// Those that can be read, as they come.
std::vector<Interval> intervals_in(const std::string& text, std::int64_t completions) {
  std::vector<Interval> out;
  for (const auto& part : base::split(text, ',')) {
    if (const auto one = read_interval(std::string(part), completions)) out.push_back(*one);
  }
  return out;
}

std::optional<std::int64_t> overlap(const std::string& completed, const std::string& failed,
                                    std::int64_t completions) {
  if (completed.empty() || failed.empty()) return std::nullopt;
  const auto left = intervals_in(completed, completions);
  const auto right = intervals_in(failed, completions);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].first <= right[j].last && right[j].first <= left[i].last) {
      return std::max(left[i].first, right[j].first);
    }
    ++(left[i].first <= right[j].first ? i : j);
  }
  return std::nullopt;
}

// In the form of the server's own type.
std::string uncounted_text(const Field& pods) {
  const auto list = [&](const char* key) {
    return pods[key].present() ? core::go_json(*pods[key].json()) : "null";
  };
  return fmt::format("{{\"Succeeded\":{},\"Failed\":{}}}", list("succeeded"), list("failed"));
}

void check_uncounted(const Field& pods) {
  std::set<std::string> seen;
  for (const char* key : {"succeeded", "failed"}) {
    for (const Field& uid : pods[key].items()) {
      if (uid.empty()) {
        uid.invalid("must not be empty");
      } else if (!seen.insert(uid.text()).second) {
        uid.duplicate();
      }
    }
  }
}

class JobStatus {
 public:
  JobStatus(const Field& object, const Json& live)
      : spec_(object["spec"]),
        status_(object["status"]),
        before_(Field(live, object.errors())["status"]) {}

  void check() const;

 private:
  bool changed(const char* key) const { return !same_field(status_[key], before_[key]); }
  bool changed_condition(const char* type) const {
    return has_condition(status_, type) != has_condition(before_, type);
  }
  bool changed_finish() const { return is_finished(status_) != is_finished(before_); }
  void conditions(const std::string& detail) const { status_["conditions"].invalid_untold(detail); }
  void not_both(const char* one, const char* other, const char* told) const;

  void check_counts() const;
  void check_completion() const;
  void check_earlier_conditions() const;
  void check_finished() const;
  void check_indexes() const;
  void check_pods() const;
  void check_success() const;
  void check_transition() const;
  void check_success_transition() const;

  Field spec_;
  Field status_;
  Field before_;
};

void JobStatus::check_counts() const {
  for (const char* key : {"active", "succeeded", "failed", "ready", "terminating"}) {
    status_[key].not_negative();
  }
  check_uncounted(status_["uncountedTerminatedPods"]);
}

void JobStatus::not_both(const char* one, const char* other, const char* told) const {
  if (!has_condition(status_, one) || !has_condition(status_, other)) return;
  conditions(fmt::format("cannot set {} conditions", told));
}

void JobStatus::check_completion() const {
  const bool complete = changed_condition("Complete");
  if (complete || changed_condition("Failed")) {
    not_both("Complete", "Failed", "Complete=True and Failed=true");
  }
  if (complete || changed_condition("FailureTarget")) {
    not_both("Complete", "FailureTarget", "Complete=True and FailureTarget=true");
  }
  const Field end = status_["completionTime"];
  if (complete || changed("completionTime")) {
    if (end.present() && !is_complete(status_)) {
      end.invalid("cannot set completionTime when there is no Complete=True condition");
    }
    if (!end.present() && is_complete(status_)) {
      end.required("completionTime is required for Complete jobs");
    }
  }
  if (!changed("startTime") && !changed("completionTime")) return;
  const auto started = base::parse_rfc3339(status_["startTime"].text());
  const auto ended = base::parse_rfc3339(end.text());
  if (started && ended && *ended < *started) end.invalid("must be equal to or after `startTime`");
}

void JobStatus::check_earlier_conditions() const {
  if ((changed_condition("Failed") || changed("failedIndexes")) && is_failed(status_) &&
      !has_condition(status_, "FailureTarget")) {
    conditions("cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if ((changed_condition("Complete") || changed_condition("SuccessCriteriaMet")) &&
      is_complete(status_) && !has_condition(status_, "SuccessCriteriaMet")) {
    conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
}

void JobStatus::check_finished() const {
  if (!is_finished(status_)) return;
  const Field active = status_["active"];
  if ((changed_finish() || changed("active")) && active.number_or(0) > 0) {
    active.invalid("active>0 is invalid for finished job");
  }
  const bool never_started =
      spec_["suspend"].is_true() && spec_["completions"].number() == std::int64_t{0};
  const Field start = status_["startTime"];
  if ((changed_finish() || changed("startTime")) && !never_started && !start.present()) {
    start.required("startTime is required for finished job");
  }
  const Field pods = status_["uncountedTerminatedPods"];
  if ((changed_finish() || changed("uncountedTerminatedPods")) &&
      !(pods["succeeded"].empty() && pods["failed"].empty())) {
    pods.invalid_as(uncounted_text(pods), "must be empty for finished job");
  }
}

void JobStatus::check_indexes() const {
  const Field completed = status_["completedIndexes"];
  const Field failed = status_["failedIndexes"];
  const bool new_completed = completed.text() != before_["completedIndexes"].text();
  // An empty text is not an absent one.
  const bool new_failed = failed.present() != before_["failedIndexes"].present() ||
                          failed.text() != before_["failedIndexes"].text();
  const auto completions = spec_["completions"].number();
  const bool per_index = spec_["backoffLimitPerIndex"].present();
  const auto check_format = [&](const Field& indexes, const char* name) {
    const auto counted = count_indexes(indexes.text(), *completions);
    if (counted.ok()) return;
    indexes.invalid_text(fmt::format("error parsing {}: {}", name, counted.error().message()));
  };
  if (new_completed && completions) check_format(completed, "completedIndexes");
  if (new_failed && completions && per_index) check_format(failed, "failedIndexes");
  if (new_completed && !completed.empty() && !spec_["completionMode"].is("Indexed")) {
    completed.invalid("cannot set non-empty completedIndexes when non-indexed completion mode");
  }
  if (new_failed && failed.present() && !per_index) {
    failed.invalid("cannot set non-null failedIndexes when backoffLimitPerIndex is null");
  }
  if (!(new_completed || new_failed) || !completions || !failed.present()) return;
  if (const auto both = overlap(completed.text(), failed.text(), *completions)) {
    failed.invalid(fmt::format("failedIndexes and completedIndexes overlap at index: {}", *both));
  }
}

void JobStatus::check_pods() const {
  const Field terminating = status_["terminating"];
  if ((changed_finish() || changed("terminating")) && terminating.number_or(0) > 0 &&
      is_finished(status_)) {
    terminating.invalid("terminating>0 is invalid for finished job");
  }
  const Field ready = status_["ready"];
  if ((changed("ready") || changed("active")) && ready.present() &&
      ready.number_or(0) > status_["active"].number_or(0)) {
    ready.invalid("cannot set more ready pods than active");
  }
}

void JobStatus::check_success() const {
  not_both("SuccessCriteriaMet", "Failed", "SuccessCriteriaMet=True and Failed=true");
  not_both("SuccessCriteriaMet", "FailureTarget", "SuccessCriteriaMet=True and FailureTarget=true");
  if (spec_["successPolicy"].present() && is_complete(status_) &&
      !has_condition(status_, "SuccessCriteriaMet")) {
    conditions(
        "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

void JobStatus::check_transition() const {
  for (const char* type : {"Failed", "Complete", "FailureTarget"}) {
    if (!has_condition(before_, type) || has_condition(status_, type)) continue;
    conditions(fmt::format("cannot disable the terminal {}=True condition", type));
  }
  const auto may_not_decrease = [&](const char* key) {
    const std::int64_t now = status_[key].number_or(0);
    if (now >= before_[key].number_or(0)) return;
    status_[key].invalid_as(std::to_string(now),
                            fmt::format("cannot decrease the {} counter", key));
  };
  may_not_decrease("failed");
  // An Indexed Job may be scaled down, by both numbers at once.
  const bool scales = spec_["completionMode"].is("Indexed") &&
                      spec_["completions"].number() == spec_["parallelism"].number();
  if (!scales) may_not_decrease("succeeded");
  const Field end = status_["completionTime"];
  if (end.present() && before_["completionTime"].present() && changed("completionTime")) {
    end.invalid("field is immutable");
  }
  const bool resuming =
      has_condition(before_, "Suspended") && has_condition(status_, "Suspended", "False");
  if (before_["startTime"].present() && changed("startTime") && !resuming &&
      !spec_["suspend"].is_true()) {
    status_["startTime"].invalid("field is immutable for unsuspended job once set");
  }
}

void JobStatus::check_success_transition() const {
  const bool met = has_condition(status_, "SuccessCriteriaMet");
  const bool was_met = has_condition(before_, "SuccessCriteriaMet");
  if (was_met && !met) conditions("cannot disable the SuccessCriteriaMet=True condition");
  if (is_complete(before_) && !was_met && met) {
    conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}

void JobStatus::check() const {
  check_counts();
  check_completion();
  check_earlier_conditions();
  check_finished();
  check_indexes();
  check_pods();
  check_success();
  check_transition();
  check_success_transition();
}

}  // namespace

void check_job_status(const Field& object, const Json* live) {
  if (live != nullptr) JobStatus(object, *live).check();
}

}  // namespace kubewatch::builtin

#include "cli/wait/report.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/xml_text.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/wait/view.hpp"

namespace kubewatch::cli {

namespace {

using runtime::WaitedObject;
using runtime::WaitState;

// What a terminal must not get stands there as its escape, as it does in the other reports.
std::string xml(std::string_view text) {
  return base::xml_text(base::escape_for_terminal(text, true));
}

// The escapes of workflow commands; in properties also ':' and ','.
std::string workflow(std::string_view text, bool property) {
  std::string out;
  for (const char c : base::escape_for_terminal(text, true)) {
    switch (c) {
      case '%': out += "%25"; break;
      case '\r': out += "%0D"; break;
      case '\n': out += "%0A"; break;
      case ':': out += property ? "%3A" : ":"; break;
      case ',': out += property ? "%2C" : ","; break;
      default: out += c;
    }
  }
  return out;
}

std::string seconds(Duration duration) {
  return fmt::format("{:.3f}", static_cast<double>(duration.count()) / 1000.0);
}

std::string_view state_word(const runtime::Judgement& judgement) {
  switch (judgement.state) {
    case runtime::Judgement::State::met: return "met";
    case runtime::Judgement::State::failed: return "failed";
    case runtime::Judgement::State::invalid: return "invalid";
    case runtime::Judgement::State::not_met: break;
  }
  return "notMet";
}

Json judged(const std::string& condition, const runtime::Judgement& judgement) {
  return {{"for", condition},
          {"state", std::string(state_word(judgement))},
          {"current", judgement.current},
          {"wanted", judgement.wanted},
          {"rule", judgement.rule}};
}

std::string place_of(const WaitedObject& object) {
  return object.key.namespace_.empty() ? object.str() : object.key.namespace_ + "/" + object.str();
}

}  // namespace

bool WaitReport::decides(const WaitedObject& object) const {
  if (object.state == WaitState::met) return false;
  if (outcome == "failed") return object.state == WaitState::failed;
  if (outcome == "invalid") return object.state == WaitState::invalid;
  if (outcome == "deleted") return object.state == WaitState::deleted;
  return true;
}

// Text of the server's stays in its line: a line that begins with "::" is a command to some CI.
std::string WaitReport::lines_of(const WaitedObject& object) const {
  WaitedObject flat = object;
  for (std::string* text :
       {&flat.judgement.current, &flat.judgement.wanted, &flat.judgement.rule, &flat.cause}) {
    *text = base::escape_for_terminal(*text);
  }
  return base::escape_for_terminal(line_of(flat), true);
}

std::string WaitReport::line_of(const WaitedObject& object) const {
  const auto& judgement = object.judgement;
  const std::string name = object.str() + in_namespace(object, several_namespaces);
  std::string out;
  switch (object.state) {
    case WaitState::met: return fmt::format("{}: {}", name, judgement.current);
    case WaitState::failed:
      out = fmt::format("{} failed while waiting for {}: {}", name,
                        base::join(wanted, any ? " or " : " and "), judgement.current);
      break;
    case WaitState::invalid:
      out = fmt::format("{}: {}: {}", name, object.condition, judgement.current);
      break;
    case WaitState::deleted:
      out = fmt::format("{} was deleted while waiting for {}", name, object.condition);
      break;
    default: {
      if (outcome == "failed" || outcome == "deleted" || outcome == "invalid") {
        out = fmt::format("{} was not met yet: {}: {}", name, object.condition, judgement.current);
        break;
      }
      const char* end = outcome == "timedOut" || outcome == "notFound" || outcome == "unreachable"
                            ? "timed out waiting for"
                            : "ended while waiting for";
      out = fmt::format("{} {} on {}: {}", end, object.condition, name, judgement.current);
    }
  }
  if (!judgement.wanted.empty()) {
    out += fmt::format("\n  wanted: {} (rule: {})", judgement.wanted, judgement.rule);
  }
  if (!object.cause.empty()) out += "\n  cause: " + object.cause;
  return out;
}

std::string met_lines(const WaitReport& report) {
  std::string out;
  for (const auto& object : report.objects) {
    if (object.state != WaitState::met) continue;
    out += base::escape_for_terminal(object_name(object.type, object.key.name) + " condition met" +
                                     in_namespace(object, report.several_namespaces)) +
           "\n";
  }
  return out;
}

std::string error_lines(const WaitReport& report) {
  if (report.exit_code == 0) return "";
  std::string out;
  for (const bool deciding : {true, false}) {
    for (const auto& object : report.objects) {
      if (object.state == WaitState::met || report.decides(object) != deciding) continue;
      // Nothing is known of it, and the message says why.
      if (object.state == WaitState::unknown && !report.message.empty()) continue;
      out += deciding ? "error: " : "note: ";
      out += report.lines_of(object) + "\n";
    }
  }
  if (!report.message.empty()) {
    out += "error: " + base::escape_for_terminal(report.message) + "\n";
  }
  return out;
}

Json report_json(const WaitReport& report) {
  Json objects = Json::array();
  for (const auto& object : report.objects) {
    Json conditions = Json::array();
    for (const auto& [text, judgement] : object.conditions) {
      conditions.push_back(judged(text, judgement));
    }
    Json one = {{"apiVersion", object.type.gvk.api_version()},
                {"kind", object.type.gvk.kind},
                {"resource", object.type.qualified_plural()},
                {"name", object.key.name},
                {"state", std::string(to_string(object.state))},
                {"decidedBy", judged(object.condition, object.judgement)},
                {"conditions", std::move(conditions)}};
    if (!object.key.namespace_.empty()) one["namespace"] = object.key.namespace_;
    if (!object.selector.empty()) one["selector"] = object.selector;
    if (!object.uid.empty()) one["uid"] = object.uid;
    if (!object.resource_version.empty()) one["resourceVersion"] = object.resource_version;
    if (!object.cause.empty()) one["cause"] = object.cause;
    objects.push_back(std::move(one));
  }
  Json out = {{"apiVersion", "kubewatch.dev/v1"},
              {"kind", "WaitReport"},
              {"outcome", report.outcome},
              {"exitCode", report.exit_code},
              {"elapsedMilliseconds", report.elapsed.count()},
              {"for", report.wanted},
              {"any", report.any},
              {"failIf", report.fail_if},
              {"objects", std::move(objects)}};
  if (!report.message.empty()) out["message"] = report.message;
  return out;
}

std::string report_junit(const WaitReport& report) {
  std::size_t failures = report.message.empty() || report.exit_code == 0 ? 0 : 1;
  std::string cases;
  for (const auto& object : report.objects) {
    const std::string open =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
                    xml(object.type.gvk.kind.empty()
                            ? object.type.plural  // as it was asked for: not known yet
                            : object.type.gvk.api_version() + "." + object.type.gvk.kind),
                    xml(place_of(object)), seconds(report.elapsed));
    if (object.state == WaitState::met) {
      cases += open + "/>\n";
      continue;
    }
    ++failures;
    const std::string text = report.line_of(object);
    cases += fmt::format(
        "{}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n"
        "    </testcase>\n",
        open, to_string(object.state), xml(text.substr(0, text.find('\n'))), xml(text));
  }
  if (!report.message.empty() && report.exit_code != 0) {
    cases += fmt::format(
        "    <testcase classname=\"wait-condition\" name=\"all\" time=\"{}\">\n"
        "      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
        seconds(report.elapsed), xml(report.outcome), xml(report.message));
  }
  const std::size_t tests =
      report.objects.size() + (report.message.empty() || report.exit_code == 0 ? 0 : 1);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"kubewatch wait-condition {}\" tests=\"{}\" failures=\"{}\" "
      "time=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      xml(base::join(report.wanted, report.any ? " or " : " and ")), tests, failures,
      seconds(report.elapsed), cases);
}

std::string report_github(const WaitReport& report) {
  std::string out;
  for (const auto& object : report.objects) {
    const bool met = object.state == WaitState::met;
    const char* level = met ? "notice" : report.decides(object) ? "error" : "warning";
    const std::string text = met ? "condition met" : report.line_of(object);
    out += fmt::format("::{} title={}::{}\n", level, workflow(place_of(object), true),
                       workflow(text, false));
  }
  if (!report.message.empty() && report.exit_code != 0) {
    out += fmt::format("::error title=wait-condition::{}\n", workflow(report.message, false));
  }
  return out;
}

}  // namespace kubewatch::cli

#include "builtin/autoscaling_metrics.hpp"

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "core/go_json.hpp"

namespace kubewatch::builtin {

namespace {

enum class Type { text, number, time, quantity, target, selector };
// What Go writes of an empty field: nothing, its zero, or null.
enum class Absent { left_out, zero, null };

// A field of a flat struct, in the order in which Go writes them, and where v2 has it.
struct Pair {
  const char* flat;
  std::vector<std::string_view> nested;
  Type type;
  Absent absent = Absent::left_out;
};
using Pairs = std::vector<Pair>;

struct MetricSource {
  const char* type;
  const char* key;
  Pairs spec;
  Pairs status;
};

// In the order in which Go writes them.
const std::vector<MetricSource>& metric_sources() {
  constexpr auto kZero = Absent::zero;
  static const Pair target = {"target", {"describedObject"}, Type::target, kZero};
  static const Pair metric = {"metricName", {"metric", "name"}, Type::text, kZero};
  static const Pair selector = {"selector", {"metric", "selector"}, Type::selector};
  static const Pair chosen = {"metricSelector", {"metric", "selector"}, Type::selector};
  static const Pair name = {"name", {"name"}, Type::text, kZero};
  static const Pair container = {"container", {"container"}, Type::text, kZero};
  static const auto quantity = [](const char* flat, std::string_view of, std::string_view value,
                                  Absent absent = Absent::left_out) {
    return Pair{flat, {of, value}, Type::quantity, absent};
  };
  static const Pair share = {
      "targetAverageUtilization", {"target", "averageUtilization"}, Type::number};
  static const Pair current = {
      "currentAverageUtilization", {"current", "averageUtilization"}, Type::number};
  static const Pair wanted_each = quantity("targetAverageValue", "target", "averageValue");
  static const Pair each = quantity("currentAverageValue", "current", "averageValue", kZero);
  static const std::vector<MetricSource> all = {
      {"Object",
       "object",
       {target, metric, quantity("targetValue", "target", "value", kZero), selector,
        quantity("averageValue", "target", "averageValue")},
       {target, metric, quantity("currentValue", "current", "value", kZero), selector,
        quantity("averageValue", "current", "averageValue")}},
      {"Pods",
       "pods",
       {metric, quantity("targetAverageValue", "target", "averageValue", kZero), selector},
       {metric, each, selector}},
      {"Resource", "resource", {name, share, wanted_each}, {name, current, each}},
      {"ContainerResource",
       "containerResource",
       {name, share, wanted_each, container},
       {name, current, each, container}},
      {"External",
       "external",
       {metric, chosen, quantity("targetValue", "target", "value"), wanted_each},
       {metric, chosen, quantity("currentValue", "current", "value", kZero),
        quantity("currentAverageValue", "current", "averageValue")}}};
  return all;
}

const Pairs kTargetPairs = {{"kind", {"kind"}, Type::text, Absent::zero},
                            {"name", {"name"}, Type::text, Absent::zero},
                            {"apiVersion", {"apiVersion"}, Type::text}};
const Pairs kConditionPairs = {
    {"type", {"type"}, Type::text, Absent::zero},
    {"status", {"status"}, Type::text, Absent::zero},
    {"lastTransitionTime", {"lastTransitionTime"}, Type::time, Absent::null},
    {"reason", {"reason"}, Type::text},
    {"message", {"message"}, Type::text}};
const Pairs kRulePairs = {
    {"StabilizationWindowSeconds", {"stabilizationWindowSeconds"}, Type::number, Absent::null},
    {"SelectPolicy", {"selectPolicy"}, Type::text, Absent::null}};
const Pairs kPolicyPairs = {{"Type", {"type"}, Type::text, Absent::zero},
                            {"Value", {"value"}, Type::number, Absent::zero},
                            {"PeriodSeconds", {"periodSeconds"}, Type::number, Absent::zero}};
const Pair kTolerance = {"Tolerance", {"tolerance"}, Type::quantity, Absent::null};

// Writing ----------------------------------------------------------------------------------------

// An object whose fields keep their order.
class ObjectText {
 public:
  void add(const std::string& key, const std::string& value) {
    text_ += text_.empty() ? "" : ",";
    text_ += core::go_json(Json(key)) + ":" + value;
  }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

template <class Write>
std::string list_text(const Json& list, const Write& write) {
  std::vector<std::string> out;
  for (const Json& item : list) out.push_back(write(item));
  return "[" + base::join(out, ",") + "]";
}

const Json* value_at(const Json& object, const std::vector<std::string_view>& path) {
  const Json* at = &object;
  for (const std::string_view step : path) {
    at = base::find(*at, {step});
    if (at == nullptr || at->is_null()) return nullptr;
  }
  return at;
}

const char* zero_of(const Pair& pair) {
  if (pair.absent == Absent::null) return "null";
  if (pair.type == Type::quantity) return R"("0")";
  if (pair.type == Type::number) return "0";
  return pair.type == Type::target ? R"({"kind":"","name":""})" : R"("")";
}

std::string fields_text(const Pairs& pairs, const Json& nested);

std::string selector_text(const Json& selector) {
  ObjectText out;
  for (const char* key : {"matchLabels", "matchExpressions"}) {
    const Json* part = base::find(selector, {key});
    if (part != nullptr && !part->empty()) out.add(key, core::go_json(*part));
  }
  return out.str();
}

std::string value_text(const Pair& pair, const Json& value) {
  if (pair.type == Type::target) return fields_text(kTargetPairs, value);
  if (pair.type == Type::selector) return selector_text(value);
  return core::go_json(value);
}

void add_fields(const Pairs& pairs, const Json& nested, ObjectText& out) {
  for (const Pair& pair : pairs) {
    const Json* value = value_at(nested, pair.nested);
    const bool empty = value == nullptr || (pair.type == Type::text && *value == "");
    if (!empty) {
      out.add(pair.flat, value_text(pair, *value));
    } else if (pair.absent != Absent::left_out) {
      out.add(pair.flat, zero_of(pair));
    }
  }
}

std::string fields_text(const Pairs& pairs, const Json& nested) {
  ObjectText out;
  add_fields(pairs, nested, out);
  return out.str();
}

std::string metric_text(const Json& metric, bool status) {
  ObjectText out;
  out.add("type", core::go_json(base::string_at(metric, {"type"})));
  for (const MetricSource& source : metric_sources()) {
    const Json* nested = base::find(metric, {source.key});
    if (nested == nullptr || nested->is_null()) continue;
    out.add(source.key, fields_text(status ? source.status : source.spec, *nested));
  }
  return out.str();
}

std::string rules_text(const Json* rules) {
  if (rules == nullptr || rules->is_null()) return "null";
  ObjectText out;
  add_fields(kRulePairs, *rules, out);
  const Json* policies = base::find(*rules, {"policies"});
  out.add("Policies", policies == nullptr || policies->is_null()
                          ? "null"
                          : list_text(*policies, [](const Json& policy) {
                              return fields_text(kPolicyPairs, policy);
                            }));
  add_fields({kTolerance}, *rules, out);
  return out.str();
}

// Reading ----------------------------------------------------------------------------------------

// As Go's decoder finds fields: by their names in any case.
const Json* field_of(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto exact = object.find(name);
  if (exact != object.end()) return exact->is_null() ? nullptr : &*exact;
  const std::string wanted = base::to_lower(name);
  for (const auto& [key, value] : object.items()) {
    if (base::to_lower(key) == wanted) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

// Reads what somebody else wrote, and remembers whether all of it had the types that it needs.
class Reader {
 public:
  bool fits() const { return fits_; }

  Json fields(const Pairs& pairs, const Json& flat) {
    Json out = Json::object();
    // Go reads null as the struct without anything in it.
    fits_ = fits_ && (flat.is_object() || flat.is_null());
    for (const Pair& pair : pairs) {
      const Json* value = field_of(flat, pair.flat);
      if (value == nullptr) {
        if (pair.type == Type::quantity && pair.absent == Absent::zero) place(out, pair, "0");
        if (pair.type != Type::quantity && pair.absent == Absent::zero) place_zero(out, pair);
        continue;
      }
      place(out, pair, read(pair, *value));
    }
    return out;
  }

  template <class Read>
  Json list(const Json& value, const Read& read) {
    Json out = Json::array();
    if (!value.is_array()) fits_ = false;
    if (!fits_) return out;
    for (const Json& item : value) out.push_back(read(item));
    return out;
  }

 private:
  static void place(Json& out, const Pair& pair, Json value) {
    Json* at = &out;
    for (const std::string_view step : pair.nested) at = &(*at)[std::string(step)];
    *at = std::move(value);
  }
  void place_zero(Json& out, const Pair& pair) {
    if (pair.type == Type::target) return place(out, pair, fields(kTargetPairs, Json::object()));
    place(out, pair, pair.type == Type::number ? Json(0) : Json(""));
  }

  Json read(const Pair& pair, const Json& value) {
    switch (pair.type) {
      case Type::text: fits_ = fits_ && value.is_string(); break;
      case Type::number: fits_ = fits_ && is_int32(value); break;
      case Type::time: return time(value);
      case Type::selector: return selector(value);
      case Type::target: return fields(kTargetPairs, value);
      case Type::quantity: return quantity(value);
    }
    return value;
  }

  static bool is_int32(const Json& value) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (!value.is_number_integer()) return false;
    // Beyond what is signed it would read as a negative one.
    if (value.is_number_unsigned()) {
      return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
    }
    const auto number = value.get<std::int64_t>();
    return number >= Limits::min() && number <= Limits::max();
  }

  Json text(const Json& value) {
    fits_ = fits_ && (value.is_string() || value.is_null());
    return value.is_null() ? Json("") : value;
  }

  Json selector(const Json& value) {
    Json out = Json::object();
    fits_ = fits_ && value.is_object();
    if (const Json* labels = field_of(value, "matchLabels")) {
      fits_ = fits_ && labels->is_object();
      if (!fits_) return out;
      for (const auto& [key, label] : labels->items()) out["matchLabels"][key] = text(label);
    }
    if (const Json* terms = field_of(value, "matchExpressions")) {
      Json read = list(*terms, [&](const Json& term) { return requirement(term); });
      if (!read.empty()) out["matchExpressions"] = std::move(read);
    }
    return out;
  }

  Json requirement(const Json& flat) {
    static const Pairs pairs = {{"key", {"key"}, Type::text, Absent::zero},
                                {"operator", {"operator"}, Type::text, Absent::zero}};
    Json out = fields(pairs, flat);
    if (const Json* values = field_of(flat, "values")) {
      Json read = list(*values, [&](const Json& value) { return text(value); });
      if (!read.empty()) out["values"] = std::move(read);
    }
    return out;
  }

  Json time(const Json& value) {
    const auto parsed = base::parse_rfc3339(value.is_string() ? value.get<std::string>() : "");
    if (!parsed) fits_ = false;
    return parsed ? Json(base::format_rfc3339(*parsed)) : Json();
  }

  Json quantity(const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : base::dump_json(value);
    const auto parsed = base::Quantity::parse(text);
    const auto canonical = parsed ? parsed->canonical() : std::nullopt;
    if (!canonical) fits_ = false;
    return canonical ? Json(*canonical) : Json();
  }

  bool fits_ = true;
};

bool is_zero(const Json& quantity) {
  const auto parsed =
      base::Quantity::parse(quantity.is_string() ? quantity.get<std::string>() : "");
  return parsed && parsed->sign() == 0;
}

// v1 does not say which of its values counts.
void type_target(const std::string& key, Json& source) {
  Json& target = source["target"];
  if (!target.is_object()) target = Json::object();
  const bool average = target.contains("averageValue");
  if (key == "object") {
    if (average && is_zero(target["value"])) target.erase("value");
    target["type"] = average ? "AverageValue" : "Value";
  } else if (key == "external") {
    target["type"] = target.contains("value") ? "Value" : "AverageValue";
  } else {
    target["type"] = target.contains("averageUtilization") ? "Utilization" : "AverageValue";
  }
}

Json read_metric(Reader& reader, const Json& flat, bool status) {
  static const Pairs type = {{"type", {"type"}, Type::text, Absent::zero}};
  Json out = reader.fields(type, flat);
  for (const MetricSource& source : metric_sources()) {
    const Json* value = field_of(flat, source.key);
    if (value == nullptr) continue;
    Json nested = reader.fields(status ? source.status : source.spec, *value);
    if (!status) type_target(source.key, nested);
    if (status && !nested.contains("current")) nested["current"] = Json::object();
    out[source.key] = std::move(nested);
  }
  return out;
}

Json read_metrics(const Json& v1, bool status) {
  Reader reader;
  Json out = reader.list(v1, [&](const Json& item) { return read_metric(reader, item, status); });
  return reader.fits() ? out : Json();
}

Json read_rules(Reader& reader, const Json& flat) {
  Json out = reader.fields(kRulePairs, flat);
  out.update(reader.fields({kTolerance}, flat));
  const Json* policies = field_of(flat, "Policies");
  // None is as wrong as an empty list: v2's default is not for rules that v1 tells.
  out["policies"] =
      policies == nullptr ? Json::array() : reader.list(*policies, [&](const Json& policy) {
        return reader.fields(kPolicyPairs, policy);
      });
  return out;
}

}  // namespace

std::string metrics_text(const Json& v2) {
  if (!v2.is_array() || v2.empty()) return "";
  return list_text(v2, [](const Json& metric) { return metric_text(metric, false); });
}

std::string statuses_text(const Json& v2) {
  if (!v2.is_array() || v2.empty()) return "";
  return list_text(v2, [](const Json& metric) { return metric_text(metric, true); });
}

std::string conditions_text(const Json& v2) {
  if (!v2.is_array() || v2.empty()) return "";
  return list_text(v2, [](const Json& one) { return fields_text(kConditionPairs, one); });
}

std::string behavior_text(const Json& v2) {
  if (!v2.is_object()) return "";
  ObjectText out;
  out.add("ScaleUp", rules_text(base::find(v2, {"scaleUp"})));
  out.add("ScaleDown", rules_text(base::find(v2, {"scaleDown"})));
  return out.str();
}

Json metrics_of_v1(const Json& v1) {
  return read_metrics(v1, false);
}

Json statuses_of_v1(const Json& v1) {
  return read_metrics(v1, true);
}

Json conditions_of_v1(const Json& v1) {
  Reader reader;
  Json out = reader.list(v1, [&](const Json& one) {
    Json condition = reader.fields(kConditionPairs, one);
    if (!condition.contains("lastTransitionTime")) condition["lastTransitionTime"] = nullptr;
    return condition;
  });
  return reader.fits() ? out : Json();
}

Json behavior_of_v1(const Json& v1) {
  Reader reader;
  Json out = Json::object();
  const Json* up = field_of(v1, "ScaleUp");
  const Json* down = field_of(v1, "ScaleDown");
  if (up != nullptr) out["scaleUp"] = read_rules(reader, *up);
  if (down != nullptr) out["scaleDown"] = read_rules(reader, *down);
  return reader.fits() && !out.empty() ? out : Json();
}

}  // namespace kubewatch::builtin

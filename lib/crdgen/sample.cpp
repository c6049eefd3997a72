#include "crdgen/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.hpp"
#include "crdgen/field_count.hpp"
#include "crdgen/schema_walk.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr int kSampleDepth = 40;
// A schema may want more than anyone reads, or memory holds. What is cut is not valid, which
// whoever validates the sample tells.
constexpr std::size_t kMaxItems = 100;    // of one list or map
constexpr std::size_t kMaxLength = 4096;  // of one text
constexpr std::size_t kMaxValues = 10000;

std::size_t size_at(const Json& schema, const char* key, std::size_t otherwise) {
  const auto it = schema.find(key);
  const bool fits = it != schema.end() && it->is_number_integer() && it->get<std::int64_t>() >= 0;
  return fits ? it->get<std::size_t>() : otherwise;
}

std::string text_of_format(const std::string& format) {
  static const std::map<std::string, std::string> known = {
      {"date-time", "2026-01-02T03:04:05Z"},
      {"date", "2026-01-02"},
      {"duration", "30s"},
      {"byte", "c2FtcGxl"},
      {"uuid", "123e4567-e89b-42d3-a456-426614174000"},
      {"uuid4", "123e4567-e89b-42d3-a456-426614174000"},
      {"email", "someone@example.com"},
      {"hostname", "www.example.com"},
      {"ipv4", "192.0.2.1"},
      {"ipv6", "2001:db8::1"},
      {"cidr", "192.0.2.0/24"},
      {"mac", "00:00:5e:00:53:01"},
      {"uri", "https://example.com/"},
      {"password", "sample"},
  };
  const auto it = known.find(format);
  return it == known.end() ? "" : it->second;
}

// `nth` tells items of a set or map apart.
std::string text_sample(const Json& schema, const std::string& name, std::size_t nth) {
  const std::size_t min = std::min(size_at(schema, "minLength", 0), kMaxLength);
  const std::size_t max = std::min(size_at(schema, "maxLength", kMaxLength), kMaxLength);
  std::string text = text_of_format(base::string_at(schema, {"format"}));
  if (const std::string pattern = base::string_at(schema, {"pattern"}); !pattern.empty()) {
    text = text_for_pattern(pattern, min, max);
  } else if (text.empty()) {
    text = base::to_lower(name.empty() ? "sample" : name);
  } else {
    return text;
  }
  if (nth > 0) text += std::to_string(nth);
  if (text.size() > max) text = nth > 0 ? std::to_string(nth).substr(0, max) : text.substr(0, max);
  while (text.size() < min) text += 'a';
  return text;
}

Json number_sample(const Json& schema, bool whole, std::size_t nth) {
  double value = 1;
  const double low = schema.contains("minimum") && schema["minimum"].is_number()
                         ? schema["minimum"].get<double>()
                         : -1e15;
  const double high = schema.contains("maximum") && schema["maximum"].is_number()
                          ? schema["maximum"].get<double>()
                          : std::max(1e15, low);
  const double step = schema.contains("multipleOf") && schema["multipleOf"].is_number()
                          ? schema["multipleOf"].get<double>()
                          : 0;
  const double apart = whole ? 1 : 0.5;
  const bool above = schema.value("exclusiveMinimum", Json()) == true;
  const bool under = schema.value("exclusiveMaximum", Json()) == true;
  if (value > high || (under && value >= high)) value = under ? high - apart : high;
  if (value < low || (above && value <= low)) value = above ? low + apart : low;
  if (step > 0) value = std::ceil(value / step) * step;
  value += static_cast<double>(nth) * (step > 0 ? step : 1);
  if (value > high) value = high;
  // Printed, a whole number is an integer, of which the server cuts the fraction off the step.
  if (!whole && std::trunc(step) != step && std::trunc(value) == value) {
    if (value + step <= high) {
      value += step;
    } else if (value - step >= low) {
      value -= step;
    }
  }
  constexpr double kWhole = 9e15;  // what a double counts to exactly, about
  if (whole) return static_cast<std::int64_t>(std::clamp(value, -kWhole, kWhole));
  return value;
}

class Sampler {
 public:
  explicit Sampler(SampleSize size) : full_(size == SampleSize::full) {}

  Json value(const Json& schema, const std::string& name, int depth, std::size_t nth = 0) const {
    if (depth > kSampleDepth || !schema.is_object()) return nullptr;
    if (values_left_ > 0) --values_left_;
    if (schema.contains("default") && nth == 0) return schema["default"];
    if (schema.contains("example") && nth == 0) return schema["example"];
    if (schema.contains("enum") && schema["enum"].is_array() && !schema["enum"].empty()) {
      return schema["enum"][nth % schema["enum"].size()];
    }
    if (schema.value("x-kubernetes-int-or-string", Json()) == true)
      return 1 + static_cast<int>(nth);
    if (schema.value("x-kubernetes-embedded-resource", Json()) == true) {
      return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "sample"}}}};
    }
    const std::string type = base::string_at(schema, {"type"});
    if (type == "string") return text_sample(schema, name, nth);
    if (type == "integer" || type == "number") return number_sample(schema, type == "integer", nth);
    if (type == "boolean") return true;
    if (type == "array") return list(schema, name, depth);
    return object(schema, depth, nth);
  }

  Json object(const Json& schema, int depth, std::size_t nth) const {
    Json out = Json::object();
    if (!schema.is_object()) return out;
    const Json* properties = base::find(schema, {"properties"});
    std::set<std::string> wanted = needed(schema);
    if (properties != nullptr && properties->is_object()) {
      std::set<std::string> unwanted;
      for (const auto& [name, property] : properties->items()) {
        if (excluded(schema, name)) unwanted.insert(name);
      }
      choose(schema, *properties, wanted, unwanted);
      for (const auto& [name, property] : properties->items()) {
        if ((full_ && unwanted.count(name) == 0) || wanted.count(name) != 0)
          out[name] = value(property, name, depth + 1, nth);
      }
    }
    const Json* values = base::find(schema, {"additionalProperties"});
    if (values == nullptr || !values->is_object()) return out;
    const std::size_t count =
        std::max<std::size_t>(std::min(size_at(schema, "minProperties", 0), kMaxItems), full_);
    for (std::size_t i = 0; i < count && values_left_ > 0; ++i) {
      out[i == 0 ? "key" : fmt::format("key{}", i)] = value(*values, "value", depth + 1, i);
    }
    return out;
  }

 private:
  // What `required` says here and in the first branch of oneOf and anyOf; defaults come by
  // themselves.
  std::set<std::string> needed(const Json& schema) const {
    std::set<std::string> out;
    const auto take = [&](const Json& list) {
      for (const Json& name : list) {
        if (!name.is_string()) continue;
        const std::string text = name.get<std::string>();
        const Json* property = base::find(schema, {"properties", text});
        if (property == nullptr || !property->contains("default")) out.insert(text);
      }
    };
    take(schema.value("required", Json::array()));
    for (const char* key : {"oneOf", "anyOf"}) {
      const auto branches = schema.find(key);
      if (branches == schema.end() || !branches->is_array() || branches->empty()) continue;
      if (branches->front().is_object()) take(branches->front().value("required", Json::array()));
    }
    const auto branches = schema.find("allOf");
    if (branches != schema.end() && branches->is_array()) {
      for (const Json& branch : *branches) {
        if (branch.is_object()) take(branch.value("required", Json::array()));
      }
    }
    return out;
  }

  // Fields that only other branches of oneOf require.
  bool excluded(const Json& schema, const std::string& name) const {
    const auto branches = schema.find("oneOf");
    if (branches == schema.end() || !branches->is_array()) return false;
    bool later = false;
    for (std::size_t i = 0; i < branches->size(); ++i) {
      if (!(*branches)[i].is_object()) continue;
      const Json required = (*branches)[i].value("required", Json::array());
      const bool here = std::find(required.begin(), required.end(), Json(name)) != required.end();
      if (here && i == 0) return false;
      later = later || here;
    }
    return later;
  }

  // Of fields that a rule counts the first stays, or one that is there anyway.
  void choose(const Json& schema, const Json& properties, std::set<std::string>& wanted,
              std::set<std::string>& unwanted) const {
    for (const Json& rule : base::items_at(schema, {"x-kubernetes-validations"})) {
      const auto count = field_count_of(base::string_at(rule, {"rule"}), properties);
      if (!count) continue;
      const auto there = [&](const std::string& name) {
        return wanted.count(name) != 0 || properties[name].contains("default");
      };
      const auto free = [&](const std::string& name) { return unwanted.count(name) == 0; };
      const auto& fields = count->fields;
      auto chosen = std::find_if(fields.begin(), fields.end(), there);
      const bool set = chosen != fields.end();
      if (!set) chosen = std::find_if(fields.begin(), fields.end(), free);
      if (chosen == fields.end()) continue;
      using Kind = FieldCount::Kind;
      if (!set && (count->kind != Kind::at_most_one)) wanted.insert(*chosen);
      if (count->kind == Kind::at_least_one) continue;
      for (const std::string& name : fields) {
        if (name != *chosen) unwanted.insert(name);
      }
    }
  }

  Json list(const Json& schema, const std::string& name, int depth) const {
    Json out = Json::array();
    const Json* items = base::find(schema, {"items"});
    if (items == nullptr) return out;
    std::size_t count = std::max<std::size_t>(size_at(schema, "minItems", 0), full_ ? 1 : 0);
    count = std::min({count, size_at(schema, "maxItems", count), kMaxItems});
    const std::string singular = name.ends_with("s") ? name.substr(0, name.size() - 1) : name;
    for (std::size_t i = 0; i < count && values_left_ > 0; ++i) {
      out.push_back(value(*items, singular, depth + 1, i));
    }
    return out;
  }

  bool full_;
  mutable std::size_t values_left_ = kMaxValues;
};

}  // namespace

Result<Json> sample_of(const Json& crd, const std::string& version, SampleSize size) {
  const Json& spec = crd["spec"];
  for (const Json& one : spec["versions"]) {
    const std::string name = base::string_at(one, {"name"});
    const bool wanted = version.empty() ? one.value("storage", Json()) == true : name == version;
    if (!wanted) continue;
    const Json* schema = base::find(one, {"schema", "openAPIV3Schema"});
    Json root = schema == nullptr ? Json::object() : *schema;
    drop_unstored(root);
    const std::string kind = base::string_at(spec, {"names", "kind"});
    Json out = Sampler(size).object(root, 0, 0);
    if (out.contains("status") && base::find(one, {"subresources", "status"}) != nullptr)
      out.erase("status");
    out["apiVersion"] = base::string_at(spec, {"group"}) + "/" + name;
    out["kind"] = kind;
    out["metadata"] = {{"name", base::to_lower(kind) + "-sample"}};
    if (base::string_at(spec, {"scope"}) == "Namespaced") out["metadata"]["namespace"] = "default";
    return out;
  }
  return Error(
      ErrorKind::not_found,
      fmt::format("{} has no version \"{}\"", base::string_at(crd, {"metadata", "name"}), version));
}

}  // namespace kubewatch::crdgen

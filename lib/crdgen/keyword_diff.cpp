#include "crdgen/keyword_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "crdgen/junctor.hpp"
#include "crdgen/schema_diff.hpp"
#include "crdgen/schema_flag.hpp"
#include "schema/formats.hpp"
#include "schema/number_range.hpp"
#include "schema/rule_checker.hpp"

namespace kubewatch::crdgen {

struct Bound {
  const char* key;
  bool upper;
  const char* exclusive;  // the flag that goes with it; may be null
  bool counts = false;    // what cannot be less than 0: no bound below is 0
};

namespace {

std::string shown(const Json& value) {
  std::string text = value.is_null() ? "nothing" : base::dump_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

constexpr Bound kBounds[] = {
    {"minimum", false, "exclusiveMinimum"},  {"maximum", true, "exclusiveMaximum"},
    {"minLength", false, nullptr, true},     {"maxLength", true, nullptr},
    {"minItems", false, nullptr, true},      {"maxItems", true, nullptr},
    {"minProperties", false, nullptr, true}, {"maxProperties", true, nullptr}};

// The format that the server checks; null where it passes over what stands there.
Json checked_format(const Json& schema) {
  const std::string format = base::string_at(schema, {"format"});
  return schema::is_known_format(base::string_at(schema, {"type"}), format) ? Json(format) : Json();
}

// A value that the bound says nothing about meets it.
bool meets(const Json& value, const Bound& bound, double limit, bool open) {
  const std::string_view key = bound.key;
  double size = 0;
  if (key.ends_with("Length")) {
    if (!value.is_string()) return true;
    size = static_cast<double>(base::count_utf8(value.get_ref<const std::string&>()));
  } else if (key.ends_with("Items") || key.ends_with("Properties")) {
    if (key.ends_with("Items") ? !value.is_array() : !value.is_object()) return true;
    size = static_cast<double>(value.size());
  } else {
    if (!value.is_number()) return true;
    size = value.get<double>();
  }
  if (bound.upper) return open ? size < limit : size <= limit;
  return open ? size > limit : size >= limit;
}

// Whether whatever was allowed meets the bound anyway: the values of an enum (those that are gone
// from it are told as such), or all that a whole number of 32 bits can be. Not with a bound that
// the server refuses every number for.
bool is_implied(const Json& before, const Json& after, const Bound& bound, bool open) {
  const double limit = at(after, bound.key).get<double>();
  const std::string type = base::string_at(after, {"type"});
  if (!schema::in_number_range(limit, type, base::string_at(after, {"format"}))) return false;
  if (const Json& values = at(before, "enum"); values.is_array()) {
    const Json& kept = at(after, "enum");
    return std::all_of(values.begin(), values.end(), [&](const Json& one) {
      const bool gone = kept.is_array() && std::find(kept.begin(), kept.end(), one) == kept.end();
      return gone || meets(one, bound, limit, open);
    });
  }
  using Narrow = std::numeric_limits<std::int32_t>;
  return base::string_at(before, {"type"}) == "integer" && at(before, "format") == "int32" &&
         bound.exclusive != nullptr &&
         meets(bound.upper ? Narrow::max() : Narrow::min(), bound, limit, open);
}

// The alternatives of a junctor, which come in no order.
std::vector<Json> alternatives_of(const Json& junctor) {
  std::vector<Json> out;
  if (junctor.is_array()) out.assign(junctor.begin(), junctor.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

bool KeywordDiff::compare(const Place& place) {
  if (!type(place)) return false;  // what was fits in no case: the rest says nothing more
  nullable(place);
  default_value(place);
  enumeration(place);
  for (const Bound& bound : kBounds) compare_bound(place, bound);
  format(place);
  for (const char* key : {"pattern", "multipleOf"}) tightening_text(place, key);
  list_kind(place);
  map_kind(place);
  unknown_fields(place);
  embedded(place);
  rules(place);
  for (const char* key : {"allOf", "anyOf", "oneOf", "not"}) junctor(place, key);
  words(place);
  return true;
}

void KeywordDiff::add(const Place& place, const char* id, std::string message, Verdict stored,
                      Verdict writers, Verdict readers, const Json& before, const Json& after) {
  out_.push_back(
      {id, version_, place.path, std::move(message), stored, writers, readers, before, after});
}

// A value that was fine may be refused now.
void KeywordDiff::tightened(const Place& place, const char* id, const std::string& message,
                            const Json& before, const Json& after) {
  const std::string stored = place.correlatable
                                 ? "; stored values are tolerated until they change"
                                 : "; stored values are tolerated until anything in their list "
                                   "changes, which has no keys";
  add(place, id, message + stored, kRisky, kBreaking, kSafe, before, after);
}

void KeywordDiff::loosened(const Place& place, const char* id, const std::string& message,
                           const Json& before, const Json& after) {
  add(place, id, message, kSafe, kSafe, kSafe, before, after);
}

std::string KeywordDiff::kind_of(const Json& schema) {
  if (flag(schema, "x-kubernetes-int-or-string")) return "integer or string";
  const Json& type = at(schema, "type");
  return type.is_string() ? type.get<std::string>() : "any";
}

// False: nothing below can be compared.
bool KeywordDiff::type(const Place& place) {
  const std::string before = kind_of(place.before);
  const std::string after = kind_of(place.after);
  if (before == after) return true;
  const std::string message = fmt::format("type {} became {}", before, after);
  const bool wider = after == "any" || (before == "integer" && after == "number") ||
                     (after == "integer or string" && (before == "integer" || before == "string"));
  if (wider) {
    add(place, "type-widened", message + ": readers meet values of the new type", kSafe, kSafe,
        kRisky, before, after);
  } else {
    add(place, "type-changed", message, kBreaking, kBreaking, kBreaking, before, after);
  }
  return wider;
}

void KeywordDiff::nullable(const Place& place) {
  const bool before = flag(place.before, "nullable");
  const bool after = flag(place.after, "nullable");
  if (before && !after)
    tightened(place, "nullable-removed", "null is no longer allowed", true, false);
  if (!before && after)
    add(place, "nullable-added", "null is allowed: readers may meet it", kSafe, kSafe, kRisky,
        false, true);
}

void KeywordDiff::default_value(const Place& place) {
  const Json& before = at(place.before, "default");
  const Json& after = at(place.after, "default");
  if (before == after) return;
  if (before.is_null()) {
    add(place, "default-added",
        fmt::format("default {}: objects without the field have it from now on", shown(after)),
        kRisky, kSafe, kSafe, before, after);
  } else if (after.is_null() && place.required) {
    tightened(place, "default-removed",
              fmt::format("default {} removed of a required field: who left it out is refused",
                          shown(before)),
              before, after);
  } else if (after.is_null()) {
    add(place, "default-removed",
        fmt::format("default {} removed: readers may find nothing there", shown(before)), kRisky,
        kRisky, kBreaking, before, after);
  } else {
    add(place, "default-changed",
        fmt::format("default {} became {}: the same manifest means something else", shown(before),
                    shown(after)),
        kBreaking, kBreaking, kBreaking, before, after);
  }
}

void KeywordDiff::enumeration(const Place& place) {
  const Json& before = at(place.before, "enum");
  const Json& after = at(place.after, "enum");
  if (before == after) return;
  if (!before.is_array())
    return tightened(place, "enum-added", "only some values are allowed from now on", before,
                     after);
  if (!after.is_array()) {
    return add(place, "enum-removed", "every value is allowed: readers may meet unknown ones",
               kSafe, kSafe, kRisky, before, after);
  }
  for (const Json& value : before) {
    if (std::find(after.begin(), after.end(), value) != after.end()) continue;
    tightened(place, "enum-value-removed",
              fmt::format("value {} is no longer allowed", shown(value)), value, nullptr);
  }
  for (const Json& value : after) {
    if (std::find(before.begin(), before.end(), value) != before.end()) continue;
    add(place, "enum-value-added",
        fmt::format("value {} is allowed: readers may not know it", shown(value)), kSafe, kSafe,
        kRisky, nullptr, value);
  }
}

void KeywordDiff::compare_bound(const Place& place, const Bound& bound) {
  const Json& before = at(place.before, bound.key);
  const Json& after = at(place.after, bound.key);
  const bool was_exclusive = bound.exclusive != nullptr && flag(place.before, bound.exclusive);
  const bool is_exclusive = bound.exclusive != nullptr && flag(place.after, bound.exclusive);
  if (before == after && was_exclusive == is_exclusive) return;
  if (!before.is_number() && !after.is_number()) return;
  if (bound.counts && (before.is_null() || before == 0) && (after.is_null() || after == 0)) return;
  const std::string message = fmt::format("{} {} became {}{}", bound.key, shown(before),
                                          shown(after), is_exclusive ? ", exclusive" : "");
  bool tighter = !before.is_number();
  if (before.is_number() && after.is_number()) {
    const double difference = after.get<double>() - before.get<double>();
    tighter = bound.upper ? difference < 0 : difference > 0;
    if (difference == 0) tighter = is_exclusive && !was_exclusive;
  }
  if (tighter && is_implied(place.before, place.after, bound, is_exclusive)) {
    loosened(place, "bound-implied", message + ": whatever was allowed meets it", before, after);
  } else if (tighter) {
    tightened(place, "bound-tightened", message, before, after);
  } else {
    loosened(place, "bound-loosened", message, before, after);
  }
}

void KeywordDiff::format(const Place& place) {
  const Json& was = at(place.before, "format");
  const Json& is = at(place.after, "format");
  if (was == is) return;
  const std::string message = fmt::format("format {} became {}", shown(was), shown(is));
  const Json before = checked_format(place.before);
  const Json after = checked_format(place.after);
  if (before == after)
    return loosened(place, "format-unchecked", message + ": the server checks neither", was, is);
  if (after.is_null()) return loosened(place, "format-removed", message, was, is);
  const bool was_integer = before == "int32" || before == "int64";
  if ((before == "int32" && after == "int64") ||
      (was_integer && after == "double" && kind_of(place.after) == "number")) {
    return add(place, "format-widened", message + ": readers need 64 bits", kSafe, kSafe, kRisky,
               was, is);
  }
  tightened(place, "format-changed", message, was, is);
}

void KeywordDiff::tightening_text(const Place& place, const char* key) {
  const Json& before = at(place.before, key);
  const Json& after = at(place.after, key);
  if (before == after) return;
  const std::string message = fmt::format("{} {} became {}", key, shown(before), shown(after));
  bool looser = after.is_null();
  if (before.is_number() && after.is_number() && after.get<double>() > 0) {
    looser = std::fmod(before.get<double>(), after.get<double>()) == 0;
  }
  const std::string id = std::string(key) == "pattern" ? "pattern" : "multiple-of";
  if (looser)
    return loosened(place, (id == "pattern" ? "pattern-removed" : "multiple-of-loosened"), message,
                    before, after);
  tightened(place, (id == "pattern" ? "pattern-changed" : "multiple-of-changed"), message, before,
            after);
}

void KeywordDiff::list_kind(const Place& place) {
  if (kind_of(place.after) != "array") return;
  const auto kind = [](const Json& schema) {
    const Json& said = at(schema, "x-kubernetes-list-type");
    return said.is_string() ? said.get<std::string>() : std::string("atomic");
  };
  const std::string before = kind(place.before);
  const std::string after = kind(place.after);
  if (before != after) {
    const bool looser = after == "atomic";
    add(place, "list-type-changed",
        fmt::format("list type {} became {}: server-side apply owns it otherwise{}", before, after,
                    looser ? "" : ", duplicates are refused"),
        looser ? kRisky : kBreaking, kBreaking, kSafe, before, after);
  } else if (before == "map" && at(place.before, "x-kubernetes-list-map-keys") !=
                                    at(place.after, "x-kubernetes-list-map-keys")) {
    add(place, "list-keys-changed", "other fields tell the items apart", kBreaking, kBreaking,
        kSafe, at(place.before, "x-kubernetes-list-map-keys"),
        at(place.after, "x-kubernetes-list-map-keys"));
  }
}

void KeywordDiff::map_kind(const Place& place) {
  const bool before = at(place.before, "x-kubernetes-map-type") == "atomic";
  const bool after = at(place.after, "x-kubernetes-map-type") == "atomic";
  if (before == after) return;
  add(place, "map-type-changed",
      fmt::format("the map became {}: server-side apply owns it otherwise",
                  after ? "atomic" : "granular"),
      kSafe, after ? kBreaking : kRisky, kSafe, before ? "atomic" : "granular",
      after ? "atomic" : "granular");
}

void KeywordDiff::unknown_fields(const Place& place) {
  if (place.meta_after != Meta::none) return;
  const bool before = flag(place.before, kPreserve);
  const bool after = flag(place.after, kPreserve);
  // No key is unknown to a map; values() says what becomes of them.
  if (before && !after && !at(place.after, "additionalProperties").is_object())
    add(place, "unknown-fields-pruned", "fields that the schema lacks are pruned from now on",
        kBreaking, kBreaking, kBreaking, true, false);
  // Of a value that may be anything that is no news.
  const bool told = kind_of(place.after) == "any" && kind_of(place.before) != "any";
  if (!before && after && !told)
    loosened(place, "unknown-fields-kept", "fields that the schema lacks are kept", false, true);
}

void KeywordDiff::embedded(const Place& place) {
  if (place.path.empty()) return;  // it is one anyway
  const bool before = flag(place.before, kEmbedded);
  const bool after = flag(place.after, kEmbedded);
  // The server looks at embedded objects at each update, and has no ratcheting there.
  if (!before && after)
    add(place, "embedded-added",
        "must be a whole object, with apiVersion and kind: what is stored without cannot be "
        "updated any more",
        kBreaking, kBreaking, kSafe, false, true);
  if (before && !after) embedded_removed(place);
}

// Of an embedded object the server keeps these three whatever its schema says, of any other what
// its schema has.
void KeywordDiff::embedded_removed(const Place& place) {
  std::vector<std::string> lost;
  Verdict verdict = metadata_kept(place.after);
  for (const char* name : {"apiVersion", "kind"}) {
    const bool kept = base::find(place.after, {"properties", name}) != nullptr;
    if (kept || keeps_unknown(place.after)) continue;
    lost.emplace_back(name);
    verdict = kBreaking;
  }
  if (metadata_kept(place.after) != kSafe) lost.emplace_back("metadata");
  if (lost.empty())
    return loosened(place, "embedded-removed", "need be no whole object", true, false);
  add(place, "embedded-removed",
      fmt::format("need be no whole object: {} pruned from now on but for what the schema has",
                  base::join(lost, ", ") + (lost.size() > 1 ? " are" : " is")),
      verdict, verdict, verdict, true, false);
}

// Safe: all of it; risky: the fields that are described; breaking: none.
Verdict KeywordDiff::metadata_kept(const Json& schema) {
  const Json* metadata = base::find(schema, {"properties", "metadata"});
  const Json& values = at(schema, "additionalProperties");
  if (metadata == nullptr && values.is_object()) metadata = &values;
  const bool whole = flag(metadata == nullptr ? schema : *metadata, kPreserve);
  if (whole) return kSafe;
  const bool some = metadata != nullptr && (!at(*metadata, "properties").empty() ||
                                            at(*metadata, "additionalProperties").is_object());
  return some ? kRisky : kBreaking;
}

const char* KeywordDiff::when(const Json& rule) {
  return base::bool_at(rule, {"optionalOldSelf"}) ? " with optionalOldSelf" : "";
}

void KeywordDiff::rules(const Place& place) {
  const auto texts = [](const Json& schema) {
    std::map<std::string, Json> out;
    const Json& rules = at(schema, "x-kubernetes-validations");
    if (!rules.is_array()) return out;
    for (const Json& rule : rules) {
      // With optionalOldSelf it also holds where there was no old value: that is another rule.
      const bool always = base::bool_at(rule, {"optionalOldSelf"});
      out[schema::rule_tokens(base::string_at(rule, {"rule"})) +
          (always ? " optionalOldSelf" : "")] = rule;
    }
    return out;
  };
  const auto before = texts(place.before);
  const auto after = texts(place.after);
  for (const auto& [tokens, rule] : after) {
    const auto old = before.find(tokens);
    const std::string text = base::string_at(rule, {"rule"});
    if (old == before.end()) {
      tightened(place, "rule-added", fmt::format("rule {}{}", shown(text), when(rule)), nullptr,
                rule);
    } else if (old->second != rule) {
      loosened(place, "rule-words-changed",
               fmt::format("how rule {} is written, what it says or where it points", shown(text)),
               old->second, rule);
    }
  }
  for (const auto& [tokens, rule] : before) {
    const std::string text = base::string_at(rule, {"rule"});
    if (after.find(tokens) == after.end())
      loosened(place, "rule-removed", fmt::format("rule {}{}", shown(text), when(rule)), rule,
               nullptr);
  }
}

void KeywordDiff::junctor(const Place& place, const char* key) {
  const Json before = junctor_of(place.before, key);
  const Json after = junctor_of(place.after, key);
  if (before == after) return;
  if (after.is_null())
    return loosened(place, "junctor-removed", fmt::format("{} removed", key), before, after);
  if (before.is_array() && after.is_array() && alternatives(place, key, before, after)) return;
  tightened(place, before.is_null() ? "junctor-added" : "junctor-changed",
            fmt::format("{} {}", key,
                        before.is_null() ? "added" : "changed: taken as tighter, look at it"),
            before, after);
}

// What becomes of a value when alternatives come and go. False: it can be told by neither.
bool KeywordDiff::alternatives(const Place& place, const std::string& key, const Json& before,
                               const Json& after) {
  const std::vector<Json> old = alternatives_of(before);
  const std::vector<Json> now = alternatives_of(after);
  if (old == now) return true;
  const bool more = std::includes(now.begin(), now.end(), old.begin(), old.end());
  const bool fewer = std::includes(old.begin(), old.end(), now.begin(), now.end());
  if (key == "allOf" ? fewer : key == "anyOf" && more) {
    loosened(place, "junctor-loosened",
             fmt::format("{} has {}", key, more ? "more alternatives" : "fewer conditions"), before,
             after);
    return true;
  }
  if (key != "oneOf" || !more) return false;
  add(place, "junctor-widened",
      "oneOf has more alternatives: what fits one of them and an old one is refused", kRisky,
      kRisky, kSafe, before, after);
  return true;
}

void KeywordDiff::words(const Place& place) {
  for (const char* key : {"description", "title", "example", "externalDocs"}) {
    const Json& before = at(place.before, key);
    const Json& after = at(place.after, key);
    if (before != after)
      loosened(place, "words-changed", fmt::format("{} changed", key), before, after);
  }
}

}  // namespace kubewatch::crdgen

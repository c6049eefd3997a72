#include "schema/validator_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "schema/formats.hpp"
#include "schema/go_words.hpp"
#include "schema/number_range.hpp"

namespace kubewatch::schema {

std::optional<std::int64_t> whole_of(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::int64_t>();
}

namespace {

using IssueKind = Issue::Kind;

const char* type_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string: return "string";
    case Json::value_t::boolean: return "boolean";
    case Json::value_t::array: return "array";
    case Json::value_t::object: return "object";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return whole_of(value) ? "integer" : "number";
    case Json::value_t::number_float: return "number";
    default: return "null";
  }
}

// Whether the server takes a double for a whole number (swag.IsFloat64AJSONInteger): none beyond
// 2^53-1, and one whose fraction is small beside it.
bool passes_for_whole(double value) {
  constexpr double kMost = 9007199254740991.0;
  if (!(std::abs(value) <= kMost)) return false;
  const double whole = std::trunc(value);
  if (whole == value) return true;
  return whole > 0 && (value - whole) / (value + whole) < 1e-9;
}

Issue issue_of(IssueKind kind, const std::string& name, std::string text,
               std::string shown = "\"\"") {
  Issue out;
  out.kind = kind;
  out.name = name;
  out.text = std::move(text);
  out.shown = std::move(shown);
  return out;
}

std::int64_t characters(const std::string& text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

// As Go compares after converting the value to the listed one's type.
bool same_as_listed(const Json& value, const Json& listed) {
  if (value.is_number() && listed.is_number()) {
    if (listed.is_number_integer() && value.is_number_float()) {
      return std::trunc(value.get<double>()) == listed.get<double>();
    }
    return value == listed;
  }
  return value.type() == listed.type() && !listed.is_null() && value == listed;
}

}  // namespace

template <class Make>
void Validator::Run::tell(Outcome& out, const Place& place, const Make& make) {
  // More than any object of a reasonable size comes to, with all alternatives that do not fit.
  constexpr std::size_t kMost = 64U << 20U;
  if (told_ > kMost) {
    out.add(
        issue_of(IssueKind::type_invalid, "", std::string(kMoreErrors)));  // rules are not asked
    return;
  }
  Issue issue = make(place.text());
  told_ += issue.bytes();
  out.add(std::move(issue));
}

Outcome Validator::Run::check_null(const Node& node, const Place& place) {
  Outcome out;
  if (!node.any_type && !node.schema->nullable) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::type_invalid, name,
                      fmt::format("{} in body must be of type {}: \"null\"", name, node.types),
                      "\"null\"");
    });
  }
  if (node.schema->enum_values) check_enum(node, Json(), place, out);
  return out;
}

Outcome Validator::Run::check(const Node& node, const Json& value, const Place& place,
                              const Json* old) {
  if (value.is_null()) return check_null(node, place);
  Outcome out;
  if (!node.any_type || !node.format.empty()) check_type(node, value, place, out);
  check_combined(node, value, place, out);
  if (value.is_string()) check_string(node, value, place, out);
  if (value.is_number()) check_number(node, value, place, out);
  if (value.is_array()) check_array(node, value, place, old, out);
  if (node.schema->enum_values) check_enum(node, value, place, out);
  if (value.is_object()) check_object(node, value, place, old, out);
  out.matches += 3;  // combined, common, and itself
  return out;
}

Outcome Validator::Run::check_update(const Node& node, const Json& value, const Place& place,
                                     const Json* old) {
  // Nothing below a value that is what it was is told, so none of it is looked at.
  if (old != nullptr && same_.equal(*node.schema, *old, value)) return {};
  return check(node, value, place, old);
}

bool Validator::Run::fits_type(const Node& node, const Json& value) {
  const std::string_view actual = type_of(value);
  if (node.types == actual) return true;
  if (actual == "integer") return node.number || node.types == "integer,string";
  if (actual == "string") return node.types == "integer,string";
  return actual == "number" && node.integer && passes_for_whole(value.get<double>());
}

void Validator::Run::check_type(const Node& node, const Json& value, const Place& place,
                                Outcome& out) {
  ++out.matches;
  if (fits_type(node, value)) {
    ++out.matches;
    return;
  }
  const std::string actual = type_of(value);
  const bool text_or_list = value.is_string() || value.is_array();
  std::string wanted = node.types;
  std::string shown = actual;
  if (!node.format.empty() && !text_or_list) {
    const char* format = actual == "integer" ? "int64" : actual == "number" ? "float64" : "";
    if (node.format == format) return;
    wanted = node.format;
    shown = format;
  } else if (!node.format.empty() && !node.number && !node.integer) {
    ++out.matches;  // the server's own leniency: a list passes for a string with a format
    return;
  }
  tell(out, place, [&](const std::string& name) {
    return issue_of(
        IssueKind::type_invalid, name,
        fmt::format("{} in body must be of type {}: {}", name, wanted, go_quoted(shown)),
        go_quoted(shown));
  });
}

void Validator::Run::check_any_of(const Node& node, const Json& value, const Place& place,
                                  Outcome& out) {
  if (node.any_of.empty()) return;
  std::optional<Outcome> best;
  std::size_t best_at = 0;
  const auto fits = [&](std::size_t at) {
    Outcome found = check(*node.any_of[at], value, place, nullptr);
    if (found.fine()) {
      out.merge(std::move(found));
      return true;
    }
    const bool better =
        !best || found.matches > best->matches || (found.matches == best->matches && at < best_at);
    if (better) {
      best = std::move(found);
      best_at = at;
    }
    return false;
  };
  // One that fits speaks for all. What is wrong with those that cannot is worked out when none
  // does: of int-or-string one of two never fits. Each is looked at once: below it the same happens
  // again.
  const auto cannot = [&](const Node& one) {
    return !one.any_type && one.format.empty() && !fits_type(one, value);
  };
  const std::size_t count = node.any_of.size();
  for (std::size_t at = 0; at < count; ++at) {
    if (!cannot(*node.any_of[at]) && fits(at)) return;
  }
  for (std::size_t at = 0; at < count; ++at) {
    if (cannot(*node.any_of[at])) fits(at);
  }
  tell(out, place, [&](const std::string& name) {
    return issue_of(IssueKind::plain, "",
                    fmt::format("{} must validate at least one schema (anyOf)", go_quoted(name)));
  });
  out.merge(std::move(*best));
}

void Validator::Run::check_one_of(const Node& node, const Json& value, const Place& place,
                                  Outcome& out) {
  if (node.one_of.empty()) return;
  std::optional<Outcome> best;
  std::optional<Outcome> first;
  int fits = 0;
  for (const auto& one : node.one_of) {
    Outcome found = check(*one, value, place, nullptr);
    if (found.fine()) {
      ++fits;
      best.reset();
      if (!first) first = std::move(found);
    } else if (fits == 0 && (!best || found.matches > best->matches)) {
      best = std::move(found);
    }
  }
  if (fits == 1) {
    out.merge(std::move(*first));
    return;
  }
  const std::string found =
      fits == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", fits);
  tell(out, place, [&](const std::string& name) {
    return issue_of(IssueKind::plain, "",
                    fmt::format("{} must validate one and only one schema (oneOf). {}",
                                go_quoted(name), found));
  });
  if (best) out.merge(std::move(*best));
}

void Validator::Run::check_combined(const Node& node, const Json& value, const Place& place,
                                    Outcome& out) {
  check_any_of(node, value, place, out);
  check_one_of(node, value, place, out);
  std::size_t fits = 0;
  for (const auto& one : node.all_of) {
    Outcome found = check(*one, value, place, nullptr);
    fits += found.fine() ? 1U : 0U;
    out.merge(std::move(found));
  }
  if (fits != node.all_of.size()) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::plain, "",
                      fmt::format("{} must validate all the schemas (allOf){}", go_quoted(name),
                                  fits == 0 ? ". None validated" : ""));
    });
  }
  if (node.not_node && check(*node.not_node, value, place, nullptr).fine()) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::plain, "",
                      fmt::format("{} must not validate the schema (not)", go_quoted(name)));
    });
  }
  ++out.matches;
}

// The first that fails speaks; the format is looked at besides.
void Validator::Run::check_string(const Node& node, const Json& value, const Place& place,
                                  Outcome& out) {
  const auto& text = value.get_ref<const std::string&>();
  const Structural& schema = *node.schema;
  ++out.matches;
  if (schema.max_length && characters(text) > *schema.max_length) {
    tell(out, place, [&](const std::string& name) {
      Issue issue = issue_of(
          IssueKind::too_long, name,
          fmt::format("{} in body should be at most {} chars long", name, *schema.max_length));
      issue.most = *schema.max_length;
      return issue;
    });
  } else if (schema.min_length && characters(text) < *schema.min_length) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(
          IssueKind::invalid, name,
          fmt::format("{} in body should be at least {} chars long", name, *schema.min_length),
          go_quoted(text));
    });
  } else if (!node.bad_pattern.empty()) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::invalid, name,
                      fmt::format("{} in body should match '{}, but pattern is invalid: {}'", name,
                                  schema.pattern, node.bad_pattern),
                      go_quoted(text));
    });
  } else if (node.pattern && !node.pattern->search(text)) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::invalid, name,
                      fmt::format("{} in body should match '{}'", name, schema.pattern),
                      go_quoted(text));
    });
  }
  if (node.format.empty() || !is_known_string_format(node.format)) return;
  ++out.matches;
  if (fits_format(node.format, text)) return;
  tell(out, place, [&](const std::string& name) {
    return issue_of(
        IssueKind::type_invalid, name,
        fmt::format("{} in body must be of type {}: {}", name, node.format, go_quoted(text)),
        go_quoted(text));
  });
}

namespace {

constexpr double kWholeEnd = 9223372036854775808.0;  // 2^63

bool value_in_range(const Json& value, const std::string& types, const std::string& format) {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto whole = whole_of(value);
  if (!whole) return in_number_range(value.get<double>(), types, format);
  return types != "integer" || format != "int32" ||
         (*whole >= Limits::min() && *whole <= Limits::max());
}

// The whole number that the server makes of a bound: on amd64 the least one when it does not fit.
std::int64_t to_whole(double value) {
  return value >= -kWholeEnd && value < kWholeEnd ? static_cast<std::int64_t>(value)
                                                  : std::numeric_limits<std::int64_t>::min();
}

std::string range_text(const char* what, const std::string& types, const std::string& format,
                       const std::string& name) {
  return format.empty()
             ? fmt::format("{} value must be of type {} (default format) in {}", what, types, name)
             : fmt::format("{} value must be of type {} with format {} in {}", what, types, format,
                           name);
}

}  // namespace

void Validator::Run::check_multiple(const Node& node, const Json& value, const Place& place,
                                    Outcome& out) {
  if (!node.schema->multiple_of) return;
  const double factor = *node.schema->multiple_of;
  const bool native = in_number_range(factor, node.types, node.format);
  if (!native) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::plain, "",
                      range_text("MultipleOf", node.types, node.format, name));
    });
  }
  const auto whole = native ? whole_of(value) : std::nullopt;
  const std::string shown = whole ? std::to_string(to_whole(factor)) : go_number(factor);
  if (whole ? to_whole(factor) <= 0 : factor <= 0) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(
          IssueKind::invalid, name,
          fmt::format("factor MultipleOf declared for {} must be positive: {}", name, shown),
          shown);
    });
    return;
  }
  const double data = value.get<double>();
  const bool fits = whole ? *whole % to_whole(factor) == 0
                          : passes_for_whole(factor < 1 ? 1 / factor * data : data / factor);
  if (fits) return;
  tell(out, place, [&](const std::string& name) {
    return issue_of(IssueKind::invalid, name,
                    fmt::format("{} in body should be a multiple of {}", name, shown),
                    whole ? std::to_string(*whole) : go_number(data));
  });
}

void Validator::Run::check_bound(const Node& node, const Json& value, const Place& place,
                                 bool upper, Outcome& out) {
  const auto& bound = upper ? node.schema->maximum : node.schema->minimum;
  if (!bound) return;
  const bool open = upper ? node.schema->exclusive_maximum : node.schema->exclusive_minimum;
  const bool native = in_number_range(*bound, node.types, node.format);
  // Whole numbers are compared as such: doubles lose the last digits of large ones.
  const auto whole = native ? whole_of(value) : std::nullopt;
  const auto keeps = [&](auto left, auto right) {
    return upper ? (open ? left < right : left <= right) : (open ? left > right : left >= right);
  };
  const double data = value.get<double>();
  const bool fits = whole ? keeps(*whole, to_whole(*bound)) : keeps(data, *bound);
  if (native && fits) return;
  if (!native) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::plain, "",
                      range_text(upper ? "Maximum boundary" : "Minimum boundary", node.types,
                                 node.format, name));
    });
  }
  if (fits) return;
  tell(out, place, [&](const std::string& name) {
    return issue_of(IssueKind::invalid, name,
                    fmt::format("{} in body should be {} than {}{}", name,
                                upper ? "less" : "greater", open ? "" : "or equal to ",
                                whole ? std::to_string(to_whole(*bound)) : go_number(*bound)),
                    whole ? std::to_string(*whole) : go_number(data));
  });
}

void Validator::Run::check_number(const Node& node, const Json& value, const Place& place,
                                  Outcome& out) {
  out.matches += 2;
  if (!value_in_range(value, node.types, node.format)) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::plain, "", range_text("Checked", node.types, node.format, name));
    });
  }
  check_multiple(node, value, place, out);
  check_bound(node, value, place, false, out);
  check_bound(node, value, place, true, out);
}

void Validator::Run::check_enum(const Node& node, const Json& value, const Place& place,
                                Outcome& out) {
  const auto& listed = *node.schema->enum_values;
  if (listed.empty()) return;
  for (const auto& one : listed) {
    if (same_as_listed(value, one)) return;
  }
  tell(out, place, [&](const std::string& name) {
    Issue issue =
        issue_of(IssueKind::not_supported, name, name + " in body should be one of the listed",
                 value.is_number() ? go_number(value) : base::dump_json(value));
    for (const auto& one : listed) {
      issue.supported.push_back(one.is_string() ? one.get<std::string>() : base::dump_json(one));
    }
    return issue;
  });
}

void Validator::Run::check_array(const Node& node, const Json& value, const Place& place,
                                 const Json* old, Outcome& out) {
  const Structural& schema = *node.schema;
  if (node.items) {
    const OldItems before(schema, old);
    Place below = place.item(0);
    for (const auto& item : value) {
      out.merge(check_update(*node.items, item, below, before.find(item)));
      ++below.index;
    }
  }
  out.matches += 2;
  const auto size = static_cast<std::int64_t>(value.size());
  if (schema.min_items && size < *schema.min_items) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(
          IssueKind::invalid, name,
          fmt::format("{} in body should have at least {} items", name, *schema.min_items),
          std::to_string(size));
    });
  }
  if (schema.max_items && size > *schema.max_items) {
    tell(out, place, [&](const std::string& name) {
      Issue issue =
          issue_of(IssueKind::too_many, name,
                   fmt::format("{} in body should have at most {} items", name, *schema.max_items));
      issue.actual = size;
      issue.most = *schema.max_items;
      return issue;
    });
  }
}

void Validator::Run::check_object(const Node& node, const Json& value, const Place& place,
                                  const Json* old, Outcome& out) {
  const Structural& schema = *node.schema;
  const auto size = static_cast<std::int64_t>(value.size());
  ++out.matches;
  if (schema.min_properties && size < *schema.min_properties) {
    tell(out, place, [&](const std::string& name) {
      return issue_of(IssueKind::invalid, name,
                      fmt::format("{} in body should have at least {} properties", name,
                                  *schema.min_properties),
                      std::to_string(size));
    });
  }
  if (schema.max_properties && size > *schema.max_properties) {
    tell(out, place, [&](const std::string& name) {
      Issue issue = issue_of(IssueKind::too_many, name,
                             fmt::format("{} in body should have at most {} properties", name,
                                         *schema.max_properties));
      issue.actual = size;
      issue.most = *schema.max_properties;
      return issue;
    });
  }
  const bool closed = !node.additional && schema.additional_allowed == false;
  const bool root = place.above == nullptr;
  auto from = node.properties.begin();
  for (auto it = value.begin(); it != value.end(); ++it) {
    const Node* property = node.property(it.key(), from);
    // The server's name of a key that is no property has a dot even at the beginning.
    const Place below = property != nullptr ? place.property(it.key()) : place.member(it.key());
    if (property == nullptr && closed) {
      tell(out, place, [&](const std::string& name) {
        return issue_of(IssueKind::invalid, name,
                        fmt::format("{}.{} in body is a forbidden property", name, it.key()),
                        go_quoted(it.key()));
      });
    }
    const Node* below_node = property != nullptr ? property : node.additional.get();
    if (below_node == nullptr) continue;
    const Json* before = nullptr;
    const bool type_meta = root && (it.key() == "kind" || it.key() == "apiVersion");
    if (old != nullptr && old->is_object() && !type_meta) {
      if (const auto found = old->find(it.key()); found != old->end()) before = &*found;
    }
    out.merge(check_update(*below_node, *it, below, before));
  }
  for (const auto& key : schema.required) {
    if (value.contains(key)) continue;
    tell(out, place, [&](const std::string& of) {
      const std::string name = of + "." + key;
      return issue_of(IssueKind::required, name, name + " in body is required");
    });
  }
}

}  // namespace kubewatch::schema

// for, owns, writes, watches, changed: which objects a rule sees. Whether the kinds exist is the
// engine's question.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/json_pointer.hpp"
#include "base/strings.hpp"
#include "core/server_fields.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"
#include "runtime/needed_paths.hpp"
#include "runtime/stream_choices.hpp"

namespace kubewatch::hooks {

namespace {

RuleReader api_version(core::Gvk& out) {
  return [&out](const RuleNode& node) {
    std::string value;
    if (!text(value)(node)) return false;
    auto parsed = core::parse_group_version(value);
    if (!parsed.ok()) return node.problem(parsed.error().render());
    out.group = parsed->group;
    out.version = parsed->version;
    return true;
  };
}

RuleReader kind(core::Gvk& out) {
  return [&out](const RuleNode& node) {
    std::string value;
    if (!text(value)(node)) return false;
    const bool word = std::all_of(value.begin(), value.end(),
                                  [](char c) { return base::is_alphanumeric(c) || c == '-'; });
    if (!word || !base::is_letter(value.front()) || value.size() > 63) {
      return node.problem(fmt::format("{} is not a kind such as Deployment", in_quotes(value)));
    }
    out.kind = std::move(value);
    return true;
  };
}

// A list replaces the default; managedFields never reach the cache in any case.
RuleReader strip(std::vector<std::string>& out) {
  return [&out](const RuleNode& list) {
    out = {"/metadata/managedFields"};
    return list_of([&out](const RuleNode& node) {
      const auto steps = path_steps(node);
      if (!steps) return false;
      std::string pointer = base::pointer_to(*steps);
      if (runtime::is_needed(pointer)) {
        return node.problem(fmt::format("{} cannot be dropped: kubewatch needs it",
                                        in_quotes(node.value().get<std::string>())));
      }
      if (std::find(out.begin(), out.end(), pointer) == out.end())
        out.push_back(std::move(pointer));
      return true;
    })(list);
  };
}

template <class Enum, std::size_t N>
std::vector<std::pair<std::string, Enum>> words_of(
    const std::array<std::pair<std::string_view, Enum>, N>& table) {
  return {table.begin(), table.end()};
}

// The words and bounds of the flags of `watch` and `reflect`.
bool read_list(const RuleNode& node, runtime::WatcherOptions& out) {
  const auto backoff = [&out](const RuleNode& inner) {
    const RuleReader initial =
        duration(out.backoff.initial, runtime::kMinBackoff, runtime::kMaxBackoff);
    const RuleReader max = duration(out.backoff.max, runtime::kMinBackoff, runtime::kMaxBackoff);
    if (!read_keys(inner, {{"initial", initial}, {"max", max}})) return false;
    return out.backoff.max >= out.backoff.initial || inner.problem("max is shorter than initial");
  };
  const bool ok = read_keys(
      node,
      {{"strategy",
        choice<runtime::ListStrategy>(out.strategy, words_of(runtime::kListStrategies))},
       {"semantics",
        choice<runtime::ListSemantics>(out.semantics, words_of(runtime::kListSemantics))},
       {"pageSize", whole(out.page_size, 0, runtime::kMaxPageSize)},
       {"timeout", duration(out.timeout, runtime::kMinWatchTimeout, runtime::kMaxWatchTimeout)},
       {"bookmarks", flag(out.bookmarks)},
       {"backoff", backoff}});
  if (!ok || out.strategy != runtime::ListStrategy::paged || out.page_size > 0) return ok;
  return node.child("pageSize")
      .problem("must be above 0 with strategy paged: 0 means never in pages");
}

// Two streams that say their kinds apart: one kind, or all kinds of a group.
std::vector<RuleKey> kind_keys(StreamRule& out) {
  return {{"apiVersion", api_version(out.gvk), true}, {"kind", kind(out.gvk), true}};
}

// Of an entry whose kind, if it says one, was read.
void tell_kind(const RuleNode& node, const core::Gvk& gvk) {
  if (node.probe() == nullptr || gvk.version.empty() || gvk.kind.empty()) return;
  node.probe()->on_kind(node, gvk);
}

std::vector<RuleKey> stream_keys(StreamRule& out) {
  return {
      {"namespaces", namespaces(out.namespaces, "leave it out for all namespaces")},
      {"namespaceSelector", label_selector(out.namespace_selector)},
      {"labelSelector", label_selector(out.label_selector)},
      {"fieldSelector", field_selector(out.field_selector)},
      {"filter", program(out.filter)},
      {"content", choice<core::Content>(out.list.content, {{"full", core::Content::full},
                                                           {"metadata", core::Content::metadata}})},
      {"strip", strip(out.strip)},
      {"optional", flag(out.optional)},
      {"list", [&out](const RuleNode& node) { return read_list(node, out.list); }}};
}

bool read_stream(const RuleNode& node, StreamRule& out, std::vector<RuleKey> more,
                 std::vector<RuleKey> kinds) {
  out.strip = {"/metadata/managedFields", core::kLastAppliedPointer};
  std::vector<RuleKey> keys = std::move(kinds);
  std::vector<RuleKey> shared = stream_keys(out);
  std::move(shared.begin(), shared.end(), std::back_inserter(keys));
  std::move(more.begin(), more.end(), std::back_inserter(keys));
  bool ok = read_keys(node, keys);
  if (node.has("namespaces") && node.has("namespaceSelector")) {
    ok = node.child("namespaceSelector").problem_at_key("and namespaces exclude each other");
  }
  out.list.label_selector = out.label_selector.str();
  out.list.field_selector = out.field_selector.str();
  tell_kind(node, out.gvk);
  return ok;
}

// {group: g, kinds: "*"}
bool read_kinds_of_group(const RuleNode& node, StreamRule& out) {
  out.every_kind = true;
  const RuleReader group = [&out](const RuleNode& inner) {
    if (!inner.value().is_string()) return wrong_type(inner, "text");
    const auto& name = inner.value().get_ref<const std::string&>();
    const std::string wrong = name.empty() ? "" : core::check_dns_subdomain(name);
    if (!wrong.empty()) {
      return inner.problem(fmt::format("{} is not a group: {}", in_quotes(name), wrong));
    }
    out.gvk.group = name;
    return true;
  };
  const RuleReader kinds = [](const RuleNode& inner) {
    return inner.value() == "*" || inner.problem("must be \"*\"");
  };
  return read_stream(node, out, {}, {{"group", group, true}, {"kinds", kinds, true}});
}

// One kind, or every kind of a group.
bool read_for_kinds(const RuleNode& node, StreamRule& out) {
  return node.has("kinds") ? read_kinds_of_group(node, out)
                           : read_stream(node, out, {}, kind_keys(out));
}

// Each controller is named after its kind, so one name must not come twice.
bool check_kinds_differ(const RuleNode& node, const std::vector<StreamRule>& kinds) {
  bool ok = true;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const core::Gvk& a = kinds[j].gvk;
      const core::Gvk& b = kinds[i].gvk;
      const bool same_group = a.group == b.group && (kinds[i].every_kind || kinds[j].every_kind);
      if (!same_group && (a.kind.empty() || base::to_lower(a.kind) != base::to_lower(b.kind))) {
        continue;
      }
      ok = node.item(i).problem(
          same_group
              ? "is in a group of which every kind is listed"
              : fmt::format("{} is listed already: the controllers of a list are named after "
                            "their kinds; give it a document of its own",
                            b.kind));
      break;
    }
  }
  return ok;
}

bool read_on(const RuleNode& node, OwnsRule& out) {
  out.on_apply = out.on_delete = false;
  return list_of(
      [&out](const RuleNode& item) {
        const auto index = one_of(item, {"apply", "delete"});
        if (index) (*index == 0 ? out.on_apply : out.on_delete) = true;
        return index.has_value();
      },
      "leave it out for [apply, delete]")(node);
}

// The name is a key of the hook's input (`related.NAME`), made for `.related.config` without
// quotes.
RuleReader watch_name(std::string& out) {
  return [&out](const RuleNode& node) {
    std::string value;
    if (!text(value)(node)) return false;
    const bool word = std::all_of(value.begin(), value.end(), [](char c) {
      return base::is_alphanumeric(c) || c == '_' || c == '-';
    });
    if (!word || value.size() > 63) {
      return node.problem(
          fmt::format("{} is not a name of letters, digits, _ and -", in_quotes(value)));
    }
    out = std::move(value);
    return true;
  };
}

// A rule without `for` is woken by whatever it watches: there is nothing to map to.
bool check_mapping(const RuleNode& node, bool has_for, WatchesRule& out) {
  if (!node.value().is_object()) return true;
  if (has_for) {
    if (node.has("map") != node.has("refs")) return true;
    return node.problem(node.has("map")
                            ? "map and refs exclude each other: one of both finds the matches"
                            : "needs map (from the related object to ours) or refs (from "
                              "our object to the related one)");
  }
  bool ok = true;
  if (node.has("refs")) {
    ok = node.child("refs").problem("needs spec.for: there is no object to look into");
  }
  if (node.has("map") && !out.map_all) {
    ok = node.child("map").problem("needs spec.for: there is no object to map to; leave it out");
  }
  out.map_all = true;
  return ok;
}

bool read_watch(const RuleNode& node, bool has_for, std::vector<WatchesRule>& all) {
  WatchesRule out;
  const RuleReader map = [&out](const RuleNode& inner) {
    out.map_all = inner.value() == "all";
    return out.map_all || program(out.map)(inner);
  };
  bool ok =
      read_stream(node, out.stream,
                  {{"name", watch_name(out.name), true}, {"map", map}, {"refs", program(out.refs)}},
                  kind_keys(out.stream));
  ok = check_mapping(node, has_for, out) && ok;
  for (const WatchesRule& other : all) {
    if (!out.name.empty() && other.name == out.name) {
      ok = node.child("name").problem(
          fmt::format("{} is the name of another entry", in_quotes(out.name)));
    }
  }
  all.push_back(std::move(out));
  return ok;
}

}  // namespace

bool read_for(const RuleNode& node, std::vector<StreamRule>& out) {
  if (!node.value().is_array()) {
    return read_for_kinds(node, out.emplace_back());
  }
  bool ok =
      list_of([&out](const RuleNode& item) { return read_for_kinds(item, out.emplace_back()); },
              "name at least one kind")(node);
  return check_kinds_differ(node, out) && ok;
}

bool read_owns(const RuleNode& node, std::vector<OwnsRule>& out) {
  return list_of([&out](const RuleNode& item) {
    OwnsRule one;
    const RuleReader on = [&one](const RuleNode& inner) { return read_on(inner, one); };
    const bool ok = read_stream(item, one.stream, {{"on", on}}, kind_keys(one.stream));
    out.push_back(std::move(one));
    return ok;
  })(node);
}

bool read_writes(const RuleNode& node, std::vector<WritesRule>& out) {
  return list_of([&out](const RuleNode& item) {
    WritesRule one;
    const bool ok = read_keys(
        item, {{"apiVersion", api_version(one.gvk), true},
               {"kind", kind(one.gvk), true},
               {"namespaces", namespaces(one.namespaces, "leave it out for the object's own")}});
    tell_kind(item, one.gvk);
    out.push_back(std::move(one));
    return ok;
  })(node);
}

bool read_watches(const RuleNode& node, bool has_for, std::vector<WatchesRule>& out) {
  return list_of([&](const RuleNode& item) { return read_watch(item, has_for, out); })(node);
}

bool read_changed(const RuleNode& node, std::vector<std::string>& out) {
  return list_of(
      [&out](const RuleNode& item) {
        if (!path_steps(item)) return false;
        out.push_back(item.value().get<std::string>());
        return true;
      },
      "leave it out for the default")(node);
}

}  // namespace kubewatch::hooks

#include "cli/reflect/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "apiserver/read_pages.hpp"
#include "apiserver/read_text.hpp"
#include "apiserver/registry.hpp"
#include "apiserver/table.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/exit_code.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::array<const char*, 6> kFormats = {"table", "wide", "json",
                                                 "yaml",  "name", "objects"};

Result<Json> parsed(const CachedKind& kind, const core::ObjectKey& key) {
  const auto json = kind.json(key);
  if (!json) return Json();
  auto value = base::parse_json(*json);
  if (!value.ok()) return std::move(value.error()).with_context(kind.name() + " " + key.str());
  return value;
}

std::string object_name_of(const CachedKind& kind, const core::ObjectKey& key) {
  const core::Gvk& gvk = kind.type().gvk;
  return base::escape_for_terminal(base::to_lower(gvk.kind) +
                                   (gvk.group.empty() ? "" : "." + gvk.group) + "/" + key.name);
}

std::string cell_text(const Json& cell) {
  if (cell.is_null()) return "<none>";
  return base::escape_for_terminal(cell.is_string() ? cell.get<std::string>()
                                                    : base::dump_json(cell));
}

apiserver::ResourcePtr shown_as(const apiserver::Registry& registry, const CachedKind& kind) {
  const core::Gvk& gvk = kind.type().gvk;
  auto known = registry.find(gvk.group, gvk.version, kind.type().plural);
  if (known && !known->converted() && kind.content() == core::Content::full) return known;
  auto out = std::make_shared<apiserver::Resource>();
  out->type = kind.type();
  out->custom = std::make_shared<apiserver::CustomVersion>();  // name and age
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}   ", row[i], widths[i]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace

Result<std::vector<core::ObjectKey>> choose(const core::ReadBackend& kind,
                                            const QueryChoice& choice) {
  const auto state = kind.state();
  if (!state) return std::vector<core::ObjectKey>();
  const bool placed = kind.type().namespaced && choice.namespace_;
  auto keys = apiserver::in_api_order(
      state->select(choice.labels, placed ? choice.namespace_ : std::nullopt));
  std::erase_if(keys, [&](const core::ObjectKey& key) {
    if (!choice.names.empty() &&
        std::find(choice.names.begin(), choice.names.end(), key.name) == choice.names.end()) {
      return true;
    }
    if (choice.fields.empty()) return false;
    const auto json = state->json(key);
    return !json || !apiserver::matches_fields(choice.fields, key, *json);
  });
  for (const auto& name : choice.names) {
    if (std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; })) {
      continue;
    }
    return Error(ErrorKind::not_found,
                 fmt::format("{} \"{}\" not found", kind.type().qualified_plural(), name));
  }
  return keys;
}

void ReflectQuery::bind(CLI::App& app) {
  app.add_option(
         "-o,--output", output_,
         "stats (with --once) or json; with --query: table, wide, json, yaml, name, objects "
         "(a line of JSON each), jq=PROGRAM")
      ->type_name("FORMAT");
  app.add_option("--jq", jq_, "print what the program makes of each object: as -o jq=PROGRAM")
      ->type_name("PROGRAM");
}

Result<void> ReflectQuery::check(const ReflectFlags&) {
  constexpr std::string_view kJq = "jq=";
  if (output_.starts_with(kJq)) {
    if (!jq_.empty()) return Error(ErrorKind::invalid, "--jq and -o jq= are the same: give one");
    jq_ = output_.substr(kJq.size());
  } else if (!output_.empty()) {
    const bool known = std::any_of(kFormats.begin(), kFormats.end(),
                                   [&](const char* format) { return output_ == format; });
    if (!known) {
      return Error(ErrorKind::invalid,
                   fmt::format("-o {}: the formats are table, wide, json, yaml, name, objects and "
                               "jq=PROGRAM",
                               output_));
    }
    if (!jq_.empty()) return Error(ErrorKind::invalid, "--jq is a format of its own: leave out -o");
  }
  if (jq_.empty()) return {};
  auto program = jq::Program::compile(jq_);
  if (!program.ok()) return std::move(program.error()).with_context("--jq");
  program_.emplace(std::move(*program));
  return {};
}

QueryChoice ReflectQuery::choice_of(const ReflectFlags& flags, bool from_file,
                                    const std::string& default_namespace) const {
  QueryChoice out;
  if (flags.words.size() > 1) out.names.assign(flags.words.begin() + 1, flags.words.end());
  // Checked before; a live cache holds only what was selected.
  if (from_file) {
    if (auto labels = core::LabelSelector::parse(flags.selection.label_selector); labels.ok()) {
      out.labels = *std::move(labels);
    }
    if (auto fields = core::FieldSelector::parse(flags.selection.field_selector); fields.ok()) {
      out.fields = *std::move(fields);
    }
    if (!default_namespace.empty() && !flags.selection.all_namespaces) {
      out.namespace_ = default_namespace;
    }
  }
  return out;
}

Result<int> ReflectQuery::from_kinds(Context& context, const ReflectFlags& flags,
                                     const CachedKinds& kinds, Session& session) const {
  return print(context, flags, kinds, choice_of(flags, !flags.from.empty(), ""),
               session.loop().wall());
}

Result<int> ReflectQuery::from_saved(Context& context, const ReflectFlags& flags,
                                     const std::vector<SavedKind>& saved) const {
  client::ResourceMap known;
  for (const auto& one : saved) known.add(one.plan.type);
  std::vector<core::ResourceType> wanted;
  for (const auto& word :
       flags.words.empty() ? std::vector<std::string>() : base::split(flags.words[0], ',')) {
    const auto found = known.resolve(word);
    if (found.empty()) {
      return Error(ErrorKind::not_found,
                   fmt::format("{} does not hold a resource type \"{}\"", flags.from, word));
    }
    wanted.insert(wanted.end(), found.begin(), found.end());
  }
  // Nothing is asked of this server: reflectors are only what loads and holds the caches.
  loop::EventLoop loop;
  client::ClientConfig nowhere;
  nowhere.server = "https://127.0.0.1:1";
  KW_ASSIGN(const auto transport, client::make_transport(loop, nowhere));
  client::Client client(loop, *transport, nowhere);
  base::Random random = base::Random::from_system();
  CachedKinds kinds;
  for (const auto& one : saved) {
    const bool chosen =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& type) {
          return type.gvk == one.plan.type.gvk;
        });
    if (!chosen) continue;
    auto kind = std::make_unique<CachedKind>(client, random, one.plan);
    KW_TRY(kind->reflector().load(one.bytes).with_context(flags.from + ": " + kind->name()));
    kinds.push_back(std::move(kind));
  }
  return print(context, flags, kinds, choice_of(flags, true, context.global.config.namespace_),
               loop.wall());
}

Result<int> ReflectQuery::print(Context& context, const ReflectFlags& flags,
                                const CachedKinds& kinds, const QueryChoice& choice,
                                WallTime now) const {
  std::vector<Found> found;
  for (const auto& kind : kinds) {
    auto keys = choose(*kind, choice);
    // One of several namespaces has it.
    if (!keys.ok() && kinds.size() > 1 && keys.error().is_not_found()) continue;
    KW_TRY(keys);
    for (auto& key : *keys) found.push_back({kind.get(), std::move(key)});
  }
  if (found.empty() && !choice.names.empty()) {
    return Error(ErrorKind::not_found,
                 fmt::format("{} \"{}\" not found", flags.words[0], choice.names[0]));
  }
  const bool table = !program_ && (output_.empty() || output_ == "table" || output_ == "wide");
  if (table) {
    if (found.empty()) context.err << "No resources found\n";
    print_table(context, found, now);
  } else {
    KW_TRY(print_objects(context, found, choice.names.size() == 1 && found.size() == 1));
  }
  return int{kDone};
}

Result<void> ReflectQuery::print_objects(Context& context, const std::vector<Found>& found,
                                         bool single) const {
  if (output_ == "json" && !single) {
    // The objects go out as they are held, one by one: the list is never here as a whole.
    context.out
        << "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"},"
           "\"items\":[";
    for (std::size_t i = 0; i < found.size(); ++i) {
      context.out << (i == 0 ? "\n" : ",\n") << found[i].kind->json(found[i].key).value_or("null");
    }
    context.out << "\n]}\n";
    return {};
  }
  for (const auto& one : found) {
    if (!program_ && output_ == "name") {
      context.out << object_name_of(*one.kind, one.key) << "\n";
      continue;
    }
    if (!program_ && output_ == "objects") {
      context.out << one.kind->json(one.key).value_or("null") << "\n";
      continue;
    }
    KW_ASSIGN(const Json object, parsed(*one.kind, one.key));
    if (program_) {
      auto results = program_->run(object);
      if (!results.ok()) return std::move(results.error()).with_context(one.key.str());
      for (const auto& result : *results) {
        context.out << (result.is_string()
                            ? base::escape_for_terminal(result.get<std::string>(), true)
                            : base::dump_json(result))
                    << "\n";
      }
    } else if (output_ == "json") {
      context.out << base::dump_json_pretty(object) << "\n";
    } else {
      context.out << (single ? "" : "---\n") << base::dump_yaml(object);
    }
  }
  return {};
}

void ReflectQuery::print_table(Context& context, const std::vector<Found>& found,
                               WallTime now) const {
  const apiserver::Registry registry;
  bool first = true;
  for (std::size_t at = 0; at < found.size();) {
    const core::ResourceType& type = found[at].kind->type();
    const auto resource = shown_as(registry, *found[at].kind);
    std::vector<bool> wanted;
    std::vector<std::vector<std::string>> rows(1);
    if (type.namespaced) rows[0].push_back("NAMESPACE");
    for (const auto& column : apiserver::table_columns(*resource)) {
      wanted.push_back(output_ == "wide" || base::int_at(column, {"priority"}).value_or(0) == 0);
      if (wanted.back()) rows[0].push_back(upper(base::string_at(column, {"name"})));
    }
    for (; at < found.size() && found[at].kind->type().gvk == type.gvk; ++at) {
      const auto object = parsed(*found[at].kind, found[at].key);
      std::vector<std::string> row;
      if (type.namespaced) row.push_back(base::escape_for_terminal(found[at].key.namespace_));
      const Json cells =
          apiserver::table_cells(*resource, object.ok() ? *object : Json::object(), now);
      for (std::size_t i = 0; i < cells.size() && i < wanted.size(); ++i) {
        if (wanted[i]) row.push_back(cell_text(cells[i]));
      }
      rows.push_back(std::move(row));
    }
    if (!std::exchange(first, false)) context.out << "\n";
    context.out << aligned(rows);
  }
}

}  // namespace kubewatch::cli

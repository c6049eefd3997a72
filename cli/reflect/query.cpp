#include "cli/reflect/query.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>

#include "apiserver/read_pages.hpp"
#include "apiserver/read_text.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/sort_by.hpp"
#include "cli/resource_args.hpp"

namespace kubewatch::cli {

namespace {

// Objects that columns are measured by before the first row of a long table.
constexpr std::size_t kMeasured = 1000;

// All that were asked of this kind; empty: all there are.
std::vector<std::string> names_of(const std::vector<AskedKind>& asked,
                                  const core::ResourceType& type) {
  std::vector<std::string> out;
  for (const auto& one : asked) {
    if (one.type.gvk == type.gvk) out.insert(out.end(), one.names.begin(), one.names.end());
  }
  return out;
}

bool holds_metadata(const std::unique_ptr<CachedKind>& kind) {
  return kind->content() == core::Content::metadata;
}

// Object by object, in the order in which they were found.
bool streams(const ObjectPrinter& printer, const PrintFlags& flags) {
  if (!flags.sort_by.empty()) return false;
  return printer.is_table() || printer.format().kind == OutputFormat::Kind::name;
}

}  // namespace

std::vector<core::ObjectKey> choose(const core::ReadBackend& kind, const QueryChoice& choice) {
  const auto state = kind.state();
  if (!state) return {};
  const bool placed = kind.type().namespaced && !choice.namespaces.empty();
  std::optional<std::string> only;
  if (placed && choice.namespaces.size() == 1) only = choice.namespaces[0];
  auto keys = apiserver::in_api_order(state->select(choice.labels, only));
  const auto has = [](const std::vector<std::string>& list, const std::string& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  std::erase_if(keys, [&](const core::ObjectKey& key) {
    if (placed && !has(choice.namespaces, key.namespace_)) return true;
    if (!choice.names.empty() && !has(choice.names, key.name)) return true;
    if (choice.fields.empty()) return false;
    const auto json = state->json(key);
    return !json || !apiserver::matches_fields(choice.fields, key, *json);
  });
  return keys;
}

std::vector<std::string> missing_names(const QueryChoice& choice,
                                       const std::vector<core::ObjectKey>& found) {
  std::set<std::string_view> done;
  for (const auto& key : found) done.insert(key.name);
  std::vector<std::string> out;
  for (const auto& name : choice.names) {
    if (done.insert(name).second) out.push_back(name);
  }
  return out;
}

void ReflectQuery::bind(CLI::App& app) {
  PrintFlagChoice choice;
  choice.own = {"stats", "objects"};
  choice.default_format = "";
  bind_print(app, print_, choice);
  app.add_option("--jq", jq_,
                 "print what the program makes of each object; -o jq=PROGRAM gets the whole List")
      ->type_name("PROGRAM");
}

Result<void> ReflectQuery::check(const ReflectFlags& flags) {
  if (!jq_.empty() && !print_.output.empty()) {
    return Error(ErrorKind::invalid, "--jq is a format of its own: leave out -o");
  }
  if (!jq_.empty()) print_.output = "jq=" + jq_;
  if (print_.output.empty()) print_.output = flags.query ? "table" : "stats";
  print_.show_managed_fields = flags.content.show_managed_fields;
  if (print_.output == "stats" && flags.query) {
    return Error(ErrorKind::invalid, "-o stats is for --once; --query prints objects");
  }
  KW_TRY(ObjectPrinter::make(print_, {}));
  return flags.content.metadata_only ? check_reads(MetadataReads()) : Result<void>();
}

Result<void> ReflectQuery::check_reads(const MetadataReads& kept) const {
  constexpr auto kInput = MetadataReads::Input::object;
  KW_TRY(kept.check_path("--sort-by", print_.sort_by, kInput));
  if (!jq_.empty()) {
    KW_ASSIGN(const auto program, jq::Program::compile(jq_));
    return kept.check("--jq", program, kInput);
  }
  KW_ASSIGN(const auto format, parse_output_format(print_.output, print_.own));
  return kept.check_format(format, MetadataReads::Input::list);
}

Result<void> ReflectQuery::check_kept(const ReflectFlags& flags, const CachedKinds& kinds) const {
  const bool whole = std::none_of(kinds.begin(), kinds.end(), holds_metadata);
  if (whole || flags.from.empty()) return {};  // the flags were checked
  const MetadataReads kept(flags.from + ", saved with --metadata-only, has");
  KW_TRY(check_reads(kept));
  const QueryChoice choice = choice_of(flags, true);
  for (const auto& field : choice.fields.requirements()) {
    KW_TRY(kept.check_path("--field-selector", field.path, MetadataReads::Input::object));
  }
  return {};
}

QueryChoice ReflectQuery::choice_of(const ReflectFlags& flags, bool from_file) const {
  QueryChoice out;
  // Checked before; a live cache holds only what was selected.
  if (from_file) {
    if (auto labels = core::LabelSelector::parse(flags.selection.label_selector); labels.ok()) {
      out.labels = *std::move(labels);
    }
    if (auto fields = core::FieldSelector::parse(flags.selection.field_selector); fields.ok()) {
      out.fields = *std::move(fields);
    }
    if (!flags.selection.all_namespaces) out.namespaces = flags.namespaces;
  }
  return out;
}

Result<std::unique_ptr<ObjectPrinter>> ReflectQuery::printer(Context& context,
                                                             const CachedKinds& kinds) const {
  PrinterSetup setup;
  setup.terminal = terminal_of(context.global.color, STDOUT_FILENO);
  for (const auto& kind : kinds) {
    setup.with_namespace = setup.with_namespace ||
                           (kind->type().namespaced && kind->namespace_name().empty()) ||
                           kind->namespace_name() != kinds[0]->namespace_name();
    setup.several_kinds = setup.several_kinds || kind->type().gvk != kinds[0]->type().gvk;
  }
  KW_ASSIGN(auto out, ObjectPrinter::make(print_, std::move(setup)));
  for (const auto& kind : kinds) {
    // Other columns would be made up.
    if (holds_metadata(kind)) out->columns().put(kind->type(), plain_columns());
  }
  return out;
}

Result<int> ReflectQuery::from_kinds(Context& context, const ReflectFlags& flags,
                                     const CachedKinds& kinds, const std::vector<AskedKind>& asked,
                                     Session& session) const {
  KW_TRY(check_kept(flags, kinds));
  KW_ASSIGN(const auto to, printer(context, kinds));
  for (const auto& kind : kinds) {
    if (!to->is_table()) break;
    find_columns(to->columns(), session.client(), session.loop(), kind->type(), Duration{30000});
  }
  return print(context, kinds, asked, choice_of(flags, !flags.from.empty()), *to,
               session.loop().wall());
}

Result<int> ReflectQuery::from_saved(Context& context, const ReflectFlags& flags,
                                     const std::vector<SavedKind>& saved) const {
  client::ResourceMap known;
  for (const auto& one : saved) known.add(one.plan.type);
  std::vector<AskedKind> asked;
  KW_ASSIGN(const auto words, parse_resource_words(flags.words));
  for (const auto& word : words) {
    const auto found = known.resolve(word.type);
    if (found.empty()) {
      return Error(ErrorKind::not_found,
                   fmt::format("{} does not hold a resource type \"{}\"", flags.from, word.type));
    }
    for (const auto& type : found) asked.push_back({type, word.names});
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
        asked.empty() || std::any_of(asked.begin(), asked.end(), [&](const AskedKind& kind) {
          return kind.type.gvk == one.plan.type.gvk;
        });
    if (!chosen) continue;
    auto kind = std::make_unique<CachedKind>(client, random, one.plan);
    KW_TRY(kind->reflector().load(one.bytes).with_context(flags.from + ": " + kind->name()));
    if (kind->reflector().outdated()) {
      base::log_warn("what was saved is of a past that the server had undone, by a restore",
                     {{"file", flags.from}, {"kind", kind->name()}});
    }
    kinds.push_back(std::move(kind));
  }
  KW_TRY(check_kept(flags, kinds));
  KW_ASSIGN(const auto to, printer(context, kinds));
  return print(context, kinds, asked, choice_of(flags, true), *to, loop.wall());
}

Result<int> ReflectQuery::print(Context& context, const CachedKinds& kinds,
                                const std::vector<AskedKind>& asked, QueryChoice choice,
                                ObjectPrinter& printer, WallTime now) const {
  std::vector<Found> found;
  std::map<core::Gvk, std::vector<core::ObjectKey>> keys;
  for (const auto& kind : kinds) {
    choice.names = names_of(asked, kind->type());
    for (auto& key : choose(*kind, choice)) {
      keys[kind->type().gvk].push_back(key);
      found.push_back({kind.get(), std::move(key)});
    }
  }
  std::vector<std::pair<std::string, std::string>> missing;
  std::size_t named = 0;
  for (const auto& one : asked) {
    choice.names = one.names;
    named += one.names.size();
    for (auto& name : missing_names(choice, keys[one.type.gvk])) {
      std::pair miss(one.type.qualified_plural(), std::move(name));
      const bool known = std::find(missing.begin(), missing.end(), miss) != missing.end();
      if (!known) missing.push_back(std::move(miss));
    }
  }
  if (!found.empty() || missing.empty()) {
    if (found.empty()) context.err << "No resources found\n";
    auto printed = print_found(context, found, named == 1 && found.size() == 1, printer, now);
    // The program was sound; it is the object that it fails on.
    if (!printed.ok()) return Error(ErrorKind::internal, printed.error().render());
  }
  int code = found.empty() ? kNotFound : kDone;
  if (const std::string lack = lacking(kinds, found, choice); !lack.empty()) {
    code = fail(context, kFailed, lack);
  }
  for (const auto& [kind, name] : missing) {
    code = fail(context, kNotFound, fmt::format("{} \"{}\" not found", kind, name));
  }
  return code;
}

// Why what is printed may lack something; "" where it does not. Of a reduced object the content is
// missing, and a field selector looks at it.
std::string ReflectQuery::lacking(const CachedKinds& kinds, const std::vector<Found>& found,
                                  const QueryChoice& choice) {
  for (const auto& kind : kinds) {
    for (const auto& key : kind->reduced()) {
      const bool printed = std::any_of(found.begin(), found.end(), [&](const auto& one) {
        return one.kind == kind.get() && one.key == key;
      });
      if (printed || !choice.fields.empty()) {
        return runtime::why_reduced(object_name(kind->type(), key.name));
      }
    }
  }
  return "";
}

// In the order of --sort-by.
Result<std::vector<ReflectQuery::Found>> ReflectQuery::sorted(std::vector<Found> found) const {
  if (print_.sort_by.empty()) return found;
  KW_ASSIGN(const SortBy sort_by, SortBy::parse(print_.sort_by));
  std::vector<Json> objects;
  std::vector<const Json*> values;
  for (const Found& one : found) {
    KW_ASSIGN(objects.emplace_back(), base::parse_json(one.kind->json(one.key).value_or("{}")));
  }
  for (const Json& object : objects) values.push_back(&object);
  KW_ASSIGN(const auto order, sort_by.order(values));
  std::vector<Found> out;
  for (const std::size_t at : order) out.push_back(std::move(found[at]));
  return out;
}

Result<void> ReflectQuery::print_found(Context& context, const std::vector<Found>& unsorted,
                                       bool single, ObjectPrinter& printer, WallTime now) const {
  KW_ASSIGN(const std::vector<Found> found, sorted(unsorted));
  const auto text = [&](std::size_t i) { return found[i].kind->json(found[i].key).value_or("{}"); };
  if (print_.output == "objects") {
    for (std::size_t i = 0; i < found.size(); ++i) context.out << shown_json(text(i)) << "\n";
    return {};
  }
  if (!jq_.empty() || streams(printer, print_)) {
    // Object by object: a long list is never here as a whole.
    for (std::size_t i = 0; i < std::min(found.size(), kMeasured); ++i) {
      const std::string json = text(i);
      printer.measure({found[i].kind->type(), std::string_view(json)}, now);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string json = text(i);
      auto printed =
          printer.print_one(context.out, {found[i].kind->type(), std::string_view(json)}, now);
      if (!printed.ok()) {
        return std::move(printed.error())
            .with_context(object_name(found[i].kind->type(), found[i].key.name));
      }
    }
    return {};
  }
  std::vector<std::string> texts;
  std::vector<PrintedObject> objects;
  texts.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    texts.push_back(text(i));
    objects.emplace_back(found[i].kind->type(), std::string_view(texts.back()));
  }
  return printer.print_list(context.out, objects, single, now);
}

}  // namespace kubewatch::cli

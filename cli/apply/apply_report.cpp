#include "cli/apply/apply_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "hooks/secret_mask.hpp"
#include "hooks/text_diff.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostLeft = 10;
constexpr std::size_t kShownPaths = 6;
constexpr Duration kTellPauses{5000};
constexpr const char* kMadeMeanwhile = "it was made meanwhile; what this changed is not known";

const char* word_of(ApplyOutcome::What what) {
  switch (what) {
    case ApplyOutcome::What::created: return "created";
    case ApplyOutcome::What::configured: return "configured";
    case ApplyOutcome::What::unchanged: return "unchanged";
    case ApplyOutcome::What::conflict: return "conflict";
    case ApplyOutcome::What::failed: break;
  }
  return "failed";
}

std::string some_of(const std::vector<std::string>& paths) {
  const std::size_t shown = std::min(paths.size(), kShownPaths);
  std::string out = base::join({paths.begin(), paths.begin() + static_cast<long>(shown)}, ", ");
  if (paths.size() > shown) out += fmt::format(" and {} more", paths.size() - shown);
  return out;
}

std::string shown_yaml(Json object, bool was_there, const hooks::SecretHash& secrets) {
  if (object.is_null()) return "";
  secrets.hide(object, hooks::SecretHash::Reader::person);
  if (Json* metadata = base::find(object, {"metadata"}); metadata && metadata->is_object()) {
    for (const char* field : {"managedFields", "resourceVersion", "generation"}) {
      metadata->erase(field);
    }
    if (!was_there) {
      // Made up by the dry run.
      for (const char* field : {"uid", "creationTimestamp"}) metadata->erase(field);
    }
  }
  return base::dump_yaml(object);
}

// A server may quote what was sent to it.
std::string masked(const Manifest& manifest, const Error& error) {
  hooks::SecretMask mask;
  mask.add_object(manifest.object);
  return mask.mask_message(error.render());
}

// While nobody knows its type.
std::string plain_name(const Manifest& manifest) {
  return base::to_lower(base::string_at(manifest.object, {"kind"})) + "/" +
         base::string_at(manifest.object, {"metadata", "name"});
}

std::string unjudged(const ApplyOutcome::Lacks& lacks) {
  return fmt::format("cannot be judged before {} {} is written", lacks.gvk.kind, lacks.key.str());
}

Json to_json(const ApplyOutcome::Lacks& lacks) {
  Json out = {
      {"apiVersion", lacks.gvk.api_version()}, {"kind", lacks.gvk.kind}, {"name", lacks.key.name}};
  if (!lacks.key.namespace_.empty()) out["namespace"] = lacks.key.namespace_;
  return out;
}

// A namespace of null is none.
Json head_of(const Manifest& manifest) {
  const auto text = [&](const char* field) {
    return base::string_at(manifest.object, {"metadata", field});
  };
  return {{"apiVersion", manifest.object["apiVersion"]},
          {"kind", manifest.object["kind"]},
          {"metadata", {{"name", text("name")}, {"namespace", text("namespace")}}}};
}

}  // namespace

std::string diff_of(Json before, Json after, const hooks::SecretHash& secrets) {
  const bool was_there = !before.is_null();
  const std::string old_text = shown_yaml(std::move(before), was_there, secrets);
  return hooks::unified_diff(old_text, shown_yaml(std::move(after), was_there, secrets));
}

std::string outcome_line(const std::string& name, std::string_view word, const std::string& rest,
                         const Terminal& terminal) {
  const Style style = word == "created"      ? Style::green
                      : word == "configured" ? Style::yellow
                      : word == "pruned"     ? Style::red
                                             : Style::plain;
  return base::escape_for_terminal(name) + ' ' + styled(word, style, terminal) +
         base::escape_for_terminal(rest) + '\n';
}

std::string shown_diff(const std::string& diff, const Terminal& terminal) {
  std::string out;
  for (const auto& line : base::split(diff, '\n')) {
    const bool head = line.starts_with("--- ") || line.starts_with("+++ ");
    const Style style = head                     ? Style::bold
                        : line.starts_with("@@") ? Style::cyan
                        : line.starts_with("-")  ? Style::red
                        : line.starts_with("+")  ? Style::green
                                                 : Style::plain;
    out += styled(base::escape_for_terminal(line), style, terminal) + '\n';
  }
  return out;
}

void ApplyReport::say(const std::string& line) {
  context_.out << base::escape_for_terminal(line) << "\n";
}

void ApplyReport::warn(const std::string& name, const std::string& what) {
  context_.err << base::escape_for_terminal(fmt::format("warning: {}: {}", name, what)) << "\n";
}

void ApplyReport::print_json(Json line) {
  line["apiVersion"] = "kubewatch.dev/v1";
  line["kind"] = "ApplyResult";
  if (style_.dry_run) line["dryRun"] = true;
  context_.out << shown_json(base::dump_json(line)) << "\n";
}

void ApplyReport::add(ObjectApply& apply, const std::vector<std::string>& warnings) {
  const std::string name = object_name(apply.type(), apply.key().name);
  const ApplyOutcome& outcome = apply.outcome();
  for (const auto& one : warnings) warn(name, one);
  if (outcome.error) {
    return add_error(apply.manifest(), *outcome.error, name, outcome.conflicts,
                     !outcome.other_set.empty());
  }
  add_done(apply, warnings);
}

void ApplyReport::add_done(ObjectApply& apply, const std::vector<std::string>& warnings) {
  const ApplyOutcome& outcome = apply.outcome();
  const std::string name = object_name(apply.type(), apply.key().name);
  const bool same = outcome.what == ApplyOutcome::What::unchanged;
  if (style_.diff && !same) count(kFindings);
  if (!base::string_at(outcome.after, {"metadata", "deletionTimestamp"}).empty()) {
    warn(name, "it is being deleted; what was applied goes with it");
  }
  for (const auto& path : outcome.defaults) {
    warn(name, path + " was the server's own (a default) and is managed by this apply now");
  }
  if (style_.output == "json") {
    Json forced = Json::array();
    for (const auto& one : outcome.forced) forced.push_back(to_json(one));
    Json line = {{"result", word_of(outcome.what)},
                 {"object", style_.show_managed_fields ? outcome.after
                                                       : schema::without_managed(outcome.after)},
                 {"changed", outcome.changed},
                 {"forced", std::move(forced)},
                 {"migrated", outcome.migrated},
                 {"defaults", outcome.defaults},
                 {"warnings", warnings}};
    if (outcome.made_meanwhile) line["madeMeanwhile"] = true;
    if (outcome.lacks) line["lacks"] = to_json(*outcome.lacks);
    return print_json(std::move(line));
  }
  if (style_.diff && same) return;
  if (style_.output != "text") {
    for (const auto& one : outcome.forced) warn(name, "took " + to_text(one));
    if (outcome.made_meanwhile) warn(name, kMadeMeanwhile);
    if (outcome.lacks) warn(name, unjudged(*outcome.lacks));
    return style_.output == "name" ? say(name) : print_object(apply);
  }
  const std::string whole = name + (style_.subresource.empty() ? "" : "/" + style_.subresource);
  std::string line;
  if (style_.with_namespace && apply.type().namespaced) {
    line += " in namespace " + apply.key().namespace_;
  }
  if (style_.dry_run) {
    line += " (server dry run" + (outcome.lacks ? "; " + unjudged(*outcome.lacks) : "") + ")";
  }
  if (outcome.made_meanwhile) {
    line += fmt::format(": {}", kMadeMeanwhile);
  } else if (!outcome.changed.empty()) {
    line += ": " + some_of(outcome.changed);
  } else if (outcome.what == ApplyOutcome::What::configured && !outcome.lacks) {
    line += ": ownership only";
  }
  context_.out << outcome_line(whole, word_of(outcome.what), line, style_.terminal);
  for (const auto& one : outcome.forced) say("  took " + to_text(one));
  if (!outcome.migrated.empty()) {
    say(fmt::format("  {} over the fields of client-side apply ({})",
                    style_.dry_run ? "would take" : "took", base::join(outcome.migrated, ", ")));
  }
  // Without a state before it the diff would have all of it as added.
  if (!style_.dry_run || same || outcome.made_meanwhile) return;
  std::string diff = diff_of(outcome.before, outcome.after, secrets_);
  while (diff.ends_with('\n')) diff.pop_back();
  if (diff.empty()) return;
  context_.out << shown_diff(fmt::format("--- {} live\n+++ {} applied\n{}", name, name, diff),
                             style_.terminal);
}

void ApplyReport::print_object(ObjectApply& apply) {
  auto printed = style_.printer->print_one(
      context_.out, PrintedObject(apply.type(), apply.outcome().after), style_.now);
  // The program was sound; it is the object that it fails on.
  if (printed.ok()) return;
  const std::string name = object_name(apply.type(), apply.key().name);
  count(fail(context_, kFailed, name + ": " + printed.error().render()));
}

void ApplyReport::note_pause(const ObjectApply& apply, const Error& why, Duration pause,
                             TimePoint now) {
  note_pause(object_name(apply.type(), apply.key().name), masked(apply.manifest(), why), pause,
             now);
}

void ApplyReport::note_pause(const std::string& what, const std::string& why, Duration pause,
                             TimePoint now) {
  if (told_pause_ && now - *told_pause_ < kTellPauses) return;
  told_pause_ = now;
  context_.err << base::escape_for_terminal(fmt::format("{}: {}; sent again in {}", what,
                                                        base::one_line(why),
                                                        base::format_duration(pause)))
               << std::endl;
}

void ApplyReport::note_left(const std::vector<const Manifest*>& manifests) {
  if (manifests.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(manifests.size(), kMostLeft); ++i) {
    names += (i == 0 ? " " : ", ") + plain_name(*manifests[i]);
  }
  if (manifests.size() > kMostLeft) {
    names += fmt::format(" and {} more", manifests.size() - kMostLeft);
  }
  context_.err << "not begun, because the server was lost:" + base::escape_for_terminal(names) +
                      "\n";
}

void ApplyReport::add_failed(const Manifest& manifest, const Error& error) {
  add_error(manifest, error, plain_name(manifest), {}, false);
}

void ApplyReport::add_error(const Manifest& manifest, const Error& error, const std::string& name,
                            const std::vector<FieldConflict>& conflicts, bool of_other_set) {
  const std::string what =
      fmt::format("{}: {} \"{}\"", manifest.source, base::string_at(manifest.object, {"kind"}),
                  base::string_at(manifest.object, {"metadata", "name"}));
  const std::string why = masked(manifest, error);
  count(fail(context_, exit_code_of(error), what + ": " + base::one_line(why)));
  for (const auto& one : conflicts) {
    context_.err << base::escape_for_terminal("  " + to_text(one)) << "\n";
  }
  if (of_other_set) {
    context_.err << "  leave the object out of one of the sets, or move it to this one with "
                    "--force-conflicts\n";
  } else if (!conflicts.empty()) {
    context_.err << "  leave these fields out, or take them with --force-conflicts[=PATH] or "
                    "--force-owner=MANAGER\n";
  }
  if (style_.output != "json") return;
  Json list = Json::array();
  for (const auto& one : conflicts) {
    Json line = to_json(one);
    line["object"] = name;
    list.push_back(std::move(line));
  }
  print_json({{"result", conflicts.empty() ? "failed" : "conflict"},
              {"object", head_of(manifest)},
              {"message", why},
              {"exitCode", exit_code_of(error)},
              {"conflicts", std::move(list)}});
}

void ApplyReport::flush() {
  context_.out.flush();
}

void ApplyReport::add_pruned(const Pruned& member) {
  const std::string name = object_name(member.type, member.key.name);
  if (member.error) {
    count(fail(context_, exit_code_of(*member.error), base::one_line(member.error->render())));
  } else if (style_.diff) {
    count(kFindings);
  }
  if (style_.output == "json") {
    Json line = {{"result", member.error ? "failed" : "pruned"},
                 {"object",
                  {{"apiVersion", member.type.gvk.api_version()},
                   {"kind", member.type.gvk.kind},
                   {"metadata",
                    {{"name", member.key.name},
                     {"namespace", member.key.namespace_},
                     {"uid", member.uid}}}}}};
    if (member.error) line["message"] = member.error->render();
    return print_json(std::move(line));
  }
  if (member.error) return;
  if (style_.output == "name") return say(name);
  if (style_.printer != nullptr) {
    context_.err << base::escape_for_terminal(name + " pruned") << "\n";
    return;
  }
  std::string line;
  if (style_.with_namespace && member.type.namespaced) {
    line += " in namespace " + member.key.namespace_;
  }
  line += style_.dry_run ? " (server dry run)" : "";
  context_.out << outcome_line(name, "pruned", line, style_.terminal);
}

}  // namespace kubewatch::cli

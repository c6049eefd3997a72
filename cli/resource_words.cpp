// The half of resource_args.hpp that reads words and flags, and asks nobody.
#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "cli/resource_args.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMaxResourceWords = 100'000;

Error wrong(std::string text) {
  return {ErrorKind::invalid, std::move(text)};
}

// "pods/a,svc/b" is two words; "pods,svc" is one.
std::vector<std::string> split_combined(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& word : words) {
    if (word.find('/') == std::string::npos) {
      out.push_back(word);
      continue;
    }
    for (auto& part : base::split(word, ',')) out.push_back(std::move(part));
  }
  return out;
}

Result<TypeAndNames> split_slash(const std::string& word) {
  const std::size_t slash = word.find('/');
  if (word.find('/', slash + 1) != std::string::npos) {
    return wrong("arguments in resource/name form may not have more than one slash");
  }
  if (slash == std::string::npos || slash == 0 || slash + 1 == word.size()) {
    return wrong("arguments in resource/name form must have a single resource and name");
  }
  return TypeAndNames{word.substr(0, slash), {word.substr(slash + 1)}};
}

}  // namespace

bool names_version(const std::string& word, const core::Gvk& gvk) {
  const auto dot = word.find('.');
  const std::string group = gvk.group.empty() ? "" : "." + gvk.group;
  return dot != std::string::npos && base::to_lower(word.substr(dot + 1)) == gvk.version + group;
}

std::string served_as_text(const core::ResourceType& now, const std::string& before, bool pinned) {
  return fmt::format("{} is served as {} now, not as {}: {}", now.qualified_plural(),
                     now.gvk.version, before,
                     pinned ? "waiting for the version that was asked for" : "going on with that");
}

// What cannot stand in a path can be no object's name: it would be waited for in vain.
Result<void> check_name(const std::string& name) {
  if (name.empty()) return wrong("the name of an object cannot be empty");
  const bool dots = name == "." || name == "..";
  if (!dots && name.find('%') == std::string::npos) return {};
  return wrong(fmt::format("invalid resource name \"{}\": may not {}", name,
                           dots ? "be '" + name + "'" : "contain '%'"));
}

namespace {

Result<void> check_names(const ResourceFlags& flags, const std::vector<TypeAndNames>& parsed,
                         const ResourceRules& rules) {
  const bool named = std::any_of(parsed.begin(), parsed.end(),
                                 [](const TypeAndNames& one) { return !one.names.empty(); });
  if (named && (has_selector(flags.selection) || flags.all)) {
    const bool slash = flags.words.front().find('/') != std::string::npos;
    return wrong(slash ? "selectors and the all flag cannot be used when passing resource/name "
                         "arguments"
                       : "name cannot be provided when a selector is specified");
  }
  if (named && flags.selection.all_namespaces) {
    return wrong("a resource cannot be retrieved by name across all namespaces");
  }
  if (flags.all && has_selector(flags.selection)) {
    return wrong("setting 'all' parameter but found a non empty selector");
  }
  if (!named && !rules.all_implied && !flags.all && !has_selector(flags.selection)) {
    return wrong("resource(s) were provided, but no name was specified");
  }
  return {};
}

}  // namespace

void bind_resources(CLI::App& app, ResourceFlags& flags, const ResourceRules& rules) {
  app.add_option("TYPE", flags.words, rules.help);
  if (rules.files) bind_resource_files(app, flags, rules.recursive);
  if (rules.selectors) bind_selection(app, flags.selection);
  if (rules.all_flag) app.add_flag("--all", flags.all, "all objects of the given types");
}

void bind_resource_files(CLI::App& app, ResourceFlags& flags, bool recursive) {
  flags.recursive = recursive;
  app.add_option("-f,--filename", flags.files, "files, folders or - for stdin, repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("-k,--kustomize", flags.kustomize,
                 "folder that kustomize, or kubectl, builds the objects of")
      ->type_name("DIR");
  app.add_flag("-R,--recursive,!--no-recursive", flags.recursive,
               recursive ? "folders of -f with all that is below them (default)"
                         : "folders of -f with all that is below them");
}

Result<std::vector<TypeAndNames>> parse_resource_words(const std::vector<std::string>& words) {
  const auto all = split_combined(words);
  if (all.size() > kMaxResourceWords) return wrong("too many resource arguments");
  const auto slashes = std::count_if(all.begin(), all.end(), [](const std::string& word) {
    return word.find('/') != std::string::npos;
  });
  std::vector<TypeAndNames> out;
  if (slashes != 0 && static_cast<std::size_t>(slashes) != all.size()) {
    return wrong(
        "there is no need to specify a resource type as a separate argument when passing "
        "arguments in resource/name form (e.g. 'TYPE/NAME' instead of 'TYPE TYPE/NAME')");
  }
  if (slashes != 0) {
    for (const auto& word : all) {
      KW_ASSIGN(auto one, split_slash(word));
      KW_TRY(check_name(one.names.front()));
      out.push_back(std::move(one));
    }
    return out;
  }
  if (all.empty()) return out;
  const std::vector<std::string> names(all.begin() + 1, all.end());
  for (const auto& name : names) KW_TRY(check_name(name));
  for (const auto& type : base::split(all.front(), ',')) {
    if (type.empty()) return wrong(fmt::format("\"{}\" names an empty resource type", all.front()));
    out.push_back({type, names});
  }
  return out;
}

Result<void> check_resource_files(const ResourceFlags& flags) {
  if (!flags.files.empty() && !flags.kustomize.empty()) {
    return wrong("only one of -f or -k can be specified");
  }
  if (!flags.words.empty()) {
    return wrong(
        "when paths, URLs, or stdin is provided as input, you may not specify resource "
        "arguments as well");
  }
  if (flags.recursive && !flags.kustomize.empty()) {
    return wrong("the -k flag can't be used with -f or -R");
  }
  if (!flags.selection.field_selector.empty()) {
    return wrong("--field-selector chooses among objects of the server, not of files; use -l");
  }
  if (std::count(flags.files.begin(), flags.files.end(), "-") > 1) {
    return wrong("-f - can be given once: stdin is read to its end");
  }
  return {};
}

Result<void> check_resources(const ResourceFlags& flags, const ResourceRules& rules) {
  KW_TRY(check_selection(flags.selection));
  if (flags.from_files()) return check_resource_files(flags);
  if (flags.words.empty()) {
    return wrong(rules.files ? "You must provide one or more resources by argument or filename. "
                               "Example resource specifications include:\n   '-f rsrc.yaml'\n   "
                               "'<resource> <name>'\n   '<resource>'"
                             : "You must provide one or more resources by argument: '<resource>', "
                               "'<resource> <name>' or '<resource>/<name>'");
  }
  KW_ASSIGN(const auto parsed, parse_resource_words(flags.words));
  return check_names(flags, parsed, rules);
}

Result<std::vector<std::string>> split_namespaces(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const auto& word : given) {
    for (auto& name : base::split(word, ',')) {
      if (const std::string problem = core::check_dns_label(name); !problem.empty()) {
        return wrong(fmt::format("-n {}: \"{}\" is no namespace's name: {}", word, name, problem));
      }
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
    }
  }
  return out;
}

Result<std::string> namespace_of(const Manifest& manifest, bool namespaced,
                                 const std::string& asked, const std::string& fallback) {
  if (!namespaced) return std::string();
  const std::string own = base::string_at(manifest.object, {"metadata", "namespace"});
  if (!own.empty() && !asked.empty() && own != asked) {
    return wrong(fmt::format("the namespace from the provided object \"{}\" does not match the "
                             "namespace \"{}\". You must pass '--namespace={}' to perform this "
                             "operation.",
                             own, asked, own))
        .with_context(manifest.source);
  }
  if (!own.empty()) return own;
  return asked.empty() ? fallback : asked;
}

}  // namespace kubewatch::cli

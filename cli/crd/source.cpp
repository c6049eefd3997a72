#include "cli/crd/source.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <ostream>

#include "base/files.hpp"
#include "base/find_program.hpp"
#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "cli/manifests.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"
#include "loop/process.hpp"

namespace kubewatch::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCrdKind = "CustomResourceDefinition";

// What git prints, run without a shell. Errors: not_found, with git's words.
Result<std::string> run_git(std::vector<std::string> words) {
  const std::string git = base::find_program("git");
  if (git.empty()) return Error(ErrorKind::not_found, "git is not in PATH");
  loop::EventLoop loop;
  loop::ProcessOptions options;
  options.argv = std::move(words);
  options.argv.insert(options.argv.begin(), git);
  for (const char* name : {"PATH", "HOME", "GIT_DIR", "GIT_WORK_TREE"}) {
    if (const char* value = ::getenv(name))
      options.environment.push_back(fmt::format("{}={}", name, value));
  }
  options.max_stdout = kMostManifest;
  std::string told;
  std::optional<loop::ProcessExit> exit;
  auto process = loop::Process::start(
      loop, std::move(options),
      [&told](std::string_view line) {
        if (told.size() < 500) told += (told.empty() ? "" : " ") + std::string(line);
      },
      [&exit](loop::ProcessExit how) { exit = std::move(how); });
  if (!process.ok()) return std::move(process).error();
  while (!exit) loop.run_until([&exit] { return exit.has_value(); }, Duration{60000});
  if (exit->code == 0) return std::move(exit->out);
  return Error(ErrorKind::not_found, "git: " + (told.empty() ? "failed" : told));
}

// Of `git ls-tree -z`, "100644 blob HASH<tab>NAME" each: the plain files that may hold documents.
std::vector<std::string> files_of_tree(const std::string& listed) {
  std::vector<std::string> out;
  for (const std::string& entry : base::split(listed, '\0')) {
    const auto tab = entry.find('\t');
    if (tab == std::string::npos || !entry.starts_with("100")) continue;
    std::string name = entry.substr(tab + 1);
    if (base::holds_documents(name)) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// A file of a revision, or those of a folder of it. Relative paths are relative to the working
// folder, not to the root of the repository.
Result<std::vector<crdgen::TypeFile>> read_from_git(const std::string& revision,
                                                    const std::string& path) {
  if (revision.empty() || revision.starts_with("-")) {
    return Error(ErrorKind::invalid, fmt::format("\"{}\" is no revision", revision));
  }
  const auto object = [&revision](const std::string& at) {
    const bool relative = !at.starts_with("/") && !at.starts_with("./") && !at.starts_with("../");
    return revision + ":" + (relative ? "./" : "") + at;
  };
  std::vector<crdgen::TypeFile> out;
  const auto add = [&](const std::string& at) -> Result<void> {
    KW_ASSIGN(auto text, run_git({"show", "--end-of-options", object(at)}));
    out.push_back({fmt::format("git:{}:{}", revision, at), std::move(text)});
    return {};
  };
  const auto type = run_git({"cat-file", "-t", object(path)});
  if (!type.ok() || base::trim(*type) != "tree") {
    KW_TRY(add(path));  // what is wrong is said best by it
    return out;
  }
  KW_ASSIGN(const auto listed, run_git({"ls-tree", "-z", "--full-tree", object(path)}));
  const std::string folder = path.empty() || path.ends_with("/") ? path : path + "/";
  for (const std::string& name : files_of_tree(listed)) KW_TRY(add(folder + name));
  return out;
}

core::ResourceType crd_type() {
  core::ResourceType type;
  type.gvk = {"apiextensions.k8s.io", "v1", kCrdKind};
  type.plural = "customresourcedefinitions";
  type.namespaced = false;
  return type;
}

bool is_type_definitions(const Json& document) {
  return base::string_at(document, {"kind"}) == "TypeDefinitions";
}

Error first_problem(const std::vector<crdgen::Remark>& problems) {
  std::string text;
  for (const auto& problem : problems) text += (text.empty() ? "" : "\n  ") + problem.str();
  return Error(ErrorKind::invalid, text);
}

}  // namespace

std::string LoadedCrd::text() const {
  const std::string name = base::string_at(crd, {"metadata", "name"});
  return name.empty() || source.ends_with(":" + name) ? source : source + ": " + name;
}

Error wrong_file(const Error& error, const std::string& before) {
  return {ErrorKind::invalid, before + error.render()};
}

Result<std::string> read_text(const std::string& path) {
  auto text = path == "-" ? read_stdin() : base::read_awaited_file(path, kMostManifest);
  if (!text.ok()) return wrong_file(text.error());
  return text;
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code vanished;
    if (base::holds_documents(entry->path().string()) && entry->is_regular_file(vanished)) {
      files.push_back(entry->path());
    }
  }
  if (error) return Error(ErrorKind::invalid, fmt::format("folder {}: {}", path, error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

Result<Session*> CrdSources::session() {
  if (!session_) {
    KW_ASSIGN(session_, Session::open(context_.global.config));
  }
  return session_.get();
}

namespace {

Error in_list(Error error, const std::string& source, const Json& item) {
  const std::string name = base::string_at(item, {"metadata", "name"});
  return std::move(error).with_context(source + ": " + (name.empty() ? "an item" : name));
}

// Not the items of lists of other kinds.
Result<void> add_items(const std::vector<Json>& items, bool crds, const std::string& source,
                       std::vector<LoadedCrd>& out) {
  for (const Json& item : items) {
    if (!crds && base::string_at(item, {"kind"}) != kCrdKind) continue;
    if (auto ok = crdgen::check_is_crd(item); !ok.ok()) {
      return in_list(std::move(ok).error(), source, item);
    }
    out.push_back({item, source, {}, false});
  }
  return {};
}

// The CRDs of a file, but for those that its TypeDefinitions make.
Result<void> add_documents(std::vector<base::YamlDocument>& documents, const std::string& source,
                           std::vector<LoadedCrd>& out) {
  for (base::YamlDocument& document : documents) {
    const std::string kind = base::string_at(document.value, {"kind"});
    if (kind == "List" || kind == std::string(kCrdKind) + "List") {
      KW_TRY(add_items(list_items(document.value).value_or(std::vector<Json>()), kind != "List",
                       source, out));
    }
    if (kind != kCrdKind) continue;
    if (auto ok = crdgen::check_is_crd(document.value); !ok.ok()) {
      const std::string name = base::string_at(document.value, {"metadata", "name"});
      return std::move(ok).error().with_context(fmt::format(
          "{}:{}{}", source, document.marks.value_at("").line, name.empty() ? "" : ": " + name));
    }
    out.push_back({std::move(document.value), source, std::move(document.marks), true});
  }
  return {};
}

// In the order of the files. Documents of TypeDefinitions that are of one group and kind make one
// CRD, in whatever file they are: it stands where the first of them does.
Result<std::vector<LoadedCrd>> crds_of(const std::vector<crdgen::TypeFile>& files,
                                       crdgen::ServerCheck check) {
  std::vector<std::vector<LoadedCrd>> of_file(files.size());
  std::vector<crdgen::TypeFile> types;
  std::map<std::string, std::size_t> defined_in;  // "group/kind": which file
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto documents = base::parse_yaml(files[i].text);
    if (!documents.ok()) return wrong_file(documents.error(), files[i].file + ":");
    bool defines = false;
    for (const base::YamlDocument& document : *documents) {
      if (!is_type_definitions(document.value)) continue;
      defines = true;
      defined_in.emplace(base::string_at(document.value, {"spec", "group"}) + "/" +
                             base::string_at(document.value, {"spec", "kind"}),
                         i);
    }
    if (defines) types.push_back(files[i]);
    KW_TRY(add_documents(*documents, files[i].file, of_file[i]));
  }
  if (!types.empty()) {
    crdgen::Generated generated = crdgen::generate(types, check);
    if (!generated.problems.empty()) return first_problem(generated.problems);
    for (Json& crd : generated.crds) {
      const std::string id = base::string_at(crd, {"spec", "group"}) + "/" +
                             base::string_at(crd, {"spec", "names", "kind"});
      const std::size_t file = defined_in.at(id);
      of_file[file].push_back({std::move(crd), files[file].file, {}, false});
    }
  }
  std::vector<LoadedCrd> out;
  for (auto& found : of_file) {
    out.insert(out.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  }
  return out;
}

}  // namespace

Result<std::vector<LoadedCrd>> CrdSources::from_path(const std::string& path) {
  KW_ASSIGN(const auto names, files_of(path));
  std::vector<crdgen::TypeFile> files;
  for (const std::string& name : names) {
    KW_ASSIGN(auto text, read_text(name));
    files.push_back({name == "-" ? "stdin" : name, std::move(text)});
  }
  return from_files(std::move(files));
}

Result<std::vector<LoadedCrd>> CrdSources::from_files(std::vector<crdgen::TypeFile> files) {
  if (types_ == Types::together) return crds_of(files, check_);
  std::vector<LoadedCrd> out;
  for (crdgen::TypeFile& file : files) {
    KW_ASSIGN(auto found, crds_of({std::move(file)}, check_));
    for (LoadedCrd& one : found) out.push_back(std::move(one));
  }
  return out;
}

Result<std::vector<LoadedCrd>> CrdSources::from_cluster(const std::string& name) {
  KW_ASSIGN(Session * open, session());
  auto crd = open->wait_patiently<Json>([&](auto done) {
    return open->client().get(crd_type(), {"", name}, std::move(done));
  });
  if (!crd.ok()) return std::move(crd).error();
  if (auto ok = crdgen::check_is_crd(*crd); !ok.ok()) {
    return std::move(ok).error().with_context("cluster:" + name);
  }
  std::vector<LoadedCrd> out;
  out.push_back({std::move(*crd), "cluster:" + name, {}, false});
  return out;
}

Result<std::vector<LoadedCrd>> CrdSources::load(const std::string& what, bool names) {
  std::error_code error;
  Result<std::vector<LoadedCrd>> found = std::vector<LoadedCrd>();
  if (what.starts_with("cluster:")) {
    found = from_cluster(what.substr(8));
  } else if (what.starts_with("git:")) {
    const auto colon = what.find(':', 4);
    if (colon == std::string::npos) {
      return Error(ErrorKind::invalid,
                   what + ": a file or folder of a git revision is git:REVISION:PATH");
    }
    auto files = read_from_git(what.substr(4, colon - 4), what.substr(colon + 1));
    if (!files.ok()) return std::move(files).error().with_context(what);
    found = from_files(std::move(*files));
  } else if (names && what.find('/') == std::string::npos && !fs::exists(what, error) &&
             what != "-" && !what.ends_with(".yaml") && !what.ends_with(".yml") &&
             !what.ends_with(".json")) {
    found = from_cluster(what);
  } else {
    found = from_path(what);
  }
  if (found.ok() && found->empty()) {
    return Error(ErrorKind::not_found, what + ": holds no CustomResourceDefinition");
  }
  return found;
}

Result<std::vector<LoadedCrd>> CrdSources::load_all(const std::vector<std::string>& what,
                                                    bool names) {
  std::vector<LoadedCrd> out;
  for (const std::string& one : what) {
    KW_ASSIGN(auto found, load(one, names));
    for (LoadedCrd& crd : found) out.push_back(std::move(crd));
  }
  return out;
}

Result<LoadedCrd> CrdSources::load_one(const std::string& what) {
  KW_ASSIGN(auto found, load(what));
  if (found.size() > 1) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: holds {} CRDs, and this takes one", what, found.size()));
  }
  return std::move(found.front());
}

}  // namespace kubewatch::cli

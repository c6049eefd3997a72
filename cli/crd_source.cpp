#include "cli/crd_source.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <ostream>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "base/yaml_document.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"
#include "loop/process.hpp"

namespace kubewatch::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFile = 64U << 20U;

std::string find_git() {
  const char* path = ::getenv("PATH");
  for (const std::string& folder : base::split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string program = (folder.empty() ? "." : folder) + "/git";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

// What git shows for REVISION:PATH, run without a shell. Relative paths are relative to the
// working folder, not to the root of the repository.
Result<std::string> read_from_git(const std::string& revision, const std::string& path) {
  const std::string git = find_git();
  if (git.empty()) return Error(ErrorKind::not_found, "git is not in PATH");
  if (revision.empty() || revision.starts_with("-")) {
    return Error(ErrorKind::invalid, fmt::format("\"{}\" is no revision", revision));
  }
  const bool relative =
      !path.starts_with("/") && !path.starts_with("./") && !path.starts_with("../");
  loop::EventLoop loop;
  loop::ProcessOptions options;
  options.argv = {git, "show", "--end-of-options", revision + ":" + (relative ? "./" : "") + path};
  for (const char* name : {"PATH", "HOME", "GIT_DIR", "GIT_WORK_TREE"}) {
    if (const char* value = ::getenv(name))
      options.environment.push_back(fmt::format("{}={}", name, value));
  }
  options.max_stdout = kMaxFile;
  std::string words;
  std::optional<loop::ProcessExit> exit;
  auto process = loop::Process::start(
      loop, std::move(options),
      [&words](std::string_view line) {
        if (words.size() < 500) words += (words.empty() ? "" : " ") + std::string(line);
      },
      [&exit](loop::ProcessExit how) { exit = std::move(how); });
  if (!process.ok()) return std::move(process).error();
  while (!exit) loop.run_until([&exit] { return exit.has_value(); }, Duration{60000});
  if (exit->code == 0) return std::move(exit->out);
  return Error(ErrorKind::not_found, "git: " + (words.empty() ? "failed" : words));
}

core::ResourceType crd_type() {
  core::ResourceType type;
  type.gvk = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  type.plural = "customresourcedefinitions";
  type.namespaced = false;
  return type;
}

bool is_type_definitions(const Json& document) {
  return base::string_at(document, {"kind"}) == "TypeDefinitions";
}

Error first_problem(const std::vector<crdgen::Remark>& problems) {
  std::string text;
  for (const auto& problem : problems) text += (text.empty() ? "" : "\n") + problem.str();
  return Error(ErrorKind::invalid, text);
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  if (path != "-") {
    auto text = base::read_file(path, kMaxFile);
    // A file that cannot be read is wrong usage, whatever the file system said of it.
    if (!text.ok()) return Error(ErrorKind::invalid, text.error().render());
    return text;
  }
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (text.size() > kMaxFile) return Error(ErrorKind::too_large, "stdin: more than 64 MiB");
  return text;
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto ending = entry->path().extension();
    const bool yaml = ending == ".yaml" || ending == ".yml" || ending == ".json";
    std::error_code vanished;
    if (yaml && entry->is_regular_file(vanished)) files.push_back(entry->path());
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

Result<std::vector<LoadedCrd>> CrdSources::from_text(const std::string& text,
                                                     const std::string& source) {
  auto documents = base::parse_yaml(text);
  if (!documents.ok()) {
    return Error(documents.error().kind(), source + ":" + documents.error().message());
  }
  std::vector<LoadedCrd> out;
  bool types = false;
  for (base::YamlDocument& document : *documents) {
    types = types || is_type_definitions(document.value);
    const std::string kind = base::string_at(document.value, {"kind"});
    if (kind == "CustomResourceDefinition") {
      if (auto ok = crdgen::check_is_crd(document.value); !ok.ok()) {
        return std::move(ok).error().with_context(source);
      }
      out.push_back({std::move(document.value), source, std::move(document.marks), true});
    } else if (kind == "List" || kind == "CustomResourceDefinitionList") {
      for (Json item : document.value.value("items", Json::array())) {
        const bool crds = kind == "CustomResourceDefinitionList";
        // Of a list of one kind the server leaves these out of the items.
        if (crds && item.is_object() && !item.contains("kind")) {
          item["kind"] = "CustomResourceDefinition";
          item["apiVersion"] = base::string_at(document.value, {"apiVersion"});
        }
        if (!crds && base::string_at(item, {"kind"}) != "CustomResourceDefinition") continue;
        if (auto ok = crdgen::check_is_crd(item); !ok.ok()) {
          const std::string name = base::string_at(item, {"metadata", "name"});
          return std::move(ok).error().with_context(source + ": " +
                                                    (name.empty() ? "an item" : name));
        }
        out.push_back({std::move(item), source, {}, false});
      }
    }
  }
  if (!types) return out;
  crdgen::Generated generated = crdgen::generate({{source, text}});
  if (!generated.problems.empty()) return first_problem(generated.problems);
  for (Json& crd : generated.crds) out.push_back({std::move(crd), source, {}, false});
  return out;
}

Result<std::vector<LoadedCrd>> CrdSources::from_path(const std::string& path) {
  KW_ASSIGN(const auto files, files_of(path));
  std::vector<LoadedCrd> out;
  for (const std::string& file : files) {
    KW_ASSIGN(const auto text, read_text(file));
    KW_ASSIGN(auto found, from_text(text, file == "-" ? "stdin" : file));
    for (LoadedCrd& one : found) out.push_back(std::move(one));
  }
  return out;
}

Result<std::vector<LoadedCrd>> CrdSources::from_cluster(const std::string& name) {
  KW_ASSIGN(Session * open, session());
  auto crd = open->wait<Json>([&](auto done) {
    return open->client().get(crd_type(), {"", name}, std::move(done));
  });
  if (!crd.ok()) return std::move(crd).error();
  KW_TRY(crdgen::check_is_crd(*crd));
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
      return Error(ErrorKind::invalid, what + ": a file of a git revision is git:REVISION:PATH");
    }
    auto text = read_from_git(what.substr(4, colon - 4), what.substr(colon + 1));
    if (!text.ok()) return std::move(text).error().with_context(what);
    found = from_text(*text, what);
  } else if (names && what.find('/') == std::string::npos && !fs::exists(what, error) &&
             what != "-" && !what.ends_with(".yaml") && !what.ends_with(".json")) {
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

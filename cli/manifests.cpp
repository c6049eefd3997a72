#include "cli/manifests.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/document_words.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "core/object_rules.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxTotal = 256U << 20U;
constexpr std::size_t kMaxFiles = 10'000;
constexpr int kMaxDepth = 100;

// The manifests of one folder, and of those below it; links to folders are not followed. Every call
// takes an error_code: the others throw.
Result<void> collect(const fs::path& folder, bool recursive, int depth,
                     std::vector<std::string>& files) {
  if (depth > kMaxDepth) {
    return Error(ErrorKind::too_large, fmt::format("{}: nested too deep", folder.string()));
  }
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    const fs::file_type type = entry->status(unknown).type();
    if (type == fs::file_type::directory) {
      if (recursive && !entry->is_symlink(unknown)) {
        KW_TRY(collect(entry->path(), recursive, depth + 1, files));
      }
      continue;
    }
    // What cannot be looked at, such as a link to nothing, is an error once it is read: left out in
    // silence its objects would be pruned. Devices and pipes are no manifests.
    const bool readable = type == fs::file_type::regular || type == fs::file_type::not_found ||
                          type == fs::file_type::none || type == fs::file_type::unknown;
    if (readable && base::holds_documents(entry->path().string())) {
      files.push_back(entry->path());
      if (files.size() > kMaxFiles) {
        return Error(ErrorKind::too_large,
                     fmt::format("folder {}: more than {} files", folder.string(), kMaxFiles));
      }
    }
  }
  if (!error) return {};
  return Error(ErrorKind::invalid, fmt::format("folder {}: {}", folder.string(), error.message()));
}

Result<std::vector<std::string>> expand(const std::string& path, bool recursive);

Result<std::vector<std::string>> matching(const std::string& pattern, bool recursive) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<std::string> paths;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
    paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  if (code == GLOB_NOMATCH) {
    return Error(ErrorKind::not_found, fmt::format("nothing matches the path \"{}\"", pattern));
  }
  if (code != 0 || paths.size() > kMaxFiles) {
    return Error(ErrorKind::invalid,
                 fmt::format("the path \"{}\": {}", pattern,
                             code == 0 ? fmt::format("more than {} files", kMaxFiles)
                                       : std::string("its folders cannot be read")));
  }
  std::vector<std::string> out;
  for (const auto& path : paths) {
    KW_ASSIGN(const auto files, expand(path, recursive));
    out.insert(out.end(), files.begin(), files.end());
  }
  return out;
}

Result<std::vector<std::string>> expand(const std::string& path, bool recursive) {
  std::error_code error;
  if (path == "-") return std::vector<std::string>{path};
  if (path.starts_with("http://") || path.starts_with("https://")) {
    return Error(ErrorKind::invalid, fmt::format("{}: files are not fetched; pipe them, as in curl "
                                                 "-fsSL URL | kubewatch ... -f -",
                                                 path));
  }
  if (!fs::exists(path, error)) {
    // As in kubectl a pattern that the shell left alone is one: -f 'dir/*.yaml'.
    if (path.find_first_of("*?[") != std::string::npos) return matching(path, recursive);
    return Error(ErrorKind::not_found, fmt::format("the path \"{}\" does not exist", path));
  }
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  KW_TRY(collect(path, recursive, 0, files));
  if (files.empty()) {
    return Error(ErrorKind::not_found, fmt::format("{}: no *.yaml, *.yml or *.json in it", path));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// As kubectl has it, -f a.yaml,b.yaml; but a file whose own name holds a comma is that file.
std::vector<std::string> split_paths(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& word : words) {
    std::error_code unknown;
    if (word.find(',') == std::string::npos || fs::exists(word, unknown)) {
      out.push_back(word);
      continue;
    }
    for (auto& part : base::split(word, ',')) out.push_back(std::move(part));
  }
  return out;
}

// A value of another type would come back in the server's error, in words of its own.
Result<void> check_secret(const Json& object, const std::string& source) {
  const auto gvk = core::gvk_of(object);
  if (!gvk.ok() || !gvk->group.empty() || gvk->kind != "Secret") return {};
  const auto refuse = [&](const std::string& what) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: Secret \"{}\": {}", source,
                             base::string_at(object, {"metadata", "name"}), what));
  };
  for (const char* field : {"data", "stringData"}) {
    const Json* values = base::find(object, {field});
    if (values == nullptr || values->is_null()) continue;
    if (!values->is_object()) return refuse(fmt::format(".{} is no map of texts", field));
    for (const auto& [key, value] : values->items()) {
      if (value.is_string() || value.is_null()) continue;
      return refuse(fmt::format(".{}.{} is no text{}", field, key,
                                value.is_structured() ? "" : "; quote it"));
    }
  }
  return {};
}

Result<void> add_object(const Json& object, const std::string& source, std::vector<Manifest>& out);

Result<void> add_items(const Json& list, const std::vector<Json>& items, const std::string& source,
                       std::vector<Manifest>& out) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto added = add_object(items[i], source, out);
    if (!added.ok()) {
      return Error(added.error().kind(),
                   fmt::format("{} (item {} of the {})", added.error().message(), i + 1,
                               base::string_at(list, {"kind"})));
    }
  }
  return {};
}

// What every server refuses, and what it would be asked for by another path than is meant. Names of
// the kind's own rules are the server's to judge.
Result<void> check_head(const Json& object, const std::string& source) {
  const auto refuse = [&](const std::string& what) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: {} \"{}\": {}", source, base::string_at(object, {"kind"}),
                             base::string_at(object, {"metadata", "name"}), what));
  };
  if (const auto gvk = core::gvk_of(object); !gvk.ok()) return refuse(gvk.error().message());
  const Json* space = base::find(object, {"metadata", "namespace"});
  if (space != nullptr && !space->is_string() && !space->is_null()) {
    return refuse(
        fmt::format("metadata.namespace is {}, not text; quote it", base::dump_json(*space)));
  }
  for (const char* field : {"name", "namespace"}) {
    const auto wrong = core::check_path_segment(base::string_at(object, {"metadata", field}));
    if (!wrong.empty()) return refuse(fmt::format("metadata.{} {}", field, wrong));
  }
  return {};
}

Result<void> add_object(const Json& object, const std::string& source, std::vector<Manifest>& out) {
  if (!object.is_object()) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: {}, not an object", source, base::type_name(object)));
  }
  const std::string kind = base::string_at(object, {"kind"});
  if (const auto items = list_items(object)) return add_items(object, *items, source, out);
  if (kind == "List") {
    return Error(ErrorKind::invalid, fmt::format("{}: a List without items", source));
  }
  for (const auto* field : {"apiVersion", "kind"}) {
    if (base::string_at(object, {field}).empty()) {
      return Error(ErrorKind::invalid, fmt::format("{}: an object without {}", source, field));
    }
  }
  const Json* name = base::find(object, {"metadata", "name"});
  if (name != nullptr && !name->is_string()) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: metadata.name of a {} is {}, not text; quote it", source, kind,
                             base::dump_json(*name)));
  }
  const std::string generated = base::string_at(object, {"metadata", "generateName"});
  if (!generated.empty() && (name == nullptr || *name == "")) {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: a {} with generateName {} and without metadata.name, which says "
                             "not which object it is",
                             source, kind, generated));
  }
  if (name == nullptr || name->get_ref<const std::string&>().empty()) {
    return Error(ErrorKind::invalid, fmt::format("{}: a {} without metadata.name", source, kind));
  }
  KW_TRY(check_head(object, source));
  KW_TRY(check_secret(object, source));
  out.push_back({object, source});
  return {};
}

// Rule files lie beside the manifests that they work on; they are no API objects.
bool is_rule(const Json& document) {
  return base::string_at(document, {"apiVersion"}).starts_with("kubewatch.dev/");
}

// Which need not say what they are; of others with such a name (Flux has a kind of it) the type
// counts.
bool is_kustomization(const Json& document, const std::string& source) {
  const std::string name = fs::path(source).filename();
  if (name != "kustomization.yaml" && name != "kustomization.yml" && name != "Kustomization") {
    return false;
  }
  const std::string version = base::string_at(document, {"apiVersion"});
  return document.is_object() &&
         (version.empty() || version.starts_with("kustomize.config.k8s.io/"));
}

Error no_kustomization(const std::string& source, bool takes_folders) {
  std::string folder = fs::path(source).parent_path();
  if (folder.empty()) folder = ".";
  return {ErrorKind::invalid,
          takes_folders
              ? fmt::format("{} is a kustomization: give its folder to -k", source)
              : fmt::format("{} is a kustomization: render it, as in kubectl kustomize {} | "
                            "kubewatch ... -f -",
                            source, folder)};
}

}  // namespace

namespace {

// `of_folder`: nobody named the file.
Result<void> add_documents(std::string_view text, const std::string& source, bool of_folder,
                           bool takes_folders, std::vector<Manifest>& out) {
  base::YamlLimits limits;
  limits.max_bytes = kMostManifest;
  auto documents = base::parse_yaml_values(text, limits);
  if (!documents.ok()) return std::move(documents).error().with_context(source);
  for (std::size_t i = 0; i < documents->size(); ++i) {
    if (of_folder && is_rule((*documents)[i])) continue;
    if (is_kustomization((*documents)[i], source)) {
      if (!of_folder) return no_kustomization(source, takes_folders);
      base::log_warn(source + ": a kustomization is no object, it is passed over");
      continue;
    }
    auto added = add_object((*documents)[i], source, out);
    if (added.ok()) continue;
    const std::string place =
        documents->size() > 1 ? fmt::format(" (document {} of {})", i + 1, documents->size()) : "";
    return Error(added.error().kind(), added.error().message() + place);
  }
  return {};
}

}  // namespace

Result<std::string> read_stdin() {
  std::string text;
  std::array<char, 65536> piece{};
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // whoever shares it wants it so
      pollfd more{STDIN_FILENO, POLLIN, 0};
      ::poll(&more, 1, -1);
      continue;
    }
    if (count < 0) {
      const std::string why = errno == EISDIR ? "it is a folder" : std::strerror(errno);
      return Error(ErrorKind::invalid, "cannot read stdin: " + why);
    }
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostManifest) return Error(ErrorKind::too_large, "stdin: more than 64 MiB");
  }
}

std::optional<std::vector<Json>> list_items(const Json& object) {
  const std::string kind = base::string_at(object, {"kind"});
  const Json* items = base::find(object, {"items"});
  if (items == nullptr || !items->is_array() || !kind.ends_with("List")) return std::nullopt;
  const std::string of = kind.substr(0, kind.size() - std::string_view("List").size());
  std::vector<Json> out(items->begin(), items->end());
  for (Json& item : out) {
    if (!item.is_object() || of.empty()) continue;
    if (!item.contains("kind")) item["kind"] = of;
    if (!item.contains("apiVersion")) item["apiVersion"] = base::string_at(object, {"apiVersion"});
  }
  return out;
}

Result<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& source) {
  std::vector<Manifest> out;
  KW_TRY(add_documents(text, source, false, false, out));
  return out;
}

Result<std::vector<Manifest>> read_manifests(const std::vector<std::string>& paths, bool recursive,
                                             bool takes_folders) {
  std::vector<Manifest> out;
  std::size_t total = 0;
  for (const auto& path : split_paths(paths)) {
    KW_ASSIGN(const auto files, expand(path, recursive));
    for (const auto& file : files) {
      KW_ASSIGN(const auto text,
                file == "-" ? read_stdin() : base::read_awaited_file(file, kMostManifest));
      total += text.size();
      if (total > kMaxTotal) {
        return Error(ErrorKind::too_large, fmt::format("{}: more than 256 MiB in all of -f", file));
      }
      const std::string source = file == "-" ? "stdin" : file;
      KW_TRY(add_documents(text, source, file != path, takes_folders, out));
    }
  }
  return out;
}

void sort_for_writing(std::vector<Manifest>& manifests) {
  hooks::sort_for_writing(manifests, [](const Manifest& one) -> const Json& { return one.object; });
}

}  // namespace kubewatch::cli

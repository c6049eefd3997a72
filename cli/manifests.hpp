// Manifest files of the command line: -f FILE, DIR or -, lists expanded. Reads files, parses, no
// server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::cli {

inline constexpr std::size_t kMostManifest = 64U << 20U;  // bytes of one file

struct Manifest {
  Json object;
  std::string source;  // the file, or "stdin"
};

// A path that does not exist is split at its commas. Folders: *.yaml, *.yml and *.json, sorted;
// deeper ones only when `recursive`; rule files are passed over, and so are kustomizations, of
// which a notice tells. Every document must have apiVersion, kind and metadata.name. Errors name
// the file: invalid, not_found, too_large (a file above 64 MiB, more than 10,000 files or 256 MiB
// in all). `takes_folders`: the command has -k.
Result<std::vector<Manifest>> read_manifests(const std::vector<std::string>& paths, bool recursive,
                                             bool takes_folders = false);
// The same of a text; `source` names it.
Result<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& source);

// All of stdin, up to 64 MiB. Errors: too_large; invalid (it cannot be read).
Result<std::string> read_stdin();

// The items of a List, or of a list of one kind (WebsiteList), whose items are given the type that
// a server leaves out of them. Absent for every other object.
std::optional<std::vector<Json>> list_items(const Json& object);

// By hooks::order_class, what is of one class in the order given.
void sort_for_writing(std::vector<Manifest>& manifests);

}  // namespace kubewatch::cli

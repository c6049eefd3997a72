// Where crd-gen takes CRDs from: files and folders, stdin, a revision of git, the cluster. A
// TypeDefinitions document stands for the CRD that it makes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "cli/command.hpp"
#include "cli/session.hpp"
#include "crdgen/generate.hpp"

namespace kubewatch::cli {

struct LoadedCrd {
  Json crd;
  std::string source;     // "crd.yaml", "git:HEAD~1:crd.yaml", "cluster:websites.demo.example.com"
  base::YamlMarks marks;  // of the document; empty where the CRD was made or came from a server
  bool has_marks = false;
  std::string text() const;  // for messages: the source, and which of its CRDs
};

class CrdSources {
 public:
  // What TypeDefinitions in several files of one folder make: one CRD for each group and kind, as
  // crd-gen has it; or one for each file, for who is to put them together.
  enum class Types { together, by_file };
  // `check`: whether TypeDefinitions that the API server would refuse are refused here, too.
  explicit CrdSources(Context& context, crdgen::ServerCheck check = crdgen::ServerCheck::skip,
                      Types types = Types::together)
      : context_(context), check_(check), types_(types) {}

  // FILE, FOLDER, -, git:REVISION:PATH (a file or folder), cluster:NAME; with `names` also the bare
  // NAME of a CRD in the cluster. At least one CRD comes of each. Errors: invalid, not_found, and
  // the server's.
  Result<std::vector<LoadedCrd>> load(const std::string& what, bool names = false);
  Result<std::vector<LoadedCrd>> load_all(const std::vector<std::string>& what, bool names = false);
  // Exactly one. Errors: invalid when there are more.
  Result<LoadedCrd> load_one(const std::string& what);

  // The connection, opened when it is first needed.
  Result<Session*> session();

 private:
  Result<std::vector<LoadedCrd>> from_path(const std::string& path);
  Result<std::vector<LoadedCrd>> from_files(std::vector<crdgen::TypeFile> files);
  Result<std::vector<LoadedCrd>> from_cluster(const std::string& name);

  Context& context_;
  crdgen::ServerCheck check_;
  Types types_;
  std::unique_ptr<Session> session_;
};

// A file that cannot be read is wrong usage, whatever is wrong with it. `before` goes before what
// the error says.
Error wrong_file(const Error& error, const std::string& before = "");
// The text of a file, or of stdin for "-". Errors: invalid.
Result<std::string> read_text(const std::string& path);
// The *.yaml, *.yml and *.json of a folder, sorted; the path itself when it is none.
Result<std::vector<std::string>> files_of(const std::string& path);

}  // namespace kubewatch::cli

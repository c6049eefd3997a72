// What crd-gen and its import write: CRDs, C++ structs, JSON Schemas and pages, on stdout or as
// files of a folder, or compared with the files that are there.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/command.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

struct OutputFile {
  std::string name;
  std::string text;
};

// The names come from CRDs, of the cluster too: one must not lead out of the folder, and no two
// may be the same. Errors: invalid.
Result<void> check_file_names(const std::vector<OutputFile>& files);

class CrdOutput {
 public:
  // -o, --check, --lang and what goes with it. `languages` are the values of --lang.
  void bind(CLI::App& app, const std::vector<std::string>& languages);
  const std::string& language() const { return language_; }
  const std::string& version() const { return version_; }
  const std::string& name_space() const { return name_space_; }

  // The CRD in the language; "crd" itself included. Errors: not_found (no such version), invalid
  // (a value of another JSON type than the server wants).
  Result<OutputFile> render(const Json& crd) const;
  // "" or what is wrong with the flags.
  std::string wrong_flags() const;
  // Writes or compares. The exit code.
  int write(Context& context, const std::vector<OutputFile>& files) const;

 private:
  int check(Context& context, const std::vector<OutputFile>& files) const;

  std::string where_ = "-";
  std::string language_;
  std::string version_;
  std::string name_space_;
  bool check_ = false;
};

}  // namespace kubewatch::cli

// kubewatch crd-gen import: CRDs back to TypeDefinitions, or to C++, JSON Schema and pages; kinds
// of the server itself to C++.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/output.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "client/sender.hpp"
#include "crdgen/cpp_structs.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"

namespace kubewatch::cli {

namespace {

class Import : public Command {
 public:
  std::string name() const override { return "import"; }
  std::string summary() const override { return "CRDs back to TypeDefinitions, C++ and pages"; }

  void bind(CLI::App& app) override {
    app.add_option("CRD", targets_, "FILE, DIR, -, git:REVISION:PATH, or a name in the cluster")
        ->type_name("");
    app.add_option("-f,--filename", files_, "files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--builtin", builtins_,
                   "with --lang cpp: a TYPE that the server itself has, from its /openapi/v3")
        ->type_name("TYPE")
        ->allow_extra_args(false);
    output_.bind(app, {"types", "cpp", "jsonschema", "markdown"});
  }

  int run(Context& context) override {
    if (targets_.empty() && files_.empty() && builtins_.empty()) {
      return fail(context, kUsage, "name a CRD: a file, or its name in the cluster");
    }
    if (!builtins_.empty() && output_.language() != "cpp") {
      return fail(context, kUsage, "--builtin goes with --lang cpp");
    }
    if (const auto wrong = output_.wrong_flags(); !wrong.empty()) {
      return fail(context, kUsage, wrong);
    }
    CrdSources sources(context);
    std::vector<OutputFile> out;
    auto done = collect(context, sources, out);
    if (!done.ok()) return fail(context, done.error());
    return output_.write(context, out);
  }

 private:
  Result<void> collect(Context& context, CrdSources& sources, std::vector<OutputFile>& out) {
    KW_ASSIGN(auto crds, sources.load_all(targets_, true));
    KW_ASSIGN(auto more, sources.load_all(files_));
    for (LoadedCrd& one : more) crds.push_back(std::move(one));
    for (const LoadedCrd& one : crds) {
      auto file = output_.language() == "types" ? types_of(context, one) : output_.render(one.crd);
      if (!file.ok()) return std::move(file).error().with_context(one.source);
      out.push_back(std::move(*file));
    }
    for (const std::string& type : builtins_) {
      auto file = builtin(sources, type);
      if (!file.ok()) return std::move(file).error().with_context("--builtin " + type);
      out.push_back(std::move(*file));
    }
    return {};
  }

  static Result<OutputFile> types_of(Context& context, const LoadedCrd& one) {
    KW_ASSIGN(const auto imported, crdgen::import_crd(one.crd));
    for (const std::string& note : imported.notes) {
      context.err << "note: " << base::escape_for_terminal(one.source + ": " + note) << "\n";
    }
    return OutputFile{crdgen::crd_file_name(one.crd), crdgen::types_yaml(imported.document)};
  }

  Result<OutputFile> builtin(CrdSources& sources, const std::string& word) {
    KW_ASSIGN(Session * session, sources.session());
    KW_ASSIGN(const auto types, session->resolve(word));
    const core::ResourceType& type = types.front();
    const core::Gvk& gvk = type.gvk;
    const std::string path = gvk.group.empty()
                                 ? "/openapi/v3/api/" + gvk.version
                                 : "/openapi/v3/apis/" + gvk.group + "/" + gvk.version;
    KW_ASSIGN(const std::string answer, session->read(path, "GET " + path));
    auto document = base::parse_json(answer);
    if (!document.ok()) {
      return client::unreadable_answer(document.error()).with_context("GET " + path);
    }
    if (base::find(*document, {"components", "schemas"}) == nullptr) {
      return Error(ErrorKind::unavailable, "GET " + path + ": what was answered has no schemas");
    }
    crdgen::CppOptions options;
    options.name_space = output_.name_space();
    options.plural = type.plural;
    options.namespaced = type.namespaced;
    KW_ASSIGN(auto text,
              crdgen::cpp_of_openapi(*document, gvk.group, gvk.version, gvk.kind, options));
    const std::string group = gvk.group.empty() ? "core" : gvk.group;
    return OutputFile{group + "_" + type.plural + ".hpp", std::move(text)};
  }

  std::vector<std::string> targets_;
  std::vector<std::string> files_;
  std::vector<std::string> builtins_;
  CrdOutput output_;
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_import() {
  return std::make_unique<Import>();
}

}  // namespace kubewatch::cli

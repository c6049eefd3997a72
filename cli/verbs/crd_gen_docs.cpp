// kubewatch crd-gen docs: a reference page in Markdown.
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/crd/commands.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "crdgen/import.hpp"
#include "crdgen/markdown.hpp"

namespace kubewatch::cli {

namespace {

class Docs : public Command {
 public:
  std::string name() const override { return "docs"; }
  std::string summary() const override { return "a reference page in Markdown"; }

  void bind(CLI::App& app) override {
    app.add_option("CRD", files_, "FILE, DIR, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
  }

  int run(Context& context) override {
    CrdSources sources(context, crdgen::ServerCheck::run);
    auto loaded = sources.load_all(files_);
    if (!loaded.ok()) return fail(context, loaded.error());
    const char* between = "";
    for (const LoadedCrd& one : *loaded) {
      auto crd = crdgen::readable_crd(one.crd);
      if (!crd.ok()) return fail(context, std::move(crd).error().with_context(one.text()));
      context.out << between << crdgen::markdown_of(*crd);
      between = "\n";
    }
    return kDone;
  }

 private:
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_docs() {
  return std::make_unique<Docs>();
}

}  // namespace kubewatch::cli

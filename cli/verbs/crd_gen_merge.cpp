// kubewatch crd-gen merge: CRDs that hold versions of one kind, made one.
#include <fmt/format.h>
#include <unistd.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/import.hpp"
#include "crdgen/merge.hpp"

namespace kubewatch::cli {

namespace {

class Merge : public Command {
 public:
  std::string name() const override { return "merge"; }
  std::string summary() const override { return "versions of one kind into one CRD"; }

  void bind(CLI::App& app) override {
    app.add_option("CRD", files_, "FILE, DIR, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
    app.add_option("--storage", storage_, "the version that objects are stored in")
        ->type_name("VERSION")
        ->required();
  }

  int run(Context& context) override {
    CrdSources sources(context, crdgen::ServerCheck::run, CrdSources::Types::by_file);
    auto loaded = sources.load_all(files_);
    if (!loaded.ok()) return fail(context, loaded.error());
    std::vector<Json> crds;
    for (LoadedCrd& one : *loaded) {
      auto readable = crdgen::readable_crd(one.crd);
      if (!readable.ok())
        return fail(context, std::move(readable).error().with_context(one.text()));
      crds.push_back(std::move(*readable));
    }
    auto merged = crdgen::merge_crds(crds, storage_);
    if (!merged.ok()) return fail(context, merged.error());
    for (const std::string& warning : merged->warnings) {
      context.err << "warning: " << base::escape_for_terminal(warning) << "\n";
    }
    context.out << shown_text(crdgen::crd_yaml({merged->crd}),
                              terminal_of(context.global.color, STDOUT_FILENO));
    return kDone;
  }

 private:
  std::vector<std::string> files_;
  std::string storage_;
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_merge() {
  return std::make_unique<Merge>();
}

}  // namespace kubewatch::cli

// kubewatch crd-gen: CRDs from TypeDefinitions documents.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/output.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "crdgen/generate.hpp"

namespace kubewatch::cli {

namespace {

class CrdGen : public Command {
 public:
  CrdGen() {
    add(make_crd_gen_import());
    add(make_crd_gen_lint());
    add(make_crd_gen_diff());
    add(make_crd_gen_merge());
    add(make_crd_gen_validate());
    add(make_crd_gen_sample());
    add(make_crd_gen_docs());
  }
  std::string name() const override { return "crd-gen"; }
  std::string summary() const override {
    return "CRDs from a YAML shorthand and back, checked offline";
  }

  void bind(CLI::App& app) override {
    app.add_option("FILE", files_, "TypeDefinitions files or folders; - is stdin")->type_name("");
    output_.bind(app, {"crd", "cpp", "jsonschema", "markdown"});
  }

  int run(Context& context) override {
    if (files_.empty()) return fail(context, kUsage, "name the files with TypeDefinitions");
    if (const auto wrong = output_.wrong_flags(); !wrong.empty()) {
      return fail(context, kUsage, wrong);
    }
    std::vector<crdgen::TypeFile> texts;
    for (const std::string& path : files_) {
      auto files = files_of(path);
      if (!files.ok()) return fail(context, files.error());
      for (const std::string& file : *files) {
        auto text = read_text(file);
        if (!text.ok()) return fail(context, text.error());
        texts.push_back({file == "-" ? "stdin" : file, std::move(*text)});
      }
    }
    if (texts.empty()) {
      return fail(context, kUsage,
                  base::join(files_, ", ") + ": holds no *.yaml, *.yml or *.json file");
    }
    const crdgen::Generated made = crdgen::generate(texts, crdgen::ServerCheck::run);
    for (const auto& problem : made.problems) {
      context.err << base::escape_for_terminal(problem.str()) << "\n";
    }
    if (!made.problems.empty()) {
      const std::size_t count = made.problems.size();
      return fail(context, kUsage, fmt::format("{} problem{}", count, count == 1 ? "" : "s"));
    }
    for (const auto& note : made.notes) {
      context.err << "note: " << base::escape_for_terminal(note.str()) << "\n";
    }
    std::vector<OutputFile> out;
    for (const Json& crd : made.crds) {
      auto file = output_.render(crd);
      if (!file.ok()) return fail(context, file.error());
      out.push_back(std::move(*file));
    }
    return output_.write(context, out);
  }

 private:
  std::vector<std::string> files_;
  CrdOutput output_;
};

}  // namespace

std::unique_ptr<Command> make_crd_gen() {
  return std::make_unique<CrdGen>();
}

}  // namespace kubewatch::cli

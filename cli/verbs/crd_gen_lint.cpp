// kubewatch crd-gen lint: what the server refuses of a CRD, and what it takes but people regret.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/crd/commands.hpp"
#include "cli/crd/lint_printer.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"

namespace kubewatch::cli {

namespace {

class Lint : public Command {
 public:
  std::string name() const override { return "lint"; }
  std::string summary() const override {
    return "what the server refuses of a CRD, and what people regret";
  }

  void bind(CLI::App& app) override {
    app.add_option("CRD", files_, "FILE, DIR, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
    app.add_option("--disable", disabled_, "id of a finding to leave out, repeatable")
        ->type_name("ID")
        ->allow_extra_args(false);
    app.add_option("--fail-on", fail_on_, "the mildest level that makes the exit code 9")
        ->type_name("LEVEL")
        ->check(CLI::IsMember({"info", "warning", "error"}));
    bind_output(app, output_, {"text", "json", "sarif", "github"});
  }

  int run(Context& context) override {
    for (const std::string& id : disabled_) {
      if (const auto known = crdgen::check_lint_id(id); !known.ok()) {
        return fail(context, kUsage, "--disable: " + known.error().message());
      }
    }
    CrdSources sources(context);
    auto loaded = sources.load_all(files_);
    if (!loaded.ok()) return fail(context, loaded.error());
    crdgen::LintOptions options;
    options.rules = &schema::rule_checker();
    options.disabled = disabled_;
    std::vector<PlacedFinding> found;
    for (const LoadedCrd& one : *loaded) {
      for (crdgen::LintFinding& finding : crdgen::lint_crd(one.crd, options)) {
        PlacedFinding placed{std::move(finding), one.source};
        if (one.has_marks) {
          const auto mark = one.marks.key_at(placed.finding.pointer);
          placed.line = mark.line;
          placed.column = mark.column;
        }
        found.push_back(std::move(placed));
      }
    }
    print(context, found);
    const bool bad = std::any_of(found.begin(), found.end(), [this](const PlacedFinding& one) {
      return one.finding.level >= lowest();
    });
    return bad ? kFindings : kDone;
  }

 private:
  crdgen::LintLevel lowest() const {
    if (fail_on_ == "info") return crdgen::LintLevel::info;
    return fail_on_ == "error" ? crdgen::LintLevel::error : crdgen::LintLevel::warning;
  }

  void print(Context& context, const std::vector<PlacedFinding>& found) const {
    if (output_ == "json") {
      context.out << shown_json(base::dump_json_pretty(lint_json(found))) << "\n";
    } else if (output_ == "sarif") {
      context.out << shown_json(base::dump_json_pretty(lint_sarif(found))) << "\n";
    } else if (output_ == "github") {
      context.out << lint_github(found);
    } else {
      context.out << lint_text(found);
    }
  }

  std::vector<std::string> files_;
  std::vector<std::string> disabled_;
  std::string fail_on_ = "warning";
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_lint() {
  return std::make_unique<Lint>();
}

}  // namespace kubewatch::cli

// kubewatch crd-gen sample: custom resources made up from a schema.
#include <fmt/format.h>
#include <unistd.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "apiserver/registry.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/object_validation.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/printers/print_flags.hpp"
#include "crdgen/sample.hpp"

namespace kubewatch::cli {

namespace {

// A sample may be wanted of a version that is not served (any more, or yet).
Json all_served(Json crd) {
  for (Json& version : crd["spec"]["versions"]) version["served"] = true;
  return crd;
}

// What is judged is what whoever reads the print gets: a number that has no fraction is an integer.
Result<Json> as_read(const Json& object) {
  KW_ASSIGN(auto documents, base::parse_yaml_values(base::dump_yaml(object)));
  return std::move(documents.at(0));
}

class SampleVerb : public Command {
 public:
  std::string name() const override { return "sample"; }
  std::string summary() const override { return "a minimal and a filled-in object of a kind"; }

  void bind(CLI::App& app) override {
    app.add_option("CRD", file_, "FILE, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
    app.add_option("--size", size_, "minimal, full or both")
        ->type_name("SIZE")
        ->check(CLI::IsMember({"minimal", "full", "both"}));
    app.add_option("--for-version", version_, "version of the objects (default: the stored one)")
        ->type_name("VERSION");
    PrintFlagChoice choice;
    choice.own = {"yaml", "json"};  // documents and an array, not a List
    choice.default_format = "yaml";
    bind_print(app, print_, choice);
  }

  int run(Context& context) override {
    PrinterSetup setup;
    setup.terminal = terminal_of(context.global.color, STDOUT_FILENO);
    const auto printer = ObjectPrinter::make(print_, setup);
    if (!printer.ok()) return fail(context, kUsage, printer.error().render());
    CrdSources sources(context);
    const auto loaded = sources.load_one(file_);
    if (!loaded.ok()) return fail(context, loaded.error());
    const std::vector<Json> crds(1, all_served(loaded->crd));
    const ObjectValidation validation(crds);
    Json list = Json::array();
    bool valid = true;
    for (const auto& [word, size] :
         {std::pair("minimal", crdgen::SampleSize::minimal), {"full", crdgen::SampleSize::full}}) {
      if (size_ != "both" && size_ != word) continue;
      auto object = crdgen::sample_of(loaded->crd, version_, size);
      if (!object.ok()) return fail(context, object.error());
      auto read = as_read(*object);
      if (!read.ok()) return fail(context, read.error());
      std::vector<std::string> problems = validation.check(*read);
      for (std::string& problem : validation.check_status(*read)) {
        problems.push_back(std::move(problem));
      }
      for (const std::string& problem : problems) {
        context.err << base::escape_for_terminal(fmt::format(
                           "note: the {} sample is not valid yet, change it by hand: {}", word,
                           problem))
                    << "\n";
        valid = false;
      }
      list.push_back(std::move(*object));
    }
    if (auto printed = print(context, crds.front(), list, **printer, setup.terminal);
        !printed.ok()) {
      return fail(context, printed.error());
    }
    return valid ? kDone : kFindings;
  }

 private:
  Result<void> print(Context& context, const Json& crd, const Json& list, ObjectPrinter& printer,
                     const Terminal& terminal) const {
    if (printer.format().kind != OutputFormat::Kind::own)
      return print_list(context, crd, list, printer);
    if (printer.format().text == "json") {
      context.out << shown_json(base::dump_json_pretty(list.size() == 1 ? list.front() : list))
                  << "\n";
      return {};
    }
    for (const Json& object : list) {
      if (list.size() > 1) context.out << "---\n";
      context.out << shown_text(base::dump_yaml(object), terminal);
    }
    return {};
  }

  static Result<void> print_list(Context& context, const Json& crd, const Json& list,
                                 ObjectPrinter& printer) {
    std::vector<PrintedObject> objects;
    const auto resources = apiserver::resources_of_crd(crd).served;
    for (const Json& object : list) {
      for (const auto& resource : resources) {
        const core::ResourceType& type = resource->type;
        if (base::string_at(object, {"apiVersion"}) != type.gvk.api_version()) continue;
        printer.columns().put(type, crd_columns(crd, type.gvk.version));
        objects.emplace_back(type, object);
      }
    }
    // None of them has an age.
    return printer.print_list(context.out, objects, objects.size() == 1, WallTime{});
  }

  std::string file_;
  std::string size_ = "both";
  std::string version_;
  PrintFlags print_;
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_sample() {
  return std::make_unique<SampleVerb>();
}

}  // namespace kubewatch::cli

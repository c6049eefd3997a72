// kubewatch crd-gen sample: custom resources made up from a schema.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/crd_gen_commands.hpp"
#include "cli/crd_source.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/object_validation.hpp"
#include "crdgen/sample.hpp"

namespace kubewatch::cli {

namespace {

// A sample may be wanted of a version that is not served (any more, or yet).
Json all_served(Json crd) {
  for (Json& version : crd["spec"]["versions"]) version["served"] = true;
  return crd;
}

class Sample : public Command {
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
    bind_output(app, output_, {"yaml", "json"});
  }

  int run(Context& context) override {
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
      std::vector<std::string> problems = validation.check(*object);
      for (std::string& problem : validation.check_status(*object)) {
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
    if (output_ == "json") {
      context.out << base::dump_json_pretty(list.size() == 1 ? list.front() : list) << "\n";
    } else {
      for (const Json& object : list) {
        if (list.size() > 1) context.out << "---\n";
        context.out << base::dump_yaml(object);
      }
    }
    return valid ? kDone : kFindings;
  }

 private:
  std::string file_;
  std::string size_ = "both";
  std::string version_;
  std::string output_ = "yaml";
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_sample() {
  return std::make_unique<Sample>();
}

}  // namespace kubewatch::cli

// kubewatch run-controller rbac: prints the least rights that rules need, as RBAC documents.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <CLI/CLI.hpp>

#include "apiserver/registry.hpp"
#include "base/files.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/command.hpp"
#include "cli/controller/checked_rules.hpp"
#include "cli/controller/rules.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/manifests.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/printers/print_flags.hpp"
#include "cli/session.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/rbac.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostHookOutput = 64U << 20U;
constexpr const char* kHowToKnow = "such kinds are known with a server (--discover), or from --crd";

class Rbac : public Command {
 public:
  std::string name() const override { return "rbac"; }
  std::string summary() const override { return "print the least rights that rules need"; }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", rule_files_, "rule files or folders, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--crd", crd_files_,
                   "files or folders with the CustomResourceDefinitions of the rules' kinds, "
                   "repeatable; those in a folder of rules are found without it")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_flag("--discover", discover_, "ask the server for kinds that are not known otherwise");
    app.add_option("--outputs", output_files_,
                   "files with what hooks have printed, repeatable: the subresources that their "
                   "Results patch are granted")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--name", options_.name,
                   "of the ServiceAccount, roles and bindings (default kubewatch)")
        ->type_name("NAME");
    app.add_flag("--registration", registration_,
                 "instead: what is needed to register the CustomResourceDefinitions");
    app.add_flag("--leader-elect", leader_elect_, "with the rights for leader election");
    shards_given_ = app.add_option("--shards", shards_, "and for shards, however many")
                        ->type_name("N")
                        ->expected(0, 1)
                        ->check(CLI::Range(1, 1000).description(""))
                        ->needs("--leader-elect");
    app.add_option("--lease-namespace", lease_namespace_, "where the Leases are")
        ->type_name("NAME")
        ->needs("--leader-elect");
    PrintFlagChoice choice;
    choice.own = {"yaml", "json"};  // with what is missing as comments, and a List even of one
    choice.default_format = "yaml";
    bind_print(app, print_, choice);
  }

  int run(Context& context) override {
    if (rule_files_.empty()) return fail(context, kUsage, "name the rule files with -f");
    PrinterSetup setup;
    setup.terminal = terminal_of(context.global.color, STDOUT_FILENO);
    setup.several_kinds = true;
    auto printer = ObjectPrinter::make(print_, setup);
    if (!printer.ok()) return fail(context, kUsage, printer.error().render());
    const auto loaded = load_checked_rules_to_read(rule_files_);
    if (!loaded.problems.empty()) {
      return refuse_rules(context, loaded.problems, "nothing was printed");
    }
    if (!context.global.config.namespace_.empty()) {
      options_.namespace_ = context.global.config.namespace_;
    }
    if (auto known = know_kinds(context); !known.ok()) return fail(context, known.error());
    hooks::RightsInput input{loaded.rules, [this](const core::Gvk& gvk) { return find(gvk); },
                             {},           options_.namespace_,
                             {},           {}};
    input.kinds_of_group = [this](const hooks::StreamRule& rule) { return kinds_of(rule); };
    if (auto patched = read_outputs(loaded.rules); patched.ok()) {
      input.patched = std::move(*patched);
    } else {
      return fail(context, kUsage, patched.error().render());
    }
    if (leader_elect_) {
      input.election =
          hooks::ElectionRights{lease_namespace_.empty() ? options_.namespace_ : lease_namespace_,
                                shards_given_->count() > 0 && shards_ != 1U};
    }
    const auto rights = hooks::rights_of(input);
    if (!rights.ok()) {
      return fail(context, kUsage,
                  rights.error().render() +
                      ": name the files of their CustomResourceDefinitions with --crd, or ask the "
                      "server with --discover");
    }
    input.is_doubtful = [this](const core::Gvk& gvk) {
      return server_ == nullptr || server_->did_not_answer(gvk);
    };
    const auto missing = hooks::left_out(input);
    const auto printed =
        print(context,
              registration_ ? hooks::registration_documents(loaded.rules, input, options_)
                            : hooks::rbac_documents(*rights, options_),
              missing, **printer);
    if (!printed.ok()) return fail(context, printed.error());
    if (missing.empty()) return kDone;
    return fail(
        context, kFindings,
        "rights are missing in what is printed: " + base::join(missing, "; ") + "; " + kHowToKnow);
  }

 private:
  void know(const Json& crd) {
    kinds_->set_custom(base::string_at(crd, {"metadata", "name"}),
                       apiserver::resources_of_crd(crd));
  }

  Result<void> know_kinds(Context& context) {
    kinds_.emplace();
    for (const auto& path : rule_files_) {
      std::error_code ignored;
      if (!std::filesystem::is_directory(path, ignored)) continue;
      for (const Json& crd : definitions_beside_rules(path)) know(crd);
    }
    for (const auto& path : crd_files_) {
      auto manifests = read_manifests({path}, false);
      if (!manifests.ok()) return Error(ErrorKind::invalid, manifests.error().render());
      for (const auto& manifest : *manifests) {
        if (base::string_at(manifest.object, {"kind"}) != "CustomResourceDefinition") continue;
        know(manifest.object);
      }
    }
    if (!discover_) return {};
    KW_ASSIGN(session_, Session::open(context.global.config));
    KW_ASSIGN(server_, session_->resources());
    return {};
  }

  // Those that the rules' controllers would patch. Errors: invalid.
  Result<std::vector<hooks::PatchedSubresource>> read_outputs(
      const std::vector<hooks::Rule>& rules) const {
    std::vector<hooks::PatchedSubresource> out;
    for (const auto& file : output_files_) {
      KW_ASSIGN(const std::string text, base::read_file(file, kMostHookOutput));
      auto documents = base::parse_yaml_values(text);
      if (!documents.ok()) return std::move(documents.error()).with_context(file);
      auto patched = hooks::patched_subresources(*documents);
      if (!patched.ok()) return std::move(patched.error()).with_context(file);
      for (auto& one : *patched) {
        const bool declared = std::any_of(rules.begin(), rules.end(), [&](const hooks::Rule& rule) {
          return hooks::is_declared(rule, one.gvk);
        });
        if (!declared) {
          return Error(ErrorKind::invalid,
                       fmt::format("{}: patches {} of {}, a kind that no rule lists in `owns` or "
                                   "`writes`",
                                   file, one.subresource, one.gvk.str()));
        }
        out.push_back(std::move(one));
      }
    }
    return out;
  }

  // On the server and in files; files alone tell of a group only what it holds when they hold some.
  std::optional<std::vector<core::Gvk>> kinds_of(const hooks::StreamRule& rule) const {
    client::ResourceMap known;
    if (server_ != nullptr) {
      for (const core::ResourceType& type : server_->all()) known.add(type);
      known.failed_groups = server_->failed_groups;
    }
    for (const auto& resource : kinds_->all()) {
      if (resource->custom && known.find(resource->type.gvk) == nullptr) known.add(resource->type);
    }
    auto kinds = hooks::kinds_of_group(known, rule);
    if (kinds && kinds->empty() && server_ == nullptr) return std::nullopt;
    return kinds;
  }

  std::optional<core::ResourceType> find(const core::Gvk& gvk) const {
    if (const auto known = kinds_->find_kind(gvk)) return known->type;
    if (server_ == nullptr) return std::nullopt;
    const auto* type = server_->find(gvk);
    if (type == nullptr) return std::nullopt;
    return *type;
  }

  // Whoever applies it without looking at the exit code still finds in it what it lacks.
  Result<void> print(Context& context, const std::vector<Json>& documents,
                     const std::vector<std::string>& missing, ObjectPrinter& printer) const {
    if (printer.format().kind != OutputFormat::Kind::own) {
      std::vector<PrintedObject> objects;
      for (const Json& document : documents) {
        KW_ASSIGN(const core::Gvk gvk, core::gvk_of(document));
        objects.emplace_back(kinds_->find_kind(gvk)->type, document);
      }
      return printer.print_list(context.out, objects, false, WallTime{});  // none has an age
    }
    if (printer.format().text == "json") {
      context.out << shown_json(base::dump_json_pretty(
                         {{"apiVersion", "v1"}, {"kind", "List"}, {"items", documents}}))
                  << "\n";
      return {};
    }
    for (const std::string& one : missing) {
      context.out << "# MISSING: the rights of " << base::escape_for_terminal(one) << ". "
                  << kHowToKnow << ".\n";
    }
    bool first = true;
    for (const Json& document : documents) {
      if (!first) context.out << "---\n";
      first = false;
      const std::string text = base::dump_yaml(document);
      context.out << text << (text.ends_with('\n') ? "" : "\n");
    }
    return {};
  }

  std::vector<std::string> rule_files_;
  std::vector<std::string> crd_files_;
  std::vector<std::string> output_files_;
  bool discover_ = false;
  bool registration_ = false;
  bool leader_elect_ = false;
  std::optional<std::size_t> shards_;
  CLI::Option* shards_given_ = nullptr;  // also without a number
  std::string lease_namespace_;
  hooks::RbacOptions options_;
  PrintFlags print_;
  std::optional<apiserver::Registry> kinds_;  // made when asked: every command would pay for it
  std::unique_ptr<Session> session_;
  std::shared_ptr<const client::ResourceMap> server_;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_rbac() {
  return std::make_unique<Rbac>();
}

}  // namespace kubewatch::cli

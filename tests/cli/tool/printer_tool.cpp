// A small `get` for tests alone: resource arguments and printers as the verbs use them, against a
// real server. --stream prints the objects one by one, as a watch does.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/app.hpp"
#include "cli/argv.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/resource_args.hpp"

namespace kubewatch::cli {
namespace {

struct Tool {
  GlobalOptions global;
  ResourceFlags resources;
  PrintFlags print;
  bool stream = false;

  int report(const Error& error) const {
    std::cerr << "error: " << base::escape_for_terminal(error.render(), true) << "\n";
    return exit_code_of(error);
  }

  Result<std::vector<Json>> objects_of(Session& session, const Target& target) {
    if (!target.name.empty()) {
      KW_ASSIGN(auto object, session.wait<Json>([&](auto done) {
        return session.client().get(target.type, {target.namespace_, target.name}, std::move(done));
      }));
      return std::vector<Json>{std::move(object)};
    }
    core::ListParams params;
    params.label_selector = target.label_selector;
    params.field_selector = target.field_selector;
    KW_ASSIGN(const auto list, session.wait<client::ListResult>([&](auto done) {
      return session.client().list(target.type, target.namespace_, params, std::move(done));
    }));
    std::vector<Json> out;
    for (const auto& item : list.items) out.push_back(Json::parse(item));
    return out;
  }

  Result<void> objects(Session& session, ObjectPrinter& printer,
                       const std::vector<Target>& targets) {
    std::vector<std::pair<const core::ResourceType*, Json>> all;
    for (const auto& target : targets) {
      KW_ASSIGN(auto found, objects_of(session, target));
      for (auto& one : found) all.emplace_back(&target.type, std::move(one));
      if (printer.is_table() && !printer.columns().has(target.type)) {
        std::shared_ptr<const Columns> columns;
        const auto pending = fetch_columns(session.client(), target.type,
                                           [&](auto made) { columns = std::move(made); });
        session.loop().run_until([&] { return columns != nullptr; }, Duration{10000});
        printer.columns().put(target.type, columns);
      }
    }
    std::vector<PrintedObject> printed;
    for (const auto& [type, object] : all) printed.emplace_back(*type, object);
    const WallTime now = session.loop().wall();
    if (!stream) {
      const bool single = targets.size() == 1 && !targets.front().name.empty();
      return printer.print_list(std::cout, printed, single, now);
    }
    for (const auto& one : printed) KW_TRY(printer.print_one(std::cout, one, now, {"ADDED"}));
    return {};
  }

  Result<void> run() {
    const ResourceRules rules;
    KW_TRY(check_resources(resources, rules));
    KW_ASSIGN(const auto namespaces, split_namespaces(global.namespaces));
    PrinterSetup setup;
    setup.terminal = terminal_of(global.color, STDOUT_FILENO);
    setup.with_namespace = resources.selection.all_namespaces || namespaces.size() > 1;
    if (stream) setup.leading = {"EVENT"};
    // What is wrong with -o is told before a server is asked.
    KW_TRY(ObjectPrinter::make(print, setup));
    KW_ASSIGN(const auto session, Session::open(global.config));
    KW_ASSIGN(const auto targets, resolve_targets(*session, resources, rules, namespaces));
    for (const auto& one : targets) {
      setup.several_kinds = setup.several_kinds || one.type.gvk != targets.front().type.gvk;
    }
    KW_ASSIGN(const auto printer, ObjectPrinter::make(print, setup));
    return objects(*session, *printer, targets);
  }
};

int tool_main(int argc, char** argv) {
  Tool tool;
  CLI::App app("prints objects", "printer_tool");
  bind_global_flags(app, tool.global);
  bind_resources(app, tool.resources, {});
  bind_print(app, tool.print);
  app.add_flag("--stream", tool.stream, "one by one");
  auto words = normalise_argv(std::vector<std::string>(argv + 1, argv + argc), app);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    std::cerr << "error: " << error.what() << "\n";
    return kUsage;
  }
  const auto done = tool.run();
  std::cout.flush();
  return done.ok() ? kDone : tool.report(done.error());
}

}  // namespace
}  // namespace kubewatch::cli

int main(int argc, char** argv) {
  return kubewatch::cli::tool_main(argc, argv);
}

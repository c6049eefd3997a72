// kubewatch reflect: keeps compact caches of some kinds; says what they cost, answers questions
// from them, serves them, checks them against the server, saves them.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/reflect/flags.hpp"
#include "cli/reflect/query.hpp"
#include "cli/reflect/reflect_run.hpp"
#include "cli/reflect/saved.hpp"
#include "client/config.hpp"

namespace kubewatch::cli {

namespace {

class Reflect : public Command {
 public:
  std::string name() const override { return "reflect"; }
  std::string summary() const override {
    return "keep a compact cache; query it, serve it, verify it";
  }

  bool several_namespaces() const override { return true; }

  void bind(CLI::App& app) override {
    bind_reflect(app, flags_);
    query_.bind(app);
  }

  int run(Context& context) override {
    flags_.namespaces = context.global.namespaces;
    if (auto checked = flags_.check(); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    if (auto checked = check_output(); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    if (!flags_.from.empty()) {
      if (auto read = read_file(); !read.ok()) return fail(context, kUsage, read.error().render());
    }
    if (flags_.mode() == ReflectMode::query && !flags_.from.empty()) {
      if (auto checked = check_origin(context.global.config); !checked.ok()) {
        return fail(context, kUsage, checked.error().render());
      }
      const auto code = query_.from_saved(context, flags_, saved_.kinds);
      return code.ok() ? *code : fail(context, code.error());
    }
    return run_reflect(context, flags_, query_, saved_);
  }

 private:
  Result<void> check_output() {
    const ReflectMode mode = flags_.mode();
    KW_TRY(query_.check(flags_));
    const std::string& output = query_.output();
    const bool figures = output.empty() || output == "stats" || output == "json";
    if (mode == ReflectMode::once && figures && flags_.selects_of_file()) {
      return Error(
          ErrorKind::invalid,
          "the figures of --once are those of the caches of the file as they are: with -n, "
          "-l and --field-selector name the TYPE, or print objects with --query or -o");
    }
    // --once -o yaml prints objects.
    if (mode == ReflectMode::query || mode == ReflectMode::once || figures) return {};
    return Error(ErrorKind::invalid,
                 fmt::format("-o {} prints objects: give it with --query or --once", output));
  }

  Result<void> read_file() {
    KW_ASSIGN(saved_.content, read_saved(flags_.from));
    auto parsed = parse_saved(saved_.content);
    if (!parsed.ok()) return std::move(parsed.error()).with_context(flags_.from);
    saved_.kinds = std::move(*parsed);
    return {};
  }

  // The file needs no server. Who names one all the same wants the objects of that one.
  Result<void> check_origin(const client::ConfigOverrides& named) const {
    if (named.kubeconfig.empty() && named.context.empty() && named.cluster.empty() &&
        named.user.empty() && named.server.empty()) {
      return {};
    }
    KW_ASSIGN(const auto config,
              client::load_config(named, client::ConfigEnvironment::from_process()));
    const std::string why = why_foreign(saved_.kinds, client::identity_of(config));
    if (why.empty()) return {};
    return Error(ErrorKind::invalid,
                 fmt::format("{} was {}: name no server with --query to have what the file holds",
                             flags_.from, why));
  }

  ReflectFlags flags_;
  ReflectQuery query_;
  SavedFile saved_;  // --from
};

}  // namespace

std::unique_ptr<Command> make_reflect() {
  return std::make_unique<Reflect>();
}

}  // namespace kubewatch::cli

// kubewatch crd-gen diff: what a change of CRDs breaks, and for whom.
#include <fmt/format.h>

#include <map>
#include <ostream>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/crd/commands.hpp"
#include "cli/crd/source.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/printers/object_printer.hpp"
#include "crdgen/diff.hpp"

namespace kubewatch::cli {

namespace {

class Diff : public Command {
 public:
  std::string name() const override { return "diff"; }
  std::string summary() const override { return "what a change of a CRD breaks, and for whom"; }

  void bind(CLI::App& app) override {
    app.add_option("OLD", old_, "FILE, DIR, -, git:REVISION:PATH or cluster:NAME")
        ->type_name("")
        ->required();
    app.add_option("NEW", new_, "the same")->type_name("")->required();
    bind_output(app, output_, {"text", "json", "markdown"});
  }

  int run(Context& context) override {
    // A change may be the repair of what the server would refuse.
    CrdSources old_sources(context, crdgen::ServerCheck::skip);
    auto before = old_sources.load(old_);
    if (!before.ok()) return fail(context, before.error());
    CrdSources new_sources(context, crdgen::ServerCheck::run);
    auto after = new_sources.load(new_);
    if (!after.ok()) return fail(context, after.error());
    for (const auto* side : {&*before, &*after}) {
      if (auto once = check_once(*side); !once.ok()) return fail(context, once.error());
    }
    const auto all = compare(*before, *after);
    crdgen::Verdict worst = crdgen::Verdict::safe;
    for (const auto& [name, changes] : all) worst = std::max(worst, crdgen::worst_of(changes));
    print(context, all, worst);
    return worst == crdgen::Verdict::breaking ? kFindings : kDone;
  }

 private:
  using ByName = std::map<std::string, std::vector<crdgen::Change>>;

  static std::string name_of(const Json& crd) { return base::string_at(crd, {"metadata", "name"}); }

  static crdgen::Change whole(const char* id, const char* message, crdgen::Verdict verdict) {
    crdgen::Change out;
    out.id = id;
    out.message = message;
    out.stored = out.writers = out.readers = verdict;
    return out;
  }

  // Which of two a CRD of the other side is to be compared with nobody can say.
  static Result<void> check_once(const std::vector<LoadedCrd>& side) {
    std::map<std::string, const LoadedCrd*> seen;
    for (const LoadedCrd& one : side) {
      const auto [first, added] = seen.emplace(name_of(one.crd), &one);
      if (added) continue;
      const std::string& other = first->second->source;
      return Error(
          ErrorKind::invalid,
          fmt::format("{}: there are two CRDs {}; make them one with crd-gen merge",
                      other == one.source ? other : other + " and " + one.source, first->first));
    }
    return {};
  }

  // Two single CRDs are compared whatever they are called.
  static ByName compare(const std::vector<LoadedCrd>& before, const std::vector<LoadedCrd>& after) {
    ByName out;
    if (before.size() == 1 && after.size() == 1) {
      out[name_of(after[0].crd)] = crdgen::diff_crds(before[0].crd, after[0].crd);
      return out;
    }
    std::map<std::string, const Json*> now;
    for (const LoadedCrd& one : after) now[name_of(one.crd)] = &one.crd;
    for (const LoadedCrd& one : before) {
      const auto found = now.find(name_of(one.crd));
      out[name_of(one.crd)] =
          found != now.end()
              ? crdgen::diff_crds(one.crd, *found->second)
              : std::vector{whole("crd-removed", "the CRD is gone, and with it all of its objects",
                                  crdgen::Verdict::breaking)};
    }
    for (const auto& [name, crd] : now) {
      if (out.count(name) == 0) {
        out[name] = {whole("crd-added", "the CRD is new", crdgen::Verdict::safe)};
      }
    }
    return out;
  }

  void print(Context& context, const ByName& all, crdgen::Verdict worst) const {
    if (output_ == "json") {
      Json out = {{"verdict", crdgen::to_string(worst)}, {"crds", Json::object()}};
      for (const auto& [name, changes] : all) out["crds"][name] = crdgen::diff_json(changes);
      context.out << shown_json(base::dump_json_pretty(out)) << "\n";
      return;
    }
    for (const auto& [name, changes] : all) {
      if (output_ == "markdown") {
        context.out << "## " << base::escape_for_terminal(name) << "\n\n"
                    << crdgen::diff_markdown(changes) << "\n";
        continue;
      }
      for (const auto& change : changes) {
        context.out << base::escape_for_terminal(fmt::format(
                           "{:<8} {} {}{}: {} [{}; stored objects {}, writers {}, readers {}]",
                           crdgen::to_string(change.verdict()), name,
                           change.version.empty() ? "" : change.version + " ", change.path,
                           change.message, change.id, crdgen::to_string(change.stored),
                           crdgen::to_string(change.writers), crdgen::to_string(change.readers)))
                    << "\n";
      }
    }
    if (output_ == "text") context.out << "verdict: " << crdgen::to_string(worst) << "\n";
  }

  std::string old_;
  std::string new_;
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_crd_gen_diff() {
  return std::make_unique<Diff>();
}

}  // namespace kubewatch::cli

// kubewatch run-controller finalizers: what our finalizers hold, and letting it go. Asks a running
// controller; with -f the server itself, for rules that nothing runs any more.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/control_flags.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/rules.hpp"
#include "cli/session.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/kind_words.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::cli {

namespace {

class Finalizers : public Command {
 public:
  std::string name() const override { return "finalizers"; }
  std::string summary() const override { return "list objects that our finalizers hold"; }

  void bind(CLI::App& app) override {
    control_.bind_target(app, "only objects of this kind, or this object");
    app.add_flag("--release", release_,
                 "take our finalizer off the listed objects, without their cleanup");
    app.add_option("-f,--filename", rule_files_,
                   "ask the server for the objects of these rules; no controller is needed")
        ->type_name("FILE")
        ->allow_extra_args(false);
    control_.bind(app);
  }

  int run(Context& context) override {
    auto args = control_.target_args(context);
    if (!args.ok()) return fail(context, args.error());
    if (!rule_files_.empty()) {
      if (!control_.socket().empty()) {
        return fail(context, kUsage, "-f and --socket exclude each other");
      }
      return ask_server(context, *args);
    }
    (*args)["release"] = release_;
    return control_.ask(
        context, "finalizers", *args, [&](const Json& answer) { print(context, answer); },
        [&](const Json& answer) { return code_of(answer); });
  }

 private:
  int ask_server(Context& context, const Json& args) {
    const auto loaded = hooks::load_rules_to_read(rule_files_);
    if (!loaded.problems.empty())
      return refuse_rules(context, loaded.problems, "the server was not asked");
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    Json objects = Json::array();
    for (const hooks::Rule& rule : loaded.rules) {
      if (auto done = collect(**session, rule, args, objects); !done.ok()) {
        return fail(context, done.error());
      }
    }
    if (auto found = check_target(args, loaded.rules); !found.ok()) {
      return fail(context, found.error());
    }
    const Json answer = {{"objects", std::move(objects)}};
    if (control_.json()) {
      context.out << shown_json(base::dump_json_pretty(answer)) << "\n";
    } else {
      print(context, answer);
    }
    return code_of(answer);
  }

  Result<void> collect(Session& session, const hooks::Rule& rule, const Json& args, Json& objects) {
    if (!rule.has_for) return {};
    KW_ASSIGN(const auto resources, session.resources());
    if (rule.for_.every_kind) {
      for (const core::Gvk& gvk :
           hooks::kinds_of_group(*resources, rule.for_).value_or(std::vector<core::Gvk>())) {
        hooks::StreamRule stream = rule.for_;
        stream.gvk = gvk;
        KW_TRY(collect(session, hooks::rule_of_kind(rule, std::move(stream)), args, objects));
      }
      return {};
    }
    const core::ResourceType* type = resources->find(rule.for_.gvk);
    const std::string kind = base::string_at(args, {"kind"});
    const bool named =
        type == nullptr ? hooks::names_kind(kind, rule.for_.gvk) : hooks::names_kind(kind, *type);
    if (named) {
      core::ObjectKey key{"", base::string_at(args, {"name"})};
      if (type != nullptr && type->namespaced)
        key.namespace_ = base::string_at(args, {"namespace"});
      target_ = rule.for_.gvk.kind + " " + key.str();
    }
    if (type == nullptr) {
      // One missing kind must not hide what the other rules hold.
      base::log_warn("the server has no such kind: nothing of this rule can be listed",
                     {{"controller", rule.name}, {"kind", rule.for_.gvk.str()}});
      return {};
    }
    if (!kind.empty() && !named) return {};
    core::ListParams params;
    params.limit = 500;
    params.content = core::Content::metadata;
    do {
      KW_ASSIGN(const auto page, session.wait<client::ListResult>([&](auto done) {
        return session.client().list(*type, "", params, std::move(done));
      }));
      for (const std::string& item : page.items) {
        KW_ASSIGN(const core::ObjectMeta meta, core::parse_meta(item));
        KW_TRY(look_at(session, rule, *type, meta, args, objects));
      }
      params.continue_token = page.page.continue_token;
    } while (!params.continue_token.empty());
    return {};
  }

  Result<void> look_at(Session& session, const hooks::Rule& rule, const core::ResourceType& type,
                       const core::ObjectMeta& meta, const Json& args, Json& objects) {
    const std::string name = base::string_at(args, {"name"});
    if (!name.empty() && meta.name != name) return {};
    if (!name.empty() && type.namespaced &&
        meta.namespace_ != base::string_at(args, {"namespace"})) {
      return {};
    }
    target_is_there_ = true;
    if (!meta.deleting() || !meta.has_finalizer(rule.finalizer_name)) return {};
    Json object = {{"controller", rule.name},
                   {"object", type.gvk.kind + " " + meta.key().str()},
                   {"finalizer", rule.finalizer_name},
                   {"since", *meta.deletion_timestamp},
                   {"text", "no controller was asked why"}};
    if (release_) {
      client::InFlight requests;
      const auto released = session.wait<hooks::ChangedMeta>([&](auto done) {
        hooks::change_finalizer(session.client(), requests,
                                {type, meta, rule.finalizer_name, rule.apply.field_manager, false},
                                std::move(done));
        return client::PendingPtr();
      });
      object["released"] = released.ok();
      if (!released.ok()) object["error"] = released.error().render();
    }
    objects.push_back(std::move(object));
    return {};
  }

  // A name that is not there is a typo, and not an object that nothing holds.
  Result<void> check_target(const Json& args, const std::vector<hooks::Rule>& rules) const {
    const std::string kind = base::string_at(args, {"kind"});
    if (!kind.empty() && target_.empty()) {
      std::vector<const hooks::Rule*> all;
      for (const hooks::Rule& rule : rules) all.push_back(&rule);
      return hooks::no_rule_for_kind(kind, all);
    }
    if (base::string_at(args, {"name"}).empty() || target_is_there_) return {};
    return Error(ErrorKind::not_found, "there is no " + target_);
  }

  // Of an answer that may be another version's.
  static Json list_at(const Json& answer, const char* member) {
    const Json* found = base::find(answer, {member});
    return found != nullptr && found->is_array() ? *found : Json::array();
  }

  // 1: some finalizer could not be taken off, or it is not known as yet whether one holds.
  int code_of(const Json& answer) const {
    if (release_ && !list_at(answer, "notStarted").empty()) return kFailed;
    for (const Json& object : list_at(answer, "objects")) {
      if (object.contains("released") && object["released"] == false) return kFailed;
    }
    return kDone;
  }

  void print(Context& context, const Json& answer) const {
    const Json waiting = list_at(answer, "notStarted");
    const Json objects = list_at(answer, "objects");
    for (const Json& rule : waiting) {
      context.err << base::escape_for_terminal(
                         base::string_at(rule, {}) +
                         " has not started: what its finalizer holds is not known yet")
                  << "\n";
    }
    if (objects.empty() && waiting.empty()) {
      const std::string& target = control_.target();
      context.err << base::escape_for_terminal(target.empty() ? "No held objects found"
                                                              : "No held objects found: " + target)
                  << "\n";
    }
    for (const Json& object : objects) {
      std::string line =
          fmt::format("{}: {} since {} by {}: {}", base::string_at(object, {"controller"}),
                      base::string_at(object, {"object"}), base::string_at(object, {"since"}),
                      base::string_at(object, {"finalizer"}), base::string_at(object, {"text"}));
      if (object.contains("released")) {
        line += object["released"] == true
                    ? "; released"
                    : "; not released: " + base::string_at(object, {"error"});
      }
      context.out << base::escape_for_terminal(line) << "\n";
    }
  }

  bool release_ = false;
  std::vector<std::string> rule_files_;
  ControlFlags control_;
  // Of KIND/NAME on the server: what it means, once a rule is for its kind.
  std::string target_;
  bool target_is_there_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run_controller_finalizers() {
  return std::make_unique<Finalizers>();
}

}  // namespace kubewatch::cli

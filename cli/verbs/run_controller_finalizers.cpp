// kubewatch run-controller finalizers: what our finalizers hold, and letting it go. Asks a running
// controller; with -f the server itself, for rules that nothing runs any more.
#include <fmt/format.h>

#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/controller/control_flags.hpp"
#include "cli/controller/rules.hpp"
#include "cli/exit_code.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/session.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/held_places.hpp"
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
    app.add_flag("-A,--all-namespaces", all_namespaces_,
                 "with -f: also in namespaces that the rules do not name");
    control_.bind(app);
  }

  int run(Context& context) override {
    auto args = control_.target_args(context);
    if (!args.ok()) return fail(context, args.error());
    if (all_namespaces_ && rule_files_.empty()) {
      return fail(context, kUsage,
                  "-A needs -f: a controller tells of all that it watches, in any namespace");
    }
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
  // A rule, and a place of its objects that could not be seen.
  struct Unseen {
    std::string controller;
    std::string kind;
    hooks::HeldPlace place;
    Error error;
    bool may_narrow = false;  // a namespace that is named may be allowed
  };

  int ask_server(Context& context, const Json& args) {
    if (all_namespaces_ && control_.names_object()) {
      return fail(context, kUsage, "a resource cannot be retrieved by name across all namespaces");
    }
    const auto loaded = hooks::load_rules_to_read(rule_files_);
    if (!loaded.problems.empty())
      return refuse_rules(context, loaded.problems, "the server was not asked");
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    kind_ = base::string_at(args, {"kind"});
    asked_.name = base::string_at(args, {"name"});
    // The context's namespace is for an object that is named; rules say where theirs are.
    asked_.namespace_ = asked_.name.empty() ? context.global.config.namespace_
                                            : base::string_at(args, {"namespace"});
    asked_.all_namespaces = all_namespaces_;
    for (const hooks::Rule& rule : loaded.rules) {
      if (!rule.has_for || cut_off_) continue;
      const auto resources = (*session)->resources();
      if (!resources.ok()) return fail(context, resources.error());
      collect(**session, **resources, rule);
    }
    if (auto found = check_target(loaded.rules); !found.ok()) return fail(context, found.error());
    return tell(context);
  }

  void collect(Session& session, const client::ResourceMap& resources, const hooks::Rule& rule) {
    if (rule.for_.every_kind) return collect_group(session, resources, rule);
    const core::ResourceType* type = resources.find(rule.for_.gvk);
    const bool named =
        type == nullptr ? hooks::names_kind(kind_, rule.for_.gvk) : hooks::names_kind(kind_, *type);
    if (named) {
      core::ObjectKey key{"", asked_.name};
      if (type != nullptr && type->namespaced) key.namespace_ = asked_.namespace_;
      target_ = rule.for_.gvk.kind + " " + key.str();
    }
    const bool wanted = kind_.empty() || named;
    if (type == nullptr && wanted && resources.did_not_answer(rule.for_.gvk)) {
      return note_unknown(resources, rule, rule.for_.gvk.str());
    }
    if (type == nullptr) {
      // One missing kind must not hide what the other rules hold.
      base::log_warn("the server has no such kind: nothing of this rule can be listed",
                     {{"controller", rule.name}, {"kind", rule.for_.gvk.str()}});
      return;
    }
    if (wanted) look(session, rule, *type);
  }

  void collect_group(Session& session, const client::ResourceMap& resources,
                     const hooks::Rule& rule) {
    const auto kinds = hooks::kinds_of_group(resources, rule.for_);
    // Of a kind that is named another rule may be.
    if (!kinds && (kind_.empty() || resources.group_did_not_answer(kind_))) {
      return note_unknown(resources, rule, "kind of " + rule.for_.gvk.group);
    }
    for (const core::Gvk& gvk : kinds.value_or(std::vector<core::Gvk>())) {
      if (cut_off_) return;
      hooks::StreamRule stream = rule.for_;
      stream.gvk = gvk;
      collect(session, resources, hooks::rule_of_kind(rule, std::move(stream)));
    }
  }

  void note_unknown(const client::ResourceMap& resources, const hooks::Rule& rule,
                    const std::string& what) {
    unseen_.push_back(
        {rule.name,
         rule.for_.every_kind ? "*" : rule.for_.gvk.kind,
         {},
         Error(ErrorKind::unavailable, fmt::format("whether there is a {} is not known{}", what,
                                                   failed_groups(resources)))});
  }

  void look(Session& session, const hooks::Rule& rule, const core::ResourceType& type) {
    hooks::HeldPlaces places(type, rule.for_.namespaces, asked_);
    while (const auto place = places.next()) {
      const auto seen = place->name.empty() ? look_in(session, rule, type, place->namespace_)
                                            : look_at(session, rule, type, *place);
      if (seen.ok()) {
        if (type.namespaced) looked_in_.insert(place->namespace_);
        continue;
      }
      places.failed(seen.error());
      cut_off_ = places.cut_off();
      const bool everywhere = type.namespaced && place->namespace_.empty();
      unseen_.push_back(
          {rule.name, type.gvk.kind, *place, seen.error(),
           everywhere && seen.error().is_forbidden() && rule.for_.namespaces.empty()});
    }
  }

  Result<void> look_in(Session& session, const hooks::Rule& rule, const core::ResourceType& type,
                       const std::string& namespace_) {
    core::ListParams params;
    params.limit = 500;
    params.content = core::Content::metadata;
    do {
      KW_ASSIGN(const auto page, session.wait_patiently<client::ListResult>([&](auto done) {
        return session.client().list(type, namespace_, params, std::move(done));
      }));
      for (const std::string& item : page.items) {
        KW_ASSIGN(const core::ObjectMeta meta, core::parse_meta(item));
        take(session, rule, type, meta);
      }
      params.continue_token = page.page.continue_token;
    } while (!params.continue_token.empty());
    return {};
  }

  Result<void> look_at(Session& session, const hooks::Rule& rule, const core::ResourceType& type,
                       const hooks::HeldPlace& place) {
    const auto object = session.wait_patiently<Json>([&](auto done) {
      return session.client().get(type, {place.namespace_, place.name}, std::move(done));
    });
    // check_target() tells, once all rules were asked.
    if (!object.ok() && object.error().is_not_found()) return {};
    if (!object.ok()) return object.error();
    target_is_there_ = true;
    take(session, rule, type, core::meta_of(*object));
    return {};
  }

  void take(Session& session, const hooks::Rule& rule, const core::ResourceType& type,
            const core::ObjectMeta& meta) {
    if (!meta.deleting() || !meta.has_finalizer(rule.finalizer_name)) return;
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
    objects_.push_back(std::move(object));
  }

  // A name that is not there is a typo, and not an object that nothing holds. Nobody knows that of
  // what could not be seen.
  Result<void> check_target(const std::vector<hooks::Rule>& rules) const {
    if (!unseen_.empty()) return {};
    if (!kind_.empty() && target_.empty()) {
      std::vector<const hooks::Rule*> all;
      for (const hooks::Rule& rule : rules) all.push_back(&rule);
      return hooks::no_rule_for_kind(kind_, all);
    }
    if (asked_.name.empty() || target_is_there_) return {};
    return Error(ErrorKind::not_found, "there is no " + target_);
  }

  // What was seen, and then what was not.
  int tell(Context& context) {
    Json answer = {{"objects", std::move(objects_)}};
    for (const Unseen& part : unseen_) {
      Json place = {
          {"controller", part.controller}, {"kind", part.kind}, {"error", part.error.render()}};
      if (!part.place.namespace_.empty()) place["namespace"] = part.place.namespace_;
      answer["notSeen"].push_back(std::move(place));
    }
    if (cut_off_) answer["cutOff"] = true;
    if (control_.json()) {
      context.out << shown_json(base::dump_json_pretty(answer)) << "\n";
    } else {
      print(context, answer);
    }
    int code = code_of(answer);
    std::set<std::string> told;  // several rules may be for one kind
    bool may_narrow = false;
    for (const Unseen& part : unseen_) {
      code = more_telling(code, exit_code_of(part.error));
      may_narrow = may_narrow || part.may_narrow;
      if (told.insert(part.error.render()).second) fail(context, part.error);
    }
    if (may_narrow) context.err << "-n NAMESPACE asks for the objects of one namespace alone\n";
    return code;
  }

  // " in namespace shop", of what was limited to it: what is elsewhere was not looked for.
  std::string limits() const {
    if (!asked_.name.empty() || looked_in_.empty() || looked_in_.contains("")) return "";
    return (looked_in_.size() == 1 ? " in namespace " : " in namespaces ") +
           base::join({looked_in_.begin(), looked_in_.end()}, ", ");
  }

  // 1: some finalizer could not be taken off, or was not as yet, or it is not known whether one
  // holds.
  int code_of(const Json& answer) const {
    if (release_ &&
        (!base::items_at(answer, {"notStarted"}).empty() || base::bool_at(answer, {"more"})))
      return kFailed;
    for (const Json& object : base::items_at(answer, {"objects"})) {
      if (object.contains("released") && object["released"] == false) return kFailed;
    }
    return kDone;
  }

  void print(Context& context, const Json& answer) const {
    const Json& waiting = base::items_at(answer, {"notStarted"});
    const Json& objects = base::items_at(answer, {"objects"});
    for (const Json& rule : waiting) {
      context.err << base::escape_for_terminal(
                         base::string_at(rule, {}) +
                         " has not started: what its finalizer holds is not known yet")
                  << "\n";
    }
    if (objects.empty() && waiting.empty() && base::items_at(answer, {"notSeen"}).empty()) {
      const std::string& target = control_.target();
      context.err << base::escape_for_terminal("No held objects found" + limits() +
                                               (target.empty() ? "" : ": " + target))
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
    if (base::bool_at(answer, {"more"})) {
      context.err << "more than these " << objects.size() << " objects are held"
                  << (release_ ? ": run this again for the rest\n" : "\n");
    }
  }

  bool release_ = false;
  bool all_namespaces_ = false;
  std::vector<std::string> rule_files_;
  ControlFlags control_;

  // With -f.
  std::string kind_;  // of KIND/NAME; "" = all of the rules
  hooks::HeldAsked asked_;
  std::string target_;  // what KIND/NAME means, once a rule is for its kind
  bool target_is_there_ = false;
  Json objects_ = Json::array();
  std::set<std::string> looked_in_;  // namespaces; "": everywhere
  std::vector<Unseen> unseen_;
  bool cut_off_ = false;  // nothing more is asked
};

}  // namespace

std::unique_ptr<Command> make_run_controller_finalizers() {
  return std::make_unique<Finalizers>();
}

}  // namespace kubewatch::cli

// kubewatch apply-ssa: server-side apply of files, saying what changed.
#include <fmt/format.h>

#include <ostream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/manifests.hpp"
#include "cli/session.hpp"
#include "client/apply_result.hpp"
#include "core/status.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kCrdDeadline{30000};

std::string name_of(const core::ResourceType& type, const Json& object) {
  const std::string group = type.gvk.group.empty() ? "" : "." + type.gvk.group;
  return fmt::format("{}{}/{}", type.singular, group,
                     base::string_at(object, {"metadata", "name"}));
}

bool is_crd(const Json& object) {
  return base::string_at(object, {"kind"}) == "CustomResourceDefinition";
}

bool established(const Json& crd) {
  const Json* conditions = base::find(crd, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const auto& one : *conditions) {
    if (base::string_at(one, {"type"}) == "Established") {
      return base::string_at(one, {"status"}) == "True";
    }
  }
  return false;
}

class ApplySsa : public Command {
 public:
  std::string name() const override { return "apply-ssa"; }
  std::string summary() const override { return "server-side apply that says what changed"; }

  void bind(CLI::App& app) override {
    app.add_option("-f,--filename", files_, "files, folders or - for stdin, repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->required();
    app.add_flag("-R,--recursive", recursive_, "folders with all that is below them");
    app.add_option("--field-manager", manager_, "name that owns the applied fields")
        ->type_name("NAME");
    app.add_flag("--force-conflicts", force_, "take conflicting fields from their managers");
    app.add_option("--dry-run", dry_run_, "none or server")
        ->type_name("MODE")
        ->check(CLI::IsMember({"none", "server"}));
    bind_output(app, output_, {"text", "name", "json"});
  }

  int run(Context& context) override {
    auto manifests = read_manifests(files_, recursive_);
    if (!manifests.ok()) return fail(context, kUsage, manifests.error().render());
    if (manifests->empty()) return fail(context, kUsage, "no objects in the given files");
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    sort_for_writing(*manifests);
    if (const int code = check_namespaces(context, **session, *manifests); code != kDone) {
      return code;
    }
    int code = kDone;
    for (const auto& manifest : *manifests) {
      auto applied = apply(context, **session, manifest);
      if (applied.ok()) continue;
      const int this_code = report(context, manifest, applied.error());
      if (output_ == "json") print_failure(context, manifest, applied.error());
      // The first failure decides, except that a conflict gives way to anything else.
      if (code == kDone || code == kConflict) code = this_code;
      if (this_code == kUnreachable) return code;
    }
    return code;
  }

 private:
  Result<void> apply(Context& context, Session& session, const Manifest& manifest) {
    KW_ASSIGN(const auto type, find_type(session, manifest.object));
    core::ObjectKey key{base::string_at(manifest.object, {"metadata", "namespace"}),
                        base::string_at(manifest.object, {"metadata", "name"})};
    if (type.namespaced && key.namespace_.empty()) {
      key.namespace_ = session.client().config().namespace_;
    }
    if (!type.namespaced) key.namespace_.clear();
    const auto before = session.wait<Json>(
        [&](auto done) { return session.client().get(type, key, std::move(done)); });
    if (!before.ok() && !before.error().is_not_found()) return before.error();
    core::PatchParams params;
    params.type = core::PatchType::apply;
    params.field_manager = manager_;
    params.force = force_;
    params.dry_run = dry_run_ == "server";
    params.field_validation = "Strict";
    KW_ASSIGN(const auto result, session.wait<client::ApplyResult>([&](auto done) {
      return session.client().patch(type, key, manifest.object, params, std::move(done));
    }));
    print(context, type, before.ok() ? &*before : nullptr, result);
    if (is_crd(manifest.object) && !params.dry_run) return await_established(session, type, key);
    return {};
  }

  // Before the first write: half of the objects applied is worse than none. A kind that is unknown
  // here comes with a CRD of this call; its manifest is taken for namespaced.
  static int check_namespaces(Context& context, Session& session,
                              const std::vector<Manifest>& manifests) {
    const std::string& asked = context.global.config.namespace_;
    if (asked.empty()) return kDone;
    auto map = session.resources();
    if (!map.ok()) return fail(context, map.error());
    int code = kDone;
    for (const auto& manifest : manifests) {
      const std::string own = base::string_at(manifest.object, {"metadata", "namespace"});
      const auto gvk = core::gvk_of(manifest.object);
      const auto* type = gvk.ok() ? (*map)->find(*gvk) : nullptr;
      if (own.empty() || own == asked || (type != nullptr && !type->namespaced)) continue;
      code = report(context, manifest,
                    Error(ErrorKind::invalid,
                          fmt::format("its namespace \"{}\" is not the \"{}\" of --namespace; "
                                      "nothing was applied",
                                      own, asked)));
    }
    return code;
  }

  // Discovered again once: an earlier manifest of this call may have made the kind.
  Result<core::ResourceType> find_type(Session& session, const Json& object) {
    KW_ASSIGN(const auto gvk, core::gvk_of(object));
    for (int attempt = 0; attempt < 2; ++attempt) {
      KW_ASSIGN(const auto map, session.resources());
      if (const auto* type = map->find(gvk)) return *type;
      session.forget_resources();
    }
    return Error(ErrorKind::not_found,
                 fmt::format("the server has no kind {} (is its CRD installed?)", gvk.str()));
  }

  Result<void> await_established(Session& session, const core::ResourceType& type,
                                 const core::ObjectKey& key) {
    const TimePoint deadline = session.loop().now() + kCrdDeadline;
    while (session.loop().now() < deadline) {
      KW_ASSIGN(const auto crd, session.wait<Json>([&](auto done) {
        return session.client().get(type, key, std::move(done));
      }));
      if (established(crd)) {
        session.forget_resources();
        return {};
      }
      session.loop().run_until([] { return false; }, Duration{100});
    }
    return Error(ErrorKind::timeout, "applied, but not established within 30s");
  }

  void print(Context& context, const core::ResourceType& type, const Json* before,
             const client::ApplyResult& result) const {
    const auto version = [](const Json& o) {
      return base::string_at(o, {"metadata", "resourceVersion"});
    };
    const bool same = before != nullptr && (version(*before) == version(result.object) ||
                                            differs_in_nothing(*before, result.object));
    const std::string what = before == nullptr || result.created ? "created"
                             : same                              ? "unchanged"
                                                                 : "configured";
    const std::string name = name_of(type, result.object);
    if (output_ == "json") {
      context.out << base::dump_json({{"result", what}, {"object", result.object}}) << "\n";
    } else if (output_ == "name") {
      context.out << base::escape_for_terminal(name) << "\n";
    } else {
      context.out << base::escape_for_terminal(name) << " " << what
                  << (dry_run_ == "server" ? " (server dry run)" : "") << "\n";
    }
  }

  // A dry run answers with the resourceVersion that was there.
  bool differs_in_nothing(Json before, Json after) const {
    if (dry_run_ != "server") return false;
    for (Json* object : {&before, &after}) {
      (*object)["metadata"].erase("managedFields");
      (*object)["metadata"].erase("resourceVersion");
    }
    return before == after;
  }

  static void print_failure(Context& context, const Manifest& manifest, const Error& error) {
    Json conflicts = Json::array();
    for (const auto& cause : core::causes_of(error)) {
      if (cause.reason != "FieldManagerConflict") continue;
      conflicts.push_back({{"field", cause.field}, {"message", cause.message}});
    }
    const Json& metadata = manifest.object["metadata"];
    context.out << base::dump_json(
                       {{"result", conflicts.empty() ? "failed" : "conflict"},
                        {"object",
                         {{"apiVersion", manifest.object["apiVersion"]},
                          {"kind", manifest.object["kind"]},
                          {"metadata",
                           {{"name", metadata["name"]},
                            {"namespace", metadata.value("namespace", std::string())}}}}},
                        {"message", error.render()},
                        {"conflicts", std::move(conflicts)}})
                << "\n";
  }

  static int report(Context& context, const Manifest& manifest, const Error& error) {
    const std::string what =
        fmt::format("{}: {} \"{}\"", manifest.source, base::string_at(manifest.object, {"kind"}),
                    base::string_at(manifest.object, {"metadata", "name"}));
    const int code = fail(context, exit_code_of(error), what + ": " + error.render());
    bool conflict = false;
    for (const auto& cause : core::causes_of(error)) {
      if (cause.reason != "FieldManagerConflict") continue;
      conflict = true;
      context.err << base::escape_for_terminal(fmt::format("  {}: {}", cause.field, cause.message))
                  << "\n";
    }
    if (conflict) {
      context.err << "  leave these fields out, or take them with --force-conflicts\n";
    }
    return code;
  }

  std::vector<std::string> files_;
  bool recursive_ = false;
  std::string manager_ = "kubewatch";
  bool force_ = false;
  std::string dry_run_ = "none";
  std::string output_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_apply_ssa() {
  return std::make_unique<ApplySsa>();
}

}  // namespace kubewatch::cli

#include "cli/apply/prune.hpp"

#include <fmt/format.h>

#include "cli/printers/object_printer.hpp"
#include "client/apply_result.hpp"
#include "client/retry.hpp"
#include "core/meta.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::uint32_t kMembersPage = 500;

core::GroupVersion split_group_kind(const std::string& text) {  // group and, as version, kind
  const auto dot = text.find('.');
  if (dot == std::string::npos) return {"", text};
  return {text.substr(dot + 1), text.substr(0, dot)};
}

}  // namespace

std::string ApplySetRun::parent_text() const {
  return fmt::format("{} \"{}\"", type_.qualified_plural(), key_.name);
}

template <class T>
Result<T> ApplySetRun::ask(
    const std::string& what,
    const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start) {
  Session::Patience patience;
  patience.budget = client::kRetryBudget;
  patience.stopped = pauses_.stopped;
  patience.on_pause = [&](const Error& why, Duration pause) {
    if (pauses_.told) pauses_.told(what, why, pause);
  };
  patience.answered = &answered_;
  return session_->wait_patiently<T>(start, patience);
}

// Secrets and ConfigMaps may be parents anywhere; of a custom resource its CRD says so.
Result<void> ApplySetRun::check_parent_kind() {
  if (type_.gvk.group.empty() && (type_.plural == "secrets" || type_.plural == "configmaps")) {
    return {};
  }
  KW_ASSIGN(const auto map, session_->resources());
  const auto* crds = map->find_kind("apiextensions.k8s.io", "CustomResourceDefinition");
  if (crds != nullptr) {
    const core::ObjectKey key{"", type_.plural + "." + type_.gvk.group};
    const auto crd = ask<Json>(parent_text(), [&](auto done) {
      return session_->client().get(*crds, key, std::move(done));
    });
    if (!crd.ok() && !crd.error().is_not_found()) return crd.error();
    if (crd.ok() && base::string_at(*crd, {"metadata", "labels", kParentTypeLabel}) == "true") {
      return {};
    }
  }
  return Error(
      ErrorKind::invalid,
      fmt::format("{} cannot be parents of an ApplySet: only Secrets, ConfigMaps and kinds "
                  "whose CRD has the label {}=true",
                  type_.qualified_plural(), kParentTypeLabel));
}

Result<ApplySetRun> ApplySetRun::open(Session& session, const std::string& parent, bool dry_run,
                                      Pauses pauses) {
  KW_ASSIGN(const auto name, parse_parent(parent));
  ApplySetRun out(session, dry_run, std::move(pauses));
  KW_ASSIGN(const auto types, session.resolve(name.type));
  out.type_ = types.front();
  out.key_ = {out.type_.namespaced ? session.client().config().namespace_ : "", name.name};
  KW_TRY(out.check_parent_kind());
  out.id_ = apply_set_id(out.type_.gvk, out.key_);
  const auto live = out.ask<Json>(out.parent_text(), [&](auto done) {
    return session.client().get(out.type_, out.key_, std::move(done));
  });
  if (live.ok()) {
    KW_ASSIGN(out.before_, read_parent(*live, out.id_));
  } else if (!live.error().is_not_found()) {
    return live.error();
  } else if (!out.type_.gvk.group.empty()) {
    return Error(live.error()).with_context("the parent of the ApplySet must be made first");
  }
  return out;
}

Result<void> ApplySetRun::write_parent(const SetContents& contents, bool force) {
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = kParentManager;
  params.force = force;
  params.dry_run = dry_run_;
  const Json manifest = parent_manifest(type_.gvk, key_, id_, contents, KUBEWATCH_VERSION);
  KW_TRY(ask<client::ApplyResult>(parent_text(), [&](auto done) {
    return session_->client().patch(type_, key_, manifest, params, std::move(done));
  }));
  return {};
}

std::string ApplySetRun::name_of(const std::string& id) {
  const auto [known, is_new] = names_.try_emplace(id, id);
  if (!is_new) return known->second;
  core::ListParams params;
  params.label_selector = std::string(kParentIdLabel) + "=" + id;
  params.limit = 1;
  params.content = core::Content::metadata;
  const auto parents = session_->wait<client::ListResult>([&](auto done) {
    return session_->client().list(type_, key_.namespace_, params, std::move(done));
  });
  if (!parents.ok() || parents->items.empty()) return id;
  const auto meta = core::parse_meta(parents->items.front());
  const std::string* label = meta.ok() ? meta->label(kParentIdLabel) : nullptr;
  if (label == nullptr || *label != id) return id;
  return known->second = fmt::format("{} \"{}\"", type_.qualified_plural(), meta->name);
}

Result<bool> ApplySetRun::widen(const SetContents& to_be_applied) {
  now_ = to_be_applied;
  const SetContents all = before_.with(now_);
  auto written = write_parent(all, false);
  if (written.ok()) return false;
  if (written.error().is_not_found()) {
    // It is written before anything that is applied, a namespace among it.
    return std::move(written.error()).with_context("the ApplySet's namespace must be made first");
  }
  if (!written.error().is_conflict()) return std::move(written).error();
  KW_TRY(write_parent(all, true));
  return true;
}

Result<void> ApplySetRun::list_members(const core::ResourceType& type, const std::string& place,
                                       const std::set<std::string>& applied_uids,
                                       std::vector<Pruned>& out) {
  core::ListParams params;
  params.label_selector = std::string(kPartOfLabel) + "=" + id_;
  params.limit = kMembersPage;
  params.content = core::Content::metadata;
  do {
    KW_ASSIGN(const auto page, ask<client::ListResult>(type.qualified_plural(), [&](auto done) {
                return session_->client().list(type, place, params, std::move(done));
              }));
    for (const auto& item : page.items) {
      KW_ASSIGN(const auto meta, core::parse_meta(item));
      if (meta.deleting() || applied_uids.count(meta.uid) > 0) continue;
      // A server that does not know the selector would hand over everything.
      const std::string* label = meta.label(kPartOfLabel);
      if (label == nullptr || *label != id_) continue;
      out.push_back({type, meta.key(), meta.uid, std::nullopt});
    }
    params.continue_token = page.page.continue_token;
  } while (!params.continue_token.empty());
  return {};
}

Result<std::vector<Pruned>> ApplySetRun::find_obsolete(const std::set<std::string>& applied_uids) {
  const SetContents all = before_.with(now_);
  std::set<std::string> places = all.namespaces;
  if (!key_.namespace_.empty()) places.insert(key_.namespace_);
  KW_ASSIGN(const auto map, session_->resources());
  std::vector<Pruned> out;
  for (const auto& text : all.group_kinds) {
    const auto names = split_group_kind(text);
    const auto* type = map->find_kind(names.group, names.version);
    if (type == nullptr && map->failed_groups.empty())
      continue;  // its CRD is gone, and they with it
    if (type == nullptr) {
      return Error(ErrorKind::unavailable,
                   fmt::format("{} names {}, and discovery is incomplete: {}", parent_text(), text,
                               map->failed_groups.front()));
    }
    if (!type->namespaced) {
      KW_TRY(list_members(*type, "", applied_uids, out));
      continue;
    }
    for (const auto& place : places) KW_TRY(list_members(*type, place, applied_uids, out));
  }
  return out;
}

void ApplySetRun::remove(Pruned& member) {
  core::DeleteParams params;
  params.uid = member.uid;
  params.propagation = core::Propagation::background;
  params.dry_run = dry_run_;
  const std::string what = object_name(member.type, member.key.name);
  auto gone = ask<Json>(what, [&](auto done) {
    return session_->client().remove(member.type, member.key, params, std::move(done));
  });
  if (!gone.ok() && !gone.error().is_not_found()) member.error = std::move(gone).error();
}

Result<void> ApplySetRun::narrow() {
  if (dry_run_ || before_.with(now_) == now_) return {};
  return write_parent(now_, true);
}

}  // namespace kubewatch::cli

// All objects of one call: checked before the first write, applied in the order of classes
// (hooks/write_order) with a bounded number in flight, told in the order of the input.
// Owned by the verb; blocks on the session's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/apply/apply_pace.hpp"
#include "cli/apply/apply_report.hpp"
#include "cli/apply/apply_set.hpp"
#include "cli/session.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::cli {

class ApplyRun {
 public:
  // All must outlive it.
  ApplyRun(Session& session, const ApplyOptions& options, ApplyReport& report,
           const hooks::SecretHash& secrets, std::size_t concurrency);
  ~ApplyRun();

  // Takes the manifests, drops the server's fields where asked, gives each the namespace it goes
  // to. `asked`: of -n, "" when it was not given. Errors: invalid in kubectl's words (another
  // namespace than -n), those of discovery; then nothing is written.
  Result<void> take(std::vector<Manifest> manifests, bool strip, const std::string& asked);
  bool several_namespaces() const { return namespaces_.size() > 1; }
  bool several_kinds() const;

  // The labels of a set on every manifest, and what the set holds then.
  Result<SetContents> join(const std::string& set_id, const std::string& parent_namespace);

  // Told of what is neither namespace nor CRD, before the first write of it and with each answer.
  struct Listener {
    std::function<Result<void>(const std::vector<ObjectApply*>&)> before;
    std::function<void(ObjectApply&)> applied;
  };
  void listen(Listener listener) { listener_ = std::move(listener); }

  // Asked what an ApplySet is called, by its id, of what is in another one; it may ask the server.
  void name_sets(std::function<std::string(const std::string& id)> name) {
    name_of_set_ = std::move(name);
  }

  // Told of the types that objects are applied to, before the first of each stage.
  void on_type(std::function<void(const core::ResourceType&)> told) { on_type_ = std::move(told); }

  // Asked before each write: once it holds, what was begun is finished and the rest fails as
  // canceled; so does what waits for a login, in the session's other waits (the set's) too.
  void stop_when(std::function<bool()> stopped);

  // Applies all; every outcome goes to the report. False: the server cannot be reached, what was
  // not begun is left.
  bool apply_all();
  // Every object was applied without an error.
  bool all_well() const { return failures_ == 0; }
  const std::set<std::string>& applied_uids() const { return uids_; }
  // Of those to force, where conflicts are left: the ones that none was at or below.
  std::vector<std::string> idle_paths() const;

 private:
  // Namespaces and CRDs decide which kinds and places there are: what comes after is looked at when
  // they are there, and then all of it at once.
  enum class Stage { namespaces, definitions, objects };
  struct Slot {
    Manifest manifest;
    core::Gvk gvk;
    core::ObjectKey key;
    hooks::OrderClass order_class = hooks::OrderClass::rest;
    Stage stage() const;
    std::vector<std::string> warnings;
    std::unique_ptr<ObjectApply> apply;
    std::optional<Error> error;  // it has no ObjectApply
    bool finished = false;
    bool paused = false;  // the server was busy
    bool made = false;    // it did not exist before
  };
  Result<core::ResourceType> find_type(const Slot& slot);
  // Of a dry run: what an object needs and this call would make. Without asking the server: its
  // namespace and its kind; else what the server refused it for.
  std::optional<ApplyOutcome::Lacks> lacks_place(const Slot& slot);
  std::optional<ApplyOutcome::Lacks> refused_for(const Slot& slot) const;
  // The CRD of this call that makes the kind, which the server may not know as yet.
  const Slot* own_crd(const core::Gvk& gvk) const;
  void prepare(Stage stage);
  void read_together(const std::vector<ObjectApply*>& applies);
  void run(Stage stage);
  bool goes_on() const { return !unreachable_ && !(stopped_ && stopped_()); }
  void end_login_waits() const;
  void give_up_rest();
  void report_finished();
  void name_other_set(ApplyOutcome& outcome);
  void finish(Slot& slot);

  Session& session_;
  const ApplyOptions& options_;
  ApplyReport& report_;
  const hooks::SecretHash& secrets_;
  const std::size_t concurrency_;
  ApplyPace pace_;
  Listener listener_;
  std::function<void(const core::ResourceType&)> on_type_;
  std::function<std::string(const std::string& id)> name_of_set_;
  std::function<bool()> stopped_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> crds_;  // indices of slots
  std::set<std::string> namespaces_;
  std::set<std::string> uids_;
  // The server has seen by then what it looks up and this call wrote.
  std::optional<TimePoint> looked_up_by_;
  std::size_t reported_ = 0;
  std::size_t failures_ = 0;
  std::vector<std::string> idle_paths_;
  bool conflicts_left_ = false;
  bool unasked_ = false;  // of an object of another set the server was asked for no conflicts
  bool unreachable_ = false;
  bool answered_ = false;  // the server, whatever it said
};

}  // namespace kubewatch::cli

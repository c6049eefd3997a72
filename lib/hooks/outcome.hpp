// Carries out a WritePlan against the API server, step by step in its order, and says what changed.
// One failed child does not stop the others; it stops deletions, prune and the Result's status.
// What is tried first stops everything when it is refused. What lacks something that the same
// output makes is tried again once that is written, before the rest is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hooks/child_writer.hpp"
#include "hooks/patch_writer.hpp"
#include "hooks/plan.hpp"
#include "hooks/pruner.hpp"
#include "hooks/status_writer.hpp"

namespace kubewatch::hooks {

struct WriteReport {
  std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
  bool status_written = false;
  bool owner_gone = false;         // or dying, when it was to be guarded: nothing was written
  bool brought_looked_up = false;  // created or configured what is of OrderClass::looked_up
  bool child_refused = false;      // a manifest, by the server with 403 or 404
  std::vector<Error> failures;
  std::vector<std::string> writes;  // "created v1 ConfigMap shop/a": the first kMaxWrites
  static constexpr std::size_t kMaxWrites = 50;
  void wrote(std::string what) {
    if (writes.size() < kMaxWrites) writes.push_back(std::move(what));
  }
  // All failures need another input, rule or permission. Not where a child may have been refused
  // because the server had not seen yet what this run brought: the next run finds that unchanged.
  bool permanent() const;
  // All failures are refusals of what was sent.
  bool refused() const;
  // Some failure is a conflict with another field manager.
  bool conflicts() const;
  std::string message() const;  // the failures, one line
};

struct OutcomeInput {
  Owner owner;
  core::ObjectMeta meta;         // the owner as the hook saw it
  bool has_conditions = false;   // errors may be shown as a condition
  SecretMask mask;               // for what is written into conditions and the log
  base::LogFields log_fields{};  // of the run
};

// Must stay alive until `done` was called, and a turn of the loop longer.
class OutcomeWriter {
 public:
  using Done = std::function<void(WriteReport)>;
  OutcomeWriter(WriteContext& context, OutcomeInput input, WritePlan plan);
  void start(Done done);

 private:
  static constexpr std::size_t kParallel = 8;  // requests of one run on their way at the same time

  // All that is to be tried (outcome_rehearsal), by index: what is written as in start_child, and
  // the status behind it.
  void start_rehearsal();
  std::vector<std::size_t> tried_first() const;
  void rehearse();
  std::size_t manifest_count() const { return plan_.manifests.size() + plan_.create.size(); }
  const Manifest& manifest_at(
      std::size_t index) const;  // those to be applied, then those to be created
  void try_one(std::size_t index);
  void try_manifest(std::size_t index);
  void try_patch(std::size_t index);
  void try_status(std::size_t index);
  void tried(std::size_t index, Result<WriteEffect> effect);
  // Once all have their answers.
  void judge_refusals();
  // Which manifest that is yet to be written before it says why; absent: there is none.
  std::optional<std::size_t> lacking_of(std::size_t index, const Error& refusal) const;
  // One of the first `count` manifests is the definition of this kind.
  bool defined_by_first(std::size_t count, const core::ResourceType& type) const;
  // What waits for something that is written now.
  bool may_try_waiting() const;
  void try_waiting();
  bool is_own(const Manifest& manifest) const;
  void note_refusal(Error error);
  bool tries_status() const;
  void begin();
  void guard_owner();
  void next_children();
  void pass_deletions_by();
  // The writes of one class may be on their way at the same time; absent: all are done.
  std::optional<int> class_of(std::size_t index) const;
  std::string what_is(std::size_t index) const;
  void start_child(std::size_t index);
  void prune();
  void unguard_owner();
  void write_status();
  // Of a status: what the server refuses for what it is would be refused again.
  Error explained(Error error);
  void tell_refused_status(std::vector<Json> printed);
  void note(Result<WriteEffect> effect, const std::string& what);
  void note_manifest(const Manifest& manifest, const Result<WriteEffect>& effect);
  void finish();

  WriteContext& context_;
  OutcomeInput input_;
  WritePlan plan_;
  ChildWriter children_;
  PatchWriter patches_;
  Pruner pruner_;
  StatusWriter status_;
  client::InFlight requests_;
  std::size_t at_ = 0;  // what is written next
  std::size_t open_ = 0;
  bool stepping_ = false;
  bool step_again_ = false;
  std::vector<std::size_t> to_try_;
  std::size_t next_try_ = 0;
  std::vector<std::pair<std::size_t, Error>> refusals_;
  std::set<ChildId> there_;  // manifests whose objects the rehearsal has found
  // What cannot be judged yet, and the manifest that it lacks.
  std::map<std::size_t, std::size_t> waiting_;
  std::set<ChildId> written_before_;  // what a patch that is tried would not find as it is
  WriteReport report_;
  Done done_;
};

}  // namespace kubewatch::hooks

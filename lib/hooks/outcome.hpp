// Carries out a WritePlan against the API server, step by step in its order, and says what changed.
// One failed child does not stop the others; it stops deletions, prune and the Result's status.
#pragma once

#include <functional>
#include <memory>
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
  bool owner_gone = false;  // or dying, when it was to be guarded: nothing was written
  std::vector<Error> failures;
  std::vector<std::string> writes;  // "created v1 ConfigMap shop/a": the first kMaxWrites
  static constexpr std::size_t kMaxWrites = 50;
  void wrote(std::string what) {
    if (writes.size() < kMaxWrites) writes.push_back(std::move(what));
  }
  // All failures need another input, rule or permission.
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
  void rehearse();
  const Manifest& manifest_at(
      std::size_t index) const;  // those to be applied, then those to be created
  void start_rehearsal(std::size_t index);
  bool is_own(const Manifest& manifest) const;
  void note_refusal(Error error);
  void rehearse_patch(std::size_t index);
  bool rehearses_status() const;
  void rehearse_status();
  // Whether what the same output prints makes a kind or a namespace that this needs.
  bool comes(const core::ResourceType& type, const core::ObjectKey& key) const;
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
  void finish();

  WriteContext& context_;
  OutcomeInput input_;
  WritePlan plan_;
  ChildWriter children_;
  PatchWriter patches_;
  Pruner pruner_;
  StatusWriter status_;
  client::InFlight requests_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;
  bool stepping_ = false;
  bool step_again_ = false;
  std::set<ChildId> written_before_;  // what a patch that is rehearsed would not find as it is
  WriteReport report_;
  Done done_;
};

}  // namespace kubewatch::hooks

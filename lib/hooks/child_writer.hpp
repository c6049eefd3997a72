// Writes one child: looks at what is there, refuses what is not ours, applies, and says what
// changed. Which children, and in which order, is outcome's, which owns it for one run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "client/in_flight.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/output.hpp"
#include "hooks/write_context.hpp"

namespace kubewatch::hooks {

enum class WriteEffect { created, configured, unchanged, deleted, absent };

class ChildWriter {
 public:
  using Done = std::function<void(Result<WriteEffect>)>;

  // `context` must outlive it. What it logs is masked, and has the fields of the run.
  ChildWriter(WriteContext& context, Owner owner, SecretMask mask = {},
              base::LogFields log_fields = {});
  // What is under way is canceled: its `done` does not come.
  ~ChildWriter();

  // Of all below: several may be under way at the same time, for different children. `done` comes
  // once: from the loop, or at once where nothing is to be asked. Errors: the server's, with what
  // was done to which child; conflict (another field manager's fields; another owner's or nobody's
  // object); timeout (a CRD that is not established).

  // Asks the server whether it would take the manifest (dry run); writes nothing. `created`: it is
  // not there; any other effect: it is, changed or not.
  void rehearse(const Manifest& manifest, bool creating, Done done);
  // Server-side apply of a labelled manifest. A CRD is waited for until it is established.
  void apply(const Manifest& manifest, Done done);
  // Labels and annotations of the object itself.
  void apply_own(const Manifest& manifest, Done done);
  void rehearse_own(const Manifest& manifest, Done done);
  // POST when absent, nothing otherwise: but what nobody owns is made this owner's where the rule
  // adopts, its labels and owner reference alone.
  void create(const Manifest& manifest, Done done);
  // By name; refuses another owner's child.
  void remove(const DeleteTarget& target, Done done);
  // Children that apply() deleted to make them anew, since the last call: "ConfigMap shop/a".
  std::vector<std::string> take_deleted() { return std::exchange(deleted_, {}); }

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  static JobPtr job_for(const Manifest& manifest, Done done);
  void look(const JobPtr& job);
  void read_child(const JobPtr& job, std::function<void(Result<Json>)> done);
  core::PatchParams apply_params(const Job& job, bool force) const;
  void judge_existing(const JobPtr& job, const Json& object);
  void write_over(const JobPtr& job, const core::ObjectMeta& meta);
  void note_guess(const Job& job);
  void tell_stranger(const Job& job, const core::ObjectMeta& meta, const Json& object);
  void take_over(const JobPtr& job, const Json& object);
  void write(const JobPtr& job);
  void send_apply(const JobPtr& job, bool force);
  void start_own(const Manifest& manifest, bool rehearsing, Done done);
  void send_own(const JobPtr& job, bool force);
  bool recreate(const JobPtr& job, const Error& error);
  void send_create(const JobPtr& job);
  void applied(const JobPtr& job, Result<client::ApplyResult> answer);
  Error explained(const Job& job, Error error) const;
  Error explain_unknown_kind(const Job& job, Error error);
  void wait_established(const JobPtr& job, WriteEffect effect, int tries);
  // Of an object that we left so without an apply of the manifest: what the watch then tells of it
  // is no news.
  void finish_ours(const JobPtr& job, const Json& left, WriteEffect effect);
  void finish(const JobPtr& job, Result<WriteEffect> result);

  WriteContext& context_;
  Owner owner_;
  SecretMask mask_;
  base::LogFields log_fields_;
  std::vector<std::string> deleted_;
  client::InFlight requests_;
  std::map<JobPtr, loop::Timer> waits_;  // not in the jobs, which their callbacks hold
};

// Of a 409 with field manager conflicts: who owns what, and what to do. What of `applied` the rule
// takes over anyway (`forced`) is left out. Other errors are left as they are.
Error explain_conflict(Error error, const Json& applied, const std::vector<ForcedPath>& forced);

}  // namespace kubewatch::hooks

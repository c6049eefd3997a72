// One object's way to the server: read, hand over client-side ownership, apply, force what the user
// said to force, wait until a Namespace or CRD can be used. Owned by the verb, which prints the
// outcome; retries what is safe to send again, within a budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/apply/csa_migration.hpp"
#include "cli/apply/field_conflict.hpp"
#include "cli/manifests.hpp"
#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "core/resource.hpp"
#include "hooks/secret_hash.hpp"

namespace kubewatch::cli {

struct ApplyOptions {
  std::string manager = "kubewatch";
  ForcePolicy force;
  std::string subresource;  // "", status, scale
  bool dry_run = false;
  std::string field_validation;  // "": of no use to an apply
  std::vector<std::string> migrate_from;
  // Manifests carry the label of an ApplySet: what another set holds is a conflict.
  bool joins_set = false;
  // Many objects of a kind and namespace are read by a list, not one by one.
  bool list_many = true;
};

struct ApplyOutcome {
  enum class What { created, configured, unchanged, conflict, failed };
  What what = What::failed;
  std::optional<Error> error;
  Json before;                       // null: there was none
  Json after;                        // null where it failed
  std::vector<std::string> changed;  // paths; empty where it was created
  // It was configured, though it was not there when it was looked at: `before` is null, and what
  // was changed of what somebody made in between is not known.
  bool made_meanwhile = false;
  std::vector<FieldConflict> conflicts;
  std::vector<FieldConflict> forced;  // what force took
  std::string other_set;  // id of the ApplySet that holds it, which keeps it from this one
  std::vector<std::string> migrated;  // managers whose ownership went over
  // Of a dry run that the server could not judge: what it needs, which the same call would make.
  // `after` is the manifest then, or what is there.
  struct Lacks {
    core::Gvk gvk;
    core::ObjectKey key;
  };
  std::optional<Lacks> lacks;
  std::vector<std::string> defaults;  // fields of the server's that it owns now
};

// What an answer says beside what was there before. `changed` has at most `most` paths.
struct Change {
  ApplyOutcome::What what;
  std::vector<std::string> changed;
};
Change compare(const Json& before, const Json& after, std::size_t most);

// The manifest as the body of a scale: spec.replicas and nothing else of the spec. Errors: invalid;
// unsupported when the kind has no such subresource.
Result<Json> scale_body(const Json& manifest, const core::ResourceType& type);

class ObjectApply {
 public:
  using Done = std::function<void()>;
  // All references must outlive it. `manifest` has the namespace it goes to.
  ObjectApply(client::Client& client, const ApplyOptions& options, const hooks::SecretHash& secrets,
              const Manifest& manifest, core::ResourceType type, core::ObjectKey key);
  // `done` is called once, from the loop; it must not destroy this.
  void start(Done done);
  // Before start(): its text in a list of a moment ago, "" for none; it is not asked for then, and
  // written only if it is still so.
  void know(std::string listed);
  // Asked before anything is sent again: once it holds, a refusal is the end.
  void stop_when(std::function<bool()> stopped) { stopped_ = std::move(stopped); }
  // Before start(): what it needs was written a moment ago, and until then the server may not have
  // seen that. A refusal that may be of this is sent again.
  void retry_refusals_until(TimePoint seen_by) { seen_by_ = seen_by; }
  // Told at each answer of the server, whatever it says; and asked whether one has ever come:
  // then a connection that breaks off is made again.
  void on_answer(std::function<void()> told) { on_answer_ = std::move(told); }
  void reconnect_when(std::function<bool()> answered) { answered_ = std::move(answered); }
  // Told when a refused request is to be sent again, and after which pause.
  void on_pause(std::function<void(const Error&, Duration)> told) { on_pause_ = std::move(told); }
  // In a dry run, instead of start() or of the refusal that it ended with: what it lacks is of the
  // same call and not made.
  void assume(ApplyOutcome::Lacks lacks);

  const core::ResourceType& type() const { return type_; }
  const core::ObjectKey& key() const { return key_; }
  const Manifest& manifest() const { return manifest_; }
  ApplyOutcome& outcome() { return outcome_; }

 private:
  void read();
  void on_read(Result<Json> answer);
  bool belongs_to_other_set();
  void note_forced(std::vector<FieldConflict> taken);
  void migrate(const Migration& migration);
  void apply(bool force);
  void on_applied(bool force, Result<client::ApplyResult> answer);
  void on_conflict(const Error& error);
  void judge(client::ApplyResult answer);
  void complete_rehearsal();
  void tell_changes();
  void await_usable();
  void get(std::function<void(Result<Json>)> done);
  bool again(const Error& error, std::function<void()> step);
  bool again_if_early(const Error& error, std::function<void()> step);
  void note_answer(const Error* error);
  void end(std::optional<Error> error);

  client::Client& client_;
  const ApplyOptions& options_;
  const hooks::SecretHash& secrets_;
  const Manifest& manifest_;
  core::ResourceType type_;
  core::ObjectKey key_;
  Done done_;
  std::function<bool()> stopped_;
  std::function<void(const Error&, Duration)> on_pause_;
  std::function<void()> on_answer_;
  std::function<bool()> answered_;
  ApplyOutcome outcome_;
  std::optional<Migration> rehearsed_;  // a dry run migrates nothing
  client::InFlight requests_;
  loop::Timer timer_;
  // `before` is of a list: whatever goes wrong with it is looked at again with a state of its own.
  bool listed_ = false;
  // As it was before the write whose answer was lost: it may have been done.
  std::optional<Json> before_lost_;
  std::string listed_text_;
  int attempt_ = 0;
  int rounds_ = 0;  // begun anew because the object changed in between
  Duration spent_{0};
  std::optional<TimePoint> failing_since_;
  std::optional<TimePoint> seen_by_;
  TimePoint usable_by_{};
};

}  // namespace kubewatch::cli

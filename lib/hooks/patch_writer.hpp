// Sends one patch that a hook printed: looks at the object first, refuses another owner's child,
// patches only the object that was looked at, and says whether that changed it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/apply_result.hpp"
#include "client/in_flight.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/output_extras.hpp"
#include "hooks/write_context.hpp"

namespace kubewatch::hooks {

class PatchWriter {
 public:
  using Done = std::function<void(Result<WriteEffect>)>;

  PatchWriter(WriteContext& context, Owner owner);
  ~PatchWriter();
  // `target` must stay alive until `done`. An object that is not there is an error: not_found.
  void patch(const PatchTarget& target, Done done);
  // Asks the server whether it would take the patch (dry run); writes nothing.
  void rehearse(const PatchTarget& target, Done done);

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  void look(const JobPtr& job);
  void send(const JobPtr& job);
  void answered(const JobPtr& job, Result<client::ApplyResult> answer);
  void over(const JobPtr& job, const std::string& resource_version);
  void refused(const JobPtr& job, Error error);

  WriteContext& context_;
  Owner owner_;
  std::optional<ChildId> sent_;  // without an answer yet
  client::InFlight requests_;
};

// The patch, bound to the object with this uid. Pure.
Json bound_patch(const PatchTarget& target, const std::string& uid);

}  // namespace kubewatch::hooks

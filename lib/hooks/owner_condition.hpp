// Says of an object, in a condition of its own alone, what keeps it from being reconciled: where no
// plan is carried out that would say so. Best effort: kinds without conditions are let be.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/in_flight.hpp"
#include "hooks/status_writer.hpp"
#include "hooks/write_context.hpp"

namespace kubewatch::hooks {

// Must stay alive until `done`, and a turn of the loop longer.
class OwnerCondition {
 public:
  // True: it was written, and did not stand there already.
  using Done = std::function<void(bool written)>;
  // `meta`: of the owner, as it was seen.
  OwnerCondition(WriteContext& context, Owner owner, const core::ObjectMeta& meta);
  // `reason`: one of those of plan.hpp; `why` is masked.
  void tell(std::string_view reason, const std::string& why, Done done);

 private:
  void look_for_conditions();
  void write();
  void finish(bool written);

  WriteContext& context_;
  Owner owner_;
  StatusWriter status_;
  std::string_view reason_;
  std::string why_;
  Done done_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks

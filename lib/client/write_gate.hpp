// Asked before every write of a Client: leader election closes it when the lead is lost. Reads are
// never asked about, nor is what asks for one's own rights.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::client {

class WriteGate {
 public:
  virtual ~WriteGate() = default;
  // How long a write that starts now may take, more than 0. Errors: canceled, when none may start;
  // the client adds verb and object.
  virtual Result<Duration> admit() = 0;
};

}  // namespace kubewatch::client

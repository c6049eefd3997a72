// What Client::patch gives back: apart, because it holds a whole Json by value.
#pragma once

#include "base/json.hpp"
#include "client/client.hpp"

namespace kubewatch::client {

struct ApplyResult {
  Json object;
  bool created = false;  // 201: server-side apply made it
};

}  // namespace kubewatch::client

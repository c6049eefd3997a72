// The objects in some places that carry a finalizer: lists of their metadata, a page at a time, one
// place after the other. What becomes of them, and when all is read once more, is up to its owner
// (finalizer_release, finalizers_outside).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"

namespace kubewatch::hooks {

class FinalizerPages {
 public:
  // What of one page carries it. Errors: the server's; next() goes on in the place after that.
  using Carrying = Result<std::vector<core::ObjectMeta>>;
  using OnPage = std::function<void(const std::string& place, Carrying carrying)>;

  // client must outlive it.
  FinalizerPages(client::Client& client, core::ResourceType type, std::string finalizer);

  // From the first page of the first place. "": all namespaces, or cluster-scoped.
  void begin(std::vector<std::string> places);
  // Asks for the next page, when the one before was answered; on_page comes from the loop, unless
  // this is gone. False: all were read.
  bool next(OnPage on_page);

 private:
  Carrying take(Result<client::ListResult> page);

  client::Client& client_;
  core::ResourceType type_;
  std::string finalizer_;
  std::vector<std::string> places_;
  std::size_t at_ = 0;
  std::string continue_token_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks

// One answer that is read while it comes: what a list and a watch share. Credentials that a 401
// renews, error answers, cancelling, and exactly one end. Internal to lib/client.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/sender.hpp"

namespace kubewatch::client {

// Its state outlives the Pending while a handler runs, so that the Pending may be destroyed from
// inside any of them.
class StreamCall : public std::enable_shared_from_this<StreamCall> {
 public:
  // `sender` and `transport` must outlive it. `operation` is prepared.
  StreamCall(Sender& sender, http::Transport& transport, Operation operation)
      : sender_(sender),
        transport_(transport),
        operation_(std::move(operation)),
        scope_(sender.observers().current) {}
  virtual ~StreamCall() = default;

  void start();
  void cancel();

 protected:
  // Whether the body is what was asked for; else it is an error's.
  virtual bool accepts(int status) const = 0;
  virtual bool logs_body() const { return false; }  // the first bytes of it
  virtual void on_open() {}                         // an accepted answer begins
  // Errors end the call.
  virtual Result<void> on_bytes(std::string_view bytes) = 0;
  virtual void on_complete() = 0;  // an accepted answer has ended in order; calls end
  virtual void tell_end(Result<void> result) = 0;

  // Once; with the operation as context.
  void end(Result<void> result);
  bool ended() const { return ended_; }
  const Operation& operation() const { return operation_; }
  // Before the last thing that is told: nothing comes any more.
  bool close();

 private:
  void on_head(const http::ResponseHead& head);
  void on_data(std::string_view bytes);
  void on_done(Result<void> result);
  // The answer is not what was asked for; of its body is there what is there.
  void refused();

  Sender& sender_;
  http::Transport& transport_;
  Operation operation_;
  const RequestObserverPtr scope_;  // of the log alone: what streams bring belongs to nobody
  TimePoint started_{};
  std::unique_ptr<http::Call> call_;
  http::ResponseHead head_;
  std::string error_body_;
  loop::Timer error_limit_;
  bool retried_ = false;  // after a 401, with renewed credentials
  bool logged_ = false;
  bool ended_ = false;
};

// Destroying it cancels.
PendingPtr start_stream(std::shared_ptr<StreamCall> call);

}  // namespace kubewatch::client

// A transport that lets everything through and tells a Recorder what lists, watches and writes say;
// where it is asked to, also what single objects were read, and what writes made of them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "hooks/recorder.hpp"
#include "http/transport_around.hpp"

namespace kubewatch::hooks {

class RecordingTransport : public http::TransportAround {
 public:
  // Of single objects: nothing; each as it was first found, where no watch tells of it, and whether
  // it is still there where a watch cannot tell; every one that was read or written.
  enum class Objects { left_out, as_found, recorded };
  // `inner` must outlive it.
  RecordingTransport(http::Transport& inner, std::shared_ptr<Recorder> recorder,
                     Objects objects = Objects::left_out)
      : TransportAround(inner), recorder_(std::move(recorder)), objects_(objects) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;

 private:
  struct Tee;
  // A request for the object that a watch told as DELETED.
  struct Departed {
    http::Request request;
    int stream = 0;
    core::ObjectMeta last;
  };
  void look_up_kind(const http::Request& request, const ApiTarget& target);
  void look_for(const http::Request& watch, const ApiTarget& target, int stream,
                std::string_view last);
  void ask_next();
  http::CallHandlers tee(const std::shared_ptr<Tee>& tee) const;

  std::shared_ptr<Recorder> recorder_;
  const Objects objects_;
  // Custom kinds that were seen, and the requests for their definitions.
  std::map<std::string, std::unique_ptr<http::Call>> kinds_;
  std::deque<Departed> departed_;
  std::map<std::uint64_t, std::unique_ptr<http::Call>> asked_;  // for departed ones, by number
  std::uint64_t last_asked_ = 0;
};

}  // namespace kubewatch::hooks

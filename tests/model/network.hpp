// The simulated network between one reflector and the API servers: an http::Transport in virtual
// time that delays, cuts at any byte, goes silent and lies, as its faults say. It tells what it
// delivered to a LinkObserver, which knows what the reflector ought to make of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"
#include "model/api_server.hpp"
#include "model/verdict.hpp"

namespace kubewatch::model {

// Which faults a link may have; a schedule switches some of them on.
struct LinkFaults {
  std::uint64_t percent = 0;  // of requests and of deliveries
  bool http_errors = true;    // 429 with Retry-After, 500, 503, 401, 504
  bool refused = true;        // no connection
  bool cuts = true;           // reset at any byte
  bool ends = true;           // closed between two events, or inside one
  bool silence = true;        // half-open: no byte, no end
  bool error_events = true;   // 410, 429, 500, 401 and objects that are no Status, as ERROR events
  bool oddities = true;       // unknown types, broken events, bookmarks without resourceVersion
  bool slow = false;          // a reader so slow that the server gives up on it
  bool absurd_retry = false;  // Retry-After of years
  int always = 0;             // every request is answered with this HTTP status
};

struct RequestSeen {
  bool watch = false;
  bool initial = false;
  bool continued = false;  // a further page
  std::string version;
};
// What of a watch became whole with a delivery.
struct Delivered {
  std::vector<Frame> frames;
  bool alive = false;  // the reflector still reads this watch
};

class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  virtual void on_request(const RequestSeen& request) = 0;
  // `frames` become whole with the bytes that come now.
  virtual void before_delivery(const std::vector<Frame>& frames) = 0;
  virtual void on_list(const Reply& reply) = 0;  // before the reflector gets its last byte
  virtual void on_frames(const Delivered& delivered) = 0;
  // An answer with an HTTP error status, whole; or an end of the transport's.
  virtual void on_refused(const RequestSeen& request, int status, int retry_after) = 0;
  // `quiet`: the reflector itself dropped a watch after so long a silence.
  virtual void on_dropped(Duration open, Duration quiet) = 0;
  virtual void on_ended(Duration open) = 0;  // an open watch
};

class Link final : public http::Transport {
 public:
  Link(loop::EventLoop& loop, ApiServer& server, base::Random& random, Verdict& verdict,
       std::string name)
      : loop_(loop), server_(server), random_(random), verdict_(verdict), name_(std::move(name)) {}

  LinkFaults faults;
  LinkObserver* observer = nullptr;
  std::string* valid_token = nullptr;  // requests without it get 401
  bool calm = false;

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;
  // What a server that goes away does to its connections.
  void cut_front(std::size_t front);
  // A watch stands open on which nothing will ever come.
  bool half_open() const;
  // The server ends its watches: their token is no longer good.
  void expire_token();

 private:
  friend class SimCall;
  bool fault() { return !calm && random_.below(100) < faults.percent; }

  loop::EventLoop& loop_;
  ApiServer& server_;
  base::Random& random_;
  Verdict& verdict_;
  const std::string name_;
  std::vector<std::weak_ptr<class SimCall>> calls_;
};

}  // namespace kubewatch::model

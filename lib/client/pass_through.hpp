// Requests of others that a server of ours passes on to the API server, with this process's
// credentials, and their answers streamed back as they come: what the gateway of hooks and the
// cache server share. What may be passed on is the caller's decision. Bounded in requests; where a
// client takes less than the server sends, the server waits, and whoever takes nothing of what
// waits for it for a minute is cut off. An answer that breaks off is cut off: its client must not
// take it for a complete one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/forwarder.hpp"
#include "http/server.hpp"
#include "http/stall.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// Subresources that nobody passes on: tunnels, what leads to other hosts, and tokens, which would
// outlive who asked for them.
bool is_tunnel(std::string_view subresource);

class PassThrough {
 public:
  // On their way at once.
  static constexpr std::size_t kMostRequests = 64;
  static constexpr std::size_t kMostStreams = 256;

  // Answers a request that got no answer, or a 401, which is about this process and not about who
  // asked it: the caller's words.
  using Failed = std::function<void(http::Responder&, const Error&)>;
  // `loop` must outlive it. Errors: invalid (a configuration that no transport can be made of).
  static Result<std::unique_ptr<PassThrough>> make(loop::EventLoop& loop,
                                                   const ClientConfig& config, Failed failed);

  // On a forwarder that is there: for tests.
  PassThrough(loop::EventLoop& loop, std::unique_ptr<Forwarder> forwarder, Failed failed)
      : loop_(loop), failed_(std::move(failed)), forwarder_(std::move(forwarder)) {}
  ~PassThrough();

  // How a request ended that was passed on. Valid during the call.
  struct Ended {
    int status = 0;                // 0: no answer came
    const Error* error = nullptr;  // of no answer, and of one that broke off
    std::string_view content_type;
    const std::string* body = nullptr;  // null: longer than was to be kept, or not all of it came
    Duration took{0};
  };
  struct Order {
    std::string target;      // path and query
    bool streaming = false;  // a watch, or a log that is followed
    std::string owner;       // see end()
    // Told once, before the client has the end of its answer; not when this is destroyed. May be
    // empty. It may call end(), and nothing else of this.
    std::function<void(const Ended&)> ended = {};
    // So many bytes of the body are kept for it; the client gets them as they come in any case.
    std::size_t keep = 0;
    // Of what does not read, as http::Request has it. May be empty.
    std::function<Result<Duration>()> admit = {};
    RequestObserverPtr scope = nullptr;  // whose request it is in the log; null: nobody's
  };
  // Accept, Content-Type and the body are passed on, and no other header. False: too many are on
  // their way, nothing was done. Streams are counted apart: they last, and nobody else is to wait
  // for their end.
  bool pass(const http::ServerRequest& request, Order order,
            const std::shared_ptr<http::Responder>& to);
  // Cuts off what was passed on for this owner.
  void end(const std::string& owner);
  std::size_t size() const { return passing_.size(); }

 private:
  struct Passing {
    std::string owner;
    bool streaming = false;
    bool has_time = false;  // its answer may take as long as its client does
    std::unique_ptr<http::Call> call;
    std::shared_ptr<http::Responder> responder;
    std::uint64_t sent = 0;
    std::optional<http::Stall> stall;  // while something waits for the client
    loop::Timer next_look;
    bool paused = false;  // the server waits as well
    bool begun = false;
    std::function<void(const Ended&)> ended;
    TimePoint started{};
    int status = 0;
    std::string content_type;
    std::size_t keep = 0;
    std::string kept;  // of the body
    bool kept_all = true;
  };

  std::size_t on_their_way(bool streaming) const;
  static void pause(Passing& passing);
  void look_later(std::uint64_t id, Passing& passing);
  void on_drained(std::uint64_t id);
  static void cut(Passing passing);
  void tell(const Passing& passing, const Error* error, bool whole) const;
  void drop(std::map<std::uint64_t, Passing>::iterator it);
  void on_head(std::uint64_t id, const http::ResponseHead& head);
  void on_data(std::uint64_t id, std::string_view bytes);
  void on_done(std::uint64_t id, const Result<void>& how);

  loop::EventLoop& loop_;
  Failed failed_;
  std::uint64_t last_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  std::unique_ptr<Forwarder> forwarder_;
  std::map<std::uint64_t, Passing> passing_;
};

}  // namespace kubewatch::client

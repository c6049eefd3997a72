// One answer on an evhttp request. Knows the five ends: answered, stream ended, stream cut off,
// client gone, server gone.
#pragma once

#include <functional>
#include <string>

#include "http/server.hpp"

struct evhttp_connection;
struct evhttp_request;

namespace kubewatch::http {

class EvhttpResponder;

// The server, which lets go of open answers when it goes first.
class ResponderOwner {
 public:
  virtual ~ResponderOwner() = default;
  virtual void forget(EvhttpResponder* responder) = 0;
  // The end of a connection, which evhttp tells its responder alone, from the first on until the
  // second.
  virtual void closed(evhttp_connection* connection) = 0;
  virtual void take_back(evhttp_connection* connection) = 0;
};

class EvhttpResponder final : public Responder {
 public:
  // `request` is evhttp's; the responder answers or frees it.
  EvhttpResponder(evhttp_request* request, ResponderOwner* owner, bool takes_gzip);
  ~EvhttpResponder() override;
  EvhttpResponder(const EvhttpResponder&) = delete;
  EvhttpResponder& operator=(const EvhttpResponder&) = delete;

  void respond(int status, const Headers& headers, std::string_view body) override;
  void begin(int status, const Headers& headers) override;
  void send(std::string_view bytes) override;
  void send_now(std::string_view bytes) override;
  void abort() override;
  bool gone() const override { return request_ == nullptr || dropped_; }
  std::size_t backlog() const override;
  void on_gone(std::function<void()> callback) override;
  void on_drained(std::function<void()> callback) override;

  // The server goes, and evhttp frees the request.
  void abandon();

 private:
  static void on_close(evhttp_connection* connection, void* self) noexcept;
  static void on_written(evhttp_connection* connection, void* self) noexcept;
  static void on_ended(evhttp_connection* connection, void* request) noexcept;
  void closed();
  void add_headers(const Headers& headers);
  // Lets go of the request, which evhttp then finishes on its own.
  evhttp_request* take();
  bool send_framed(std::string_view bytes);
  void end();
  void drop();

  evhttp_request* request_;
  ResponderOwner* owner_;
  bool takes_gzip_;
  bool streaming_ = false;
  bool begun_ = false;  // evhttp has our callback
  bool dropped_ = false;
  std::function<void()> on_gone_;
  std::function<void()> on_drained_;
};

}  // namespace kubewatch::http

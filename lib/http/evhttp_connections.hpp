// The connections of one evhttp, from being accepted to their end: keeps ConnectionLimits, for
// which evhttp has nothing (its time-outs start anew at each read, and it takes any number), and
// puts our pages in the place of those that evhttp answers by itself. Owned by the server; must
// outlive the evhttp, which tells it of ends.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "http/connection_limits.hpp"
#include "http/own_page.hpp"

struct bufferevent;
struct evbuffer;
struct evbuffer_cb_entry;
struct evbuffer_cb_info;
struct event;
struct event_base;
struct evhttp_connection;
struct evhttp_request;

namespace kubewatch::http {

class EvhttpConnections {
 public:
  EvhttpConnections(ConnectionLimitOptions options, PageMaker page)
      : limits_(options), page_(std::move(page)) {}
  EvhttpConnections(const EvhttpConnections&) = delete;
  EvhttpConnections& operator=(const EvhttpConnections&) = delete;
  ~EvhttpConnections();

  // Before anything else. `name` of the server, for the log. False: no memory.
  bool open(event_base* base, std::string name);
  // What evhttp is about to make a new connection of.
  void accepted(bufferevent* bev);
  // It is being answered, until evhttp is done with that.
  void is_whole(evhttp_request* request);
  // evhttp tells of the end of a connection to one place only. While a request is answered that is
  // its responder, which passes it on, and gives the place back.
  void closed(evhttp_connection* connection);
  void take_back(evhttp_connection* connection);
  // From now on evhttp tells nothing: it goes.
  void let_go() { watches_.clear(); }

 private:
  // Hears what a connection reads, and that it ends, until it is destroyed.
  class Watch {
   public:
    Watch(EvhttpConnections& owner, evhttp_connection* connection);
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();
    // What goes out is the handler's from now on, or else evhttp's.
    void hear_output(bool heard);

   private:
    static void on_input(evbuffer* input, const evbuffer_cb_info* info, void* self) noexcept;
    static void on_output(evbuffer* output, const evbuffer_cb_info* info, void* self) noexcept;

    EvhttpConnections& owner_;
    evhttp_connection* connection_;
    evbuffer_cb_entry* entry_;
    evbuffer_cb_entry* output_entry_;
  };
  struct EventFree {
    void operator()(event* timer) const;
  };
  struct ReferenceDrop {
    void operator()(bufferevent* bev) const;
  };

  static void on_close(evhttp_connection* connection, void* self) noexcept;
  static void on_answered(evhttp_request* request, void* self) noexcept;
  static void on_look(int, short, void* self) noexcept;
  void read(evhttp_connection* connection, std::size_t count);
  void hear_output(evhttp_connection* connection, bool heard);
  void watch_fresh();
  void replace_pages();
  void keep_limits();
  void warn_of_too_many();
  void look_soon();
  void look_in_time();

  ConnectionLimits limits_;
  PageMaker page_;
  std::string name_;
  std::unordered_map<evhttp_connection*, Watch> watches_;
  // Accepted in this turn, of which evhttp has not said yet what connections they are. Ours too: it
  // may throw them away before.
  std::vector<std::unique_ptr<bufferevent, ReferenceDrop>> fresh_;
  std::unordered_set<evhttp_connection*> answered_by_evhttp_;  // in this turn
  std::unique_ptr<event, EventFree> look_;
  std::optional<TimePoint> look_at_;
  std::optional<TimePoint> warned_at_;
};

}  // namespace kubewatch::http

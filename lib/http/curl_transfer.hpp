// One request on one easy handle: options, libcurl's callbacks, limits. Not the driving of it.
#pragma once

#include <curl/curl.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/checks.hpp"
#include "http/gunzip.hpp"
#include "http/transport.hpp"

namespace kubewatch::http {

struct SlistFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using SlistPtr = std::unique_ptr<curl_slist, SlistFree>;

// Everything after the answer's end or cancel() is silence. Libcurl calls back into handle_header
// and handle_body, which call the user's handlers; those may call cancel() but no curl function.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  // libcurl reads the options' texts while it runs, so the transfer holds them.
  // `paced` is called after each piece of a body, from inside libcurl; it may pause the handle.
  Transfer(loop::EventLoop& loop, std::shared_ptr<const TransportOptions> options, Request request,
           CallHandlers handlers, std::function<void(Transfer&)> paced);

  // Errors: invalid. Before configure().
  Result<void> check();
  // `easy` is fresh or reset, and outlives the transfer's run.
  void configure(CURL* easy);
  // What the end of the transfer means for the caller.
  Result<void> outcome(CURLcode code) const;

  void cancel();
  bool canceled() const { return canceled_; }
  // From its next piece on the rest stays with the peer, whose silence then says nothing.
  void hold() { held_ = true; }
  void let_go();
  bool held() const { return held_; }
  // Calls on_done, unless canceled.
  void finish(Result<void> result);

  CURL* easy() const { return easy_; }
  void detach() { easy_ = nullptr; }
  Duration idle_timeout() const { return request_.idle_timeout; }
  // When the last sign of life came (Request::idle_bytes).
  TimePoint last_activity() const { return last_activity_; }
  Error idle_error() const;

 private:
  static CURLcode on_context(CURL* easy, void* context, void* self) noexcept;
  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  bool handle_header(std::string_view line);
  bool handle_body(std::string_view bytes);
  bool take_body(std::string_view unpacked);
  bool end_of_head();
  void touch();
  void count(std::size_t wire_bytes);
  void choose_decoding();
  bool refuse(Error why);
  void set_url();
  void set_method_and_body();
  void set_headers();
  void set_timeouts();
  void set_tls();
  void set_connection();

  loop::EventLoop& loop_;
  const std::shared_ptr<const TransportOptions> options_;
  Request request_;
  CallHandlers handlers_;
  std::function<void(Transfer&)> paced_;
  Endpoint endpoint_;
  std::string proxy_;      // that it goes through; "" = none
  long verify_error_ = 0;  // of OpenSSL, where there is a proxy of TLS
  CURL* easy_ = nullptr;
  SlistPtr headers_;
  SlistPtr connect_to_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::optional<Error> abort_;
  ResponseHead head_;
  std::optional<Gunzip> gunzip_;  // for a body that is packed
  std::string foreign_encoding_;  // of a body that cannot be read
  bool head_done_ = false;
  bool canceled_ = false;
  bool held_ = false;
  std::size_t body_taken_ = 0;  // of the request's, by on_read
  std::size_t header_bytes_ = 0;
  std::size_t packed_bytes_ = 0;
  std::size_t body_bytes_ = 0;  // as the caller gets them
  TimePoint last_activity_{};
  std::size_t since_activity_ = 0;  // bytes as they came
};

}  // namespace kubewatch::http

// What went wrong, as a value: a kind to branch on, a sentence for the user, and the context that
// each layer adds on the way up. Rendered once, in cli/app. Not an exception.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::base {

enum class ErrorKind {
  internal,        // a broken promise of ours
  invalid,         // wrong usage, wrong file, HTTP 400 and 422
  not_found,       // HTTP 404
  conflict,        // HTTP 409 Conflict, failed preconditions, field manager conflicts
  already_exists,  // HTTP 409 AlreadyExists
  gone,            // HTTP 410: the resourceVersion or continue token is too old
  unauthorized,    // HTTP 401
  forbidden,       // HTTP 403
  rate_limited,    // HTTP 429
  too_large,       // a limit on bytes, depth or count was hit; HTTP 413
  unsupported,     // the server or this build cannot do it; HTTP 405, 406, 415
  timeout,         // a deadline passed; HTTP 504
  unavailable,     // HTTP 5xx
  unreachable,     // no connection, TLS failure, connection lost
  canceled,        // the caller asked for it
};

// The part of a Kubernetes Status that callers ask for. `code` is the HTTP status.
struct ApiStatus {
  int code = 0;
  std::string reason;
  std::string message;
  std::optional<int> retry_after_seconds;
  std::string body;  // the whole answer as received (capped), for details.causes; may be empty
};

class Error {
 public:
  Error(ErrorKind kind, std::string message);
  Error(ErrorKind kind, std::string message, ApiStatus status);

  ErrorKind kind() const { return kind_; }
  // The innermost sentence, without context.
  const std::string& message() const { return message_; }
  // Null unless an API server answered.
  const ApiStatus* status() const { return status_.get(); }

  // Adds "while doing what, on which object"; outermost last. Returns itself for chaining.
  Error& add_context(std::string what);
  Error with_context(std::string what) &&;

  // "outer: inner: message", one line. Control characters are the caller's business.
  std::string render() const;

  bool is_not_found() const { return kind_ == ErrorKind::not_found; }
  bool is_conflict() const { return kind_ == ErrorKind::conflict; }
  bool is_already_exists() const { return kind_ == ErrorKind::already_exists; }
  bool is_gone() const { return kind_ == ErrorKind::gone; }
  bool is_forbidden() const { return kind_ == ErrorKind::forbidden; }
  bool is_unauthorized() const { return kind_ == ErrorKind::unauthorized; }
  bool is_unreachable() const { return kind_ == ErrorKind::unreachable; }
  // Nobody took the connection, or it was lost before the answer was whole: so it is with a server
  // that is away. What has no address and no TLS says nothing of connections that are open.
  bool is_disconnect() const { return disconnect_; }
  Error as_disconnect() &&;
  // The name of the server, or of its proxy, has no address now: nobody was asked for anything.
  bool is_unresolved() const { return unresolved_; }
  Error as_unresolved() &&;
  // A file system takes no more: it is full, over its quota or a limit, or read-only. What is there
  // may be sound.
  bool is_no_room() const { return no_room_; }
  // Where `code` (of errno) says so.
  Error as_no_room(int code) &&;
  // Network errors, conflicts, 429 and 5xx: the same request may succeed later.
  bool is_retryable() const;

 private:
  ErrorKind kind_;
  bool disconnect_ = false;
  bool unresolved_ = false;
  bool no_room_ = false;
  std::string message_;
  std::vector<std::string> context_;
  std::shared_ptr<const ApiStatus> status_;
};

std::string_view to_string(ErrorKind kind);

}  // namespace kubewatch::base

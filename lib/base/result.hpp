// Result<T>: a value or an Error. What the world can make fail returns one; exceptions are for
// bugs. Absent is Result<std::optional<T>>, never an error in disguise.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/error.hpp"

namespace kubewatch::base {

template <class T = void>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Precondition: !ok().
  Error& error() & {
    assert(!ok());
    return std::get<1>(state_);
  }
  const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

  // Adds context to the error, if there is one.
  Result with_context(std::string what) && {
    if (!ok()) error().add_context(std::move(what));
    return std::move(*this);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() & {
    assert(!ok());
    return *error_;
  }
  const Error& error() const& {
    assert(!ok());
    return *error_;
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*error_);
  }

  Result with_context(std::string what) && {
    if (error_) error_->add_context(std::move(what));
    return std::move(*this);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace kubewatch::base

namespace kubewatch {
using base::Error;
using base::ErrorKind;
using base::Result;
}  // namespace kubewatch

#define KW_CONCAT_INNER(a, b) a##b
#define KW_CONCAT(a, b) KW_CONCAT_INNER(a, b)

// KW_TRY(expr): returns the error of a Result from the enclosing function.
#define KW_TRY(expr)                                \
  do {                                              \
    if (auto kw_result = (expr); !kw_result.ok()) { \
      return std::move(kw_result).error();          \
    }                                               \
  } while (false)

// KW_ASSIGN(auto x, expr): the value into x, or returns the error.
#define KW_ASSIGN(target, expr) KW_ASSIGN_INNER(KW_CONCAT(kw_result_, __LINE__), target, expr)
#define KW_ASSIGN_INNER(temporary, target, expr)            \
  auto temporary = (expr);                                  \
  if (!temporary.ok()) return std::move(temporary).error(); \
  target = std::move(temporary).value()

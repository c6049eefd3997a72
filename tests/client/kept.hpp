// Keeps what a callback was given.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "support/catch.hpp"

namespace kubewatch::test {

template <class T>
struct Kept {
  std::optional<Result<T>> result;
  int calls = 0;
  std::function<void(Result<T>)> callback() {
    return [this](Result<T> given) {
      ++calls;
      result.emplace(std::move(given));
    };
  }
  const T& value() const {
    REQUIRE(result.has_value());
    if (!result->ok()) FAIL(result->error().render());
    return result->value();
  }
  const Error& error() const {
    REQUIRE(result.has_value());
    REQUIRE_FALSE(result->ok());
    return result->error();
  }
};

}  // namespace kubewatch::test

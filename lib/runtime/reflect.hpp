// Typed doors to the reflector and its store: what an Api names, kept up to date; objects read back
// as C++ types.
#pragma once

#include <memory>
#include <optional>

#include "client/api.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::runtime {

// Not started yet. As for Reflector: the Api's client and `random` must outlive it.
template <client::Resource T>
std::unique_ptr<Reflector> reflect(const client::Api<T>& api, WatcherOptions options,
                                   StoreOptions store, base::Random& random,
                                   ReflectorCallbacks callbacks) {
  return std::make_unique<Reflector>(api.client(), api.type(), api.namespace_name(),
                                     std::move(options), std::move(store), random,
                                     std::move(callbacks));
}

// Absent: it is not there. Errors: invalid (the object is no T), too_large (only its metadata is
// kept: StoredObject::reduced).
template <client::Resource T>
Result<std::optional<T>> read_as(const Reflector& reflector, const core::ObjectKey& key) {
  const auto stored = reflector.store().get(key);
  if (!stored) return std::optional<T>();
  if (stored->reduced) {
    return Error(ErrorKind::too_large,
                 why_reduced(reflector.type().qualified_plural() + " " + key.str()));
  }
  auto object = client::Api<T>::decode_text(stored->json, reflector.type());
  if (!object.ok()) return std::move(object).error();
  return std::optional<T>(std::move(object).value());
}

}  // namespace kubewatch::runtime

// One step of a controller's work, of which what is stored may make a mess. Where nobody asked and
// nobody is answered, an object that is not what its kind is must not end the server: it is logged
// and left, until something changes it.
#pragma once

#include <stdexcept>
#include <string>

#include "base/json.hpp"
#include "base/log.hpp"

namespace kubewatch::apiserver {

// `work` has left its queue already. `what`: "pods" and "shop/web".
template <class Work>
void guarded(const std::string& kind, const std::string& key, const Work& work) {
  const auto leave = [&](const char* why) {
    base::log_error("an object cannot be worked on and is left as it is",
                    {{"kind", kind}, {"object", key}, {"error", why}});
  };
  try {
    work();
  } catch (const Json::exception& error) {
    leave(error.what());
  } catch (const std::length_error& error) {
    leave(error.what());
  }
}

}  // namespace kubewatch::apiserver

// What stored or sent objects make of code that takes them for what their kind is: a check that is
// missing somewhere, or more memory than there is. It ends the request or the step that it comes
// from, and not the server.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "base/json.hpp"
#include "base/log.hpp"

namespace kubewatch::apiserver {

// Inside a catch: words for the exception at hand, or it is thrown on.
inline std::string why_it_failed() try { throw; } catch (const Json::exception& error) {
  return error.what();
} catch (const std::bad_alloc&) {
  return "out of memory";
} catch (const std::length_error&) {
  return "a text or a list would be longer than any may be";
}

// One step of a controller's work, where nobody asked and nobody is answered: an object that it
// cannot be done with is logged and left, until something changes it. `work` has left its queue
// already. `kind` and `key`: "pods" and "shop/web".
template <class Work>
void guarded(const std::string& kind, const std::string& key, const Work& work) {
  try {
    work();
  } catch (const std::exception&) {
    base::log_error("an object cannot be worked on and is left as it is",
                    {{"kind", kind}, {"object", key}, {"error", why_it_failed()}});
  }
}

}  // namespace kubewatch::apiserver

// What a resourceVersion or an error of the server says to a watcher.
#include "runtime/watcher_answers.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

Error status(ErrorKind kind, int code) {
  base::ApiStatus out;
  out.code = code;
  return {kind, "answered", std::move(out)};
}

}  // namespace

TEST_CASE("a watch begins at no resourceVersion that is empty or 0") {
  CHECK_FALSE(usable_version(""));
  CHECK_FALSE(usable_version("0"));
  CHECK(usable_version("1"));
}

TEST_CASE("what an error says: of the version, of the request, of the server") {
  CHECK(version_is_useless(status(ErrorKind::gone, 410)));
  CHECK_FALSE(version_is_useless(status(ErrorKind::unavailable, 503)));

  CHECK(refuses_request(status(ErrorKind::invalid, 400)));
  CHECK(refuses_request(Error(ErrorKind::unavailable, "a proxy's page")));
  CHECK_FALSE(refuses_request(status(ErrorKind::unavailable, 503)));

  CHECK(may_be_of_version(status(ErrorKind::internal, 500)));
  CHECK(may_be_of_version(Error(ErrorKind::too_large, "an event")));
  CHECK_FALSE(may_be_of_version(status(ErrorKind::unavailable, 503)));
  CHECK_FALSE(may_be_of_version(status(ErrorKind::forbidden, 403)));

  CHECK(is_away(Error(ErrorKind::unreachable, "refused")));
  CHECK(is_away(Error(ErrorKind::timeout, "late")));
  CHECK(is_away(status(ErrorKind::unavailable, 503)));
  CHECK_FALSE(is_away(status(ErrorKind::internal, 500)));
  CHECK_FALSE(is_away(status(ErrorKind::internal, 505)));
}

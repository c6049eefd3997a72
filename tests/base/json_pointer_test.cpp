#include "base/json_pointer.hpp"

#include "support/catch.hpp"

using namespace kubewatch::base;

TEST_CASE("keys become steps of a pointer, and steps keys again (RFC 6901)") {
  for (const char* key : {"", "a", "a/b", "m~n", "~1", "~0~1/", "~"}) {
    CAPTURE(key);
    CHECK(unescape_pointer(escape_pointer(key)) == key);
  }
  CHECK(escape_pointer("a/b~c") == "a~1b~0c");
  CHECK(unescape_pointer("~01") == "~1");
  // No escape.
  CHECK(unescape_pointer("~x~") == "~x~");
  CHECK(pointer_to({"metadata", "a/b"}) == "/metadata/a~1b");
  CHECK(pointer_to({}).empty());
}

// What a server answers at a resourceVersion that it has forgotten: a watch cache and etcd have
// words of their own.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

E2E_CASE("a resourceVersion of long ago is too old for an exact list and a watch, and no bound") {
  World w;
  REQUIRE(send(w, "POST", maps(w), {{"metadata", {{"name", "a"}}}}).code == 201);
  w.server().compact();
  const std::string list = "The resourceVersion for the provided list is too old.";
  for (const char* query :
       {"?resourceVersion=1&resourceVersionMatch=Exact", "?resourceVersion=1&limit=1",
        "?resourceVersion=1&resourceVersionMatch=Exact&labelSelector=x%3Dy"}) {
    CAPTURE(query);
    const Answer old = send(w, "GET", maps(w) + query);
    CHECK(old.code == 410);
    CHECK(base::string_at(old.body, {"reason"}) == "Expired");
    CHECK(message(old) == list);
  }
  const Answer watch = send(w, "GET", maps(w) + "?watch=true&timeoutSeconds=5&resourceVersion=1");
  CHECK(watch.code == 200);
  CHECK(base::string_at(watch.body, {"type"}) == "ERROR");
  CHECK(watch.body["object"]["code"] == 410);
  CHECK(base::string_at(watch.body, {"object", "message"})
            .starts_with("too old resource version: 1 ("));
  for (const char* query :
       {"?resourceVersion=1", "?resourceVersion=1&resourceVersionMatch=NotOlderThan"}) {
    CAPTURE(query);
    const Answer newest = send(w, "GET", maps(w) + query);
    CHECK(newest.code == 200);
    CHECK_FALSE(newest.body["items"].empty());
  }
  CHECK(send(w, "GET", maps(w) + "/a?resourceVersion=1").code == 200);
}

}  // namespace kubewatch::e2e

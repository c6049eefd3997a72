// What a server says of a Secret that it would not write, told without values; and by every writer.
#include "hooks/secret_refusal.hpp"

#include <optional>

#include "base/json.hpp"
#include "client/in_flight.hpp"
#include "core/status.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/dry_run.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/patch_writer.hpp"
#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kSecret = {"", "v1", "Secret"};
const char* const kPath = "/api/v1/namespaces/shop/secrets/s";

std::string status(int code, const std::string& message, const char* reason = "Invalid") {
  return base::dump_json(
      {{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", message}});
}

std::string shown(int code, const std::string& message, const core::Gvk& gvk = kSecret) {
  return without_secret_values(core::error_from_response(code, status(code, message)), gvk)
      .render();
}

// As kube-apiserver 1.36 says it of a label that is a number.
const std::string kQuoting =
    R"( "" is invalid: patch: Invalid value: "{\"data\":{\"p\":\"aHVudGVyMjIy\"},\"kind\":)"
    R"(\"Secret\"}": json: cannot unmarshal number into Go struct field )"
    R"(ObjectMeta.metadata.labels of type string)";

// A Secret that is this owner's, and every write of it is refused with its values.
struct World : test::WriteSurroundings {
  World() {
    transport.route(
        "GET", kPath, 200,
        base::dump_json({{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata",
                          {{"name", "s"},
                           {"namespace", "shop"},
                           {"uid", "u-s"},
                           {"resourceVersion", "7"},
                           {"labels", {{kControllerLabel, "web"}, {kOwnerUidLabel, "u1"}}}}}}));
    for (const char* method : {"PATCH", "DELETE"}) {
      transport.route(method, kPath, 422, status(422, kQuoting));
    }
    transport.route("POST", "/api/v1/namespaces/shop/secrets", 422, status(422, kQuoting));
  }
  // Of whatever was started.
  std::string said() {
    REQUIRE(until([&] { return error.has_value(); }));
    return error->render();
  }
  template <typename T>
  auto keep() {
    return [this](Result<T> result) {
      REQUIRE_FALSE(result.ok());
      error = std::move(result.error());
    };
  }
  std::optional<Error> error;
};

Manifest secret() {
  return test::manifest(kSecret, "secrets", {"shop", "s"});
}

void check_hidden(const std::string& said) {
  INFO(said);
  CHECK(said.find("aHVudGVyMjIy") == std::string::npos);
  CHECK(said.find("cannot unmarshal number into Go struct field") != std::string::npos);
}

}  // namespace

TEST_CASE("of a Secret that is refused the server's words stay and what they quote goes") {
  CHECK(shown(422, kQuoting) ==
        R"( "" is invalid: patch: Invalid value: "***": json: cannot unmarshal number into Go )"
        R"(struct field ObjectMeta.metadata.labels of type string)");
  CHECK(shown(422, kQuoting, {"", "v1", "ConfigMap"}) == kQuoting);
  CHECK(shown(422, kQuoting, {"example.com", "v1", "Secret"}) == kQuoting);
  CHECK(
      shown(422, R"(Invalid value: "a \"b\" c": strict decoding error: unknown field "spec.x")") ==
      R"(Invalid value: "***": strict decoding error: unknown field "spec.x")");
  CHECK(shown(400, R"(it says "hunter2 and has no end)") == R"(it says "***")");
  // Values that are no text have no end that anybody knows.
  CHECK(shown(422, "data: Invalid value: []byte{0x68}: too odd").find("0x68") == std::string::npos);
  CHECK(shown(500, ".data.p: expected string, got &value.valueUnstructured{Value:hunter2}")
            .find("hunter2") == std::string::npos);
}

TEST_CASE("who may not, and conflicts, are told with their names, of a Secret too") {
  const std::string forbidden = R"(secrets "s" is forbidden: User "u" cannot patch resource)";
  CHECK(shown(403, forbidden) == forbidden);
  const std::string conflict = R"(Apply failed with 1 conflict: conflict with "m": .data.p)";
  CHECK(shown(409, conflict) == conflict);
}

TEST_CASE("what admission says of a Secret is left out, and whose words they were is told") {
  const std::string webhook = R"(admission webhook "no.example.com" denied the request)";
  for (const int code : {400, 403, 422}) {
    const std::string said = shown(code, webhook + ": hunter2 is no password");
    INFO(said);
    CHECK(said.find(webhook) == 0);
    CHECK(said.find("hunter2") == std::string::npos);
  }
  const std::string policy =
      R"(secrets "s" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request)";
  const std::string said = shown(403, policy + ": hunter2");
  CHECK(said.find(policy) == 0);
  CHECK(said.find("hunter2") == std::string::npos);
}

TEST_CASE("what is no Status may quote anything of a Secret") {
  const auto error = core::error_from_response(403, "blocked: aHVudGVyMjIy");
  CHECK(without_secret_values(error, kSecret).render().find("HTTP 403 (") == 0);
  CHECK(without_secret_values(error, kSecret).kind() == ErrorKind::forbidden);
  const Error unreachable(ErrorKind::unreachable, "no connection");
  CHECK(without_secret_values(unreachable, kSecret).render() == "no connection");
}

TEST_CASE("no writer of a Secret tells the values that the server quotes") {
  World world;
  ChildWriter children(world, world.owner(), {}, {});
  SECTION("applied") {
    children.apply(secret(), world.keep<WriteEffect>());
  }
  SECTION("applied as it would be") {
    children.rehearse(secret(), false, world.keep<WriteEffect>());
  }
  SECTION("deleted") {
    children.remove({secret().type, secret().key}, world.keep<WriteEffect>());
  }
  check_hidden(world.said());
}

TEST_CASE("creating a Secret tells no values that the server quotes") {
  World world;
  world.transport.route("GET", kPath, 404, status(404, "", "NotFound"));
  ChildWriter children(world, world.owner(), {}, {});
  SECTION("created") {
    children.create(secret(), world.keep<WriteEffect>());
  }
  SECTION("created as it would be") {
    children.rehearse(secret(), true, world.keep<WriteEffect>());
  }
  check_hidden(world.said());
}

TEST_CASE("a patch of a Secret tells no values that the server quotes") {
  World world;
  PatchWriter patches(world, world.owner());
  PatchTarget target;
  target.type = secret().type;
  target.key = secret().key;
  target.patch = {{"metadata", {{"labels", {{"a", 5}}}}}};
  SECTION("patched") {
    patches.patch(target, world.keep<WriteEffect>());
  }
  SECTION("patched as it would be") {
    patches.rehearse(target, world.keep<WriteEffect>());
  }
  check_hidden(world.said());
}

TEST_CASE("a finalizer of a Secret tells no values that the server quotes") {
  World world;
  client::InFlight requests;
  core::ObjectMeta meta;
  meta.name = "s";
  meta.namespace_ = "shop";
  meta.uid = "u-s";
  change_finalizer(world.client(), requests,
                   {secret().type, meta, "kubewatch.dev/web", "kubewatch/web", true},
                   world.keep<ChangedMeta>());
  check_hidden(world.said());
}

TEST_CASE("a dry run shows a refused write of a Secret without the values in the server's words") {
  World world;
  std::vector<DryWrite> writes;
  DryRunTransport dry(world.loop, world.transport,
                      [&](const DryWrite& write) { writes.push_back(write); });
  http::Request request;
  request.method = "PATCH";
  request.url = std::string("http://server.test") + kPath;
  request.headers.set("Content-Type", "application/merge-patch+json");
  request.body = "{}";
  bool answered = false;
  const auto call =
      http::fetch(dry, std::move(request), [&](const Result<http::Response>&) { answered = true; });
  REQUIRE(world.until([&] { return answered; }));
  REQUIRE(writes.size() == 1);
  const std::string text = text_of(writes[0], SecretHash({1, 2}));
  CHECK(text.find("refused: ") != std::string::npos);
  check_hidden(text);
}

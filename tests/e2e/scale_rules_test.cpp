// The scale subresource: how its bodies are read, what is refused of them, and the forms in which
// it is answered.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kTable = "application/json;as=Table;g=meta.k8s.io;v=v1";

// A Deployment "d" without replicas, and the path of its scale.
std::string scaled(World& w) {
  const std::string all = "/apis/apps/v1/namespaces/" + w.ns() + "/deployments";
  const Json pod = {{"metadata", {{"labels", {{"a", "b"}}}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  const Json spec = {
      {"replicas", 0}, {"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", pod}};
  REQUIRE(send(w, "POST", all,
               {{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"metadata", {{"name", "d"}}},
                {"spec", spec}})
              .code == 201);
  return all + "/d/scale";
}

Json scale(Json spec) {
  return {{"apiVersion", "autoscaling/v1"},
          {"kind", "Scale"},
          {"metadata", {{"name", "d"}}},
          {"spec", std::move(spec)}};
}

http::Response put(World& w, const std::string& path, const Json& body, const std::string& accept) {
  http::Request request;
  request.method = "PUT";
  request.url = path;
  request.headers.set("Accept", accept);
  request.headers.set("Content-Type", "application/json");
  request.body = base::dump_json(body);
  return fetch(w, w.server().config(), std::move(request));
}

}  // namespace

E2E_CASE("fields that a Scale lacks are warned of, or refused where that is wanted") {
  World w;
  const std::string path = scaled(w);
  const Json odd = scale({{"replicas", 0}, {"bar", 1}});
  CHECK(put(w, path, odd, "application/json").headers.get("Warning") ==
        "299 - \"unknown field \\\"spec.bar\\\"\"");
  CHECK(put(w, path + "?fieldValidation=Ignore", odd, "*/*").headers.get("Warning").empty());
  const std::string strict = path + "?fieldValidation=Strict";
  CHECK(message(send(w, "PUT", strict, odd)) ==
        "Scale in version \"v1\" cannot be handled as a Scale: strict decoding error: unknown "
        "field \"spec.bar\"");
  const Answer patched = send_text(w, "PATCH", strict, R"({"spec": {"bar": 1}})", kMerge);
  CHECK(patched.code == 422);
  CHECK(message(patched).ends_with("strict decoding error: unknown field \"spec.bar\""));
}

E2E_CASE("a body that is no Scale is refused, and so is one of another object") {
  World w;
  const std::string path = scaled(w);
  Json old = scale({{"replicas", 0}});
  old["apiVersion"] = "apps/v1beta1";
  CHECK(message(send(w, "PUT", path, old)) ==
        "the API version in the data (apps/v1beta1) does not match the expected API version "
        "(autoscaling/v1)");
  CHECK(message(send(w, "PUT", path, scale({{"replicas", "x"}}))) ==
        "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal string into "
        "Go struct field ScaleSpec.spec.replicas of type int32");
  CHECK(send(w, "PUT", path, scale({{"replicas", -1}})).code == 422);
  Json other = scale({{"replicas", 0}});
  other["metadata"]["uid"] = "x";
  const Answer conflict = send(w, "PUT", path, other);
  CHECK(conflict.code == 409);
  CHECK(message(conflict).find("Key: /registry/deployments/" + w.ns() + "/d, ResourceVersion: 0") !=
        std::string::npos);
  CHECK(send(w, "GET", path + "?resourceVersion=x").code == 500);
}

E2E_CASE("a Scale is answered in the form that is asked for, and none says nothing") {
  World w;
  const std::string path = scaled(w);
  CHECK(send(w, "GET", path).body["spec"] == Json::object());
  const Json one = scale({{"replicas", 1}});
  const http::Response yaml = put(w, path, one, "application/yaml");
  CHECK(yaml.headers.get("Content-Type") == "application/yaml");
  CHECK(yaml.body.find("kind: Scale") != std::string::npos);
  CHECK(put(w, path, one, kTable).body.find("\"Desired\"") != std::string::npos);
  CHECK(put(w, path, one, "text/plain").status == 406);
  CHECK(send(w, "GET", path).body["spec"] == Json{{"replicas", 1}});
}

}  // namespace kubewatch::e2e

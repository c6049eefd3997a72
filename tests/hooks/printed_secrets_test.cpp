// Secrets are found in what a hook printed, whole or broken, and lines that cannot be masked are
// withheld.
#include "hooks/printed_secrets.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/hook_log.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {
namespace {

constexpr const char* kSecret =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: made}\nstringData: {p: hunter2-very}\n";

struct Seen {
  bool whole = false;
  SecretMask mask;
  std::string operator()(std::string_view text) const { return mask.mask(text); }
};

Seen look(const std::string& text, bool cut = false) {
  Seen out;
  out.whole = mask_printed(text, cut, out.mask);
  return out;
}

}  // namespace

TEST_CASE("Secrets are known wherever a hook may print them") {
  const Seen seen = look(std::string(kSecret) + R"(---
apiVersion: v1
kind: List
items: [{kind: Secret, data: {p: )" +
                         base::base64_encode("in-a-list") +
                         R"(}}]
---
{kind: SecretList, items: [{stringData: {p: in-a-secret-list}}, 5]}
---
kind: Result
create: [{kind: Secret, stringData: {p: created-one}}]
patches:
- {kind: Secret, type: merge, patch: {stringData: {p: patched-one}}}
- {kind: Secret, type: json, patch: [{op: add, path: /stringData/p, value: patched-two}]}
---
{kind: secret, stringData: {p: wrong-kind}}
---
{kind: Secret, type: of-no-secret, stringdata: {p: misspelt-one}}
---
{kind: ConfigMap, data: {p: no-secret}}
---
{apiVersion: other.dev/v1, kind: Secret, spec: {region: eu-central}, stringData: {p: other-kind}}
)");
  CHECK(seen.whole);
  for (const char* value :
       {"hunter2-very", "in-a-list", "in-a-secret-list", "created-one", "patched-one",
        "patched-two", "wrong-kind", "misspelt-one", "other-kind"}) {
    CHECK(seen(value) == "***");
  }
  CHECK(seen("no-secret") == "no-secret");
  CHECK(seen("of-no-secret") == "of-no-secret");
  CHECK(seen("eu-central") == "eu-central");
}

TEST_CASE("what an item of delete or patches names is no secret, and what a patch puts there is") {
  const Seen seen = look(R"(
kind: Result
delete:
- {apiVersion: v1, kind: Secret, namespace: hk/../kube-system, name: x?y-deleted}
patches:
- apiVersion: v1
  kind: Secret
  namespace: patched-space
  name: patched-name
  subresource: a-subresource
  type: merge
  patch:
    apiVersion: v1
    kind: Secret
    metadata: {name: inner-name, labels: {a: a-label-of-it}}
    data: {p: )" + base::base64_encode("merged-one") +
                         R"(}
    stringData: {p: merged-two}
    stringdata: {p: misspelt-one}
- {kind: Secret, name: patched-name, type: apply, patch: {stringData: {p: applied-one}}}
- {kind: Secret, name: patched-name, type: merge, patch: {spec: {data: {p: wrong-place}}}}
- kind: Secret
  name: patched-name
  type: json
  patch:
  - {op: replace, path: /stringData/password, value: replaced-one}
  - {op: replace, path: /data, value: {a: )" +
                         base::base64_encode("replaced-two") + R"(}}
  - {op: replace, path: /stringData/p, val: misspelt-two}
- {name: of-no-kind, patch: {stringData: {p: kindless-one}}}
- {kind: Secret, name: patched-name, patch: "a text for a patch"}
- {kind: Secret, name: {a: no-name-at-all}, stringData: {p: beside-it}}
)");
  CHECK(seen.whole);
  for (const char* value : {"merged-one", "merged-two", "misspelt-one", "applied-one",
                            "wrong-place", "replaced-one", "replaced-two", "misspelt-two",
                            "kindless-one", "a text for a patch", "no-name-at-all", "beside-it"}) {
    CHECK(seen(value) == "***");
  }
  const std::string named =
      "delete: v1 Secret: \"hk/../kube-system\" cannot be a namespace; x?y-deleted, patched-space, "
      "patched-name, a-subresource, inner-name, replace, /stringData/password, of-no-kind";
  CHECK(seen(named) == named);
}

TEST_CASE(
    "a broken document hides no Secret of the others, and what it holds is found as it can be") {
  const Seen seen = look(std::string("kind: ConfigMap\ndata: [\n---\n") + kSecret + R"(---
kind: Secret
kind: Secret
data:
  a: )" + base::base64_encode("encoded-one") +
                         R"(
  b: "quoted\u002done"   # the first
  c: |
    a line of a key
    user: of-a-map
type: Opaque-type
---
{"kind": "Secret", "stringData": {"a": "json-one", 'b': 'single-one', "n": {"c": plain one},
  "d": "cut in the mid)");
  CHECK_FALSE(seen.whole);
  for (const char* value : {"hunter2-very", "encoded-one", "quoted-one", "a line of a key",
                            "of-a-map", "json-one", "single-one", "plain one", "cut in the mid"}) {
    CHECK(seen(value) == "***");
  }
  CHECK(seen("Opaque-type Secret") == "Opaque-type Secret");
  CHECK(look("stringData: {p: !!int hunter2}").operator()("hunter2!") == "***!");
  CHECK(look("stringData:\n  p: *hunter2\n").operator()("anchor hunter2") == "anchor ***");
  // A worker's answer that is none.
  CHECK(look(R"({"id":"x","documents":[{"kind":"Secret","stringData":{"p":"hunter2"}}],"no":1})")(
            "hunter2") == "***");
}

TEST_CASE("of a worker's answer only what stands in its documents is looked at") {
  const Seen seen = look(
      R"({"id":"harmless-id","documents":[{"kind":"ConfigMap","data":{"k":"harmless-word"}},)"
      R"({"data":{"p":"of-no-kind"}},{"kind":"Secret","data":{"p":"hunter2"}}],"no":"a-word"})");
  CHECK(seen("harmless-id harmless-word a-word ConfigMap") ==
        "harmless-id harmless-word a-word ConfigMap");
  CHECK(seen("of-no-kind hunter2") == "*** ***");
  CHECK(look(R"({"id":"x","data":{"p":"hunter2"}})")("hunter2") == "***");
}

TEST_CASE("a text that names Secrets is told from one that does not") {
  CHECK(names_secret(kSecret));
  CHECK(names_secret("{stringData: {a: b}}"));
  CHECK_FALSE(names_secret("{kind: ConfigMap, data: {a: b}}"));
}

TEST_CASE("Secrets are known where they should not stand") {
  const std::string as_text = base::dump_json(Json(std::string(kSecret)));
  const std::string as_json = R"({"kind":"Secret","stringData":{"p":"hunter2-very"}})";
  for (const std::string& printed : std::vector<std::string>{
           R"({"id":"1","documents":)" + as_text + "}",
           R"({"id":"1","documents":)" + as_json + "}",
           R"({"id":"1","documents":[)" + as_text + "]}",
           R"({"id":"1","document":)" + as_json + "}",
           R"({"id":"1","document":{"deep":[{"er":)" + as_json + "}]}}",
           "kind: Result\ncreate: " + as_json + "\n",
           "kind: Result\npatches: {a: " + as_json + "}\n",
           as_text + "\n",
           base::dump_json(Json(as_text)) + "\n",
           R"({"documents":"kind: Secret\nstringData: {p: hunter2-very}\nbroken: [\n"})",
       }) {
    INFO(printed);
    const Seen seen = look(printed);
    CHECK(seen("says hunter2-very") == "says ***");
  }
}

TEST_CASE("what other objects say to name a Secret is no secret, and a Secret within them is") {
  const Seen seen = look(R"(
{apiVersion: docs.example.com/v1, kind: Foo, metadata: {name: gw, namespace: wrong-ns}, spec: {
  listeners: [{tls: {certificateRefs: [{kind: Secret, group: cert-group, name: wrong-ns,
                                        namespace: ref-space, sectionName: a-section}]}}],
  issuerRef: {kind: Secret, group: docs.example.com, name: shop-example-com},
  sourceRef: {apiVersion: v1, kind: secret, apiGroup: an-api-group, uid: uid-of-it,
              key: password, optional: true},
  manifests: [{kind: Secret, metadata: {name: a-made-one}, stringdata: {p: misspelt-one}},
              {kind: Secret, data: {p: plain-in-data}},
              {kind: Secret, name: beside-it, stringData: {p: hunter2-very}},
              {kind: Secret, stringdata: {p: misspelt-two}}]}}
---
kind: Result
events:
- {reason: Made, regarding: {apiVersion: v1, kind: Secret, namespace: told-space, name: told-name}}
)");
  CHECK(seen.whole);
  const std::string named =
      "Foo wrong-ns/gw: docs.example.com/v1 Foo in namespace wrong-ns, cert-group, ref-space, "
      "a-section, shop-example-com, an-api-group, uid-of-it, password, a-made-one, "
      "told-space/told-name";
  CHECK(seen(named) == named);
  for (const char* value : {"misspelt-one", "plain-in-data", "hunter2-very", "misspelt-two"}) {
    INFO(value);
    CHECK(seen(value) == "***");
  }
}

TEST_CASE("what is called data within other objects is no secret") {
  const Seen seen = look(R"({kind: CustomResourceDefinition, spec: {schema: {properties:
    {data: {type: object, description: some words}}}}, data: {secretKey: a-key-name}})");
  CHECK(seen("object, some words, a-key-name") == "object, some words, a-key-name");
}

TEST_CASE("texts that end anywhere are looked through to their end") {
  const std::string text =
      "{\"data\": {\"a\": \"b\\\"c\", 'd': [e, \"f\"]}}\nstringData:\n  x: |\n   y";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    look("\x01" + text.substr(0, size));
    look(text.substr(size) + "\x01");
  }
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "data:{data:\n ";
  CHECK_FALSE(look(many).whole);
}

TEST_CASE("of a hook that was ended only a whole end counts as all") {
  CHECK(look("").whole);
  CHECK(look("kind: X").whole);
  CHECK(look("kind: X\n", true).whole);
  CHECK(look("{\"kind\": \"X\"}", true).whole);
  CHECK_FALSE(look("", true).whole);  // it may stand in a buffer of its own
  CHECK_FALSE(look("kind: Secret\nstringData: {p: a}\ntype: Op", true).whole);
}

TEST_CASE("lines that cannot be masked are withheld, and it says how many and why") {
  std::vector<std::string> lines;
  base::capture_log(&lines);
  HookLog log({{"object", "Website shop/a"}}, {}, /*hold=*/true);
  log.line("made hunter2", TimePoint{});
  log.line("and more", TimePoint{});
  const std::string said = log.withhold({}, "no way to mask them");
  log.line("hunter2 again", TimePoint{});
  base::capture_log(nullptr);
  CHECK(said == "2 lines of stderr are withheld: no way to mask them");
  CHECK(log.last_line().empty());
  CHECK(log.tail() == "(" + said + ")\n");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find(said) != std::string::npos);
  CHECK(lines[0].find("Website shop/a") != std::string::npos);

  HookLog silent({}, {}, true);
  CHECK(silent.withhold({}, "").empty());
  CHECK(silent.tail().empty());
}

TEST_CASE("what was logged before a secret was known is masked in messages and lists") {
  std::vector<std::string> lines;
  base::capture_log(&lines);
  HookLog log({}, {}, /*hold=*/false);
  log.line("made hunter2", TimePoint{});
  SecretMask mask;
  mask.add_value("hunter2");
  log.release(mask, TimePoint{});
  base::capture_log(nullptr);
  CHECK(log.last_line() == "made ***");
  CHECK(log.tail() == "made ***\n");
}

}  // namespace kubewatch::hooks

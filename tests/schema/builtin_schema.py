"""Writes lib/schema/builtin_schema.inc: how the fields of the built-in kinds merge, taken from a real
kube-apiserver's /openapi/v3, as raw string literals of a compact text that builtin_table.cpp reads.

Run: python3 tests/schema/builtin_schema.py [FOLDER]
FOLDER holds v3_<path with _ for />.json; without it a real server is started (control_plane.py).

The text, one definition or kind a line, names without their io.k8s... prefix:
  =apps/v1 Deployment apps.v1.Deployment     a kind and its definition
  core.v1.PodSpec affinity:@core.v1.Affinity containers~:K[name]{name;merge}@core.v1.Container ...
  core.v1.SecretKeySelector! key*:s ...      "!" an atomic struct
  meta.v1.Time :t                            no struct: what it stands for
A field is NAME[*|~]:[{patch merge key;patch strategy}]TYPE. Fields marked * or ~ are in every object of the
server even when nobody wrote them: * as {}, "", 0 or false by type, ~ as null.
TYPE: s string, n numeric, j int32, k int64, b boolean, q quantity, i integer or string, t Time, m MicroTime, u any other scalar, x anything (atomic), d deduced, @NAME a definition
(@!NAME the same as one atomic value, @+NAME field by field), M map of, A atomic map of, L atomic list of, S set of,
K[key,key=default] list by keys of; each followed by the TYPE of its elements.
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from control_plane import ROOT, ControlPlane

DOCUMENTS = [
    "api/v1", "apis/apps/v1", "apis/batch/v1", "apis/rbac.authorization.k8s.io/v1",
    "apis/coordination.k8s.io/v1", "apis/networking.k8s.io/v1", "apis/policy/v1", "apis/autoscaling/v1",
    "apis/autoscaling/v2", "apis/storage.k8s.io/v1", "apis/events.k8s.io/v1", "apis/discovery.k8s.io/v1",
    "apis/apiextensions.k8s.io/v1", "apis/admissionregistration.k8s.io/v1",
    "apis/scheduling.k8s.io/v1", "apis/node.k8s.io/v1", "apis/certificates.k8s.io/v1", "apis/resource.k8s.io/v1",
    "apis/authentication.k8s.io/v1", "apis/authorization.k8s.io/v1", "apis/apiregistration.k8s.io/v1",
    "apis/flowcontrol.apiserver.k8s.io/v1"]
PREFIXES = [
    ("io.k8s.apimachinery.pkg.apis.", ""), ("io.k8s.apiextensions-apiserver.pkg.apis.", ""),
    ("io.k8s.kube-aggregator.pkg.apis.", ""), ("io.k8s.apimachinery.pkg.api.", ""),
    ("io.k8s.apimachinery.pkg.", ""), ("io.k8s.api.", "")]
ANYTHING = "io.k8s.apimachinery.pkg.runtime.RawExtension"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
READ_TIMES = {"meta.v1.Time": "t", "meta.v1.MicroTime": "m"}
MARKS = {"": "@", "atomic": "@!", "granular": "@+"}
MAX_LITERAL = 12000


def fetch():
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        return [json.loads((folder / f"v3_{d.replace('/', '_')}.json").read_text()) for d in DOCUMENTS]
    with ControlPlane() as plane:
        return [plane.request("GET", f"/openapi/v3/{document}")[1] for document in DOCUMENTS]


def short(name):
    for prefix, replacement in PREFIXES:
        if name.startswith(prefix):
            return replacement + name[len(prefix):]
    return name


def ref_of(schema):
    ref = schema.get("$ref")
    if not ref and len(schema.get("allOf", [])) == 1:
        ref = schema["allOf"][0].get("$ref")
    return ref.rsplit("/", 1)[1] if ref else None


def always_written():
    """{definition: {field: its mark, "" where Go leaves out what is empty}}, from the struct tags."""
    table = {}
    text = (ROOT / "lib/builtin/wire_types.inc").read_text()
    for line in re.findall(r"^(?:R\"proto\()?([a-z]+/v\d+\.\w+ .*)$", text, re.M):
        name, *fields = line.split()
        table[name] = [re.fullmatch(r"\d+([^:]*):([a-z]*)([a-zA-Z])(?:~[\w.]+)?(?:=(.+))?", f).groups() for f in fields]

    def mark(flags, kind):
        if set(flags) & set("pr") or kind in "SYQMTEy":
            return "" if "o" in flags else "~"
        if "z" in flags or ("o" in flags and kind not in "mqtuxwn"):
            return ""
        return "~" if kind in "qtuxwn" else "*"

    def fields(name):
        out = {}
        for field, flags, kind, target in table[name]:
            out.update({field: mark(flags, kind)} if field else fields(target))
        return out
    return {name.replace("/", "."): fields(name) for name in table}


class Table:
    def __init__(self, schemas):
        self.schemas = schemas
        self.written = always_written()
        self.wanted = []
        self.seen = set()

    def want(self, name):
        if name not in self.seen:
            self.seen.add(name)
            self.wanted.append(name)

    def list_prefix(self, schema, item):
        kind, strategy = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-patch-strategy", "")
        keys = schema.get("x-kubernetes-list-map-keys", [])
        if kind is None and strategy.split(",")[0] == "merge":
            merge_key = schema.get("x-kubernetes-patch-merge-key")
            kind, keys = ("map", [merge_key]) if merge_key else ("set", [])
        if kind == "set":
            return "S"
        if kind == "map":
            return f"K[{','.join(key + self.key_default(item, key) for key in keys)}]"
        return "L"

    def key_default(self, item, key):
        target = self.schemas.get(ref_of(item) or "", item)
        default = target.get("properties", {}).get(key, {}).get("default")
        return "" if default is None else "=" + str(default)

    def type_of(self, schema):
        ref = ref_of(schema)
        if ref == ANYTHING:
            return "x"
        if ref == QUANTITY:
            return "q"
        if ref:
            self.want(ref)
            return MARKS[schema.get("x-kubernetes-map-type", "")] + short(ref)
        if schema.get("format") == "int-or-string":
            return "i"
        kind = schema.get("type", "")
        if kind == "object":
            if "properties" in schema:
                raise SystemExit(f"an inline struct: {schema}")
            extra = schema.get("additionalProperties")
            element = self.type_of(extra) if isinstance(extra, dict) else "d"
            return ("A" if schema.get("x-kubernetes-map-type") == "atomic" else "M") + element
        if kind == "array":
            return self.list_prefix(schema, schema["items"]) + self.type_of(schema["items"])
        if kind == "string":
            return "s" if schema.get("format", "") in ("", "byte") else "u"
        if kind == "integer":
            return "j" if schema.get("format") == "int32" else "k"
        return {"number": "n", "boolean": "b", "": "d"}[kind]

    def presence(self, name, schema, required, owner):
        """Whether the server's own struct always writes this field, and as what."""
        if (mark := self.written.get(short(owner), {}).get(name)) is not None:
            return mark
        if schema.get("default") == {}:
            return "*"
        if name not in required:
            return ""
        scalar = schema.get("type") in ("string", "integer", "number", "boolean")
        return "*" if scalar and not schema.get("format") == "date-time" else "~"

    def field(self, name, schema, required, owner):
        merge_key = schema.get("x-kubernetes-patch-merge-key", "")
        strategy = schema.get("x-kubernetes-patch-strategy", "")
        patch = f"{{{merge_key};{strategy}}}" if merge_key or strategy else ""
        return f"{name}{self.presence(name, schema, required, owner)}:{patch}{self.type_of(schema)}"

    def definition(self, name):
        schema = self.schemas[name]
        atomic = "!" if schema.get("x-kubernetes-map-type") == "atomic" else ""
        if "properties" not in schema:
            return f"{short(name)} :{READ_TIMES.get(short(name)) or self.type_of(schema)}"
        required = schema.get("required", [])
        fields = " ".join(self.field(n, schema["properties"][n], required, name)
                          for n in sorted(schema["properties"]))
        return f"{short(name)}{atomic} {fields}"


def main():
    schemas = {}
    kinds = {}
    for path, document in zip(DOCUMENTS, fetch()):
        group_version = path.removeprefix("apis/").removeprefix("api/")
        for name, schema in document["components"]["schemas"].items():
            schemas[name] = schema
            for gvk in schema.get("x-kubernetes-group-version-kind", []):
                own = f"{gvk['group']}/{gvk['version']}".lstrip("/")
                if own == group_version and "metadata" in schema.get("properties", {}) \
                        and not gvk["kind"].endswith("List"):
                    kinds[(own, gvk["kind"])] = name
    # The subresource kinds live in their groups' documents too; they are kinds like others.
    table = Table(schemas)
    lines = []
    for (group_version, kind), name in sorted(kinds.items()):
        table.want(name)
        lines.append(f"={group_version} {kind} {short(name)}")
    definitions = []
    while len(definitions) < len(table.wanted):
        definitions.append(table.definition(table.wanted[len(definitions)]))
    text = "\n".join(lines + sorted(definitions)) + "\n"
    pieces = re.findall(r"(?s).{1,%d}(?:\n|$)" % MAX_LITERAL, text)
    assert "".join(pieces) == text
    header = ("// How the built-in kinds' fields merge, from a real kube-apiserver v1.36.3's OpenAPI v3.\n"
              "// Made by tests/schema/builtin_schema.py, which explains the text; run it instead of editing.\n")
    literal = "\n".join(f'R"schema({piece})schema"' for piece in pieces)
    target = ROOT / "lib/schema/builtin_schema.inc"
    target.write_text(header + literal + "\n")
    print(f"{target}: {len(lines)} kinds, {len(definitions)} definitions, {target.stat().st_size} bytes")


main()

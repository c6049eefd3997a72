#!/usr/bin/env python3
"""Writes lib/apiserver/openapi_builtin.inc: the schemas of the built-in types, taken from a real
kube-apiserver's /openapi/v3 without its descriptions, as a compact text that openapi_builtin.cpp reads.

Run: python3 tests/apiserver/openapi_builtin.py [FOLDER]
FOLDER holds documents named like api__v1.json; without it a real server is started (control_plane.py).

A line is a package or one of its types:
  %c io.k8s.api.core.v1 v1             types below are of this package; c stands for it, and kinds are of v1
  Pod^+l spec:&PodSpec status:&PodStatus
  EventSource component:s host:s
  Quantity :{"oneOf":[...]}          what follows " :" is JSON and part of the schema as it is
Marks of a type: ^ a kind (apiVersion, kind), + has ObjectMeta, l has a list, ! atomic.
A field is NAME[*]:[{patch merge key;patch strategy}]TYPE, * where it is required; those come first. TYPE:
  s string, y bytes, e bytes that are one list, b boolean, i int32, k int64, d double; then (A|B) its values, _ for a space; then 0 or =VALUE
  its default, 0 the empty one
  @NAME reference, &NAME the same with the default {}, $NAME a bare one;
  NAME is of the same package or H.NAME of that with the handle H
  M map of, A atomic map of, P list of, L atomic list of, S set of, K[key,key] list by keys of, each followed by
  the TYPE of what it holds; G in front of a reference or map: granular
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/schema"))
from control_plane import ControlPlane  # noqa: E402

HANDLES = {
    "io.k8s.api.core.v1": "c", "io.k8s.apimachinery.pkg.apis.meta.v1": "m", "io.k8s.apimachinery.pkg.api.resource": "q",
    "io.k8s.apimachinery.pkg.util.intstr": "x", "io.k8s.apimachinery.pkg.runtime": "r"}
REF = "#/components/schemas/"
GVK = "x-kubernetes-group-version-kind"
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
TYPE_NAME = {"type": "string"}
SCALARS = {
    ("string", ""): "s", ("string", "byte"): "y", ("boolean", ""): "b", ("integer", "int32"): "i",
    ("integer", "int64"): "k", ("number", "double"): "d"}
# Used by requests that the documents of the sandbox do not tell.
UNTOLD = {META + "WatchEvent"}
# Of these the kinds differ from document to document: openapi.cpp tells them.
GVK_BY_DOCUMENT = {META + "DeleteOptions"}
MAX_LITERAL = 12000


def served():
    """Paths of the documents of the group versions that the sandbox serves."""
    text = (ROOT / "lib/apiserver/builtin_resources.inc").read_text()
    groups = json.loads("".join(re.findall(r'(?s)R"json\((.*?)\)json"', text)))["items"]
    for group in groups:
        name = group["metadata"]["name"]
        for version in group["versions"]:
            yield f"apis/{name}/{version['version']}" if name else f"api/{version['version']}"


def fetch():
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        return [json.loads((folder / f"{path.replace('/', '__')}.json").read_text()) for path in served()]
    with ControlPlane() as plane:
        return [plane.request("GET", f"/openapi/v3/{path}")[1] for path in served()]


def wordless(schema):
    """Without the descriptions, also of what is below."""
    out = {key: value for key, value in schema.items() if key != "description"}
    if "properties" in out:
        out["properties"] = {name: wordless(below) for name, below in out["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(out.get(key), dict):
            out[key] = wordless(out[key])
    return out


class Writer:
    """Takes schemas apart; what it has no form for ends the program."""

    def __init__(self, schemas):
        self.schemas = schemas
        packages = sorted({name.rpartition(".")[0] for name in schemas})
        self.handles = dict(HANDLES)
        spare = (a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz")
        for package in packages:
            if package not in self.handles:
                self.handles[package] = next(spare)
        self.packages = packages

    def name(self, ref, package):
        owner, _, name = ref.removeprefix(REF).rpartition(".")
        return name if owner == package else f"{self.handles[owner]}.{name}"

    def reference(self, schema, package, inside):
        """`inside`: of a list or a map, where a reference without a default stands alone."""
        if "$ref" in schema:
            return ("@" if inside else "$") + self.name(schema.pop("$ref"), package)
        [target] = schema.pop("allOf")
        if "default" in schema:
            assert schema.pop("default") == {}
            return "&" + self.name(target["$ref"], package)
        assert not inside
        return "@" + self.name(target["$ref"], package)

    def scalar(self, schema):
        out = SCALARS[(schema.pop("type"), schema.pop("format", ""))]
        if schema.pop("x-kubernetes-list-type", "") == "atomic":
            assert out == "y"
            out = "e"
        if "enum" in schema:
            values = schema.pop("enum")
            assert not re.search("[_|)]", "".join(values))
            out += "(" + "|".join(values).replace(" ", "_") + ")"
        if "default" in schema:
            default = schema.pop("default")
            out += "0" if default in ("", 0, False) else f"={default}"
        return out

    def collection(self, schema, package):
        if schema.pop("type") == "object":
            element = self.type_of(schema.pop("additionalProperties"), package, True)
            return ("A" if schema.pop("x-kubernetes-map-type", "") else "M") + element
        element = self.type_of(schema.pop("items"), package, True)
        kind = schema.pop("x-kubernetes-list-type", "")
        keys = schema.pop("x-kubernetes-list-map-keys", [])
        assert bool(keys) == (kind == "map")
        return {"": "P", "atomic": "L", "set": "S", "map": f"K[{','.join(keys)}]"}[kind] + element

    def type_of(self, schema, package, inside=False):
        merge_key = schema.pop("x-kubernetes-patch-merge-key", "")
        strategy = schema.pop("x-kubernetes-patch-strategy", "")
        out = f"{{{merge_key};{strategy}}}" if merge_key or strategy else ""
        if schema.get("x-kubernetes-map-type") == "granular":
            del schema["x-kubernetes-map-type"]
            out += "G"
        if "allOf" in schema or "$ref" in schema:
            out += self.reference(schema, package, inside)
        elif schema["type"] in ("object", "array"):
            out += self.collection(schema, package)
        else:
            out += self.scalar(schema)
        assert not schema, schema
        return out

    def marks(self, name, schema, properties):
        marks = ""
        if name in GVK_BY_DOCUMENT:
            schema.pop(GVK)
        if schema.pop(GVK, None):
            assert properties.pop("apiVersion") == properties.pop("kind") == TYPE_NAME
            marks += "^"
        object_meta = {"allOf": [{"$ref": REF + META + "ObjectMeta"}], "default": {}}
        if properties.get("metadata") == object_meta and "metadata" not in schema.get("required", []):
            del properties["metadata"]
            marks += "+"
        if self.is_list(name + "List"):
            marks += "l"
        if schema.get("x-kubernetes-map-type") == "atomic":
            del schema["x-kubernetes-map-type"]
            marks += "!"
        return marks

    def is_list(self, name):
        """Whether it is the list of its kind and nothing else."""
        schema = self.schemas.get(name, {}).copy()
        schema.pop(GVK, None)
        items = {"type": "array", "items": {"allOf": [{"$ref": REF + name.removesuffix("List")}], "default": {}}}
        meta = {"allOf": [{"$ref": REF + META + "ListMeta"}], "default": {}}
        return schema == {
            "type": "object", "required": ["items"],
            "properties": {"apiVersion": TYPE_NAME, "kind": TYPE_NAME, "items": items, "metadata": meta}}

    def line(self, name):
        package, _, local = name.rpartition(".")
        schema = json.loads(json.dumps(self.schemas[name]))
        properties = schema.pop("properties", {})
        out = [local + self.marks(name, schema, properties)]
        required = schema.pop("required", [])
        for field in required + sorted(set(properties) - set(required)):
            out.append(f"{field}{'*' if field in required else ''}:{self.type_of(properties[field], package)}")
        if "properties" in self.schemas[name]:
            assert schema.pop("type") == "object"
            assert not set(required) - set(self.schemas[name]["properties"])
        rest = json.dumps(schema, separators=(",", ":"))
        if schema or "properties" not in self.schemas[name]:
            out.append(":" + rest)
        return " ".join(out)

    def text(self):
        lines = []
        for package in self.packages:
            names = sorted(name for name in self.schemas if name.rpartition(".")[0] == package)
            kinds = {(gvk["group"], gvk["version"]) for name in names if name not in GVK_BY_DOCUMENT
                     for gvk in self.schemas[name].get(GVK, [])}
            assert len(kinds) <= 1
            group_version = "/".join(part for part in min(kinds) if part) if kinds else ""
            lines.append(f"%{self.handles[package]} {package} {group_version}".rstrip())
            lines += [self.line(name) for name in names if not self.is_list(name)]
        return "\n".join(lines) + "\n"


def main():
    schemas = {name: wordless(schema) for document in fetch()
               for name, schema in document["components"]["schemas"].items() if name not in UNTOLD}
    text = Writer(schemas).text()
    pieces = re.findall(r"(?s).{1,%d}(?:\n|$)" % MAX_LITERAL, text)
    assert "".join(pieces) == text
    header = ("// The schemas of the built-in types, from a real kube-apiserver v1.36.3's OpenAPI v3.\n"
              "// Made by tests/apiserver/openapi_builtin.py, which explains the text; run it instead of editing.\n")
    target = ROOT / "lib/apiserver/openapi_builtin.inc"
    target.write_text(header + "\n".join(f'R"types({piece})types"' for piece in pieces) + "\n")
    print(f"{target}: {len(schemas)} types, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()

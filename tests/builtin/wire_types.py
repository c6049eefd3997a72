#!/usr/bin/env python3
"""Writes lib/builtin/wire_types.inc: the Go types of the built-in kinds, as their fields go over the wire.

Field numbers, JSON names and what is a pointer or left out are read from the struct tags of k8s.io/api,
k8s.io/apimachinery, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator, which must be in the Go module cache
(tests/kube-apiserver/build.sh puts them there). One line a message, its fields in the order of the struct:
  core/v1.Pod 1metadata:vom=meta/v1.ObjectMeta 2spec:vom=core/v1.PodSpec ...
field = number, JSON name ("" = inlined, "-" = one of the forms that the whole value may have), ':', flags, type ['~' Go's name of a named scalar] ['~' that of the keys of a map]
['^' that of a map] ['=' message].
  flags: r repeated, p pointer (kept when empty), o omitempty, z omitzero, v struct value
  types: s string, i int32, k int64, b bool, y bytes, d double, m message, S map of strings, Y map of bytes,
         Q map of quantities, M map of messages, T map of times, E map of lists of strings, and q quantity, t time,
         u micro time, x int-or-string, w raw JSON, n duration, l list of strings in a message
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = ["core", "apps", "batch", "rbac", "coordination", "networking", "policy", "storage", "events",
          "discovery", "autoscaling", "authorization", "authentication", "scheduling", "node", "certificates", "resource",
          "flowcontrol", "admissionregistration"]
SPECIAL = {"resource.Quantity": "q", "metav1.Time": "t", "Time": "t", "metav1.MicroTime": "u",
           "JSON": "w", "MicroTime": "u", "intstr.IntOrString": "x", "runtime.RawExtension": "w", "FieldsV1": "w",
           "metav1.Duration": "n", "ExtraValue": "l", "ResourceList": "Q", "v1.ResourceList": "Q"}
SCALARS = {"string": "s", "int32": "i", "int64": "k", "int": "k", "bool": "b", "[]byte": "y",
           "float64": "d"}
NAMED = {"types.UID": "s"}


def module_dir(name):
    return subprocess.check_output(["go", "list", "-m", "-f", "{{.Dir}}", name], text=True,
                                   cwd=os.path.join(HERE, "..", "kube-apiserver")).strip()


def packages():
    api = module_dir("k8s.io/api")
    yield "meta/v1", os.path.join(module_dir("k8s.io/apimachinery"), "pkg/apis/meta/v1/types.go")
    for group in GROUPS:
        for version in ("v1", "v2"):
            path = os.path.join(api, group, version, "types.go")
            if os.path.exists(path):
                yield f"{group}/{version}", path
    definitions = os.path.join(module_dir("k8s.io/apiextensions-apiserver"), "pkg/apis/apiextensions/v1")
    for name in ("types.go", "types_jsonschema.go"):
        yield "apiextensions/v1", os.path.join(definitions, name)
    yield "apiregistration/v1", os.path.join(module_dir("k8s.io/kube-aggregator"), "pkg/apis/apiregistration/v1/types.go")


def parse(text):
    """Structs {name: [lines]} and aliases {name: type} of one Go file."""
    structs = {m.group(1): m.group(2).splitlines()
               for m in re.finditer(r"^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S)}
    structs.update({name: [] for name in re.findall(r"^type (\w+) struct\{\}$", text, re.M)})
    aliases = dict(re.findall(r"^type (\w+) ((?:\[\]|map\[|\w)[\w.\[\]]*)$", text, re.M))
    aliases.update(re.findall(r"^\t(\w+) (string)$", text, re.M))
    return structs, aliases


class Table:
    def __init__(self):
        self.structs, self.aliases = {}, {}
        for package, path in packages():
            with open(path) as file:
                structs, aliases = parse(file.read())
            self.structs.setdefault(package, {}).update(structs)
            self.aliases.setdefault(package, {}).update(aliases)

    def owner(self, package, name):
        prefix, _, local = name.rpartition(".")
        target = {"": package, "metav1": "meta/v1", "v1": "core/v1", "corev1": "core/v1",
                  "apiv1": "core/v1", "rbacv1": "rbac/v1"}.get(prefix)
        if prefix == "v1" and package == "core/v1":
            target = "meta/v1"
        return target, local

    def resolve(self, package, go_type):
        """(flags, type, message, name of a scalar) of a Go type, or None."""
        flags = ""
        if go_type.startswith("*"):
            flags, go_type = "p", go_type[1:]
        if go_type in SPECIAL:
            return flags, SPECIAL[go_type], "", ""
        if go_type in SCALARS:
            return flags, SCALARS[go_type], "", ""
        if go_type in NAMED:
            return flags, NAMED[go_type], "", go_type
        if go_type.startswith("[]"):
            inner = self.resolve(package, go_type[2:])
            return inner and ("r", *inner[1:])
        if go_type.startswith("map["):
            value = self.resolve(package, go_type.split("]", 1)[1])
            kinds = {"s": "S", "y": "Y", "q": "Q", "m": "M", "t": "T", "l": "E"}
            if not value or value[1] not in kinds:
                return None
            key = go_type[len("map["):].split("]", 1)[0]
            target, local = self.owner(package, key)
            named = "" if key == "string" else "~".join(
                part for part in (value[3], f"{target.split('/')[1]}.{local}") if part)
            return flags, kinds[value[1]], value[2], named
        target, local = self.owner(package, go_type)
        if target in self.structs and local in self.structs[target]:
            return flags + ("" if flags else "v"), "m", f"{target}.{local}", ""
        if target in self.aliases and local in self.aliases[target]:
            inner = self.resolve(target, self.aliases[target][local])
            named = f"{target.split('/')[1]}.{local}" if inner and inner[1] in "sikbd" else ""
            if inner and self.aliases[target][local].startswith("map["):
                named = f"^{target.split('/')[1]}.{local}"
            return inner and (flags + inner[0], inner[1], inner[2], named)
        return None

    def fields(self, package, name):
        pattern = re.compile(r'^\s*(?:\w+\s+)?([*\[\]\w.]+)\s+`(?:.*json:"([^"]*)")?.*'
                             r'protobuf:"\w+,(\d+),(\w+)')
        for line in self.structs[package][name]:
            match = pattern.match(line)
            if not match:
                continue
            go_type, json_tag, number = match.group(1), match.group(2) or "-", int(match.group(3))
            resolved = self.resolve(package, go_type)
            if not resolved:
                sys.exit(f"{package}.{name}: no type for {line.strip()}")
            json_name, _, options = json_tag.partition(",")
            if json_name == "" and "inline" not in options:
                continue
            flags = resolved[0] + ("o" if "omitempty" in options else "") + ("z" if "omitzero" in options else "")
            yield number, json_name, flags, *resolved[1:]

    def closure(self, roots):
        """Lines of all messages reachable from the roots."""
        done, todo, lines = set(), list(roots), []
        while todo:
            message = todo.pop()
            if message in done:
                continue
            done.add(message)
            package, name = message.rsplit(".", 1)
            parts = [message]
            for number, json_name, flags, kind, target, named in self.fields(package, name):
                parts.append(f"{number}{json_name}:{flags}{kind}" + (named if named.startswith("^") else f"~{named}" if named else "") +
                             (f"={target}" if target else ""))
                if target:
                    todo.append(target)
            lines.append(" ".join(parts))
        return sorted(lines)


def main():
    table = Table()
    # Kinds are the structs that have ObjectMeta of their own.
    roots = [f"{package}.{name}" for package, structs in table.structs.items()
             for name, lines in structs.items()
             if package != "meta/v1" and any("metav1.ObjectMeta `json:\"metadata" in x for x in lines)
             and any("metav1.TypeMeta" in x for x in lines)]
    roots.append("meta/v1.DeleteOptions")
    lines = table.closure(roots)
    out = os.path.join(HERE, "..", "..", "lib", "builtin", "wire_types.inc")
    with open(out, "w") as file:
        file.write("// The Go types of the built-in kinds, from the struct tags of k8s.io/api and its like.\n")
        file.write("// Made by tests/builtin/wire_types.py, which explains the text; run it instead of editing.\n")
        chunk = ""
        for line in lines + [None]:
            if line is None or len(chunk) + len(line) > 12000:
                file.write('R"proto(' + chunk + ')proto"\n')
                chunk = ""
            if line is not None:
                chunk += line + "\n"
    print(len(lines), "messages,", os.path.getsize(out), "bytes", file=sys.stderr)


if __name__ == "__main__":
    main()

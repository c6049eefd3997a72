#!/usr/bin/env python3
"""Writes lib/builtin/go_types.inc: the fields of kube-apiserver's own types, as it prints them in refusals.

Names and order are read from pkg/apis/{core,resource,storage}/types.go of k8s.io/kubernetes, JSON names from
k8s.io/api; both must be in the Go module cache (tests/kube-apiserver/build.sh puts them there). The form is described
in go_values.cpp.
"""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOTS = ["PodSpec", "PodTemplateSpec", "PersistentVolumeClaimSpec", "PersistentVolumeSource", "ServicePort",
         "ResourceClaimSpec", "ResourceClaimTemplateSpec", "VolumeAttachmentSpec",
         "AllocationResult", "DeviceAttribute"]
PLAIN = {"bool": "b", "int32": "i", "int64": "i", "runtime.RawExtension": "?", "resource.Quantity": "q",
         "intstr.IntOrString": "i", "ResourceList": "{q}", "map[QualifiedName]resource.Quantity": "{q}",
         "map[string]string": "{}"}
META = """metav1.LabelSelector matchLabels:{} matchExpressions:[metav1.LabelSelectorRequirement
metav1.LabelSelectorRequirement key operator values:[
ObjectMeta name generateName namespace selfLink uid resourceVersion generation:i creationTimestamp deletionTimestamp \
deletionGracePeriodSeconds:? labels:{} annotations:{} ownerReferences:[metav1.OwnerReference finalizers:[ \
managedFields:[metav1.ManagedFieldsEntry
metav1.OwnerReference apiVersion kind name uid controller:? blockOwnerDeletion:?
metav1.ManagedFieldsEntry manager operation apiVersion time fieldsType fieldsV1:? subresource"""


def module_dir(name):
    return subprocess.check_output(["go", "list", "-m", "-f", "{{.Dir}}", name], text=True,
                                   cwd=os.path.join(HERE, "..", "kube-apiserver")).strip()


def structs(path):
    out = {}
    for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", open(path).read(), re.S | re.M):
        fields = []
        for line in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split("\n"):
            tag = re.search(r'json:"([^",]*)', line)
            words = line.split("//")[0].split("`")[0].split()
            if words:
                go_type = re.sub(r"\b(api|core)\.", "", words[-1])
                fields.append((words[0] if len(words) > 1 else None, go_type, tag.group(1) if tag else ""))
        out[name] = fields
    return out


def main():
    own, served = {}, {}
    for group in ("storage", "resource", "core"):  # of two with one name core's is shown
        own.update(structs(os.path.join(module_dir("k8s.io/kubernetes"), f"pkg/apis/{group}/types.go")))
        served.update(structs(os.path.join(module_dir("k8s.io/api"), f"{group}/v1/types.go")))

    def named(go_type):
        return go_type if go_type in own or go_type == "metav1.LabelSelector" else ""

    def code(go_type):
        if go_type in PLAIN:
            return PLAIN[go_type]
        if go_type.startswith("*"):
            return "?" + ("q" if go_type[1:] == "resource.Quantity" else named(go_type[1:]))
        if go_type.startswith("[]"):
            return "[" + named(go_type[2:])
        return named(go_type) or ("?" if go_type in own else "s")

    lines, todo = [], list(ROOTS)
    for name in todo:  # grows
        words = [name]
        tags = {field: tag for field, _, tag in served.get(name, [])}
        for field, go_type, _ in own[name]:
            base = re.sub(r"^[\[\]*]+", "", go_type)
            if base in own and base not in todo:
                todo.append(base)
            if field is None:
                words.append("+" + go_type.split(".")[-1])
                continue
            small = field[0].lower() + field[1:]
            json = tags.get(field, "^" + small)
            kind = code(go_type)
            words.append(field + ("" if json == small else "=" + json) + ("" if kind == "s" else ":" + kind))
        lines.append(" ".join(words))
    with open(os.path.join(HERE, "../../lib/builtin/go_types.inc"), "w") as out:
        out.write("// Fields of the types of kube-apiserver v1.36.3 that it prints.\n"
                  "// Made by tests/builtin/go_types.py; run it again instead of editing.\n"
                  'R"go(' + META + "\n" + "\n".join(lines) + '\n)go"\n')


main()

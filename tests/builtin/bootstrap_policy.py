#!/usr/bin/env python3
"""Writes lib/builtin/bootstrap_policy.inc: the roles and bindings that a kube-apiserver makes by itself.

Reads from stdin what one that was just started says, with nothing else made in it:
  kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json | tests/builtin/bootstrap_policy.py v1.36.3
One line an object, a JSON array: kind, "NAMESPACE/NAME" or "NAME", then of a role its rules, each "VERBS|GROUPS|RESOURCES",
"VERBS|GROUPS|RESOURCES|NAMES" or "VERBS|PATHS", lists with commas between; of a binding "KIND/NAME" of its role and its
subjects, each "KIND NAME". ">edit" among the rules: they are added to that role; "<edit": the rules of such are added
to this one.
"""
import json
import os
import sys

AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
META = {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}}


def rule(one):
    parts = [",".join(one["verbs"])]
    if "nonResourceURLs" in one:
        assert set(one) == {"verbs", "nonResourceURLs"}, one
        return "|".join(parts + [",".join(one["nonResourceURLs"])])
    assert set(one) <= {"verbs", "apiGroups", "resources", "resourceNames"}, one
    parts += [",".join(one["apiGroups"]), ",".join(one["resources"])]
    return "|".join(parts + ([",".join(one["resourceNames"])] if "resourceNames" in one else []))


def subject(one):
    if one["kind"] == "ServiceAccount":
        return "ServiceAccount %s/%s" % (one["namespace"], one["name"])
    assert one["apiGroup"] == "rbac.authorization.k8s.io", one
    return "%s %s" % (one["kind"], one["name"])


def line(one):
    meta = one["metadata"]
    labels = dict(meta["labels"])
    assert meta["annotations"] == META["annotations"], meta
    assert META["labels"].items() <= labels.items(), meta
    name = "/".join(part for part in (meta.get("namespace"), meta["name"]) if part)
    out = [one["kind"], name]
    if "roleRef" in one:
        out.append("%s/%s" % (one["roleRef"]["kind"], one["roleRef"]["name"]))
        return out + [subject(each) for each in one.get("subjects") or []]
    for key in sorted(set(labels) - set(META["labels"])):
        assert key.startswith(AGGREGATE) and labels[key] == "true", key
        out.append(">" + key[len(AGGREGATE):])
    for selector in one.get("aggregationRule", {}).get("clusterRoleSelectors", []):
        (key, value), = selector["matchLabels"].items()
        assert key.startswith(AGGREGATE) and value == "true" and set(selector) == {"matchLabels"}, selector
        out.append("<" + key[len(AGGREGATE):])
    return out + [rule(each) for each in one.get("rules") or []]


def main():
    objects = json.load(sys.stdin)["items"]
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "lib", "builtin", "bootstrap_policy.inc"), "w", encoding="utf-8") as out:
        out.write("// Roles and bindings of kube-apiserver %s that has just been started.\n" % sys.argv[1])
        out.write("// Made by tests/builtin/bootstrap_policy.py; run it again instead of editing.\n")
        text = ",\n".join(json.dumps(line(one), separators=(",", ":")) for one in objects)
        out.write('R"policy([' + text + '])policy"\n')


main()

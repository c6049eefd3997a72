#!/usr/bin/env python3
"""Makes printed_cells.inc: objects of a real kube-apiserver and the cells that its Tables have for
them.

    KUBECONFIG=... printed_cells.py KUBECTL NAMESPACE >printed_cells.inc
"""
import json
import subprocess
import sys

KUBECTL, NAMESPACE = sys.argv[1:3]
# Many, or the server's own.
LEFT_OUT = {
    "apiservices", "clusterroles", "componentstatuses", "customresourcedefinitions", "flowschemas",
    "namespaces", "prioritylevelconfigurations"
}


def output(*command):
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def get(path):
    return output(KUBECTL, "get", "--raw", path)


CONFIG = output(KUBECTL, "config", "view", "--raw", "--minify", "-o", "json")
CLUSTER, USER = CONFIG["clusters"][0]["cluster"], CONFIG["users"][0]["user"]


def table(path):
    return output("curl", "-sS", "--cacert", CLUSTER["certificate-authority"], "-H",
                  "Authorization: Bearer " + USER["token"], "-H",
                  "Accept: application/json;as=Table;v=v1;g=meta.k8s.io",
                  CLUSTER["server"] + path + "?includeObject=Object")


def small(value):
    metadata = value["metadata"]
    for field in ("managedFields", "uid", "resourceVersion", "generation"):
        metadata.pop(field, None)
    metadata.get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
    return value


def of_the_server(value):
    metadata = value["metadata"]
    return metadata["name"].startswith("system") or "kubernetes.io/bootstrapping" in metadata.get(
        "labels", {})


print("// Objects of a real kube-apiserver v1.36.3 and the cells that it printed for them.")
print("// Made by printed_cells.py; run it again instead of editing.")
groups = [("", "/api/v1")] + [(group["name"], "/apis/" + group["preferredVersion"]["groupVersion"])
                              for group in get("/apis")["groups"]
                              if not group["name"].endswith("example.com")]
for group, root in groups:
    for kind in get(root)["resources"]:
        name = kind["name"]
        if "/" in name or "list" not in kind["verbs"] or name in LEFT_OUT:
            continue
        place = f"/namespaces/{NAMESPACE}" if kind["namespaced"] else ""
        answer = table(f"{root}{place}/{name}")
        columns = [[column["name"], column["priority"]] for column in answer["columnDefinitions"]]
        for row in answer["rows"]:
            if of_the_server(row["object"]):
                continue
            one = {
                # Events are stored once and served in two groups.
                "id": name + ("." + group if group and name != "events" else ""),
                "columns": columns,
                "cells": row["cells"][:len(columns)],  # of IPAddresses there are more
                "object": small(row["object"]),
            }
            print('R"json(' + json.dumps(one, separators=(",", ":"), sort_keys=True) + ')json",')

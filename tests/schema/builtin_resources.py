"""Writes lib/apiserver/builtin_resources.inc: what a real kube-apiserver's aggregated discovery says of the
groups that the sandbox serves, versions without "alpha", as one raw string literal.

Run: python3 tests/schema/builtin_resources.py [FOLDER]
FOLDER holds agg-api.json and agg-apis.json (/api and /apis as APIGroupDiscoveryList); without it a real
server is started (control_plane.py).
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from control_plane import ROOT, ControlPlane

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
GROUPS = {
    "", "apps", "batch", "rbac.authorization.k8s.io", "coordination.k8s.io", "networking.k8s.io", "policy",
    "autoscaling", "storage.k8s.io", "events.k8s.io", "discovery.k8s.io", "apiextensions.k8s.io",
    "admissionregistration.k8s.io", "scheduling.k8s.io", "node.k8s.io", "certificates.k8s.io", "resource.k8s.io",
    "authentication.k8s.io", "authorization.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io"}
MAX_LITERAL = 12000  # compilers promise 64 KiB in a literal; adjacent ones are joined


def fetch():
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        return [json.loads((folder / f"agg-{name}.json").read_text()) for name in ("api", "apis")]
    with ControlPlane() as plane:
        return [plane.request("GET", f"/{name}", accept=AGGREGATED)[1] for name in ("api", "apis")]


def main():
    items = []
    for document in fetch():
        for group in document["items"]:
            if group["metadata"].get("name", "") not in GROUPS:
                continue
            versions = [v for v in group["versions"] if "alpha" not in v["version"]]
            items.append({"metadata": {"name": group["metadata"].get("name", "")}, "versions": versions})
    text = json.dumps({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
                       "metadata": {}, "items": items}, separators=(",", ":"))
    pieces = [text[i:i + MAX_LITERAL] for i in range(0, len(text), MAX_LITERAL)]
    header = ("// Aggregated discovery of a real kube-apiserver v1.36.3, the groups that the sandbox serves.\n"
              "// Made by tests/schema/builtin_resources.py; run it again instead of editing.\n")
    literal = "\n".join(f'R"json({piece})json"' for piece in pieces)
    (ROOT / "lib/apiserver/builtin_resources.inc").write_text(header + literal + "\n")


main()

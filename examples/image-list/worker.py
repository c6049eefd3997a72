#!/usr/bin/env python3
# One line in, one line out; what is printed on stderr is logged with the object.
import json
import os
import sys


def reconcile(invocation):
    meta = invocation["object"]["metadata"]
    pod = invocation["object"]["spec"]["template"]["spec"]
    images = {c["name"]: c["image"] for c in pod.get("initContainers", []) + pod["containers"]}
    # What the rule's env takes from the object comes with it; the rest is in the environment.
    title = os.environ["PREFIX"] + " " + invocation["env"]["NAME"]
    return [{
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": meta["name"] + "-images", "namespace": meta["namespace"],
                     "annotations": {"title": title}},
        "data": images,
    }]


for line in sys.stdin:
    invocation = json.loads(line)
    answer = {"id": invocation["id"]}
    try:
        answer["documents"] = reconcile(invocation)
    except Exception as error:  # one object's trouble is not the next one's
        print(repr(error), file=sys.stderr)
        answer["exit"] = 1
    print(json.dumps(answer), flush=True)

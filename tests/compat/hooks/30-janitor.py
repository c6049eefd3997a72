#!/usr/bin/env python3
"""Removes short-lived objects of namespace "janitor-demo" when their time is up.

An object labelled ttl=short says its greatest age in the annotation
janitor/max-age ("45", "45s", "10m", "2h"). Every two seconds the hook is given
the snapshots and deletes what is too old, writes each deletion into the
ConfigMap janitor-ledger (JSONPatch), and marks objects with no usable
annotation (JQPatch). Once a minute it counts up in the ConfigMap janitor-audit
(JQPatch). Standard library only.
"""
import datetime
import json
import os
import re
import sys

NAMESPACE = "janitor-demo"

CONFIG = r"""
configVersion: v1
schedule:
- name: every two seconds
  crontab: "*/2 * * * * *"
  group: sweep
  queue: janitor
  allowFailure: true
- name: every minute
  crontab: "* * * * *"
  includeSnapshotsFrom: ["books"]
  queue: janitor
kubernetes:
- name: short-configmaps
  apiVersion: v1
  kind: cm
  executeHookOnSynchronization: false
  executeHookOnEvent: []
  keepFullObjectsInMemory: false
  namespace: &where
    nameSelector:
      matchNames: ["janitor-demo"]
  labelSelector: &which
    matchLabels:
      ttl: short
  jqFilter: &what >-
    {name: .metadata.name,
     uid: .metadata.uid,
     created: .metadata.creationTimestamp,
     leaving: (.metadata.deletionTimestamp != null),
     maxAge: .metadata.annotations["janitor/max-age"],
     problem: .metadata.annotations["janitor/problem"]}
  group: sweep
  queue: janitor
- name: short-pods
  apiVersion: v1
  kind: Pods
  executeHookOnSynchronization: false
  executeHookOnEvent: []
  keepFullObjectsInMemory: false
  namespace: *where
  labelSelector: *which
  jqFilter: *what
  group: sweep
  queue: janitor
- name: books
  apiVersion: v1
  kind: ConfigMap
  executeHookOnSynchronization: false
  executeHookOnEvent: []
  keepFullObjectsInMemory: false
  namespace: *where
  nameSelector:
    matchNames: ["janitor-audit"]
  jqFilter: .metadata.name
  queue: janitor
"""

SNAPSHOTS = {"short-configmaps": "ConfigMap", "short-pods": "Pod"}
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def say(text):
    print("janitor: " + text)


def max_age_seconds(text):
    """The annotation as seconds; ValueError says what is wrong with it."""
    if text is None:
        raise ValueError("no janitor/max-age annotation")
    found = re.fullmatch(r"(\d+)([smh]?)", text.strip())
    if not found:
        raise ValueError("janitor/max-age is not a duration")
    return int(found.group(1)) * UNITS[found.group(2)]


def age_seconds(created, now):
    born = datetime.datetime.strptime(created[:19], "%Y-%m-%dT%H:%M:%S")
    return (now - born.replace(tzinfo=datetime.timezone.utc)).total_seconds()


def about(operation, kind, name, **more):
    head = {"operation": operation, "apiVersion": "v1", "kind": kind,
            "namespace": NAMESPACE, "name": name}
    head.update(more)
    return head


def sweep(snapshots, now):
    operations, entries = [], []
    for binding, kind in SNAPSHOTS.items():
        for item in sorted((i["filterResult"] for i in snapshots[binding]),
                           key=lambda o: o["name"]):
            name = item["name"]
            if item["leaving"]:
                continue
            try:
                limit = max_age_seconds(item["maxAge"])
                trouble = None
            except ValueError as err:
                trouble = str(err)
            if trouble is None:
                if age_seconds(item["created"], now) <= limit:
                    continue
                say("delete %s/%s" % (kind, name))
                operations.append(about("DeleteInBackground", kind, name))
                # A name may hold neither "/" nor "~": no escaping is needed.
                entries.append({"op": "add",
                                "path": "/data/%s.%s" % (kind.lower(), name),
                                "value": item["uid"]})
            elif item["problem"] != trouble:
                say("mark %s/%s: %s" % (kind, name, trouble))
                operations.append(about(
                    "JQPatch", kind, name,
                    jqFilter='.metadata.annotations["janitor/problem"] = '
                             + json.dumps(trouble)))
    if entries:
        operations.append(about("JSONPatch", "ConfigMap", "janitor-ledger",
                                ignoreMissingObject=True, jsonPatch=entries))
    return operations


def audit(snapshots):
    # JQPatch has no documented way to pass over a missing object, so look first.
    if not snapshots["books"]:
        say("no audit book")
        return []
    say("audit")
    return [about("JQPatch", "ConfigMap", "janitor-audit",
                  jqFilter='.data.minutes = '
                           '((.data.minutes // "0" | tonumber) + 1 | tostring)')]


def as_yaml(operation):
    """A YAML document; every value is written in JSON, which YAML contains."""
    lines = ["---"]
    for key, value in operation.items():
        lines.append("%s: %s" % (key, json.dumps(value)))
    return "\n".join(lines) + "\n"


def main():
    with open(os.environ["BINDING_CONTEXT_PATH"], encoding="utf-8") as source:
        contexts = json.load(source)
    now = datetime.datetime.now(datetime.timezone.utc)

    operations, to_sweep = [], None
    for context in contexts:
        if context["binding"] == "sweep" and context["type"] == "Group":
            to_sweep = context["snapshots"]      # the last is as good as all
        elif context["binding"] == "every minute" and context["type"] == "Schedule":
            operations += audit(context["snapshots"])
        else:
            sys.exit("janitor: unexpected context: binding=%r type=%r"
                     % (context.get("binding"), context.get("type")))
    if to_sweep is not None:
        operations += sweep(to_sweep, now)

    with open(os.environ["KUBERNETES_PATCH_PATH"], "a", encoding="utf-8") as out:
        for operation in operations:
            out.write(as_yaml(operation))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--config"]:
        print(CONFIG.strip())
    else:
        main()

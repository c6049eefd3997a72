"""Plays the scenarios of scenarios.py against a real kube-apiserver and stores what it answered under
tests/schema/golden/, one file a scenario. golden_test.cpp replays them without a server.

Run: python3 tests/schema/record.py [SCENARIO...]
A step waits until the next second, so that times in managedFields tell the steps apart.
"""
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
import scenarios
from control_plane import ROOT, ControlPlane

GOLDEN = ROOT / "tests/schema/golden"
CONTENT_TYPES = {
    "apply": "application/apply-patch+yaml", "merge": "application/merge-patch+json",
    "json": "application/json-patch+json", "strategic": "application/strategic-merge-patch+json"}


def next_second():
    time.sleep(1.02 - time.time() % 1)


def play(plane, path, step, live):
    op, manager, subresource = step["op"], step["manager"], step.get("subresource", "")
    name = step.get("name", "thing")
    url = f"{path}/{name}" + (f"/{subresource}" if subresource else "")
    query = f"?fieldManager={manager}&fieldValidation=Ignore"
    if step.get("dry_run"):
        query += "&dryRun=All"
    body = step["body"]
    if op == "create":
        return plane.request("POST", path + query, body)
    if op == "update":
        # What a client does: read, change, write. The changes are a merge patch on what was read.
        body = scenarios.merge_patch(live, body)
        step["sent"] = body
        return plane.request("PUT", url + query, body)
    if op == "apply" and step.get("force"):
        query += "&force=true"
    return plane.request("PATCH", url + query, body, content_type=CONTENT_TYPES[op])


def record(plane, name, scenario):
    for kind in scenario.get("setup", []):
        code, answer = plane.request("POST", kind["path"], kind["body"])
        assert code == 201, answer
        time.sleep(3)
    live = None
    for step in scenario["steps"]:
        next_second()
        for _ in range(20):
            code, answer = play(plane, scenario["path"], step, live)
            if code != 404:
                break
            time.sleep(0.5)
        step["code"] = code
        step["answer"] = answer
        if code < 300 and not step.get("dry_run"):
            live = answer
    (GOLDEN / f"{name}.json").write_text(json.dumps(scenario, indent=1, sort_keys=True) + "\n")
    print(f"{name}: {[step['code'] for step in scenario['steps']]}")


def main():
    GOLDEN.mkdir(exist_ok=True)
    wanted = sys.argv[1:]
    with ControlPlane() as plane:
        while plane.request("GET", "/api/v1/namespaces/default")[0] != 200:
            time.sleep(0.5)
        for name, scenario in scenarios.all_scenarios().items():
            if not wanted or name in wanted:
                record(plane, name, scenario)


main()

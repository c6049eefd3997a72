"""What record.py plays: for each scenario the collection's path, how replaying finds the schema, the fields
that its endpoints reset, and steps. Each step starts from the object that the last successful step left.
Notes for replaying: compare_object (nothing is defaulted here), defaulted (but in this step), admission
(fields of spec that admission sets after owners were recorded)."""
import copy


def merge_patch(target, patch):
    if not isinstance(patch, dict):
        return patch
    out = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merge_patch(out.get(key), value)
    return out


def step(op, manager, body, **more):
    return {"op": op, "manager": manager, "body": body, **more}


def config_map(data, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "thing", **metadata}, "data": data}


def config_map_scenario(name, steps):
    for one in steps:
        one["name"] = name
        if isinstance(one["body"], dict) and "kind" in one["body"]:
            one["body"]["metadata"]["name"] = name
    return {"path": "/api/v1/namespaces/default/configmaps", "gvk": ["", "v1", "ConfigMap"], "ignored": {},
            "compare_object": True, "steps": steps}


def apply_and_conflict():
    return config_map_scenario("apply-and-conflict", [
        step("apply", "a", config_map({"x": "1", "y": "2"}, labels={"app": "web"})),
        step("apply", "a", config_map({"x": "1", "y": "2"}, labels={"app": "web"})),
        step("apply", "b", config_map({"z": "3"})),
        step("apply", "b", config_map({"x": "9", "z": "3"})),
        step("apply", "b", config_map({"x": "9", "y": "8", "z": "3"})),
        step("apply", "b", config_map({"x": "9", "z": "3"}), force=True),
        step("apply", "c", config_map({"z": "3", "y": "2"})),
        step("apply", "c", config_map({"z": "4", "y": "5"})),
        step("apply", "a", config_map({"y": "2"})),
        step("apply", "c", config_map({})),
        step("apply", "a", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        step("apply", "b", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
    ])


def updates():
    return config_map_scenario("updates", [
        step("create", "creator", config_map({"x": "1", "y": "2"}, labels={"app": "web"})),
        step("update", "u1", {"data": {"x": "changed"}}),
        step("update", "u1", {}),
        step("merge", "u2", {"data": {"z": "new"}, "metadata": {"annotations": {"n": "1"}}}),
        step("merge", "u2", {"data": {"y": None}}),
        step("json", "u3", [{"op": "add", "path": "/data/a.b", "value": "v"}]),
        step("apply", "a", config_map({"x": "mine"})),
        step("apply", "a", config_map({"x": "mine", "z": "mine"})),
        step("apply", "a", config_map({"x": "mine"}), force=True),
        step("merge", "u1", {"data": None}),
        step("merge", "u1", {"metadata": {"labels": {"app": None}}}),
        step("merge", "u1", {"data": {"q": "1"}, "metadata": {"finalizers": ["example.com/f"]}}),
        step("merge", "u1", {"metadata": {"finalizers": ["example.com/f", "example.com/g"]}}),
    ])


def many_updaters():
    steps = [step("create", "u0", config_map({"k0": "0"}))]
    steps += [step("merge", f"u{i}", {"data": {f"k{i}": str(i)}}) for i in range(1, 14)]
    steps.append(step("merge", "u1", {"data": {"k13": "taken"}}))
    return config_map_scenario("many-updaters", steps)


def reset():
    return config_map_scenario("reset", [
        step("create", "creator", config_map({"x": "1", "y": "2"}, generateName="thing-")),
        step("update", "resetter", {"metadata": {"managedFields": []}}),
        step("merge", "u1", {"data": {"x": "2"}}),
        step("apply", "a", config_map({"x": "2"})),
        step("apply", "a", config_map({"x": "3", "z": "1"}), force=True),
        step("update", "resetter", {"metadata": {"managedFields": [{}]}, "data": {"w": "1"}}),
        step("apply", "a", config_map({"x": "4"})),
        step("apply", "a", config_map({"x": "4"}), force=True),
    ])


def kubectl_migration():
    last = '{"apiVersion":"v1","data":{"x":"1","y":"2"},"kind":"ConfigMap","metadata":{"annotations":{},' \
           '"name":"kubectl-migration","namespace":"default"}}\n'
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": last}
    return config_map_scenario("kubectl-migration", [
        step("create", "kubectl-client-side-apply", config_map({"x": "1", "y": "2"}, annotations=annotations)),
        step("apply", "other", config_map({"x": "7"})),
        step("merge", "editor", {"data": {"y": "edited"}}),
        step("apply", "kubectl", config_map({"x": "5", "y": "6"})),
        step("apply", "kubectl", config_map({"x": "5"})),
        step("apply", "kubectl", config_map({"x": "5"})),
    ])


def json_patches():
    base = config_map({"x": "1", "list": "[]"}, labels={"a": "b"})

    def dry(operations):
        return step("json", "p", operations, dry_run=True)
    return config_map_scenario("json-patches", [
        step("create", "creator", base),
        dry([{"op": "replace", "path": "/data/x", "value": "2"}]),
        dry([{"op": "replace", "path": "/data/none", "value": "2"}]),
        dry([{"op": "remove", "path": "/data/none"}]),
        dry([{"op": "remove", "path": "/none/x"}]),
        dry([{"op": "add", "path": "/none/x", "value": "1"}]),
        dry([{"op": "add", "path": "", "value": {}}]),
        dry([{"op": "test", "path": "/data/x", "value": "2"}]),
        dry([{"op": "test", "path": "/data/x", "value": "1"}, {"op": "add", "path": "/data/t", "value": "1"}]),
        dry([{"op": "test", "path": "/none/x", "value": "1"}]),
        dry([{"op": "test", "path": "/data/none", "value": None}]),
        dry([{"op": "move", "from": "/data/x", "path": "/data/moved"}]),
        dry([{"op": "move", "from": "/data/none", "path": "/data/moved"}]),
        dry([{"op": "copy", "from": "/data/x", "path": "/data/copy"}]),
        dry([{"op": "copy", "from": "/none/x", "path": "/data/copy"}]),
        dry([{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
             {"op": "add", "path": "/metadata/finalizers/-", "value": "a.b/d"},
             {"op": "add", "path": "/metadata/finalizers/0", "value": "a.b/b"},
             {"op": "remove", "path": "/metadata/finalizers/-1"}]),
        dry([{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
             {"op": "add", "path": "/metadata/finalizers/5", "value": "a.b/d"}]),
        dry([{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
             {"op": "remove", "path": "/metadata/finalizers/1"}]),
        dry([{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
             {"op": "replace", "path": "/metadata/finalizers/x", "value": "a.b/d"}]),
        dry([{"op": "nonsense", "path": "/data/x"}]),
        dry([{"op": "add", "value": "1"}]),
        dry([{"path": "/data/x", "value": "1"}]),
        dry({"op": "add"}),
    ])


def container(name, **more):
    return {"name": name, "image": f"{name}:1", **more}


def deployment(containers, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "thing"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}, **spec}}


def deployment_scenario(name, steps):
    for one in steps:
        one["name"] = name
        if isinstance(one["body"], dict) and "kind" in one["body"]:
            one["body"]["metadata"]["name"] = name
    return {"path": "/apis/apps/v1/namespaces/default/deployments", "gvk": ["apps", "v1", "Deployment"],
            "ignored": {"": ["status"], "status": ["spec", "metadata.labels"]}, "steps": steps}


def deployments():
    port = {"containerPort": 80}
    return deployment_scenario("deployments", [
        step("apply", "a", deployment([container("web", ports=[port], env=[{"name": "E", "value": "1"}])],
                                      replicas=2)),
        step("apply", "a", deployment([container("web", ports=[port], env=[{"name": "E", "value": "1"}])],
                                      replicas=2)),
        step("merge", "scaler", {"spec": {"replicas": 5}}),
        step("apply", "a", deployment([container("web", ports=[port])], replicas=2)),
        step("strategic", "setter", {"spec": {"template": {"spec": {"containers": [
            {"name": "web", "image": "web:2"}]}}}}),
        step("apply", "a", deployment([container("web", ports=[port])], replicas=2)),
        step("apply", "b", deployment([{"name": "web", "env": [{"name": "F", "value": "2"}]},
                                       container("side", ports=[{"containerPort": 81, "protocol": "UDP"}])])),
        step("apply", "a", deployment([container("web")]), force=True),
        step("apply", "kubelet", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
                                  "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
             subresource="status"),
        step("merge", "status-writer", {"status": {"replicas": 3, "conditions": [
            {"type": "Ready", "status": "False"}]}, "spec": {"replicas": 9}}, subresource="status"),
        step("apply", "kubelet", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
                                  "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
             subresource="status"),
        step("apply", "c", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
            "labels": {"x": "y"}}, "status": {"replicas": 77}}),
        step("apply", "b", deployment([container("web"), container("web")])),
        step("apply", "b", deployment([{"image": "no-name"}])),
        step("apply", "b", deployment([container("web")], nonsense=True)),
        step("apply", "b", deployment("text")),
        step("apply", "b", deployment([container("web")], replicas="many")),
        step("apply", "b", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
            "managedFields": [{"manager": "x"}]}}),
    ])


def deployment_create():
    probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 5}
    body = deployment([
        container("web", ports=[{"containerPort": 80, "name": "http"}], livenessProbe=probe,
                  resources={"requests": {"cpu": "1"}}, volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        container("plain")], strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}})
    body["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    return deployment_scenario("deployment-create", [
        step("create", "kubectl-create", body),
        step("update", "editor", {"metadata": {"labels": {"a": "b"}}, "spec": {"paused": True,
             "template": {"spec": {"nodeSelector": {"disk": "ssd"}}}}}),
        step("strategic", "patcher", {"spec": {"template": {"spec": {"containers": [
            {"$patch": "delete", "name": "plain"}, {"name": "web", "env": [{"name": "A", "value": "b"}]}]}}}}),
        step("strategic", "patcher", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
    ])


def full_container(name, **more):
    return {"name": name, "image": f"{name}:1", "imagePullPolicy": "Always", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", **more}


def strategic_patches():
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}]
    base = deployment([full_container("one", env=env), full_container("two"), full_container("three")])
    base["metadata"]["finalizers"] = ["a.b/one", "a.b/two"]
    volume = {"name": "v", "emptyDir": {}}

    def pod(patch):
        return step("strategic", "p", {"spec": {"template": {"spec": patch}}}, dry_run=True)

    def meta(patch):
        return step("strategic", "p", {"metadata": patch}, dry_run=True)
    scenario = deployment_scenario("strategic-patches", [
        step("create", "creator", base),
        pod({"containers": [{"name": "two", "image": "two:2"}]}),
        pod({"containers": [full_container("zero")]}),
        pod({"containers": [{"name": "three", "tty": True}, {"name": "one", "stdin": True}]}),
        pod({"containers": [{"name": "two", "$patch": "delete"}]}),
        pod({"containers": [{"$patch": "replace"}, full_container("only")]}),
        pod({"$setElementOrder/containers": [{"name": "three"}, {"name": "one"}, {"name": "two"}]}),
        pod({"$setElementOrder/containers": [{"name": "zero"}, {"name": "two"}],
             "containers": [full_container("zero")]}),
        pod({"$setElementOrder/containers": [{"name": "two"}, {"name": "one"}],
             "containers": [{"name": "one", "stdin": True}, {"name": "two", "tty": True}]}),
        pod({"containers": [{"name": "one", "env": [{"name": "B", "$patch": "delete"},
                                                    {"name": "D", "value": "4"}]}]}),
        pod({"containers": [{"name": "one", "env": None}]}),
        pod({"containers": [{"name": "one", "env": [{"name": "A", "value": None}]}]}),
        pod({"containers": [{"image": "nameless"}]}),
        pod({"containers": [{"name": "one", "$patch": "nonsense"}]}),
        pod({"volumes": [volume]}),
        pod({"tolerations": [{"key": "k", "operator": "Exists"}]}),
        pod({"nodeSelector": {"a": "b", "c": None}}),
        pod({"nodeSelector": {"$patch": "replace", "only": "this"}}),
        pod({"securityContext": {"$patch": "delete"}}),
        meta({"finalizers": ["a.b/three", "a.b/one"]}),
        meta({"$deleteFromPrimitiveList/finalizers": ["a.b/one"]}),
        meta({"$setElementOrder/finalizers": ["a.b/two", "a.b/one"]}),
        meta({"labels": {"x": "y"}, "annotations": None}),
        step("strategic", "p", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
             dry_run=True),
        step("strategic", "p", {"spec": {"strategy": {"$retainKeys": ["rollingUpdate"], "type": "Recreate"}}},
             dry_run=True),
    ])
    scenario["compare_object"] = True
    return scenario


def service(ports, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "thing"}, "spec": {
        "selector": {"app": "web"}, "ports": ports, **spec}}


def services():
    def http(**more):
        return {"name": "http", "port": 80, **more}
    dns = {"name": "dns", "port": 53, "protocol": "UDP"}
    steps = [
        step("apply", "a", service([http()])),
        step("apply", "b", service([dns], type="NodePort")),
        step("apply", "b", {"apiVersion": "v1", "kind": "Service", "metadata": {},
                            "spec": {"ports": [http(targetPort="web")]}}),
        step("apply", "b", {"apiVersion": "v1", "kind": "Service", "metadata": {},
                            "spec": {"ports": [http(targetPort="web")], "selector": {"app": "db"}}}, force=True),
        step("strategic", "p", {"spec": {"ports": [{"port": 80, "name": "web"}]}}),
        step("apply", "a", service([http()])),
    ]
    for one in steps:
        one["name"] = "services"
        if "kind" in one["body"]:
            one["body"]["metadata"]["name"] = "services"
    return {"path": "/api/v1/namespaces/default/services", "gvk": ["", "v1", "Service"],
            "ignored": {"": ["status"], "status": ["spec"]}, "steps": steps}


def pods():
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pods", "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1-2"}]}, "spec": {
        "automountServiceAccountToken": False, "serviceAccountName": "default",
        "initContainers": [container("init")], "containers": [container(
            "web", env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            securityContext={"capabilities": {"drop": ["ALL"]}}, command=["sh", "-c"])],
        "volumes": [{"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}}],
        "tolerations": [{"key": "x", "operator": "Exists"}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                       "labelSelector": {"matchLabels": {"a": "b"}}}]}}
    status = {"phase": "Running", "podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}],
              "conditions": [{"type": "Ready", "status": "True"}],
              "containerStatuses": [{"name": "web", "ready": True, "restartCount": 0, "image": "web:1",
                                     "imageID": "", "state": {"running": {}}}]}
    return {"path": "/api/v1/namespaces/default/pods", "gvk": ["", "v1", "Pod"],
            "ignored": {"": ["status"], "status": ["spec", "metadata.deletionTimestamp",
                                                   "metadata.ownerReferences"]},
            "steps": [
                step("create", "maker", body, name="pods", admission=["priority", "preemptionPolicy"]),
                step("strategic", "kubelet", {"status": status}, name="pods", subresource="status"),
                step("strategic", "kubelet", {"status": {"conditions": [
                    {"type": "PodScheduled", "status": "True"}], "phase": "Failed"}}, name="pods",
                    subresource="status"),
                step("apply", "labeler", {"apiVersion": "v1", "kind": "Pod", "metadata": {
                    "name": "pods", "labels": {"l": "1"}}, "spec": {"containers": [
                        {"name": "web", "image": "web:9"}]}}, name="pods"),
                step("apply", "labeler", {"apiVersion": "v1", "kind": "Pod", "metadata": {
                    "name": "pods", "labels": {"l": "1"}, "ownerReferences": [
                        {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "3-4"}]}}, name="pods"),
            ]}


def crd(plural, kind, schema, status=True):
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if status:
        version["subresources"] = {"status": {}}
    return {"path": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "body": {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kw.example"}, "spec": {
            "group": "kw.example", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [version]}}}


WIDGET_SCHEMA = {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"}, "size": {"x-kubernetes-int-or-string": True},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "numbers": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
        "words": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"], "properties": {
                      "name": {"type": "string"}, "color": {"type": "string"}, "count": {"type": "integer"}}}},
        "ports": {"type": "array", "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
                      "type": "object", "required": ["port", "protocol"], "properties": {
                          "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
                          "text": {"type": "string"}}}},
        "options": {"type": "object", "additionalProperties": {"type": "string"}},
        "choice": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}}},
        "nested": {"type": "object", "properties": {"deep": {"type": "object", "properties": {
            "value": {"type": "string"}, "other": {"type": "string"}}}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}},
    "status": {"type": "object", "properties": {
        "phase": {"type": "string"}, "conditions": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
            "items": {"type": "object", "required": ["type"], "properties": {
                "type": {"type": "string"}, "status": {"type": "string"}}}}}}}}


def custom(kind, name, spec=None, status=None, **metadata):
    out = {"apiVersion": "kw.example/v1", "kind": kind, "metadata": {"name": name, **metadata}}
    if spec is not None:
        out["spec"] = spec
    if status is not None:
        out["status"] = status
    return out


def custom_scenario(plural, kind, schema, steps, status=True):
    for one in steps:
        one["name"] = plural
    ignored = {"": ["status"], "status": ["metadata", "spec"]} if status else {}
    return {"path": f"/apis/kw.example/v1/namespaces/default/{plural}", "crd_schema": schema,
            "ignored": ignored, "compare_object": True, "setup": [crd(plural, kind, schema, status)],
            "steps": steps}


def widget_lists():
    def w(**spec):
        return custom("Widget", "widgets", spec)

    def parts(*names, **more):
        return [{"name": n, **more} for n in names]
    return custom_scenario("widgets", "Widget", WIDGET_SCHEMA, [
        step("apply", "a", w(parts=parts("p1", "p2", "p3"), tags=["t1", "t<2"], words=["w"], numbers=[10, 9])),
        step("apply", "b", w(parts=parts("p4", "p2", color="red"), tags=["t3", "t1"])),
        step("apply", "c", w(parts=parts("p5", "p3", "p6", "p1", count=1))),
        step("apply", "a", w(parts=parts("p3", "p2"), tags=["t<2"], words=["w", "v"], numbers=[10, 9])),
        step("apply", "b", w(words=["x"])),
        # The server also writes the default into the object; replaying does not.
        step("apply", "b", w(parts=parts("p2", color="blue"), ports=[{"port": 80}, {"port": 80, "protocol": "UDP"}]),
             defaulted=True),
        step("apply", "a", w(parts=parts("p2", color="green"), ports=[{"port": 80, "text": "t"}],
                             tags=["t<2"])),
        step("apply", "a", w(parts=parts("p2"), ports=[{"port": 80, "text": "t"}], tags=["t<2"])),
        step("merge", "u", {"spec": {"parts": [{"name": "p2", "color": "black"}, {"name": "n", "count": 4}]}}),
        step("apply", "b", w(parts=parts("p2", color="blue"))),
        step("apply", "b", w(parts=parts("p2", "p2"))),
        step("apply", "b", w(parts=[{"color": "nameless"}])),
        step("apply", "b", w(parts=[None])),
        step("apply", "b", w(tags=["x", "x"])),
        step("apply", "b", w(nonsense=1)),
        step("apply", "b", w(parts="text")),
        step("apply", "b", w(replicas="one")),
        step("apply", "b", w()),
        step("apply", "a", custom("Widget", "widgets")),
    ])


def widget_maps():
    def g(spec=None, **more):
        return custom("Gadget", "gadgets", spec, **more)
    return custom_scenario("gadgets", "Gadget", WIDGET_SCHEMA, [
        step("create", "maker", g({"options": {"o": "1"}, "choice": {"a": "1"}, "replicas": 1,
                                   "nested": {"deep": {"value": "v"}}, "free": {"l": [1, {"a": 2}], "m": {}}})),
        step("apply", "a", g({"options": {"p": "2"}, "nested": {"deep": {"other": "x"}}})),
        step("apply", "a", g({"choice": {"b": "2"}})),
        step("apply", "a", g({"choice": {"b": "2"}, "size": "50%"}), force=True),
        step("apply", "a", g({"choice": {"b": "2"}, "size": 5})),
        step("apply", "a", g({"options": {}, "nested": {}, "free": {"l": [3], "m": {"x": 1}, "n": None}}),
             force=True),
        step("apply", "a", g({"free": {"m": "scalar"}})),
        step("apply", "b", g({"options": {"z": "1"}})),
        step("apply", "c", g({"options": {"y": "1"}})),
        step("apply", "b", g({"options": {}})),
        step("apply", "b", g({})),
        step("apply", "b", g({"nested": {"deep": {"value": "v", "other": "b"}}})),
        step("merge", "u", {"spec": {"nested": None}}),
        step("merge", "u", {"spec": {"nested": {"deep": {"value": "1"}}, "choice": None}}),
        step("apply", "c", g({"options": {"y": "1"}}, status={"phase": "Bad"})),
        step("apply", "s", g(status={"phase": "Ready", "conditions": [{"type": "A", "status": "True"}]}),
             subresource="status"),
        step("apply", "s", g({"replicas": 7}, status={"phase": "Ready"}), subresource="status"),
        step("merge", "t", {"status": {"phase": "Gone"}, "spec": {"replicas": 8}, "metadata": {
            "labels": {"no": "no"}}}, subresource="status"),
        step("apply", "s", g(status={"phase": "Ready"}), subresource="status"),
        step("apply", "s", g(status={"phase": "Ready"}), subresource="status", force=True),
        step("merge", "u", {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}),
    ])


def deduced():
    def t(**body):
        return {**custom("Thing", "things"), **body}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return custom_scenario("things", "Thing", schema, [
        step("apply", "a", t(x={"m": {"k": 1}, "l": [{"name": "a"}], "s": "text"})),
        step("apply", "b", t(x={"m": {"j": 2}, "l": [{"name": "b"}]})),
        step("apply", "b", t(x={"m": {"j": 2}})),
        step("apply", "a", t(x={"m": [1, 2], "s": {"now": "map"}})),
        step("apply", "a", t(x={"m": [1, 2], "s": {"now": "map"}}), force=True),
        step("merge", "u", {"y": {"a": {"b": {}}}, "x": {"s": None}}),
        step("apply", "a", t(y={"a": {"b": {"c": None}}})),
    ], status=False)


def all_scenarios():
    return {
        "apply_and_conflict": apply_and_conflict(), "updates": updates(), "many_updaters": many_updaters(),
        "reset": reset(), "kubectl_migration": kubectl_migration(), "json_patches": json_patches(),
        "deployments": deployments(), "deployment_create": deployment_create(),
        "strategic_patches": strategic_patches(), "services": services(), "pods": pods(),
        "widget_lists": widget_lists(), "widget_maps": widget_maps(), "deduced": deduced()}

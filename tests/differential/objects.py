"""The objects that everything starts from: for each built-in kind one or a few that a kube-apiserver
takes as they are. Not a list of what the sandbox supports; a kind that is missing here is not compared.

They are really stored on both servers by the modes that change an existing object, so they are harmless:
no webhook matches a resource that there is, no quota counts anything, no class is a default."""
import copy
from dataclasses import dataclass, field

NAMESPACE = "kubewatch-differential"
LABELS = {"matchLabels": {"a": "b"}}
POD = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
JOB = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
MATCH = {"apiGroups": ["nothing.x"], "apiVersions": ["v1"], "operations": ["CREATE"],
         "resources": ["nothings"]}
HOOKS = {"webhooks": [{"name": "a.b.c", "clientConfig": {"url": "https://x.example/"}, "rules": [MATCH],
                       "sideEffects": "None", "admissionReviewVersions": ["v1"]}]}
CONSTRAINTS = {"resourceRules": [MATCH]}
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
SCALED = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
BACKEND = {"service": {"name": "s", "port": {"number": 80}}}
GET_PODS = {"namespace": NAMESPACE, "verb": "get", "resource": "pods"}
PATCH_EXPRESSION = '[JSONPatch{op: "add", path: "/x", value: "y"}]'
DEVICES = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d"}}]}}
CSR = ("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQl"
       "pNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCQnVGS1FuOGZteGNMRVVhQ2RYTSt5ZFlBbGFxUmZhSkxX"
       "YURiYUlIVlRUL3Ntdm5kMUExTVZSVGdYdUQ5Y1RlCjIzWjFBK3VrazFCZUNOKzhJVkU5NVNDZ0FEQUtCZ2dxaGtqT1"
       "BRUURBZ05JQURCRkFpRUE4bkF4bGlXNVF1QjYKVnFJRDdCWWtxNUd0OERCRk4yVWs3UUhSL1RTSWJkRUNJQjhRdVlL"
       "MktxRmMrYTRaa1dUTGpwcFl0OHROODJQMApGTUlRbFdEcTF0Nk8KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC"
       "0tLS0tCg==")


@dataclass(frozen=True)
class Base:
    resource: str
    kind: str
    version: str
    rest: dict = field(default_factory=dict)
    namespaced: bool = True
    stored: bool = True  # False: a review, which is answered and forgotten
    name: str = ""       # where not every name will do

    @property
    def collection(self):
        group = "/api/v1" if self.version == "v1" else "/apis/" + self.version
        return group + (f"/namespaces/{NAMESPACE}/" if self.namespaced else "/") + self.resource

    def path(self, name):
        return f"{self.collection}/{self.name or name}"

    def object(self, name):
        """A copy that may be changed."""
        metadata = {"name": self.name or name} if self.stored else {}
        if self.namespaced and not self.stored:
            metadata["namespace"] = NAMESPACE
        return copy.deepcopy({"apiVersion": self.version, "kind": self.kind, "metadata": metadata,
                              **self.rest})


def core(resource, kind, rest, **more):
    return Base(resource, kind, "v1", rest, **more)


def cluster(resource, kind, version, rest, **more):
    return Base(resource, kind, version, rest, namespaced=False, **more)


ADMISSION, NETWORKING = "admissionregistration.k8s.io/v1", "networking.k8s.io/v1"
RBAC, STORAGE, DRA = "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "resource.k8s.io/v1"
FLOW, AUTHORIZATION = "flowcontrol.apiserver.k8s.io/v1", "authorization.k8s.io/v1"

BASES = [
    core("pods", "Pod", {"spec": POD}),
    core("pods", "Pod", {"spec": {
        "hostNetwork": True, "restartPolicy": "Never",
        "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
        "volumes": [{"name": "v", "configMap": {"name": "cm"}}],
        "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "b"}],
                        "ports": [{"containerPort": 80, "name": "p"}],
                        "volumeMounts": [{"name": "v", "mountPath": "/m"}],
                        "resources": {"limits": {"cpu": "1"}}}]}}),
    core("services", "Service", {"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}),
    core("services", "Service", {"spec": {"type": "LoadBalancer", "ports": [
        {"port": 80, "name": "a"}, {"port": 81, "name": "b", "protocol": "UDP"}]}}),
    core("services", "Service", {"spec": {"type": "ExternalName", "externalName": "a.b"}}),
    core("services", "Service", {"spec": {"clusterIP": "None", "selector": {"a": "b"}}}),
    core("configmaps", "ConfigMap", {"data": {"a": "b"}}),
    core("secrets", "Secret", {"data": {"a": "Yg=="}}),
    core("serviceaccounts", "ServiceAccount", {}),
    core("endpoints", "Endpoints", {"subsets": [
        {"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}]}),
    core("events", "Event", {"reason": "R", "involvedObject": {
        "kind": "Pod", "namespace": NAMESPACE, "name": "p"}}),
    core("limitranges", "LimitRange", {"spec": {"limits": [{"type": "a.b/c", "max": {"a.b/d": "1"}}]}}),
    core("resourcequotas", "ResourceQuota", {"spec": {"hard": {"count/nothings.nothing.x": "1"}}}),
    core("persistentvolumeclaims", "PersistentVolumeClaim", {"spec": CLAIM}),
    core("podtemplates", "PodTemplate", {"template": TEMPLATE}),
    core("replicationcontrollers", "ReplicationController", {"spec": {
        "selector": {"a": "b"}, "template": TEMPLATE}}),
    cluster("persistentvolumes", "PersistentVolume", "v1", {"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}),
    cluster("persistentvolumes", "PersistentVolume", "v1", {"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d.x", "volumeHandle": "h"}}}),
    cluster("namespaces", "Namespace", "v1", {}),
    cluster("nodes", "Node", "v1", {"spec": {}}),
    Base("deployments", "Deployment", "apps/v1", {"spec": {"selector": LABELS, "template": TEMPLATE}}),
    Base("replicasets", "ReplicaSet", "apps/v1", {"spec": {"selector": LABELS, "template": TEMPLATE}}),
    Base("daemonsets", "DaemonSet", "apps/v1", {"spec": {"selector": LABELS, "template": TEMPLATE}}),
    Base("statefulsets", "StatefulSet", "apps/v1", {"spec": {
        "serviceName": "s", "selector": LABELS, "template": TEMPLATE}}),
    Base("controllerrevisions", "ControllerRevision", "apps/v1", {"data": {"a": 1}, "revision": 1}),
    Base("jobs", "Job", "batch/v1", {"spec": JOB}),
    Base("jobs", "Job", "batch/v1", {"spec": {
        "completionMode": "Indexed", "completions": 3, "parallelism": 2, "manualSelector": True,
        "selector": LABELS, "template": {"metadata": {"labels": {"a": "b"}}, **JOB["template"]}}}),
    Base("cronjobs", "CronJob", "batch/v1", {"spec": {
        "schedule": "* * * * *", "jobTemplate": {"spec": JOB}}}),
    Base("horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v2", {"spec": {
        "scaleTargetRef": SCALED, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": CPU}]}}),
    Base("horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v1", {"spec": {
        "scaleTargetRef": SCALED, "maxReplicas": 3}}),
    Base("poddisruptionbudgets", "PodDisruptionBudget", "policy/v1", {"spec": {
        "selector": LABELS, "minAvailable": 1}}),
    Base("ingresses", "Ingress", NETWORKING, {"spec": {"rules": [{"host": "a.b", "http": {
        "paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}]}}),
    cluster("ingressclasses", "IngressClass", NETWORKING, {"spec": {"controller": "a.b/c"}}),
    Base("networkpolicies", "NetworkPolicy", NETWORKING, {"spec": {"podSelector": LABELS, "ingress": [
        {"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 80}]}]}}),
    cluster("ipaddresses", "IPAddress", NETWORKING, {"spec": {"parentRef": {
        "resource": "services", "name": "s", "namespace": NAMESPACE}}}, name="10.9.9.9"),
    cluster("servicecidrs", "ServiceCIDR", NETWORKING, {"spec": {"cidrs": ["10.77.0.0/24"]}}),
    Base("endpointslices", "EndpointSlice", "discovery.k8s.io/v1", {
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.1.1"]}],
        "ports": [{"port": 80, "name": "a"}]}),
    Base("events", "Event", "events.k8s.io/v1", {
        "eventTime": "2024-01-01T01:01:01.000001Z", "reportingController": "a.b/c",
        "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal",
        "regarding": {"kind": "Pod", "name": "p", "namespace": NAMESPACE}}),
    Base("leases", "Lease", "coordination.k8s.io/v1", {"spec": {"holderIdentity": "h"}}),
    Base("roles", "Role", RBAC, {"rules": [PODS]}),
    cluster("clusterroles", "ClusterRole", RBAC, {"rules": [PODS]}),
    Base("rolebindings", "RoleBinding", RBAC, {
        "roleRef": ROLE, "subjects": [{"kind": "User", "name": "nobody"}]}),
    cluster("clusterrolebindings", "ClusterRoleBinding", RBAC, {"roleRef": ROLE, "subjects": [
        {"kind": "ServiceAccount", "name": "nobody", "namespace": NAMESPACE}]}),
    cluster("storageclasses", "StorageClass", STORAGE, {"provisioner": "a.b/c"}),
    cluster("csidrivers", "CSIDriver", STORAGE, {"spec": {}}),
    cluster("csinodes", "CSINode", STORAGE, {"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}}),
    Base("csistoragecapacities", "CSIStorageCapacity", STORAGE, {"storageClassName": "s"}),
    cluster("volumeattachments", "VolumeAttachment", STORAGE, {"spec": {
        "attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}}}),
    cluster("volumeattributesclasses", "VolumeAttributesClass", STORAGE, {
        "driverName": "d", "parameters": {"a": "b"}}),
    cluster("priorityclasses", "PriorityClass", "scheduling.k8s.io/v1", {"value": 5}),
    cluster("runtimeclasses", "RuntimeClass", "node.k8s.io/v1", {"handler": "h"}),
    cluster("flowschemas", "FlowSchema", FLOW, {"spec": {
        "priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5, "rules": [{
            "subjects": [{"kind": "User", "user": {"name": "nobody"}}],
            "resourceRules": [{"verbs": ["get"], "apiGroups": ["*"], "resources": ["*"],
                               "namespaces": ["*"]}]}]}}),
    cluster("prioritylevelconfigurations", "PriorityLevelConfiguration", FLOW, {"spec": {
        "type": "Limited", "limited": {"limitResponse": {
            "type": "Queue", "queuing": {"queues": 8, "handSize": 2}}}}}),
    cluster("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", ADMISSION, HOOKS),
    cluster("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", ADMISSION, HOOKS),
    cluster("validatingadmissionpolicies", "ValidatingAdmissionPolicy", ADMISSION, {"spec": {
        "matchConstraints": CONSTRAINTS, "validations": [{"expression": "true"}]}}),
    cluster("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", ADMISSION, {
        "spec": {"policyName": "nothing", "validationActions": ["Deny"]}}),
    cluster("mutatingadmissionpolicies", "MutatingAdmissionPolicy", ADMISSION, {"spec": {
        "matchConstraints": CONSTRAINTS, "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": PATCH_EXPRESSION}}]}}),
    cluster("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", ADMISSION, {
        "spec": {"policyName": "nothing"}}),
    cluster("certificatesigningrequests", "CertificateSigningRequest", "certificates.k8s.io/v1", {
        "spec": {"request": CSR, "signerName": "a.b/c", "usages": ["client auth"]}}),
    cluster("deviceclasses", "DeviceClass", DRA, {"spec": {"selectors": [{"cel": {"expression": "true"}}]}}),
    Base("resourceclaims", "ResourceClaim", DRA, {"spec": DEVICES}),
    Base("resourceclaimtemplates", "ResourceClaimTemplate", DRA, {"spec": {"spec": DEVICES}}),
    cluster("resourceslices", "ResourceSlice", DRA, {"spec": {
        "driver": "d", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1},
        "devices": [{"name": "a"}]}}),
    cluster("apiservices", "APIService", "apiregistration.k8s.io/v1", {"spec": {
        "group": "aggregated.x", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10,
        "service": {"name": "s", "namespace": NAMESPACE}, "insecureSkipTLSVerify": True}},
        name="v1.aggregated.x"),
    cluster("customresourcedefinitions", "CustomResourceDefinition", "apiextensions.k8s.io/v1", {"spec": {
        "group": "differential.x", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object"}}}}}]}},
        name="foos.differential.x"),
    cluster("subjectaccessreviews", "SubjectAccessReview", AUTHORIZATION, {"spec": {
        "user": "u", "resourceAttributes": GET_PODS}}, stored=False),
    cluster("selfsubjectaccessreviews", "SelfSubjectAccessReview", AUTHORIZATION, {"spec": {
        "resourceAttributes": GET_PODS}}, stored=False),
    Base("localsubjectaccessreviews", "LocalSubjectAccessReview", AUTHORIZATION, {"spec": {
        "user": "u", "resourceAttributes": GET_PODS}}, stored=False),
    cluster("tokenreviews", "TokenReview", "authentication.k8s.io/v1", {"spec": {"token": "t"}},
            stored=False),
]

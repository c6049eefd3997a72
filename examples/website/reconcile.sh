#!/bin/sh
# The hook of the website example: prints what should exist for one Website, and how it is.
# Shows: manifests and a Result on stdout, log lines on stderr, a permanent failure (65), and how
# text of an object is printed safely. TITLE, CONTENT, REPLICAS and IMAGE come from rules.yaml, KW_*
# from kubewatch.
set -eu

# One argument as a YAML string in double quotes, whatever it holds. Characters that YAML forbids
# are dropped.
quote() {
  printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\010\013-\037\177' |
    sed -e ':next' -e '$!{' -e 'N' -e 'b next' -e '}' -e 's/[\\"]/\\&/g' -e 's/\n/\\n/g')"
}

# One argument as text in an HTML page.
html() {
  printf '%s' "$1" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
}

# The object itself is wrong: say so in its status, and do not try again until it changes.
give_up() {
  echo "giving up: $1" >&2
  cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
message: $(quote "$1")
conditions:
  - {type: Ready, status: "False", reason: InvalidSpec, message: $(quote "$1")}
END
  exit 65
}

case $REPLICAS in
  '' | *[!0-9]*) give_up "spec.replicas must be a whole number" ;;
esac
case $KW_NAME in
  [!a-z]* | *[!a-z0-9-]*) give_up "the name must start with a letter and have no dots: it names a Service" ;;
esac
[ ${#KW_NAME} -le 50 ] || give_up "the name must have no more than 50 characters: it names a Service"

name=$(quote "$KW_NAME")
namespace=$(quote "$KW_NAMESPACE")
page=$(printf '<!doctype html>\n<meta charset="utf-8">\n<title>%s</title>\n<h1>%s</h1>\n<p>%s</p>\n' \
  "$(html "$TITLE")" "$(html "$TITLE")" "$(html "$CONTENT")")
# Pods read their settings when they start: a number of the related ConfigMaps that changes with
# them makes the Deployment replace its Pods. `related` is the last key of the input. What the server
# counts, and labels, are no settings: they replace no Pods.
settings=$(sed -e 's/.*"related":{//' -e 's/"labels":{[^}]*}//g' -e 's/"uid":"[^"]*"//g' \
  -e 's/"resourceVersion":"[^"]*"//g' -e 's/"creationTimestamp":"[^"]*"//g' | cksum | tr ' ' '-')

cat <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: $(quote "$KW_NAME-page"), namespace: $namespace}
data:
  index.html: $(quote "$page")
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $name
  namespace: $namespace
  labels: {app.kubernetes.io/name: website, app.kubernetes.io/instance: $name}
spec:
  replicas: $REPLICAS
  selector:
    matchLabels: {app.kubernetes.io/name: website, app.kubernetes.io/instance: $name}
  template:
    metadata:
      labels: {app.kubernetes.io/name: website, app.kubernetes.io/instance: $name}
      annotations: {demo.kubewatch.dev/settings: "$settings"}
    spec:
      containers:
        - name: web
          image: $(quote "$IMAGE")
          ports: [{name: http, containerPort: 80, protocol: TCP}]
          envFrom: [{configMapRef: {name: $(quote "$KW_NAME-settings"), optional: true}}]
          volumeMounts: [{name: page, mountPath: /usr/share/nginx/html, readOnly: true}]
      volumes: [{name: page, configMap: {name: $(quote "$KW_NAME-page")}}]
---
apiVersion: v1
kind: Service
metadata: {name: $name, namespace: $namespace}
spec:
  selector: {app.kubernetes.io/name: website, app.kubernetes.io/instance: $name}
  ports: [{name: http, port: 80, protocol: TCP, targetPort: http}]
---
apiVersion: kubewatch.dev/v1
kind: Result
message: $(quote "serving \"$TITLE\"")
status:
  url: $(quote "http://$KW_NAME.$KW_NAMESPACE.svc")
  replicas: $REPLICAS
conditions:
  - {type: Ready, status: "True", reason: Applied, message: "page, server and service are in place"}
END

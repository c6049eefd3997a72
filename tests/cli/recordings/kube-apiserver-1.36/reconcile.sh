#!/bin/sh
set -eu

cat <<MANIFEST
apiVersion: v1
kind: ConfigMap
metadata: {name: $KW_NAME-page, namespace: $KW_NAMESPACE}
data: {title: "$TITLE"}
MANIFEST

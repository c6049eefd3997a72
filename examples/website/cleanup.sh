#!/bin/sh
# The finalizer of the website example: runs before a deleted Website disappears.
# Shows: where to undo what lives outside the cluster (a DNS record, a bucket). Children need
# nothing here: Kubernetes collects them. Exit 0 lets the object go, 75 asks to be called again,
# others are retried.
set -eu

echo "taking $KW_NAMESPACE/$KW_NAME off the air" >&2
cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
message: cleaned up
END

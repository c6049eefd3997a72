#!/bin/sh
# The hook of the job-runner example: looks at the Task's Job and says what to do next.
# Shows: 75 is "not yet" and no failure; the state is read from the cluster each time, nothing is
# kept between runs.
set -eu

# The children of this Task, as JSON: what stands between these two keys of the input.
input=$(cat)
owned=${input#*\"owned\":\[}
owned=${owned%%\],\"related\":*}

result() {
  cat <<END
apiVersion: kubewatch.dev/v1
kind: Result
message: $2
status: {phase: $1}
create:
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: "$KW_NAME", namespace: "$KW_NAMESPACE"}
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers: [{name: task, image: $IMAGE, command: $COMMAND}]
END
}

case $owned in
  *'"succeeded":1'*)
    result Succeeded "the job is done"
    ;;
  *'"failed":1'*)
    result Failed "the job failed"
    exit 65
    ;;
  *)
    result Running "the job is on its way"
    # Its events come by themselves; this is for those that are lost.
    echo "requeueAfter: 1m"
    exit 75
    ;;
esac

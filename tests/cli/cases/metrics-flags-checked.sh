for flags in "--metrics 9090" "--max-stale 1m" "--metrics 127.0.0.1:0 --liveness soon"; do
  # shellcheck disable=SC2086 # the flags are words on purpose
  "$kubewatch" run-controller -f rules/log.yaml --sandbox --once $flags
  echo "exit $?"
done
OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317 "$kubewatch" run-controller -f rules/log.yaml --sandbox --once
echo "exit $?"
"$kubewatch" run-controller -f rules/log.yaml --sandbox --once --log-filter rutime=debug
echo "exit $?"

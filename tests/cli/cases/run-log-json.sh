"$kubewatch" run-controller -f rules/log.yaml --sandbox --sandbox-file rules/configmap.yaml --once --log-format json 2>&1 |
  sed -e 's/"run":"[^"]*"/"run":"ID"/g' -e 's/"ms":"[0-9]*"/"ms":"N"/g'

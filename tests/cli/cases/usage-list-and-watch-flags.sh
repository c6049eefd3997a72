for flags in "--list-strategy fast" "--list-semantics newest" "--chunk-size -1" "--watch-timeout 5m" \
  "--backoff-initial 10s --backoff-max 1s" "--list-strategy paged --chunk-size 0" "--bookmarks=maybe"; do
  for verb in "watch pods" "reflect pods --once" "wait-condition pod/a --for=delete"; do
    "$kubewatch" $verb $flags
    [ $? = 2 ] || echo "$verb $flags: exit $?"
  done
done 2>&1 | sort | uniq -c | sed 's/^ *//'

# Every verb with -v 9, on Secrets, and where servers and programs fail
# with a Secret's value in hand: none of it stands in what is logged or recorded.
. ./masked.sh
# Not base64: the server says what is wrong with it.
sed "s/stringData.*/data: {password: '$password'}/; s/name: s,/name: wrong,/" "$work/secret.yaml" >"$work/wrong.yaml"

echo "# with the sandbox's token"
verbs
run apply-ssa -f "$work/secret.yaml" -v 9 --record "$work/apply.rec" --field-manager other --force-conflicts
run apply-ssa -f "$work/wrong.yaml" -v 9
run apply-ssa -f "$work/secret.yaml" -v 9 -o 'jq=.data.password + 1'
run apply-ssa -f "$work/secret.yaml" -v 9 --diff
run watch secrets --duration 3s -v 9 -o name --record "$work/watch.rec"
run watch secrets --duration 3s -v 9 --when '.data.password + 1 == 2'
run watch secrets --duration 3s -v 9 --until '.data.password | error'
run watch secrets --duration 3s -v 9 -o 'jq=.data.password + 1'
run watch secrets --duration 3s -v 9 --fields '.data.password | error'
run reflect secrets --query -v 9 -o name --record "$work/reflect.rec"
run reflect secrets --query -v 9 --jq '.data.password + 1'
run reflect secrets --query -v 9 -o 'jq=.items[].data.password + 1'
run reflect secrets --verify -v 9
run wait-condition secret/s -v 9 --for='jsonpath={.data.password}=x' --timeout 0 --record "$work/wait.rec"
run wait-condition secret/s -v 9 --for='jq=.data.password + 1' --timeout 0
run wait-condition secret/s -v 9 --for='jsonpath={.data}=x' --timeout 0

echo "# what was logged"
grep -c 'method=PATCH' "$work/log" | sed 's/^[1-9][0-9]*$/some patches/'
grep -c '"method":"GET"' "$work/log" | sed 's/^[1-9][0-9]*$/some reads in JSON/'
grep -e "$password" -e "$encoded" -e "$token" "$work/log" && echo "that is a secret"

echo "# what was recorded"
for recording in watch reflect wait; do
  "$kubewatch" watch secret -n default -o json --from-recording "$work/$recording.rec" >"$work/said" 2>&1
  echo "$recording: exit $?, $(grep -c '"password":"c2VjcmV0L' "$work/said") with a hidden password"
  grep -e "$password" -e "$encoded" "$work/said"
done
"$kubewatch" watch secret/s -n default -o json --from-recording "$work/apply.rec" >"$work/said" 2>&1
echo "apply: exit $?, $(grep -c '"password":"c2VjcmV0L' "$work/said") with a hidden password"
grep -e "$password" -e "$encoded" "$work/said"
exit 0

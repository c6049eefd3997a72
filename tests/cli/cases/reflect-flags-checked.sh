# What is wrong with the command line alone is said before any server is asked.
try() {
  "$kubewatch" reflect "$@"
  echo "exit $?"
}
{
  try
  try pods --once --query
  try pods web -l a=b
  try pods web --field-selector spec.nodeName=n1
  try pods --once --snapshot "$work/none/x"
  try pods --once --snapshot ''
  try pods --once --rounds 2
  try pods --serve 127.0.0.1:0 --timeout 5s
  try pods --serve 127.0.0.1:0 --kubeconfig-out "$work"
  try pods --kubeconfig-out x
  try pods --serve nowhere
  try pods --serve 127.0.0.1:0 --insecure-http --forward-reads
  try pods --serve 127.0.0.1:0 --snapshot-interval 1m
  try pods --once -l 'a=b=c'
  try pods --strip .metadata.name
  try pods --strip '.a | .b'
  try pods -n 'Shop!'
  try pods --estimate --from x
  try pods --query --jq '.a['
  try pods --query -o jsonpath='{.a'
  try pods --query -o fancy
  try pods --query -o stats
  try pods --estimate -o yaml
  try --from "$work/none" --query
  echo "not a cache" > "$work/other"
  try --from "$work/other" --query
  # The caches of a file are what they were, unless a TYPE is named.
  try --from "$work/cache" --serve 127.0.0.1:0 -l app=web
  try --from "$work/cache" --once --strip .status
  try --from "$work/cache" --verify -n shop
  try --from "$work/cache" --once -n shop
  try --from "$work/cache" --once -o json -l app=web
  # That narrows nothing: only the file is missing.
  try --from "$work/cache" --once -A
} 2>&1

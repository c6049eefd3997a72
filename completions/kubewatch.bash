# bash completion of kubewatch; made by: kubewatch completion bash
_kubewatch() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command/$word" in
    /run-controller) command="run-controller" ;;
    run-controller/check) command="run-controller/check" ;;
    run-controller/test) command="run-controller/test" ;;
    run-controller/replay) command="run-controller/replay" ;;
    run-controller/rbac) command="run-controller/rbac" ;;
    run-controller/explain) command="run-controller/explain" ;;
    run-controller/runs) command="run-controller/runs" ;;
    run-controller/trigger) command="run-controller/trigger" ;;
    run-controller/retry) command="run-controller/retry" ;;
    run-controller/queue) command="run-controller/queue" ;;
    run-controller/log-level) command="run-controller/log-level" ;;
    run-controller/finalizers) command="run-controller/finalizers" ;;
    /watch) command="watch" ;;
    /reflect) command="reflect" ;;
    /wait-condition) command="wait-condition" ;;
    /apply-ssa) command="apply-ssa" ;;
    /crd-gen) command="crd-gen" ;;
    crd-gen/import) command="crd-gen/import" ;;
    crd-gen/lint) command="crd-gen/lint" ;;
    crd-gen/diff) command="crd-gen/diff" ;;
    crd-gen/merge) command="crd-gen/merge" ;;
    crd-gen/validate) command="crd-gen/validate" ;;
    crd-gen/sample) command="crd-gen/sample" ;;
    crd-gen/docs) command="crd-gen/docs" ;;
    /sandbox) command="sandbox" ;;
    /completion) command="completion" ;;
    /version) command="version" ;;
    esac
  done
  case "$previous" in
    --kubeconfig) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --context) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --cluster) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --user) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -n|--namespace) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -s|--server) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --token) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --as) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --as-uid) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --as-group) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --as-user-extra) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --certificate-authority) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --client-certificate) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --client-key) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --tls-server-name) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --request-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --proxy-url) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -v|--v) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --log-format) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --log-filter) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$current")); return ;;
  esac
  local words="-h --help --kubeconfig --context --cluster --user -n --namespace -s --server --token --as --as-uid --as-group --as-user-extra --certificate-authority --client-certificate --client-key --insecure-skip-tls-verify --tls-server-name --request-timeout --proxy-url -v --v --log-format --log-filter --color"
  case "$command" in
  '') words="run-controller watch reflect wait-condition apply-ssa crd-gen sandbox completion version $words" ;;
  run-controller)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --compat) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --hook-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --sandbox-file) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --until-idle) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --concurrency) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --shutdown-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --triggers) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --triggers-host) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --state) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --record) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --record-limit) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --metrics) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --max-stale) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --max-wait) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --liveness) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lease-name) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lease-namespace) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --identity) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lease-duration) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --renew-deadline) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --retry-period) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --shards) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --shard-by) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="check test replay rbac explain runs trigger retry queue log-level finalizers -h --help -f --filename --compat --hook-timeout --sandbox --sandbox-file --dry-run --once --until-idle --concurrency --shutdown-timeout --triggers --triggers-host --fail-fast --socket --state --record --record-limit --metrics --max-stale --max-wait --liveness --leader-elect --lease-name --lease-namespace --identity --lease-duration --renew-deadline --retry-period --shards --shard-by $words" ;;
  run-controller/check)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    esac
    words="-h --help -f --filename --schema -o --output $words" ;;
  run-controller/test)
    case "$previous" in
    --case) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --step-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json junit" -- "$current")); return ;;
    esac
    words="-h --help --case --interrupt --step-timeout -o --output $words" ;;
  run-controller/replay)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --step-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    esac
    words="-h --help -f --filename --step-timeout -o --output $words" ;;
  run-controller/rbac)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --crd) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --outputs) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --name) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lease-namespace) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "yaml json" -- "$current")); return ;;
    esac
    words="-h --help -f --filename --crd --discover --outputs --name --registration --leader-elect --shards --lease-namespace -o --output $words" ;;
  run-controller/explain)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help -o --output --socket $words" ;;
  run-controller/runs)
    case "$previous" in
    --controller) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --limit) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help -w --watch --controller --limit -o --output --socket $words" ;;
  run-controller/trigger)
    case "$previous" in
    -l|--selector) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --reason) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help -l --selector --all --reason -o --output --socket $words" ;;
  run-controller/retry)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help --parked -o --output --socket $words" ;;
  run-controller/queue)
    case "$previous" in
    --limit) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help --limit -o --output --socket $words" ;;
  run-controller/log-level)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help -o --output --socket $words" ;;
  run-controller/finalizers)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help --release -f --filename -o --output --socket $words" ;;
  watch)
    case "$previous" in
    -l|--selector) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --field-selector) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "table json name" -- "$current")); return ;;
    --list-strategy) COMPREPLY=($(compgen -W "auto paged unpaged streaming" -- "$current")); return ;;
    --list-semantics) COMPREPLY=($(compgen -W "recent any notOlderThan" -- "$current")); return ;;
    --chunk-size) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --watch-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-initial) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-max) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="-h --help -l --selector --field-selector -A --all-namespaces -o --output --list-strategy --list-semantics --chunk-size --watch-timeout --bookmarks --backoff-initial --backoff-max --metadata-only --show-managed-fields $words" ;;
  reflect)
    case "$previous" in
    -l|--selector) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --field-selector) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "stats json objects yaml name" -- "$current")); return ;;
    --list-strategy) COMPREPLY=($(compgen -W "auto paged unpaged streaming" -- "$current")); return ;;
    --list-semantics) COMPREPLY=($(compgen -W "recent any notOlderThan" -- "$current")); return ;;
    --chunk-size) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --watch-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-initial) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-max) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="-h --help --once -l --selector --field-selector -A --all-namespaces --timeout -o --output --list-strategy --list-semantics --chunk-size --watch-timeout --bookmarks --backoff-initial --backoff-max --metadata-only --show-managed-fields $words" ;;
  wait-condition)
    case "$previous" in
    --for) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --list-strategy) COMPREPLY=($(compgen -W "auto paged unpaged streaming" -- "$current")); return ;;
    --list-semantics) COMPREPLY=($(compgen -W "recent any notOlderThan" -- "$current")); return ;;
    --chunk-size) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --watch-timeout) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-initial) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --backoff-max) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="-h --help --for --timeout --list-strategy --list-semantics --chunk-size --watch-timeout --bookmarks --backoff-initial --backoff-max $words" ;;
  apply-ssa)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --field-manager) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --dry-run) COMPREPLY=($(compgen -W "none server" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text name json" -- "$current")); return ;;
    esac
    words="-h --help -f --filename -R --recursive --field-manager --force-conflicts --dry-run -o --output $words" ;;
  crd-gen)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lang) COMPREPLY=($(compgen -W "crd cpp jsonschema markdown" -- "$current")); return ;;
    --for-version) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --cpp-namespace) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="import lint diff merge validate sample docs -h --help -o --output --check --lang --for-version --cpp-namespace $words" ;;
  crd-gen/import)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --builtin) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --lang) COMPREPLY=($(compgen -W "types cpp jsonschema markdown" -- "$current")); return ;;
    --for-version) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --cpp-namespace) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="-h --help -f --filename --builtin -o --output --check --lang --for-version --cpp-namespace $words" ;;
  crd-gen/lint)
    case "$previous" in
    --disable) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --fail-on) COMPREPLY=($(compgen -W "info warning error" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json sarif github" -- "$current")); return ;;
    esac
    words="-h --help --disable --fail-on -o --output $words" ;;
  crd-gen/diff)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "text json markdown" -- "$current")); return ;;
    esac
    words="-h --help -o --output $words" ;;
  crd-gen/merge)
    case "$previous" in
    --storage) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="-h --help --storage $words" ;;
  crd-gen/validate)
    case "$previous" in
    --old) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    esac
    words="-h --help --old --strict -o --output $words" ;;
  crd-gen/sample)
    case "$previous" in
    --size) COMPREPLY=($(compgen -W "minimal full both" -- "$current")); return ;;
    --for-version) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "yaml json" -- "$current")); return ;;
    esac
    words="-h --help --size --for-version -o --output $words" ;;
  crd-gen/docs)
    words="-h --help $words" ;;
  sandbox)
    case "$previous" in
    -f|--filename) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --listen) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    --kubeconfig) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    words="-h --help -f --filename --listen --kubeconfig --insecure-http $words" ;;
  completion)
    case "$previous" in
    --write-docs) COMPREPLY=($(compgen -W "" -- "$current")); return ;;
    esac
    words="bash zsh fish -h --help --write-docs $words" ;;
  version)
    case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
    esac
    words="-h --help --server-version -o --output $words" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kubewatch kubewatch

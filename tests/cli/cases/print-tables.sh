. printed/serve.sh
get configmaps
get cm -A
get cm -n shop,default
get tm
get teams.v1.test.example.com -o wide
get tm,cm -n default
get tm red -o wide --no-headers
get cm -l tier -L tier,app.kubernetes.io/name --show-kind
get cm settings --show-labels
get cm --sort-by .metadata.name -A --no-headers
get tm --sort-by '{.spec.members}'
get namespace shop -A
get ns/shop cm/settings
get cm,tm -n default --stream
get nodes
kill $server
wait $server

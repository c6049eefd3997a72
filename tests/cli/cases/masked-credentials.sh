# Every verb with -v 9 and every kind of credential, refused or leading nowhere: none of it stands in
# what is logged.
. ./masked.sh
echo "# with credentials that are refused, or that lead nowhere"
ca=$(sed -n 's/.*certificate-authority-data: *"\{0,1\}\([^" ,}]*\).*/\1/p' "$work/kc" | head -n 1)
url=$(sed -n 's/.*server: *"\{0,1\}\([^" ,}]*\).*/\1/p' "$work/kc" | head -n 1)
config() {
  cat >"$work/other" <<Y
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$url", certificate-authority-data: "$ca"$2}}]
users: [{name: u, user: {$1}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
Y
}
with() { verbs --kubeconfig "$work/other" | sed 's/ --kubeconfig.*:/ ...:/'; }
verbs --token hidden-bearer-token | sed 's/ --token.*:/ ...:/'
echo "# basic"
config 'username: ann, password: hidden-basic-password'
with
echo "# a key that is none"
config "client-certificate-data: \"$ca\", client-key-data: \"$(printf 'hidden-key-bytes' | base64)\""
with
cat >"$work/login" <<'L'
#!/bin/sh
echo '+ token=hidden-exec-stderr' >&2
echo 'see you' >&2
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"hidden-exec-token"}}'
L
chmod +x "$work/login"
echo "# a program"
config "exec: {apiVersion: client.authentication.k8s.io/v1, command: $work/login, interactiveMode: Never, env: [{name: E, value: hidden-exec-env}]}"
with
sed -i 's/^echo .{.*/echo hidden-exec-rubbish/' "$work/login"
echo "# a program that talks rubbish"
with
echo "# OpenID Connect"
config 'auth-provider: {name: oidc, config: {idp-issuer-url: "https://127.0.0.1:1", client-id: id, client-secret: hidden-oidc-secret, id-token: hidden.id.token, refresh-token: hidden-refresh-token}}'
with
echo "# a proxy"
config "token: $token" ', proxy-url: "http://ann:hidden-proxy-password@127.0.0.1:1"'
with
config "token: $token" ', proxy-url: "http://ann:hidden/proxy-password@127.0.0.1:1"'
with

echo "# what was logged"
grep -c 'status=401' "$work/log" | sed 's/^[1-9][0-9]*$/some refusals/'
grep -c 'see you' "$work/log" | sed 's/^[1-9][0-9]*$/what the program says/'
grep -e hidden -e "$password" -e "$encoded" -e "$token" -e "$(printf 'ann:hidden-basic-password' | base64)" \
  -e "$(printf 'hidden-key-bytes' | base64)" "$work/log" && echo "that is a secret"

exit 0

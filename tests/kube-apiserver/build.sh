#!/bin/sh
# Builds etcd, kube-apiserver, kube-controller-manager and kubectl from Go modules, once, into a
# cache folder outside the tree that is keyed by go.sum, and prints that folder on stdout.
#   build.sh          build what is missing, print the folder
#   build.sh --where  only print the folder; exit 1 if the build is not complete
set -eu
cd "$(dirname "$0")"

version=v1.36.3
key=$(cat go.mod go.sum | sha256sum | cut -c1-16)
dir="${XDG_CACHE_HOME:-$HOME/.cache}/kubewatch/kube-apiserver/$key"

complete() {
  for binary in etcd kube-apiserver kube-controller-manager kubectl; do
    [ -x "$dir/$binary" ] || return 1
  done
}

if complete; then echo "$dir"; exit 0; fi
if [ "${1:-}" = --where ]; then echo "$dir"; exit 1; fi

if ! command -v go >/dev/null 2>&1; then
  echo "build.sh: Go 1.26 or newer is needed to build the real kube-apiserver; or set KUBEBUILDER_ASSETS" >&2
  exit 1
fi

mkdir -p "$dir"
exec 9>"$dir.lock"
flock 9
if complete; then echo "$dir"; exit 0; fi

flags="-s -w -X k8s.io/component-base/version.gitVersion=$version"
flags="$flags -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"

# build PACKAGE NAME: into a private folder first, so that a build that is cut off leaves nothing.
build() {
  [ -x "$dir/$2" ] && return 0
  echo "build.sh: building $2" >&2
  mkdir -p "$dir/.tmp"
  # Hundreds of modules are downloaded: a proxy that fails once is asked again.
  for pause in 5 15 30 -; do
    CGO_ENABLED=0 go build -mod=readonly -trimpath -gcflags all=-dwarf=false -ldflags "$flags" -o "$dir/.tmp/$2" "$1" >&2 && break
    [ "$pause" != - ] || return 1
    echo "build.sh: building $2 failed, trying again in $pause s" >&2
    sleep "$pause"
  done
  mv "$dir/.tmp/$2" "$dir/$2"
}

build go.etcd.io/etcd/server/v3 etcd
build k8s.io/kubernetes/cmd/kube-apiserver kube-apiserver
build k8s.io/kubernetes/cmd/kubectl kubectl
build k8s.io/kubernetes/cmd/kube-controller-manager kube-controller-manager
rmdir "$dir/.tmp" 2>/dev/null || true
echo "$dir"
